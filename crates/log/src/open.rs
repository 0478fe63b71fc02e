//! Opening a log in any format: what a file holds is told by its first bytes and its name.

mod delimited;
mod hyperfine;
mod json_array;
mod json_lines;
mod numpy;

use std::io::{Cursor, Read};

use crate::format::Columnar;
use crate::options::{Opened, ReadOptions};
use crate::records::{PROBE_BYTES, PROBE_ROWS, Records};
use crate::row::{self, Row};
use crate::source::{self, ReadMeter, STDIN};
use delimited::Delimited;
use hyperfine::Hyperfine;
use json_array::ArrayLines;
use json_lines::JsonLines;
use leakgauge_base::error::{Error, Result};
use numpy::Numpy;

/// Opens what the user named: a file or standard input.
///
/// # Errors
/// A file that cannot be read or is not what it seems; options that do not fit its format.
pub fn open_file(name: &str, meter: &ReadMeter, options: &ReadOptions) -> Result<Box<dyn Records>> {
    if name == STDIN {
        return open(
            name,
            source::unpack(name, std::io::stdin(), meter)?,
            options,
        );
    }
    let file = source::open_file(name, meter)?;
    let file = match options.columnar {
        None => file,
        Some(reader) => match reader.open_file(name, file, meter, options)? {
            Opened::Records(records) => return Ok(records),
            Opened::Other(file) => file,
        },
    };
    open(name, source::unpack(name, file, meter)?, options)
}

/// Opens a text by its name and its first bytes.
///
/// # Errors
/// As [`open_file`].
pub(crate) fn open(
    name: &str,
    mut input: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    let mut head = Vec::new();
    (&mut input)
        .take(1 << 16)
        .read_to_end(&mut head)
        .map_err(|error| source::read_error(name, &error))?;
    open_behind(name, head, input, options, PROBE_ROWS)
}

/// As [`open`], behind what was already read; so many rows may be looked at before the first is given.
///
/// # Errors
/// As [`open_file`].
pub(crate) fn open_behind(
    name: &str,
    head: Vec<u8>,
    input: Box<dyn Read + Send>,
    options: &ReadOptions,
    probe: usize,
) -> Result<Box<dyn Records>> {
    let columnar = Columnar::of(&head);
    if let (Some(Columnar::ArrowStream), Some(reader)) = (columnar, options.columnar) {
        let stream = Box::new(Cursor::new(head).chain(input));
        return reader.open_stream(name, stream, options);
    }
    if let Some(columnar) = columnar {
        return Err(columnar.needs_file(name, options.columnar.is_some()));
    }
    if let Some(format) = numpy::format_of(&head) {
        let file = Cursor::new(head).chain(input);
        return Ok(Box::new(Numpy::new(name, format, file, options.wide)?));
    }
    if !json_lines::is_json_lines(name, &head, options.delimiter) {
        return Ok(Box::new(Delimited::new(
            name,
            head,
            input,
            options.delimiter,
        )));
    }
    options.refuse_no_header(name, "JSON, whose rows name their fields")?;
    if hyperfine::is_export(&head) {
        let export = Hyperfine::new(name, Cursor::new(head).chain(input))?;
        return Ok(Box::new(export));
    }
    let is_array = head.trim_ascii_start().starts_with(b"[");
    let text = Cursor::new(head).chain(input);
    Ok(Box::new(if is_array {
        let lines = Box::new(ArrayLines::new(text));
        JsonLines::new(name, lines, options, probe)?.of_array()
    } else {
        JsonLines::new(name, Box::new(text), options, probe)?
    }))
}

/// The first rows of a source, at most `most`. All their texts are UTF-8.
///
/// # Errors
/// A row that cannot be read.
pub fn read_probe(name: &str, records: &mut dyn Records, most: usize) -> Result<Vec<Row>> {
    read_probe_or(name, records, most, &mut Err)
}

/// As [`read_probe`]; a row that cannot be read is left out if `skip` accepts its error.
///
/// # Errors
/// An error that `skip` gives back.
pub(crate) fn read_probe_or(
    name: &str,
    records: &mut dyn Records,
    most: usize,
    skip: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<Vec<Row>> {
    let mut probe = Vec::new();
    let mut bytes = 0;
    let mut row = Row::new();
    while probe.len() < most && bytes < PROBE_BYTES {
        match records.next(&mut row) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if records.resumes() => {
                skip(error)?;
                continue;
            }
            Err(error) => return Err(error),
        }
        bytes += row.bytes();
        if let Some(column) = row.not_utf8() {
            let column = (column + 1).to_string();
            skip(row::not_utf8(row.place(name).column(column)))?;
            continue;
        }
        probe.push(row.compact());
    }
    Ok(probe)
}
