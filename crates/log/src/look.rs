//! A first look at a log whose secret is not known: what its columns are called, and what stands in them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::few_labels::candidates;
use crate::layout::header_and_names;
use crate::open::{open_file, read_probe};
use crate::options::{HeaderChoice, ReadOptions};
use crate::recognize::recognize;
use crate::records::PROBE_ROWS;
use crate::row::Row;
use crate::source::ReadMeter;
use crate::visits::are_visits;
use leakgauge_base::error::{Result, shorten};

/// Values that are shown of a column.
const EXAMPLES: usize = 3;
/// Columns that are looked at.
const COLUMNS: usize = 100;

/// A column of a log that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenColumn {
    /// Its name, or its number from 1.
    pub name: String,
    /// Its first different values.
    pub examples: Vec<String>,
    /// How many different values the first rows have.
    pub distinct: usize,
    /// Whether it may be the secret: few values, which recur.
    pub may_be_secret: bool,
}

/// What the first rows of a log show, where its secret is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// Its first file.
    pub file: String,
    /// The rows that were looked at, without a header.
    pub rows: usize,
    /// Whether row 1 is a header.
    pub header: bool,
    /// Whether that must be said: its words occur nowhere else, and so it was taken for one.
    pub say_header: bool,
    /// The columns, at most a hundred.
    pub columns: Vec<SeenColumn>,
    /// The names of those that may be the secret, the likeliest first.
    pub secrets: Vec<String>,
}

/// Looks at the first rows of a log. `None` where a column is the secret, whatever else may be wrong.
///
/// # Errors
/// A file that cannot be read.
pub fn glance(options: &ReadOptions) -> Result<Option<Glance>> {
    let is_told = options.secret.is_some()
        || options.secret_from.is_some()
        || options.wide
        || options.engine.is_some();
    // What comes through a pipe is gone.
    let is_file = |file: &&String| Path::new(file).is_file();
    let Some(file) = options.files.first().filter(|_| !is_told).filter(is_file) else {
        return Ok(None);
    };
    let records = open_file(file, &ReadMeter::default(), options)?;
    let found = recognize(file, records, options, false)?;
    let mut records = found.records;
    let rows = read_probe(file, &mut *records, PROBE_ROWS)?;
    let is_named = records.is_named();
    let (mut header, mut names) = header_and_names(&rows, is_named, &found.options);
    let say_header = !header && !is_named && is_unlike_others(&rows);
    if say_header && found.options.header == HeaderChoice::Detect {
        let said = ReadOptions {
            header: HeaderChoice::Present,
            ..found.options.clone()
        };
        (header, names) = header_and_names(&rows, is_named, &said);
    }
    let has_secret = names.iter().any(|name| name.eq_ignore_ascii_case("secret"));
    let body = &rows[usize::from(header).min(rows.len())..];
    let is_refused = body.is_empty() || are_visits(&options.files, header, body);
    if found.form.is_some() || has_secret || is_refused {
        return Ok(None);
    }
    let may_be = candidates(body, &names, &[]);
    let secrets = may_be.iter().filter(|&&at| at < COLUMNS);
    let secrets = secrets.filter_map(|&at| names.get(at).cloned()).collect();
    let names = names.into_iter().enumerate().take(COLUMNS);
    let columns = names.map(|(at, name)| seen(body, at, name, may_be.contains(&at)));
    Ok(Some(Glance {
        file: file.clone(),
        rows: body.len(),
        header,
        say_header: say_header && header,
        columns: columns.collect(),
        secrets,
    }))
}

/// Whether no cell of row 1 comes again in its column, though those of some column do.
fn is_unlike_others(rows: &[Row]) -> bool {
    let Some((first, others)) = rows.split_first().filter(|(_, others)| others.len() >= 10) else {
        return false;
    };
    let mut recurs = false;
    let is_alone = |at: usize| {
        let of_column = others.iter().map(|row| row.text(at).unwrap_or_default());
        let different: BTreeSet<_> = of_column.collect();
        recurs |= 2 * different.len() < others.len();
        !different.contains(&first.text(at).unwrap_or_default())
    };
    let count = first.fields().count();
    (0..count).all(is_alone) && recurs
}

fn seen(rows: &[Row], at: usize, name: String, may_be_secret: bool) -> SeenColumn {
    let mut distinct = BTreeSet::new();
    let mut examples = Vec::new();
    for row in rows {
        let text = row.text(at).unwrap_or_default();
        let text = text.trim();
        if !distinct.contains(text) {
            if examples.len() < EXAMPLES {
                examples.push(shorten(text));
            }
            distinct.insert(text.to_owned());
        }
    }
    SeenColumn {
        name,
        examples,
        distinct: distinct.len(),
        may_be_secret,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_a_named_secret_is_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.csv");
        let mut text = "arm,kind,time\n".to_owned();
        for row in 0..60 {
            text += &format!(
                "{},{},{}.5\n",
                row % 2,
                ["x", "y", "z"][row % 3],
                row * 37 % 61
            );
        }
        std::fs::write(&path, text).unwrap();
        let options = |secret: Option<&str>| ReadOptions {
            files: vec![path.to_str().unwrap().to_owned()],
            secret: secret.map(str::to_owned),
            ..ReadOptions::default()
        };
        let found = glance(&options(None)).unwrap().unwrap();
        assert_eq!((found.rows, found.header), (60, true));
        let columns: Vec<_> = found
            .columns
            .iter()
            .map(|c| (c.distinct, c.may_be_secret))
            .collect();
        assert_eq!(columns, [(2, true), (3, true), (60, false)]);
        assert_eq!(found.columns[1].examples, ["x", "y", "z"]);
        assert_eq!(glance(&options(Some("arm"))).unwrap(), None);
    }
}
