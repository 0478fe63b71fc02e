//! Delimited text: CSV, TSV. All fields are texts.

use std::io::{self, Read};

use csv::{Position, Reader, ReaderBuilder};

use crate::batches::Batches;
use crate::format::Format;
use crate::lines::{Batch, Lines, Next};
use crate::open::comments;
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
    /// Whether a thread was asked to split lines.
    is_split: bool,
    /// What says that the first row is the header, in words.
    header: Option<String>,
}

/// The text, as far as it was not read.
enum Text {
    /// Before the first quote every line is a row.
    Lines(Lines),
    /// The same, split on another thread.
    Ahead(Ahead),
    /// From there on a row may have several.
    Quoted(Box<Reader<Source>>),
    /// Something went wrong.
    Lost,
}

/// Rows that were split ahead.
struct Ahead {
    batches: Batches,
    batch: Batch,
    /// The next row of the batch.
    at: usize,
}

impl Ahead {
    /// Whether there is a next row; waits for it if need be.
    fn has_row(&mut self) -> io::Result<bool> {
        while self.batch.row(self.at).is_none() {
            let Some(batch) = self.batches.next()? else {
                return Ok(false);
            };
            (self.batch, self.at) = (batch, 0);
        }
        Ok(true)
    }
}

impl Delimited {
    /// Rows of a text whose beginning was already read; the delimiter is the one asked for, else the one
    /// found.
    pub fn new(name: &str, head: Vec<u8>, input: Box<dyn Read + Send>, asked: Option<u8>) -> Self {
        let (head, input) = comments::left_out(name, head, input, asked);
        let delimiter = crate::delimiter::delimiter(name, &head, asked);
        Delimited {
            name: name.to_owned(),
            text: Text::Lines(Lines::new(head, input)),
            delimiter,
            rows: 0,
            is_split: false,
            header: None,
        }
    }

    /// The same rows, the first of which is the header for sure; a sentence says why.
    pub fn with_header(self, why: String) -> Self {
        Delimited {
            header: Some(why),
            ..self
        }
    }

    /// Has the rest of the lines split on another thread, if there is one to be had.
    fn split_ahead(&mut self) {
        if let Text::Lines(lines) = std::mem::replace(&mut self.text, Text::Lost) {
            self.text = match Batches::of(lines) {
                Ok(batches) => Text::Ahead(Ahead {
                    batches,
                    batch: Batch::default(),
                    at: 0,
                }),
                Err(lines) => Text::Lines(lines),
            };
        }
    }

    /// Reads what is behind the rows that were split ahead: nothing, or text that may have quotes.
    fn behind(&mut self) -> Result<()> {
        if let Text::Ahead(ahead) = &mut self.text {
            let rest = ahead.batches.rest();
            let rest = rest.map_err(|error| source::read_error(&self.name, &error))?;
            self.text = Text::Lines(rest);
        }
        Ok(())
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
        self.header.is_some()
    }

    fn note(&self) -> Option<String> {
        self.header.clone()
    }

    fn format(&self) -> Format {
        Format::Delimited
    }

    fn delimiter(&self) -> Option<char> {
        Some(char::from(self.delimiter))
    }

    fn ahead(&mut self) -> Result<&[u32]> {
        if matches!(self.text, Text::Lines(_)) && !self.is_split {
            self.is_split = true;
            self.split_ahead();
        }
        let Text::Ahead(ahead) = &mut self.text else {
            return Ok(&[]);
        };
        match ahead.has_row() {
            Ok(true) => Ok(ahead.batch.numbers.get(ahead.at..).unwrap_or(&[])),
            Ok(false) => Ok(&[]),
            Err(error) => Err(source::read_error(&self.name, &error)),
        }
    }

    fn pass(&mut self, rows: usize) {
        if let Text::Ahead(ahead) = &mut self.text {
            ahead.at += rows;
            self.rows += rows as u64;
        }
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        if let Text::Ahead(ahead) = &mut self.text {
            let has_row = ahead.has_row();
            if has_row.map_err(|error| source::read_error(&self.name, &error))? {
                let line = ahead.batch.row(ahead.at).unwrap_or_default();
                split(line, self.delimiter, self.rows, row);
                ahead.at += 1;
                self.rows += 1;
                return Ok(true);
            }
            self.behind()?;
        }
        if let Text::Lines(lines) = &mut self.text {
            match lines.next() {
                Ok(Next::Line(line)) => {
                    split(line, self.delimiter, self.rows, row);
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

/// The fields of a line that is a row.
fn split(line: &[u8], delimiter: u8, rows_before: u64, row: &mut Row) {
    row.clear();
    let fields = line.split(|&byte| byte == delimiter);
    fields.for_each(|field| row.push_text(field));
    row.set_position(rows_before);
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
