//! Secrets in a file of their own, a line or an item for each row of the log, as matrices of measurements come with
//! their labels.

use crate::format::Format;
use crate::open::open_file;
use crate::options::ReadOptions;
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source::ReadMeter;
use leakgauge_base::error::{Error, Place, Result};

/// What the column is called in a log whose columns have names.
const NAME: &[u8] = b"secret";

/// The rows of a log with their secrets behind them.
struct Labeled {
    rows: Box<dyn Records>,
    labels: Box<dyn Records>,
    /// The first row, which was read to count its fields.
    first: Option<Row>,
    /// Names of the log and of the file of secrets.
    names: [String; 2],
    label: Row,
    read: u64,
    is_begun: bool,
}

/// The log with its secrets as the last column, and the number of that column.
///
/// # Errors
/// A file that cannot be read, a log without rows.
pub(crate) fn labeled(
    log: &str,
    rows: Box<dyn Records>,
    file: &str,
    (meter, options): (&ReadMeter, &ReadOptions),
) -> Result<(Box<dyn Records>, usize)> {
    // Options about columns are those of the log.
    let plain = ReadOptions {
        columnar: options.columnar,
        objects: options.objects,
        ..ReadOptions::default()
    };
    let mut labeled = Labeled {
        labels: open_file(file, meter, &plain)?,
        rows,
        first: None,
        names: [log, file].map(str::to_owned),
        label: Row::new(),
        read: 0,
        is_begun: false,
    };
    let mut first = Row::new();
    if !labeled.rows.next(&mut first)? {
        return Err(Error::file(log, "has no rows"));
    }
    if labeled.labels.is_named() {
        labeled.labels.next(&mut labeled.label)?;
    }
    let column = first.len() + 1;
    labeled.first = Some(first);
    Ok((Box::new(labeled), column))
}

impl Labeled {
    /// The label of the next row, behind it.
    fn add_label(&mut self, row: &mut Row) -> Result<()> {
        let [log, file] = &self.names;
        if !self.labels.next(&mut self.label)? {
            let problem = format!("ends behind {} secrets, and {log} has more rows", self.read);
            return Err(Error::file(file, problem).with_hint(HINT));
        }
        if self.label.len() != 1 {
            let problem = format!("has {} fields where one secret belongs", self.label.len());
            return Err(Error::data(Place::file(file), problem)
                .with_hint("write one secret a line, in the order of the rows"));
        }
        row.push(self.label.get(0).unwrap_or(Field::Missing));
        self.read += 1;
        Ok(())
    }
}

const HINT: &str = "it needs one secret a row, in the order of the rows; beside a CSV file with a header it needs a first line, too";

impl Records for Labeled {
    fn is_named(&self) -> bool {
        self.rows.is_named()
    }

    fn unnamed(&self) -> Option<usize> {
        self.rows.unnamed().map(|columns| columns + 1)
    }

    fn format(&self) -> Format {
        self.rows.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.rows.delimiter()
    }

    fn note(&self) -> Option<String> {
        Some(format!("The secrets are those of {}.", self.names[1]))
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        let more = match self.first.take() {
            Some(first) => {
                *row = first;
                true
            }
            None => self.rows.next(row)?,
        };
        let is_header = !std::mem::replace(&mut self.is_begun, true) && self.is_named();
        match (more, is_header) {
            (true, true) => {
                row.push_text(NAME);
                Ok(true)
            }
            (true, false) => {
                self.add_label(row)?;
                Ok(true)
            }
            (false, _) if self.labels.next(&mut self.label)? => {
                let [log, file] = &self.names;
                let problem = format!("has more secrets than the {} rows of {log}", self.read);
                Err(Error::file(file, problem).with_hint(HINT))
            }
            (false, _) => Ok(false),
        }
    }
}
