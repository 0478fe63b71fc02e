//! Reading matrices: channels, and gains or losses, from delimited text.
//!
//! One row per secret (or guess), one column per observation (or secret). A header and a column of labels are
//! detected and reported, or set by options.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};

use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::channel::{
    Channel, MatrixForm, MatrixLayout, PayoffTable, RowProblem, SUM_TOLERANCE, numbered,
};
use leakgauge_log as log;

use super::rows;

/// How to read a matrix; `None` means that it is detected.
#[derive(Debug, Clone, Copy, Default)]
pub struct MatrixOptions {
    /// Whether row 1 has the names of the columns.
    pub header: Option<bool>,
    /// Whether column 1 has the names of the rows.
    pub labels: Option<bool>,
    /// The delimiter.
    pub delimiter: Option<u8>,
    /// Whether to normalize every row of a channel by its sum.
    pub normalize: bool,
}

/// Reads a channel.
///
/// # Errors
/// The matrix is not a channel: rows differ in length or do not sum to 1, a field is not a number, negative or
/// infinite, or there are fewer than two rows. The message names file, row, column and value.
pub fn channel(
    name: &str,
    input: impl Read,
    options: &MatrixOptions,
) -> Result<(Channel, MatrixLayout)> {
    let mut table = Table::read(name, input, options, SumsTo::One)?;
    let mut normalized = 0;
    if options.labels.is_none() {
        table.refuse_numbered_rows()?;
    }
    for k in 0..table.rows() {
        let checked = table.check_row(k, options.normalize);
        normalized += u64::from(checked.map_err(|error| table.as_log(error))?);
    }
    if table.rows() < 2 {
        return Err(
            Error::file(name, "has one row; a channel needs at least two secrets")
                .with_hint("use one row per secret and one column per observation"),
        );
    }
    let layout = table.layout(normalized);
    let place = |error: Error| match error {
        Error::Parameter { what, problem, .. } => Error::file(name, format!("{what}: {problem}")),
        other => other,
    };
    let channel = Channel::new(table.row_names, table.column_names, table.values).map_err(place)?;
    Ok((channel, layout))
}

/// Reads a gain or loss matrix: one row per guess, one column per secret. If row 1 has the names of secrets, columns are
/// matched by name once it is bound.
///
/// # Errors
/// Rows differ in length, or a field is not a finite number.
pub fn payoff(name: &str, input: impl Read, options: &MatrixOptions) -> Result<PayoffTable> {
    let table = Table::read(name, input, options, SumsTo::Anything)?;
    Ok(PayoffTable {
        name: name.to_owned(),
        may_have_header: options.header.is_none() && !table.header && !table.labels,
        columns: table.header.then_some(table.column_names),
        guesses: table.row_names,
        values: table.values,
    })
}

/// Reads a loss matrix whose columns say what the secrets are: one row per answer, one column per secret.
///
/// # Errors
/// As [`payoff`]; the first column may have the numbers of the answers.
pub fn losses(name: &str, input: impl Read, options: &MatrixOptions) -> Result<PayoffTable> {
    let table = payoff(name, input, options)?;
    let width = table.values.len() / table.guesses.len();
    let firsts: Vec<f64> = table.values.iter().step_by(width).copied().collect();
    let counts_up = firsts.windows(2).all(|two| two[1] == two[0] + 1.0);
    let is_numbered = firsts.len() > 1 && (firsts[0] == 0.0 || firsts[0] == 1.0) && counts_up;
    let is_told = options.labels.is_some() || table.guesses != numbered(table.guesses.len());
    if is_told || !is_numbered {
        return Ok(table);
    }
    Err(Error::data(
        Place::file(name).column("1"),
        "counts up from row to row: it may have the numbers of the answers or the losses under a secret",
    )
    .with_hint(format!(
        "{} reads it as the names of the rows, {} as losses",
        option("labels"),
        option("no-labels")
    )))
}

/// What rows are expected to sum to, which helps to tell labels from entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SumsTo {
    One,
    Anything,
}

/// A matrix of numbers with the names of its rows and columns.
struct Table {
    file: String,
    header: bool,
    labels: bool,
    row_names: Vec<String>,
    column_names: Vec<String>,
    /// The row of the file that each row comes from.
    lines: Vec<u64>,
    values: Vec<f64>,
}

