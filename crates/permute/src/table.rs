//! A log as a table of text fields, so that it can be written back with some columns shuffled.

use std::collections::HashMap;
use std::io::{Cursor, Read, Write};

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use super::points::Points;
use leakgauge_base::error::{Error, Place, Result, listing};
use leakgauge_base::naming;
use leakgauge_base::suggest;
use leakgauge_log::{MAX_COLUMNS, Source, Unchanged, delimiter, open_to_hold, read_error};

/// The number of bytes searched for the delimiter.
const HEAD: usize = 1 << 16;

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// Whether row 1 is data. Columns are then named by their numbers from 1.
    pub no_header: bool,
    /// The delimiter; without it, the one found in the first line.
    pub delimiter: Option<u8>,
}

/// All fields of a log, unchanged. Owns their bytes.
#[derive(Debug, Clone)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The delimiter of the input, which is used for the output too.
    pub delimiter: u8,
    /// The header, unchanged.
    header: Option<ByteRecord>,
    bytes: Vec<u8>,
    /// The end of each field in `bytes`, row by row.
    ends: Vec<usize>,
    /// Each file, with the number of rows up to its end.
    files: Vec<(String, usize)>,
}

/// A reader of a file, and the delimiter: the given one, or the one found in the first line.
fn reader(file: &str, given: Option<u8>) -> Result<(csv::Reader<Source>, u8)> {
    let mut input = open_to_hold(file)?;
    let mut head = Vec::new();
    Read::take(&mut input, HEAD as u64)
        .read_to_end(&mut head)
        .map_err(|error| read_error(file, &error))?;
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let delimiter = given.unwrap_or_else(|| delimiter(file, first_line, None));
    let reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(Source::new(Cursor::new(head).chain(input)));
    Ok((reader, delimiter))
}

impl Table {
    /// Reads files with the same columns as one table.
    ///
    /// # Errors
    /// A file cannot be read, changes meanwhile or has other columns than the first; a row has more or fewer fields;
    /// there are no rows, or more than 2³² − 2.
    pub fn read(files: &[String], options: &TableOptions) -> Result<Table> {
        let unchanged = Unchanged::watch(files);
        let mut table: Option<Table> = None;
        for file in files {
            Table::append(&mut table, file, options)?;
        }
        unchanged.check()?;
        let table = table.ok_or_else(|| Error::parameter("LOG", "no file is given"))?;
        match table.rows() {
            0 => Err(Error::file(&files[0], "has no rows")),
            n if n >= u32::MAX as usize => Err(Error::file(&files[0], "has too many rows")),
            _ => Ok(table),
        }
    }

    /// A table of columns in memory, as text. `name` stands for it in messages, where rows count from 1.
    ///
    /// # Errors
    /// No column; no rows, or more than 2³² − 2; columns of unequal lengths.
    pub fn from_columns(name: &str, columns: &[(String, Vec<String>)]) -> Result<Table> {
        let Some((first, values)) = columns.first() else {
            return Err(Error::file(name, "has no columns"));
        };
        let rows = values.len();
        if rows == 0 {
            return Err(Error::file(name, "has no rows"));
        }
        if rows >= u32::MAX as usize {
            return Err(Error::file(name, "has too many rows"));
        }
        if let Some((other, values)) = columns.iter().find(|(_, values)| values.len() != rows) {
            let problem = format!(
                "has {} values where column {first} has {rows}",
                values.len()
            );
            return Err(Error::data(Place::file(name).column(other), problem));
        }
        let mut table = Table {
            names: columns.iter().map(|(name, _)| name.clone()).collect(),
            delimiter: b',',
            header: None,
            bytes: Vec::new(),
            ends: Vec::with_capacity(rows * columns.len()),
            files: vec![(name.to_owned(), rows)],
        };
        for row in 0..rows {
            for (_, values) in columns {
                table.bytes.extend_from_slice(values[row].as_bytes());
                table.ends.push(table.bytes.len());
            }
        }
        Ok(table)
    }

