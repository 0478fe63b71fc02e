//! What `hyperfine --export-json` writes: the times of several commands.

use std::io::Read;

use serde::Deserialize;

use super::exported::Exported;
use crate::format::Format;
use crate::source;
use leakgauge_base::error::{Error, Result, shorten};

/// The names of the columns that an export becomes.
static COLUMNS: [&str; 2] = ["command", "seconds"];

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

/// Reads an export: a command and a time, run by run.
///
/// # Errors
/// What is no export; a command without times, or twice.
pub(super) fn read(name: &str, text: impl Read) -> Result<Exported> {
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
    let rows = results.into_iter().flat_map(|Measured { command, times }| {
        times
            .into_iter()
            .map(move |time| (command.clone(), vec![Some(time)]))
    });
    Ok(Exported::new(Format::Hyperfine, &COLUMNS, rows.collect()))
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