impl Table {
    fn read(name: &str, input: impl Read, options: &MatrixOptions, sums: SumsTo) -> Result<Table> {
        let records = records(name, input, options.delimiter)?;
        let (header, labels) = layout(&records, options, sums);
        let skip = usize::from(labels);
        let width = records[0].1.len();
        if width <= skip {
            return Err(Error::file(name, "has labels but no numbers"));
        }
        let body = &records[usize::from(header)..];
        if body.is_empty() {
            return Err(Error::file(name, "has a header but no rows"));
        }
        let column_names = if header {
            let names = records[0].1.iter().skip(skip);
            names.map(str::to_owned).collect()
        } else {
            numbered(width - skip)
        };
        let mut table = Table {
            file: name.to_owned(),
            header,
            labels,
            row_names: if labels {
                let first = body.iter().map(|(_, record)| &record[0]);
                first.map(str::to_owned).collect()
            } else {
                numbered(body.len())
            },
            column_names,
            lines: body.iter().map(|(line, _)| *line).collect(),
            values: Vec::with_capacity(body.len() * (width - skip)),
        };
        for (line, record) in body {
            table.push(*line, record, width, skip)?;
        }
        Ok(table)
    }

    fn push(&mut self, line: u64, record: &StringRecord, width: usize, skip: usize) -> Result<()> {
        if record.len() != width {
            return Err(Error::data(
                Place::file(&self.file).row(line),
                format!("has {} fields, row 1 has {width}", record.len()),
            ));
        }
        for (at, field) in record.iter().enumerate().skip(skip) {
            let value = number(field).ok_or_else(|| {
                self.entry_error(line, at - skip, field, "is not a number")
                    .with_hint(hint(line == 1, at == 0))
            })?;
            if !value.is_finite() {
                return Err(self.entry_error(line, at - skip, field, "is not a finite number"));
            }
            self.values.push(value);
        }
        Ok(())
    }

    fn entry_error(&self, line: u64, column: usize, field: &str, problem: &str) -> Error {
        let place = Place::file(&self.file)
            .row(line)
            .column(&self.column_names[column])
            .value(field);
        Error::data(place, problem)
    }

    fn rows(&self) -> usize {
        self.row_names.len()
    }

    /// Rows of counts whose first numbers count up from 0 or 1 are numbered or not: nothing in the file tells.
    fn refuse_numbered_rows(&self) -> Result<()> {
        let width = self.column_names.len();
        let is_one = |row: &[f64]| (row.iter().sum::<f64>() - 1.0).abs() <= SUM_TOLERANCE;
        let first = |row: &[f64]| row[0];
        let firsts: Vec<f64> = self.values.chunks(width).map(first).collect();
        let counts_up = firsts.windows(2).all(|two| two[1] == two[0] + 1.0);
        let is_numbered = counts_up && firsts.first().is_some_and(|&x| x == 0.0 || x == 1.0);
        let has_more = |row: &[f64]| row[1..].iter().sum::<f64>() > 0.0;
        let is_table = !self.labels && firsts.len() > 1 && self.values.chunks(width).all(has_more);
        if !is_table || !is_numbered || self.values.chunks(width).all(is_one) {
            return Ok(());
        }
        let place = Place::file(&self.file).column(&self.column_names[0]);
        Err(Error::data(
            place,
            "counts up from row to row: it may have the numbers of the secrets or an observation",
        )
        .with_hint(format!(
            "{} reads it as the names of the rows, {} as an observation",
            option("labels"),
            option("no-labels")
        )))
    }

    /// Checks one row of a channel. Returns whether it was normalized.
    fn check_row(&mut self, number: usize, normalize: bool) -> Result<bool> {
        let width = self.column_names.len();
        let line = self.lines[number];
        let row = &mut self.values[number * width..(number + 1) * width];
        if let Some(RowProblem::Negative { column, value }) = RowProblem::find_entry(row) {
            let problem = "a probability cannot be negative";
            return Err(self.entry_error(line, column, &value.to_string(), problem));
        }
        let sum: f64 = row.iter().sum();
        let wrong = (sum - 1.0).abs() > SUM_TOLERANCE;
        if normalize && sum > 0.0 && sum.is_finite() {
            row.iter_mut().for_each(|p| *p /= sum);
            return Ok(wrong);
        }
        if !wrong {
            return Ok(false);
        }
        let place = Place::file(&self.file).row(line);
        let label = &self.row_names[number];
        let error = Error::data(
            place,
            format!("the probabilities of secret {label} sum to {sum}, not 1"),
        );
        Err(if sum > 0.0 {
            error.with_hint(format!(
                "{} divides every row by its sum",
                option("normalize")
            ))
        } else {
            error
        })
    }

    /// What to do where the rows are those of a log.
    fn as_log(&self, error: Error) -> Error {
        match self.is_log() {
            false => error,
            true => error.with_hint(format!(
                "this looks like a log of rows, of which a channel is estimated: leakgauge estimate {}",
                self.file
            )),
        }
    }

