//! Secrets in a file of their own, a line or an item for each row of the log, as matrices of measurements come with
//! their labels.

use std::collections::BTreeSet;

use crate::format::Format;
use crate::open::open_file;
use crate::options::{HeaderChoice, ReadOptions};
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source::ReadMeter;
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::setting;

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

/// The log with its secrets as the last column, and the number of that column. Of several columns of the file,
/// [`ReadOptions::secret`] names the one that is meant.
///
/// # Errors
/// A file that cannot be read, a log without rows, more than one secret a row, no column of that name.
pub(crate) fn labeled(
    log: &str,
    mut rows: Box<dyn Records>,
    file: &str,
    (meter, options): (&ReadMeter, &ReadOptions),
) -> Result<(Box<dyn Records>, usize)> {
    // Options about other columns are those of the log.
    let plain = ReadOptions {
        secret: options.secret.clone(),
        // Whatever else the file holds is not looked at.
        observe: options.secret.clone().map(|column| vec![column]),
        columnar: options.columnar,
        objects: options.objects,
        ..ReadOptions::default()
    };
    let labels = open_file(file, meter, &plain)?;
    let labels = match &options.secret {
        None => all_labels(file, labels)?,
        Some(column) => labels_of_column(file, labels, column)?,
    };
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
            return Err(Error::data(label.place(file), problem).with_hint(format!(
                "say which with {}, a name or a number from 1; or write one secret a line, in the order of the rows",
                setting("secret", "COLUMN")
            )));
        }
        labels.push(label.compact());
    }
    if may_have_header && is_header(&labels) {
        labels.remove(0);
    }
    Ok(labels)
}

/// The secrets of one column of several, by its name or its number from 1.
fn labels_of_column(file: &str, mut records: Box<dyn Records>, column: &str) -> Result<Vec<Row>> {
    let mut row = Row::new();
    let mut more = records.next(&mut row)?;
    let columns = row.len();
    let names: Vec<String> = row
        .fields()
        .map(|field| field.text().trim().to_owned())
        .collect();
    let by_name = names.iter().position(|name| name == column);
    let by_number = column
        .parse()
        .ok()
        .filter(|number| (1..=columns).contains(number));
    let is_named = records.is_named()
        || (records.unnamed().is_none() && by_name.is_some() && by_number.is_none());
    let at = by_name
        .filter(|_| is_named)
        .or(by_number.map(|number: usize| number - 1));
    let Some(at) = at else {
        let names = names.iter().map(String::as_str);
        let known = match is_named {
            true => format!("its columns are {}", listing(names)),
            false => format!("it has {columns} columns without names"),
        };
        let problem = format!(
            "{}: no such column; {known}",
            setting("secret", shorten(column))
        );
        return Err(Error::data(Place::file(file), problem)
            .with_hint("name a column of the file of secrets, or its number from 1"));
    };
    if is_named {
        more = records.next(&mut row)?;
    }
    let may_have_header = !is_named && records.unnamed().is_none();
    let mut labels = Vec::new();
    while more {
        let mut label = Row::new();
        label.push(row.get(at).unwrap_or(Field::Missing));
        labels.push(label);
        more = records.next(&mut row)?;
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

    fn note(&self) -> Option<String> {
        self.rows.note()
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
