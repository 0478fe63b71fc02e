//! Rows of a small file of comma-separated fields.

use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use leakgauge_base::error::{Error, Place, Result};
use leakgauge_log::row;

/// Pairs of secrets and points of a curve: what is longer is another file.
const MOST_BYTES: u64 = 64 << 20;

/// A row of fields, or what is wrong with it: where bytes are no text, as everywhere.
///
/// # Errors
/// The row is not delimited text in UTF-8.
pub(super) fn checked(name: &str, record: csv::Result<StringRecord>) -> Result<StringRecord> {
    record.map_err(|error| match error.kind() {
        ErrorKind::Utf8 { pos, err } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            row::not_utf8(
                Place::file(name)
                    .row(line)
                    .column((err.field() + 1).to_string()),
            )
        }
        _ => Error::file(name, error.to_string()),
    })
}

/// Reads the rows of a file, without a header, and where each stands.
///
/// # Errors
/// The file cannot be read or is not delimited text.
pub(super) fn read(file: &str) -> Result<Vec<(Place, StringRecord)>> {
    let reader = std::fs::File::open(file).map_err(|error| Error::io(file, error))?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(reader.take(MOST_BYTES + 1));
    let at = |row: usize| Place::file(file).row(row as u64 + 1);
    let records = reader.records().enumerate();
    let rows: Vec<(Place, StringRecord)> = records
        .map(|(row, record)| Ok((at(row), checked(file, record)?)))
        .collect::<Result<_>>()?;
    if reader.position().byte() > MOST_BYTES {
        return Err(Error::file(
            file,
            "has more than 64 MiB, too much for a file of a few fields",
        )
        .with_hint("is this the right file?"));
    }
    Ok(rows)
}
