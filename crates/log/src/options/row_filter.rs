//! Which rows are looked at.

use crate::row::is_number;

/// A condition on one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFilter {
    /// The column, by its name; by its number in a file without a header.
    pub column: String,
    /// The values, as they are written; numbers may be written in any way.
    pub values: Vec<String>,
    /// Whether rows with such a value are kept, or all others.
    pub keeps: bool,
}

impl RowFilter {
    /// Reads `COLUMN=VALUE`, or several values between commas; `None` for a text that is none.
    ///
    /// ```
    /// let filter = leakgauge_log::RowFilter::parse("status=200,204", true).expect("a condition");
    /// assert_eq!((filter.column.as_str(), filter.values.len()), ("status", 2));
    /// assert_eq!(leakgauge_log::RowFilter::parse("status", true), None);
    /// ```
    pub fn parse(text: &str, keeps: bool) -> Option<Self> {
        let (column, values) = text.split_once('=')?;
        let column = column.trim();
        (!column.is_empty()).then(|| RowFilter {
            column: column.to_owned(),
            values: values
                .split(',')
                .map(|value| value.trim().to_owned())
                .collect(),
            keeps,
        })
    }

    /// The condition as it was written.
    pub fn text(&self) -> String {
        format!("{}={}", self.column, self.values.join(","))
    }

    /// The name of its option.
    pub(crate) fn option(&self) -> &'static str {
        match self.keeps {
            true => "keep",
            false => "drop",
        }
    }

    /// Whether rows with words are dropped, which may stand in the place of numbers.
    pub(crate) fn drops_words(&self) -> bool {
        !self.keeps && self.values.iter().all(|value| !is_number(value))
    }

    /// Whether a cell has one of the values.
    pub(crate) fn has(&self, text: &str) -> bool {
        let number = text.parse::<f64>().ok();
        self.values.iter().any(|value| {
            value == text || number.is_some_and(|number| value.parse::<f64>() == Ok(number))
        })
    }
}
