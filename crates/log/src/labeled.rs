//! Secrets in a file of their own, a line or an item for each row of the log, as matrices of measurements come with
//! their labels.

use std::collections::BTreeSet;

use crate::format::Format;
use crate::open::open_file;
use crate::options::{HeaderChoice, ReadOptions};
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source::ReadMeter;
use leakgauge_base::error::{Error, Result};

/// What the column is called in a log whose columns have names.
const NAME: &[u8] = b"secret";

/// The rows of a log with their secrets behind them.
struct Labeled {
    rows: Box<dyn Records>,
    /// Names of columns without any come before the first row: how many there are.
    numbers: Option<usize>,
    /// Whether the first row holds names, and is still to come.
    is_header_next: bool,
    has_names: bool,
    /// The first row, which was read to count its fields.
    first: Option<Row>,
    /// Names of the log and of the file of secrets.
    names: [String; 2],
    labels: std::vec::IntoIter<Row>,
    read: u64,
}

/// The log with its secrets as the last column, and the number of that column.
///
/// # Errors
/// A file that cannot be read, a log without rows, more than one secret a row.
pub(crate) fn labeled(
    log: &str,
    mut rows: Box<dyn Records>,
    file: &str,
    (meter, options): (&ReadMeter, &ReadOptions),
) -> Result<(Box<dyn Records>, usize)> {
    // Options about columns are those of the log.
    let plain = ReadOptions {
        columnar: options.columnar,
        objects: options.objects,
        ..ReadOptions::default()
    };
    let labels = all_labels(file, open_file(file, meter, &plain)?)?;
    let mut first = Row::new();
    if !rows.next(&mut first)? {
        return Err(Error::file(log, "has no rows"));
    }
    let column = first.len() + 1;
    let numbers = rows.unnamed().map(|_| first.len());
    let has_header = match options.header {
        _ if rows.is_named() => true,
        _ if numbers.is_some() => false,
        HeaderChoice::Present => true,
        HeaderChoice::Absent => false,
        HeaderChoice::Detect => !first.fields().any(Field::is_number),
    };
    let labeled = Labeled {
        has_names: numbers.is_some() || has_header,
        rows,
        numbers,
        is_header_next: has_header,
        first: Some(first),
        names: [log, file].map(str::to_owned),
        labels: labels.into_iter(),
        read: 0,
    };
    Ok((Box::new(labeled), column))
}

/// The secrets, without a first line that is none: a text that no other line has, where others recur.
fn all_labels(file: &str, mut records: Box<dyn Records>) -> Result<Vec<Row>> {
    let (mut labels, mut label) = (Vec::new(), Row::new());
    if records.is_named() {
        records.next(&mut label)?;
    }
    let may_have_header = !records.is_named() && records.unnamed().is_none();
    while records.next(&mut label)? {
        if label.len() != 1 {
            let problem = format!("has {} fields where one secret belongs", label.len());
            return Err(Error::data(label.place(file), problem)
                .with_hint("write one secret a line, in the order of the rows"));
        }
        labels.push(label.compact());
    }
    if may_have_header && is_header(&labels) {
        labels.remove(0);
    }
    Ok(labels)
}

fn is_header(labels: &[Row]) -> bool {
    let text = |label: &Row| label.text(0).map(|text| text.into_owned());
    let Some((first, others)) = labels.split_first() else {
        return false;
    };
    let distinct: BTreeSet<Option<String>> = others.iter().map(text).collect();
    2 * distinct.len() <= others.len() && !distinct.contains(&text(first))
}

impl Labeled {
    /// The secret of the next row, behind it.
    fn add_label(&mut self, row: &mut Row) -> Result<()> {
        let [log, file] = &self.names;
        let Some(label) = self.labels.next() else {
            let problem = format!("ends behind {} secrets, and {log} has more rows", self.read);
            return Err(Error::file(file, problem).with_hint(HINT));
        };
        row.push(label.get(0).unwrap_or(Field::Missing));
        self.read += 1;
        Ok(())
    }
}

const HINT: &str = "it needs one secret a row, in the order of the rows";

impl Records for Labeled {
    fn is_named(&self) -> bool {
        self.has_names
    }

    fn format(&self) -> Format {
        self.rows.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.rows.delimiter()
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        if let Some(columns) = self.numbers.take() {
            row.clear();
            (1..=columns).for_each(|number| row.push_text(number.to_string().as_bytes()));
            row.push_text(NAME);
            return Ok(true);
        }
        let more = match self.first.take() {
            Some(first) => {
                *row = first;
                true
            }
            None => self.rows.next(row)?,
        };
        if std::mem::take(&mut self.is_header_next) {
            row.push_text(NAME);
            return Ok(true);
        }
        if more {
            self.add_label(row)?;
            return Ok(true);
        }
        if self.labels.len() > 0 {
            let [log, file] = &self.names;
            let problem = format!("has more secrets than the {} rows of {log}", self.read);
            return Err(Error::file(file, problem).with_hint(HINT));
        }
        Ok(false)
    }
}
