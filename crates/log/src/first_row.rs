//! A row 1 of words that was taken for data: is it a header after all?

use crate::layout::Layout;
use crate::row::{Field, Row};
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::setting;

/// Row 1, where it was taken for data without a number in it.
pub(crate) struct FirstRow {
    /// The number of its secret.
    pub(crate) secret: u32,
    /// The number of its observation as it was read.
    pub(crate) symbol: u32,
    /// Its fields.
    pub(crate) texts: String,
    /// Its observation.
    tuple: Vec<u64>,
    /// Rows of the log with this observation, itself among them.
    occurrences: u64,
}

impl FirstRow {
    pub(crate) fn new(secret: u32, symbol: u32, tuple: &[u64], texts: &[String]) -> Self {
        FirstRow {
            secret,
            symbol,
            texts: texts.join(", "),
            tuple: tuple.to_vec(),
            occurrences: 0,
        }
    }

    /// Looks at a row of the log.
    pub(crate) fn compare(&mut self, tuple: &[u64], count: u64) {
        if self.tuple == tuple {
            self.occurrences += count;
        }
    }

    /// Refuses to guess about a row 1 of words that occur nowhere else, given the rows of its secret and of
    /// all: a header word as a secret would change every figure.
    pub(crate) fn check(&self, file: &str, of_secret: u64, rows: u64) -> Result<()> {
        let alone = of_secret == 1 && self.occurrences == 1;
        refuse_if_alone(file, &self.texts, alone, rows)
    }
}

/// Refuses to guess about a row 1 that is like no other row of so many.
pub fn refuse_if_alone(file: &str, texts: &str, alone: bool, rows: u64) -> Result<()> {
    if !alone || rows < 10 {
        return Ok(());
    }
    let problem = format!(
        "({}) looks like a header, for its words occur nowhere else",
        shorten(texts)
    );
    Err(
        Error::data(Place::file(file).row(1), problem).with_hint(format!(
            "say which it is: {} or {}",
            setting("header", "present"),
            setting("header", "absent")
        )),
    )
}

/// Whether a row has the names of all columns, as files have that were joined with their headers.
pub(crate) fn repeats_header(layout: &Layout, row: &Row) -> bool {
    let is_name = |column: usize| match row.get(column) {
        Some(Field::Text(text) | Field::Quoted(text)) => text == layout.names[column].as_bytes(),
        _ => false,
    };
    // The first cell alone settles nearly every row.
    layout.header && layout.names.len() > 1 && (0..layout.names.len()).all(is_name)
}
