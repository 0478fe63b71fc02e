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

    /// The number of columns of a format that gives none of them a name, so that its first row holds values for sure.
    fn unnamed(&self) -> Option<usize> {
        None
    }

    /// How the rows are written down.
    fn format(&self) -> Format;

    /// What separates fields, in a format that has such a thing.
    fn delimiter(&self) -> Option<char>;

    /// What was made of the file beyond reading its rows, for the report.
    fn note(&self) -> Option<String> {
        None
    }

    /// Numbers of the rows that come next, where rows of equal numbers mean the same wherever they stand; numbers are
    /// given in the order of first appearance. None of the rows is read by that. A source that has no numbers at hand
    /// gives none: then every row is read.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn ahead(&mut self) -> Result<&[u32]> {
        Ok(&[])
    }

    /// Passes over so many of the rows that [`ahead`](Self::ahead) showed.
    fn pass(&mut self, _rows: usize) {}

    /// Whether the row behind one that could not be read can be read.
    fn resumes(&self) -> bool {
        false
    }

    /// Rows that were passed over because options drop the words in them: one of each secret, which
    /// stands in these columns, and how many there were.
    fn dropped(&mut self, _secret: &[usize]) -> Vec<(Row, u64)> {
        Vec::new()
    }

    /// Reads the next row with its position; false behind the last. What `row` held before is replaced.
    ///
    /// # Errors
    /// A row that cannot be read, with its place.
    fn next(&mut self, row: &mut Row) -> Result<bool>;
}
