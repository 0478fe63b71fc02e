//! What other programs export as one JSON document: rows of a label and the times beside it.

use crate::format::Format;
use crate::number::Number;
use crate::records::Records;
use crate::row::{Field, Row};
use leakgauge_base::error::Result;

/// The rows of an export.
pub(super) struct Exported {
    format: Format,
    /// The names of the columns, that of the label first.
    columns: &'static [&'static str],
    /// The label of each row, and a number for each other column, if it has one.
    rows: Vec<(String, Vec<Option<f64>>)>,
    /// The row that comes next, counted from the row of names.
    at: usize,
}

impl Exported {
    pub(super) fn new(
        format: Format,
        columns: &'static [&'static str],
        rows: Vec<(String, Vec<Option<f64>>)>,
    ) -> Self {
        Exported {
            format,
            columns,
            rows,
            at: 0,
        }
    }
}

impl Records for Exported {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        self.format
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        let Some(number) = self.at.checked_sub(1) else {
            self.at = 1;
            let names = self.columns.iter();
            names.for_each(|name| row.push_text(name.as_bytes()));
            return Ok(true);
        };
        let Some((label, numbers)) = self.rows.get(number) else {
            return Ok(false);
        };
        row.push_text(label.as_bytes());
        for number in numbers {
            row.push(match number {
                Some(number) => Field::Number(Number::Float(*number)),
                None => Field::Missing,
            });
        }
        row.set_position(number as u64);
        self.at += 1;
        Ok(true)
    }
}
