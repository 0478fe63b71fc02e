//! One row of a file after another, and where in the file each stands.

use std::io::{Cursor, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::error::{Error, Place, Result};
use crate::log::format::Format;
use crate::log::layout::{self, Layout};
use crate::log::records::Records;
use crate::log::source::{self, Source};

/// Rows of delimited text.
pub(super) struct Delimited {
    name: String,
    reader: Reader<Source>,
    delimiter: u8,
}

impl Delimited {
    /// Rows of a text whose beginning was already read; the delimiter is the one asked for, else the one
    /// found.
    pub(super) fn new(
        name: &str,
        head: Vec<u8>,
        input: impl Read + Send + 'static,
        asked: Option<u8>,
    ) -> Self {
        let delimiter = layout::delimiter(name, &head, asked);
        let input = Source::new(Cursor::new(head).chain(input));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 17)
            .from_reader(input);
        Delimited {
            name: name.to_owned(),
            reader,
            delimiter,
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

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        next(&self.name, &mut self.reader, record)
    }
}

/// A copy of a record. A clone would be as large as the largest record before it.
pub(super) fn fitting(record: &ByteRecord) -> ByteRecord {
    let mut copy = ByteRecord::with_capacity(record.as_slice().len(), record.len());
    record.iter().for_each(|field| copy.push_field(field));
    copy.set_position(record.position().cloned());
    copy
}

/// Reads the next row; false behind the last.
fn next(name: &str, reader: &mut Reader<Source>, record: &mut ByteRecord) -> Result<bool> {
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

/// The row of a file that a record is.
pub fn place_of(file: &str, record: &ByteRecord) -> Place {
    let before = record.position().map_or(0, csv::Position::record);
    Place::file(file).row(before + 1)
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

pub(super) fn not_utf8(place: Place) -> Error {
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