    fn append(table: &mut Option<Table>, file: &str, options: &TableOptions) -> Result<()> {
        let given = table.as_ref().map(|table| table.delimiter);
        let (mut reader, delimiter) = reader(file, given.or(options.delimiter))?;
        let failed = |error: csv::Error| match error.into_kind() {
            csv::ErrorKind::Io(error) => read_error(file, &error),
            other => Error::file(file, format!("{other:?}")),
        };
        let mut record = ByteRecord::new();
        let mut row = 0u64;
        while reader.read_byte_record(&mut record).map_err(failed)? {
            row += 1;
            reader.get_mut().row_is_read();
            if Source::is_end(&record) {
                row -= 1;
                break;
            }
            if Source::holds_end(&record) {
                return Err(
                    Error::data(Place::file(file).row(row), "a quote is not closed")
                        .with_hint("close it, or double it if it is part of the text"),
                );
            }
            if is_blank(&record) {
                continue;
            }
            if row == 1 || table.is_none() {
                let is_header = Table::begin(table, file, &record, delimiter, options)?;
                if is_header {
                    continue;
                }
            }
            if let Some(table) = table {
                table.push(file, row, &record)?;
            }
        }
        if row == 0 {
            return Err(Error::file(file, "is empty"));
        }
        if let Some(table) = table {
            let rows = table.rows();
            table.files.push((file.to_owned(), rows));
        }
        Ok(())
    }

    /// Takes the names of the columns from the first row of the first file, or compares those of another file.
    /// Returns whether the row is a header.
    fn begin(
        table: &mut Option<Table>,
        file: &str,
        record: &ByteRecord,
        delimiter: u8,
        options: &TableOptions,
    ) -> Result<bool> {
        if record.len() > MAX_COLUMNS {
            let problem = format!("has {} columns, more than {MAX_COLUMNS}", record.len());
            let hint = format!(
                "is there one row per line, and is the delimiter right? ({})",
                naming::option("delimiter")
            );
            return Err(Error::data(Place::file(file).row(1), problem).with_hint(hint));
        }
        let names: Vec<String> = record
            .iter()
            .zip(1..)
            .map(
                |(name, number): (&[u8], usize)| match String::from_utf8_lossy(name).trim() {
                    "" => number.to_string(),
                    _ if options.no_header => number.to_string(),
                    name => name.to_owned(),
                },
            )
            .collect();
        match table {
            Some(table) if table.names != names => {
                return Err(Error::data(
                    Place::file(file).row(1),
                    format!(
                        "the columns are {}, not {} as in the first file",
                        listing(names.iter().map(String::as_str)),
                        listing(table.names.iter().map(String::as_str))
                    ),
                ));
            }
            Some(_) => {}
            None => {
                *table = Some(Table {
                    names,
                    delimiter,
                    header: (!options.no_header).then(|| record.clone()),
                    bytes: Vec::new(),
                    ends: Vec::new(),
                    files: Vec::new(),
                });
            }
        }
        Ok(!options.no_header)
    }

    fn push(&mut self, file: &str, row: u64, record: &ByteRecord) -> Result<()> {
        if record.len() != self.names.len() {
            let problem = format!(
                "has {} fields, not {} as row 1",
                record.len(),
                self.names.len()
            );
            return Err(Error::data(Place::file(file).row(row), problem)
                .with_hint(format!("is {} right?", naming::option("delimiter"))));
        }
        for field in record {
            self.bytes.extend_from_slice(field);
            self.ends.push(self.bytes.len());
        }
        Ok(())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len() / self.names.len().max(1)
    }

