//! Delimited text: CSV, TSV. All fields are texts.

use std::io::Read;

use csv::{Position, Reader, ReaderBuilder};

use crate::format::Format;
use crate::layout;
use crate::lines::{Lines, Next};
use crate::records::Records;
use crate::row::{self, Row};
use crate::source::{self, Source};
use leakgauge_base::error::{Error, Result};

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

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        if let Text::Lines(lines) = &mut self.text {
            match lines.next() {
                Ok(Next::Line(line)) => {
                    row.clear();
                    let fields = line.split(|&byte| byte == self.delimiter);
                    fields.for_each(|field| row.push_text(field));
                    row.set_position(self.rows);
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
        next(&self.name, reader, row, self.rows)
    }
}

/// Reads the next row; false behind the last. So many rows stand before the text of the reader.
fn next(name: &str, reader: &mut Reader<Source>, row: &mut Row, before: u64) -> Result<bool> {
    let read = |reader: &mut Reader<Source>, row: &mut Row| {
        reader
            .read_byte_record(row.texts_mut())
            .map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => source::read_error(name, &error),
                other => Error::file(name, format!("{other:?}")),
            })
    };
    if !read(reader, row)? {
        return Ok(false);
    }
    let texts = row.texts_mut();
    let within = texts.position().map_or(0, Position::record);
    let (is_end, holds_end) = (Source::is_end(texts), Source::holds_end(texts));
    row.set_position(before + within);
    reader.get_mut().row_is_read();
    if holds_end {
        return Err(Error::data(
            row.place(name),
            "a quote is opened in this row and never closed",
        )
        .with_hint("close it, or double a quote that belongs to a quoted field"));
    }
    if !is_end {
        return Ok(true);
    }
    let place = row.place(name);
    match read(reader, row)? {
        false => Ok(false),
        true => Err(row::not_utf8(place.column("1"))),
    }
}
