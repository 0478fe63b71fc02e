//! A log as a table of fields, to be written again with some columns moved.

use std::collections::HashMap;
use std::io::{Cursor, Read, Write};

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use super::points::Points;
use leakgauge_base::error::{Error, Place, Result, listing};
use leakgauge_base::suggest;
use leakgauge_log::{ReadMeter, Source, delimiter, open, read_error};

/// Bytes that the delimiter is looked for in.
const HEAD: usize = 1 << 16;

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// Row 1 is data; columns are then called by their numbers from 1.
    pub no_header: bool,
    /// The delimiter; found if not given.
    pub delimiter: Option<u8>,
}

/// All fields of a log, as they were written.
#[derive(Debug, Clone)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The delimiter that was read, and is written.
    pub delimiter: u8,
    /// The header as it was written.
    header: Option<ByteRecord>,
    bytes: Vec<u8>,
    /// Where each field ends, row by row.
    ends: Vec<usize>,
    /// The files, and the number of rows up to the end of each.
    files: Vec<(String, usize)>,
}

/// A reader of a file, and the delimiter: as given, or found in the first line.
fn reader(file: &str, given: Option<u8>) -> Result<(csv::Reader<Source>, u8)> {
    let mut input = open(file, &ReadMeter::default())?;
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
    /// Reads files of the same columns as one table.
    ///
    /// # Errors
    /// A file that cannot be read, that has other columns than the first, or a row that has more or fewer
    /// fields; no rows; more than 2³² − 1.
    pub fn read(files: &[String], options: &TableOptions) -> Result<Table> {
        let mut table: Option<Table> = None;
        for file in files {
            Table::append(&mut table, file, options)?;
        }
        let table = table.ok_or_else(|| Error::parameter("LOG", "no file is named"))?;
        match table.rows() {
            0 => Err(Error::file(&files[0], "has no rows")),
            n if n >= u32::MAX as usize => Err(Error::file(&files[0], "has too many rows")),
            _ => Ok(table),
        }
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
                return Err(Error::data(
                    Place::file(file).row(row),
                    "a quote is left open to the end of the file",
                )
                .with_hint("close it, or double it if it is part of the text"));
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

    /// Takes the names of the columns from the first row of a file, or compares them; whether it is a
    /// header.
    fn begin(
        table: &mut Option<Table>,
        file: &str,
        record: &ByteRecord,
        delimiter: u8,
        options: &TableOptions,
    ) -> Result<bool> {
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
                .with_hint("is the delimiter right? (--delimiter)"));
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

    /// The position of a column, by name or by number from 1.
    ///
    /// # Errors
    /// No such column, or a name that several have.
    pub fn column(&self, option: &str, name: &str) -> Result<usize> {
        let name = name.trim();
        let mut named = (0..self.names.len()).filter(|at| self.names[*at] == name);
        if let Some(found) = named.next() {
            if named.next().is_some() {
                return Err(Error::parameter(
                    format!("{option} {name}"),
                    "several columns have this name",
                )
                .with_hint("use the number of the column, from 1"));
            }
            return Ok(found);
        }
        match name.parse::<usize>() {
            Ok(number) if (1..=self.names.len()).contains(&number) => Ok(number - 1),
            _ => {
                let names = || self.names.iter().map(String::as_str);
                let error = Error::parameter(
                    format!("{option} {name}"),
                    format!("no such column; there are {}", listing(names())),
                );
                Err(match suggest::nearest(name, names()) {
                    Some(near) => error.with_hint(format!("did you mean {near}?")),
                    None => error,
                })
            }
        }
    }

    /// A column as labels, without the space around them.
    ///
    /// # Errors
    /// A blank field, or one that is not UTF-8.
    pub fn labels(&self, column: usize) -> Result<Vec<String>> {
        (0..self.rows())
            .map(|row| {
                let text = std::str::from_utf8(self.field(row, column))
                    .map_err(|_| Error::data(self.place(row, column), "is not UTF-8"))?;
                match text.trim() {
                    "" => Err(Error::data(self.place(row, column), "is blank").with_hint(
                        "who has no value here has no group: fill it in, or remove the row",
                    )),
                    label => Ok(label.to_owned()),
                }
            })
            .collect()
    }

    /// Columns as points, row-major.
    ///
    /// # Errors
    /// A field that is no finite number.
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
    /// A field that is no finite number, or too large a one.
    pub fn points(&self, columns: &[usize]) -> Result<Points> {
        Points::new(self.numbers(columns)?, columns.len())
    }

    /// Whether rows with like values of a column stand together more often than in random order: equal
    /// labels, or numbers that mostly rise or mostly fall; at five standard deviations.
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

    /// Writes the table: row i has the fields of row i, but in the columns that move those of row
    /// `received[i]`, which `replaced` may give anew.
    ///
    /// # Errors
    /// What the writer reports.
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