    fn field(&self, row: usize, column: usize) -> &[u8] {
        let at = row * self.names.len() + column;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    pub(super) fn place(&self, row: usize, column: usize) -> Place {
        let at = self.files.partition_point(|(_, end)| *end <= row);
        let before = if at == 0 { 0 } else { self.files[at - 1].1 };
        let (file, _) = &self.files[at.min(self.files.len() - 1)];
        Place::file(file.clone())
            .row((row - before) as u64 + 1 + u64::from(self.header.is_some()))
            .column(self.names[column].clone())
            .value(String::from_utf8_lossy(self.field(row, column)))
    }

    /// The position (from 0) of a column given by name or by number (from 1). `field` is the option that it was
    /// given with, for messages.
    ///
    /// # Errors
    /// There is no such column, or several have this name.
    pub fn column(&self, field: &str, name: &str) -> Result<usize> {
        let name = name.trim();
        let mut named = (0..self.names.len()).filter(|at| self.names[*at] == name);
        if let Some(found) = named.next() {
            if named.next().is_some() {
                return Err(
                    Error::setting(field, name, "several columns have this name")
                        .with_hint("use the number of the column, from 1"),
                );
            }
            return Ok(found);
        }
        match name.parse::<usize>() {
            Ok(number) if (1..=self.names.len()).contains(&number) => Ok(number - 1),
            _ => {
                let names = || self.names.iter().map(String::as_str);
                let problem = format!("no such column; the columns are {}", listing(names()));
                let error = Error::setting(field, name, problem);
                Err(match suggest::nearest(name, names()) {
                    Some(near) => error.with_hint(format!("did you mean {near}?")),
                    None => error,
                })
            }
        }
    }

    /// A column as labels, trimmed of white space.
    ///
    /// # Errors
    /// A field is blank or not UTF-8.
    pub fn labels(&self, column: usize) -> Result<Vec<String>> {
        (0..self.rows())
            .map(|row| {
                let text = std::str::from_utf8(self.field(row, column))
                    .map_err(|_| Error::data(self.place(row, column), "is not UTF-8"))?;
                match text.trim() {
                    "" => Err(Error::data(self.place(row, column), "is blank")
                        .with_hint("every row needs a value here: fill it in, or remove the row")),
                    label => Ok(label.to_owned()),
                }
            })
            .collect()
    }

    /// Columns as points, row-major.
    ///
    /// # Errors
    /// A field is not a finite number.
    pub fn numbers(&self, columns: &[usize]) -> Result<Vec<f64>> {
        let mut numbers = Vec::with_capacity(self.rows() * columns.len());
        for row in 0..self.rows() {
            for &column in columns {
                let text = std::str::from_utf8(self.field(row, column)).unwrap_or_default();
                let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
                numbers.push(number.ok_or_else(|| {
                    let problem = if text.trim().is_empty() {
                        "is blank"
                    } else {
                        "is not a finite number"
                    };
                    Error::data(self.place(row, column), problem)
                        .with_hint("groups by distance need a number in every row")
                })?);
            }
        }
        Ok(numbers)
    }

    /// Columns as points.
    ///
    /// # Errors
    /// A field is not a finite number or exceeds ±1e150.
    pub fn points(&self, columns: &[usize]) -> Result<Points> {
        Points::new(self.numbers(columns)?, columns.len())
    }

    /// Whether similar values of a column occur in adjacent rows more often than in a random order: equal labels, or
    /// numbers that mostly rise or mostly fall. Tested at five standard deviations.
    pub fn is_ordered_by(&self, column: usize) -> bool {
        let rows = self.rows();
        if rows < 8 {
            return false;
        }
        let steps = (rows - 1) as f64;
        let mut seen: HashMap<&[u8], u64> = HashMap::new();
        (0..rows).for_each(|row| *seen.entry(self.field(row, column)).or_default() += 1);
        let equal = |row: &usize| self.field(row - 1, column) == self.field(*row, column);
        let together = (1..rows).filter(equal).count() as f64;
        let pairs: f64 = seen.values().map(|&n| n as f64 * (n - 1) as f64).sum();
        let share = pairs / (rows as f64 * steps);
        let deviation = (steps * share * (1.0 - share)).sqrt().max(1.0);
        if together > steps * share + 5.0 * deviation {
            return true;
        }
        let number = |row| {
            std::str::from_utf8(self.field(row, column))
                .ok()?
                .trim()
                .parse::<f64>()
                .ok()
        };
        let Some(numbers) = (0..rows).map(number).collect::<Option<Vec<f64>>>() else {
            return false;
        };
        let count = |is: fn(f64, f64) -> bool| {
            numbers
                .windows(2)
                .filter(|pair| is(pair[0], pair[1]))
                .count() as f64
        };
        // Of n independent values the numbers of rises and falls differ by 0 in the mean, and by
        // √(n/3) in standard deviation.
        (count(|a, b| a < b) - count(|a, b| a > b)).abs() > 5.0 * (rows as f64 / 3.0).sqrt()
    }

    /// Writes the table. Row i keeps its own fields, except that the columns in `moved` take those of row
    /// `received[i]`, or its values in `replaced` if that has the column.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn write(
        &self,
        out: &mut dyn Write,
        received: &[u32],
        moved: &[bool],
        replaced: &[Option<Vec<String>>],
    ) -> std::io::Result<()> {
        let mut writer = WriterBuilder::new()
            .delimiter(self.delimiter)
            .from_writer(out);
        let failed = |error: csv::Error| match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => std::io::Error::other(format!("{other:?}")),
        };
        if let Some(header) = &self.header {
            writer.write_byte_record(header).map_err(failed)?;
        }
        for (row, from) in received.iter().enumerate() {
            let from = *from as usize;
            for column in 0..self.names.len() {
                let field = match (&replaced[column], moved[column]) {
                    (Some(values), _) => values[from].as_bytes(),
                    (None, true) => self.field(from, column),
                    (None, false) => self.field(row, column),
                };
                writer.write_field(field).map_err(failed)?;
            }
            writer.write_record(None::<&[u8]>).map_err(failed)?;
        }
        writer.flush()
    }
}

fn is_blank(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].trim_ascii().is_empty()
}
