//! What every format is read through: rows, one after another.
//!
//! A format is a source of [`Records`]; layout, typing and counting know nothing else of it.

use crate::format::Format;
use crate::row::Row;
use leakgauge_base::error::Result;

/// Rows looked at before the types of columns are settled.
pub const PROBE_ROWS: usize = 10_000;
/// … unless they are this many bytes.
pub(crate) const PROBE_BYTES: usize = 16 << 20;

/// A source of rows: a file, a table in memory, the answer of a query.
pub trait Records {
    /// Whether the first row holds the names of the columns. A format that says so is believed; otherwise the
    /// first rows are looked at.
    fn is_named(&self) -> bool;

    /// How the rows are written down.
    fn format(&self) -> Format;

    /// What separates fields, in a format that has such a thing.
    fn delimiter(&self) -> Option<char>;

    /// The bytes of the next row, where rows of equal bytes mean the same wherever they stand. The row is not
    /// read by that. A source that has no such bytes at hand gives `None`: then every row is read.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn line(&mut self) -> Result<Option<&[u8]>> {
        Ok(None)
    }

    /// Whether the row behind one that could not be read can be read.
    fn resumes(&self) -> bool {
        false
    }

    /// Passes over the row that [`line`](Self::line) showed.
    fn skip_line(&mut self) {}

    /// Reads the next row with its position; false behind the last. What `row` held before is replaced.
    ///
    /// # Errors
    /// A row that cannot be read, with its place.
    fn next(&mut self, row: &mut Row) -> Result<bool>;
}