    /// Whether secrets have several rows each, as in a log.
    fn is_log(&self) -> bool {
        let mut names: Vec<&String> = self.row_names.iter().collect();
        names.sort_unstable();
        names.dedup();
        self.labels && 2 * names.len() <= self.row_names.len()
    }

    fn layout(&self, normalized_rows: u64) -> MatrixLayout {
        MatrixLayout {
            file: self.file.clone(),
            header: self.header,
            labels: self.labels,
            normalized_rows,
            written_out: false,
            merged_probability: 0.0,
            form: MatrixForm::Whole,
        }
    }
}

/// All rows that are not empty, with their numbers from 1.
fn records(
    name: &str,
    input: impl Read,
    delimiter: Option<u8>,
) -> Result<Vec<(u64, StringRecord)>> {
    let text = log::whole_table(name, input)?;
    let head = text.trim_ascii_start();
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(log::delimiter(name, head, delimiter))
        .from_reader(text.as_slice());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = rows::checked(name, record)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() > 1 || !record[0].is_empty() {
            records.push((line, record));
        }
    }
    if records.is_empty() {
        return Err(Error::file(name, "is empty")
            .with_hint("a channel has one row per secret and one column per observation"));
    }
    Ok(records)
}

fn is_number(field: &str) -> bool {
    number(field).is_some()
}

/// A number, or a fraction of two: `0.25`, `1/4`.
fn number(field: &str) -> Option<f64> {
    let parsed = |text: &str| text.trim().parse::<f64>().ok();
    match field.split_once('/') {
        Some((above, below)) => {
            let below = parsed(below).filter(|below| *below != 0.0)?;
            Some(parsed(above)? / below)
        }
        None => parsed(field),
    }
}

/// Whether there is a header, and whether there is a column of labels.
fn layout(records: &[(u64, StringRecord)], options: &MatrixOptions, sums: SumsTo) -> (bool, bool) {
    let first = &records[0].1;
    let header = options.header.unwrap_or_else(|| {
        // Only the first field may be a label.
        let named = first.iter().skip(1).any(|field| !is_number(field));
        let corner = records.len() > 1 && first.len() > 1 && is_corner(&first[0]);
        // A word above numbers names their column.
        let below = || records[1..].iter().all(|(_, record)| is_number(&record[0]));
        let corner = corner || (records.len() > 1 && !is_number(&first[0]) && below());
        named || corner || (first.len() == 1 && !is_number(&first[0]))
    });
    let body = &records[usize::from(header).min(records.len())..];
    let labels = options.labels.unwrap_or_else(|| {
        let words = body.iter().any(|(_, record)| !is_number(&record[0]));
        let above_numbers = || !is_number(&first[0]) && first.iter().skip(1).all(is_number);
        let corner = header && first.len() > 1 && (is_corner(&first[0]) || above_numbers());
        words || corner || (sums == SumsTo::One && sums_without_first(body))
    });
    (header, labels)
}

/// What to do about an entry that is no number: names can only stand in the first row and in the first column.
fn hint(in_first_row: bool, in_first_column: bool) -> String {
    let header = format!("use {} if row 1 has the names of columns", option("header"));
    let labels = format!("{} if column 1 has the names of rows", option("labels"));
    match (in_first_row, in_first_column) {
        (true, true) => format!("{header}, {labels}"),
        (true, false) => header,
        (false, true) => format!("use {labels}"),
        (false, false) => "write every probability as a number, such as 0.25 or 1e-3".to_owned(),
    }
}

