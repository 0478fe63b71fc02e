//! Rows out of columns.

use crate::decoded_batches::{Batches, DecodedBatches, DecodedRows};
use crate::leaves::Leaves;
use leakgauge_base::error::Result;
use leakgauge_log::format::Format;
use leakgauge_log::{Field, Records, Row};

/// Rows out of batches that are decoded ahead.
pub(super) struct ColumnarRecords {
    format: Format,
    names: Vec<String>,
    batches: DecodedBatches,
    rows: DecodedRows,
    /// The next row of `rows`.
    at: usize,
    is_begun: bool,
}

impl ColumnarRecords {
    pub(super) fn new(
        name: &str,
        format: Format,
        leaves: Leaves,
        batches: Box<dyn Batches>,
    ) -> Self {
        ColumnarRecords {
            format,
            names: leaves.names().map(str::to_owned).collect(),
            batches: DecodedBatches::of(name, leaves, batches),
            rows: DecodedRows::default(),
            at: 0,
            is_begun: false,
        }
    }

    /// Whether there is a next row; decodes it if need be.
    fn has_row(&mut self) -> Result<bool> {
        while self.at == self.rows.count {
            let Some(rows) = self.batches.next()? else {
                return Ok(false);
            };
            self.rows = rows;
            self.at = 0;
        }
        Ok(true)
    }
}

impl Records for ColumnarRecords {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        self.format
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn ahead(&mut self) -> Result<&[u32]> {
        if !self.is_begun || !self.has_row()? {
            return Ok(&[]);
        }
        Ok(self.rows.numbers.get(self.at..).unwrap_or(&[]))
    }

    fn pass(&mut self, rows: usize) {
        self.at += rows;
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !self.is_begun {
            self.is_begun = true;
            let names = self.names.iter();
            names.for_each(|name| row.push_text(name.as_bytes()));
            return Ok(!self.names.is_empty());
        }
        if !self.has_row()? {
            return Ok(false);
        }
        for column in &self.rows.columns {
            // A column that no option names keeps its place, and nothing else.
            row.push(match column {
                Some(values) => values.field(self.at),
                None => Field::Text(b""),
            });
        }
        row.set_position(self.rows.before + self.at as u64);
        self.at += 1;
        Ok(true)
    }
}
