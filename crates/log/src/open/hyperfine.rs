//! What `hyperfine --export-json` writes: the times of several commands.

use std::io::Read;

use serde::Deserialize;

use crate::format::Format;
use crate::number::Number;
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source;
use leakgauge_base::error::{Error, Result, shorten};

/// The names of the columns that an export becomes.
const COLUMNS: [&str; 2] = ["command", "seconds"];

#[derive(Deserialize)]
struct Export {
    results: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
}

/// Whether a text begins like such an export.
pub(super) fn is_export(head: &[u8]) -> bool {
    let Some(inside) = head.trim_ascii_start().strip_prefix(b"{") else {
        return false;
    };
    let Some(value) = inside.trim_ascii_start().strip_prefix(b"\"results\"") else {
        return false;
    };
    let value = value.trim_ascii_start().strip_prefix(b":");
    let holds = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"["))
        && holds(b"\"command\"")
        && holds(b"\"times\"")
}

/// Its rows: a command and a time, run by run.
pub(super) struct Hyperfine {
    results: Vec<Measured>,
    /// The command and the run that come next.
    at: (usize, usize),
    rows: u64,
    is_begun: bool,
}

impl Hyperfine {
    /// Reads the export.
    ///
    /// # Errors
    /// What is no export; a command without times, or twice.
    pub(super) fn new(name: &str, text: impl Read) -> Result<Self> {
        let whole = source::whole_text(name, text)?;
        let export: Export = serde_json::from_slice(&whole)
            .map_err(|error| Error::file(name, format!("is no export of hyperfine: {error}")))?;
        let results = export.results;
        for (at, result) in results.iter().enumerate() {
            let command = shorten(&result.command);
            if result.times.is_empty() {
                let problem = format!("has no times of the command `{command}`");
                return Err(Error::file(name, problem)
                    .with_hint("export the runs themselves, as hyperfine does by itself"));
            }
            if results[..at]
                .iter()
                .any(|before| before.command == result.command)
            {
                let problem = format!("has the command `{command}` twice");
                return Err(Error::file(name, problem)
                    .with_hint("give each command a name of its own in hyperfine"));
            }
        }
        Ok(Hyperfine {
            results,
            at: (0, 0),
            rows: 0,
            is_begun: false,
        })
    }
}

impl Records for Hyperfine {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::Hyperfine
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !self.is_begun {
            self.is_begun = true;
            COLUMNS
                .iter()
                .for_each(|name| row.push_text(name.as_bytes()));
            return Ok(true);
        }
        while let Some(result) = self.results.get(self.at.0) {
            if let Some(&time) = result.times.get(self.at.1) {
                row.push_text(result.command.as_bytes());
                row.push(Field::Number(Number::Float(time)));
                row.set_position(self.rows);
                self.rows += 1;
                self.at.1 += 1;
                return Ok(true);
            }
            self.at = (self.at.0 + 1, 0);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_told_by_its_first_field() {
        assert!(is_export(
            b"{\n \"results\": [ {\"command\": \"a\", \"times\": []}]}"
        ));
        for other in [
            &b"{\"secret\": 1, \"results\": [\"command\", \"times\"]}"[..],
            b"{\"results\": [1], \"secret\": 2}",
            b"[]",
        ] {
            assert!(!is_export(other));
        }
    }
}