/// Usual headers of a column of labels.
fn is_corner(field: &str) -> bool {
    const NAMES: [&str; 6] = ["", "secret", "secrets", "label", "labels", "guess"];
    NAMES.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// Whether rows sum to 1 only without their first field.
fn sums_without_first(body: &[(u64, StringRecord)]) -> bool {
    let sum = |record: &StringRecord, skip: usize| -> f64 {
        let fields = record.iter().skip(skip);
        fields.map(|field| number(field).unwrap_or(f64::NAN)).sum()
    };
    let one = |sum: f64| (sum - 1.0).abs() <= SUM_TOLERANCE;
    let all = body.iter().all(|(_, r)| r.len() > 1 && one(sum(r, 1)));
    all && body.iter().any(|(_, record)| !one(sum(record, 0)))
}

#[cfg(test)]
mod tests {
    use leakgauge_exact::channel::Payoff;

    use super::*;

    fn read(text: &str) -> Result<(Channel, MatrixLayout)> {
        channel("m.csv", text.as_bytes(), &MatrixOptions::default())
    }

    #[test]
    fn a_hint_names_what_can_help() {
        assert!(hint(true, true).contains("names of columns"));
        assert!(!hint(false, true).contains("names of columns"));
        assert!(hint(false, false).contains("as a number"));
    }

    #[test]
    fn fractions_are_numbers() {
        let (channel, layout) = read("a,1/3,2/3\nb,1/4,0.75\n").unwrap();
        assert!(layout.labels && !layout.header);
        assert_eq!(channel.row(0), [1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(channel.row(1), [0.25, 0.75]);
        assert!(read("1/0,1\n0.5,0.5\n").is_err());
    }

    #[test]
    fn headers_and_labels_are_found() {
        let cases = [
            ("0.5,0.5\n0.1,0.9\n", false, false),
            ("x,y\n0.5,0.5\n0.1,0.9\n", true, false),
            ("a,0.5,0.5\nb,0.1,0.9\n", false, true),
            ("secret,x,y\na,0.5,0.5\nb,0.1,0.9\n", true, true),
            (",0,1\n0,0.5,0.5\n1,0.1,0.9\n", true, true),
            ("secret;0;1\n0;0.5;0.5\n1;0.1;0.9\n", true, true),
            ("7,0.5,0.5\n8,0.1,0.9\n", false, true),
            ("s,x,y\n7,0.5,0.5\n8,0.1,0.9\n", true, true),
            ("\n0.5\t0.5\n\n0.1\t0.9", false, false),
        ];
        for (text, header, labels) in cases {
            let (channel, layout) = read(text).unwrap();
            assert_eq!((layout.header, layout.labels), (header, labels), "{text}");
            assert_eq!(channel.values(), [0.5, 0.5, 0.1, 0.9], "{text}");
        }
        let (channel, _) = read("secret,x,y\na,0.5,0.5\nb,0.1,0.9\n").unwrap();
        assert_eq!(channel.secrets(), ["a", "b"]);
        assert_eq!(channel.observations(), ["x", "y"]);
    }

    #[test]
    fn rows_are_normalized_only_on_request() {
        let text = "a,3,1\nb,0.5,0.5\n";
        let error = read(text).unwrap_err().to_string();
        assert!(
            error.contains("row 1") && error.contains("sum to 4"),
            "{error}"
        );
        let options = MatrixOptions {
            normalize: true,
            ..MatrixOptions::default()
        };
        let (channel, layout) = channel("m.csv", text.as_bytes(), &options).unwrap();
        assert_eq!(channel.row(0), [0.75, 0.25]);
        assert_eq!(layout.normalized_rows, 1);
        let zero = super::channel("m.csv", "a,0,0\nb,1,0\n".as_bytes(), &options);
        assert!(zero.unwrap_err().to_string().contains("sum to 0"));
    }

    #[test]
    fn numbers_of_rows_are_asked_about() {
        let text = "input,x,y\n0,30,10\n1,12,28\n";
        let options = MatrixOptions {
            normalize: true,
            ..MatrixOptions::default()
        };
        let error = channel("m.csv", text.as_bytes(), &options).unwrap_err();
        assert!(error.to_string().contains("counts up"), "{error}");
        for (labels, row) in [(true, vec![0.75, 0.25]), (false, vec![0.0, 0.75, 0.25])] {
            let options = MatrixOptions {
                labels: Some(labels),
                ..options
            };
            let (channel, _) = channel("m.csv", text.as_bytes(), &options).unwrap();
            assert_eq!(channel.row(0), row);
        }
    }

    #[test]
    fn a_log_is_no_channel() {
        let error = read(&format!("secret,time\n{}", "a,3\nb,4\n".repeat(4))).unwrap_err();
        assert!(error.hint().unwrap().contains("estimate m.csv"), "{error}");
    }

    #[test]
    fn columns_of_a_payoff_are_matched_by_name() {
        let (channel, _) = read("secret,x,y\na,0.5,0.5\nb,0.1,0.9\n").unwrap();
        let options = MatrixOptions::default();
        let text = "guess,b,a\nsay b,1,0\nsay a,0,2\n";
        let found = payoff("g.csv", text.as_bytes(), &options)
            .and_then(|table| table.bind(channel.secrets()))
            .unwrap();
        let expected = Payoff::new(
            vec!["say b".to_owned(), "say a".to_owned()],
            2,
            vec![0.0, 1.0, 2.0, 0.0],
        );
        assert_eq!(found, expected.unwrap());
        let narrow = payoff("g.csv", "1\n0\n".as_bytes(), &options)
            .and_then(|table| table.bind(channel.secrets()));
        assert!(narrow.unwrap_err().to_string().contains("1 columns for 2"));
        let unknown = payoff("g.csv", "a,c\n0,1\n".as_bytes(), &options)
            .and_then(|table| table.bind(channel.secrets()));
        assert!(unknown.unwrap_err().to_string().contains("secret b"));
    }
}
