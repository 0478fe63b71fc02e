//! The data of a picture.

use leakgauge_base::error::{Error, Result};

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number, written in its shortest exact form.
    Number(f64),
    /// A text.
    Text(String),
    /// No value.
    None,
}

impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Cell::Number(x)
    }
}

impl From<Option<f64>> for Cell {
    fn from(x: Option<f64>) -> Self {
        x.map_or(Cell::None, Cell::Number)
    }
}

impl From<u64> for Cell {
    fn from(x: u64) -> Self {
        Cell::Text(x.to_string())
    }
}

impl From<usize> for Cell {
    fn from(x: usize) -> Self {
        Cell::Text(x.to_string())
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

/// A table with named columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Their names.
    pub columns: Vec<&'static str>,
    /// The rows, each as long as the names.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[&'static str]) -> Self {
        Table {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, as long as the names of the columns.
    pub fn push<const N: usize>(&mut self, row: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(row.into());
    }

    /// The table as CSV with a header.
    ///
    /// # Errors
    /// The CSV writer failed.
    pub fn to_csv(&self) -> Result<String> {
        let wrong = |error: String| Error::file("CSV", error);
        let mut writer = csv::Writer::from_writer(Vec::new());
        let text = |cell: &Cell| match cell {
            Cell::Number(x) => format!("{x:?}"),
            Cell::Text(text) => text.clone(),
            Cell::None => String::new(),
        };
        writer
            .write_record(&self.columns)
            .map_err(|error| wrong(error.to_string()))?;
        for row in &self.rows {
            writer
                .write_record(row.iter().map(text))
                .map_err(|error| wrong(error.to_string()))?;
        }
        let bytes = writer
            .into_inner()
            .map_err(|error| wrong(error.to_string()))?;
        String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))
    }
}
