//! One row of a file after another, and where in the file each stands.

use std::io::Read;

use csv::{ByteRecord, Position, Reader, ReaderBuilder};

use crate::format::Format;
use crate::layout::{self, Layout};
use crate::lines::{Lines, Next};
use crate::records::Records;
use crate::source::{self, Source};
use leakgauge_base::error::{Error, Place, Result};

/// Rows of delimited text.
pub struct Delimited {
    name: String,
    text: Text,
    delimiter: u8,
    /// Rows that were read or passed over.
    rows: u64,
}

/// The text, as far as it was not read.
enum Text {
    /// Before the first quote every line is a row.
    Lines(Lines),
    /// From there on a row may have several.
    Quoted(Box<Reader<Source>>),
    /// Something went wrong.
    Lost,
}

impl Delimited {
    /// Rows of a text whose beginning was already read; the delimiter is the one asked for, else the one
    /// found.
    pub fn new(name: &str, head: Vec<u8>, input: Box<dyn Read + Send>, asked: Option<u8>) -> Self {
        let delimiter = layout::delimiter(name, &head, asked);
        Delimited {
            name: name.to_owned(),
            text: Text::Lines(Lines::new(head, input)),
            delimiter,
            rows: 0,
        }
    }

    /// Reads the rest as text that may have quotes.
    fn expect_quotes(&mut self) {
        if let Text::Lines(lines) = std::mem::replace(&mut self.text, Text::Lost) {
            let reader = ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(self.delimiter)
                .buffer_capacity(1 << 17)
                .from_reader(Source::new(lines.rest()));
            self.text = Text::Quoted(Box::new(reader));
        }
    }
}

impl Records for Delimited {
    fn is_named(&self) -> bool {
        false
    }

    fn format(&self) -> Format {
        Format::Delimited
    }

    fn delimiter(&self) -> Option<char> {
        Some(char::from(self.delimiter))
    }

    fn line(&mut self) -> Result<Option<&[u8]>> {
        let Text::Lines(lines) = &mut self.text else {
            return Ok(None);
        };
        match lines.next() {
            Ok(Next::Line(line)) => Ok(Some(line)),
            Ok(Next::Other | Next::End) => Ok(None),
            Err(error) => Err(source::read_error(&self.name, &error)),
        }
    }

    fn skip_line(&mut self) {
        if let Text::Lines(lines) = &mut self.text {
            lines.take();
            self.rows += 1;
        }
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if let Text::Lines(lines) = &mut self.text {
            match lines.next() {
                Ok(Next::Line(line)) => {
                    record.clear();
                    let fields = line.split(|&byte| byte == self.delimiter);
                    fields.for_each(|field| record.push_field(field));
                    record.set_position(Some(position(self.rows)));
                    lines.take();
                    self.rows += 1;
                    return Ok(true);
                }
                Ok(Next::End) => return Ok(false),
                Ok(Next::Other) => self.expect_quotes(),
                Err(error) => return Err(source::read_error(&self.name, &error)),
            }
        }
        let Text::Quoted(reader) = &mut self.text else {
            return Ok(false);
        };
        next(&self.name, reader, record, self.rows)
    }
}

fn position(rows_before: u64) -> Position {
    let mut position = Position::new();
    position.set_record(rows_before);
    position
}

/// A copy of a record. A clone would be as large as the largest record before it.
pub fn fitting(record: &ByteRecord) -> ByteRecord {
    let mut copy = ByteRecord::with_capacity(record.as_slice().len(), record.len());
    record.iter().for_each(|field| copy.push_field(field));
    copy.set_position(record.position().cloned());
    copy
}

/// Reads the next row; false behind the last. So many rows stand before the text of the reader.
fn next(
    name: &str,
    reader: &mut Reader<Source>,
    record: &mut ByteRecord,
    before: u64,
) -> Result<bool> {
    let read = |reader: &mut Reader<Source>, record: &mut ByteRecord| {
        reader
            .read_byte_record(record)
            .map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => source::read_error(name, &error),
                other => Error::file(name, format!("{other:?}")),
            })
    };
    if !read(reader, record)? {
        return Ok(false);
    }
    let within = record.position().map_or(0, Position::record);
    record.set_position(Some(position(before + within)));
    reader.get_mut().row_is_read();
    if Source::holds_end(record) {
        return Err(Error::data(
            place_of(name, record),
            "a quote is opened in this row and never closed",
        )
        .with_hint("close it, or double a quote that belongs to a quoted field"));
    }
    if !Source::is_end(record) {
        return Ok(true);
    }
    let place = place_of(name, record);
    match read(reader, record)? {
        false => Ok(false),
        true => Err(not_utf8(place.column("1"))),
    }
}

/// The row of a file that a record is; the file, if it is no single row of it.
pub fn place_of(file: &str, record: &ByteRecord) -> Place {
    match record.position() {
        Some(position) => Place::file(file).row(position.record() + 1),
        None => Place::file(file),
    }
}

/// The text of a column, without the space around it.
pub fn field<'r>(
    record: &'r ByteRecord,
    column: usize,
    layout: &Layout,
    place: &dyn Fn() -> Place,
) -> Result<&'r str> {
    whole_field(record, column, layout, place).map(str::trim)
}

/// A field as it stands, blanks around it included.
pub fn whole_field<'r>(
    record: &'r ByteRecord,
    column: usize,
    layout: &Layout,
    place: &dyn Fn() -> Place,
) -> Result<&'r str> {
    std::str::from_utf8(&record[column])
        .map_err(|_| not_utf8(place().column(&layout.names[column])))
}

/// The error of a cell that is no text.
pub fn not_utf8(place: Place) -> Error {
    Error::data(place, "is not UTF-8 text")
        .with_hint("convert the file, for instance with `iconv -f latin1 -t utf-8`")
}

/// A problem with what stands in a column.
pub fn at_column(
    place: Place,
    layout: &Layout,
    column: usize,
    record: &ByteRecord,
    problem: &str,
) -> Error {
    let value = String::from_utf8_lossy(&record[column]);
    Error::data(
        place.column(&layout.names[column]).value(value.trim()),
        problem,
    )
}
