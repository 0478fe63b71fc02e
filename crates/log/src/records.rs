//! What every file format is read through: rows of texts in columns, one after another.
//!
//! A format is a source of [`Records`]; layout, typing and counting know nothing else of it. What is no
//! text in a file (a number in binary) is written as the shortest text that reads back as the same.

use std::fmt::Debug;
use std::fs::File;
use std::io::{Cursor, Read};

use csv::{ByteRecord, StringRecord};

use crate::format::{Columnar, Format};
use crate::json_lines::{self, JsonLines};
use crate::rows::{self, Delimited};
use crate::wide::Wide;
use crate::{HeaderChoice, ReadMeter, ReadOptions, STDIN, source};
use leakgauge_base::error::{Error, Result};

/// Rows looked at before the types of columns are settled.
pub const PROBE_ROWS: usize = 10_000;
/// … unless they are this many bytes.
pub const PROBE_BYTES: usize = 16 << 20;

/// The text of a field that a row does not have.
pub const MISSING: &str = "(missing)";
/// The text of a field that holds nothing, as distinct from an empty text.
pub const NULL: &str = "(null)";

/// What reads Parquet and Arrow files. It is handed in, so that ingestion does not depend on their decoders.
pub trait ColumnarReader: Debug + Send + Sync {
    /// Opens a file, if its first bytes are those of a format with columns in binary.
    ///
    /// # Errors
    /// A file that is broken; columns that cannot become fields; options for delimited text.
    fn open_file(
        &self,
        name: &str,
        file: File,
        meter: &ReadMeter,
        options: &ReadOptions,
    ) -> Result<Opened>;

    /// Opens a stream of record batches.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file).
    fn open_stream(
        &self,
        name: &str,
        stream: Box<dyn Read + Send>,
        options: &ReadOptions,
    ) -> Result<Box<dyn Records>>;
}

/// A file that was looked at.
pub enum Opened {
    /// Its rows.
    Records(Box<dyn Records>),
    /// It holds no columns in binary; it stands at its beginning.
    Other(File),
}

/// A source of rows.
pub trait Records {
    /// Whether the first row is the names of the columns: the format says so, nothing is found out.
    fn is_named(&self) -> bool;

    /// How the rows are written down.
    fn format(&self) -> Format;

    /// What separates fields, in a format that has such a thing.
    fn delimiter(&self) -> Option<char>;

    /// The next row as it stands in the file, where a row is a line that says the same wherever it stands;
    /// it is not read by that.
    fn line(&mut self) -> Result<Option<&[u8]>> {
        Ok(None)
    }

    /// Passes over the row that [`line`](Self::line) showed.
    fn skip_line(&mut self) {}

    /// Reads the next row, with its position in the file; false behind the last.
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool>;
}

/// Opens what the user named: a file or standard input.
///
/// # Errors
/// As [`open`].
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
            Opened::Records(records) => return shaped(name, records, options),
            Opened::Other(file) => file,
        },
    };
    open(name, source::unpack(name, file, meter)?, options)
}

/// Opens a text by its name and its first bytes.
///
/// # Errors
/// A file that cannot be read or is not what it seems; options that do not fit its format.
pub fn open(
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
/// As [`open`].
pub fn open_behind(
    name: &str,
    head: Vec<u8>,
    input: Box<dyn Read + Send>,
    options: &ReadOptions,
    probe: usize,
) -> Result<Box<dyn Records>> {
    let columnar = Columnar::of(&head);
    if let (Some(Columnar::ArrowStream), Some(reader)) = (columnar, options.columnar) {
        let stream = Box::new(Cursor::new(head).chain(input));
        return shaped(name, reader.open_stream(name, stream, options)?, options);
    }
    if let Some(columnar) = columnar {
        return Err(columnar.needs_file(name, options.columnar.is_some()));
    }
    let records: Box<dyn Records> = if json_lines::is_json_lines(name, &head, options.delimiter) {
        refuse_no_header(name, "JSON, whose rows name their fields", options)?;
        let text = Box::new(Cursor::new(head).chain(input));
        Box::new(JsonLines::new(name, text, options, probe)?)
    } else {
        Box::new(Delimited::new(name, head, input, options.delimiter))
    };
    shaped(name, records, options)
}

fn shaped(
    name: &str,
    records: Box<dyn Records>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    Ok(if options.wide {
        Box::new(Wide::new(name, records, options)?)
    } else {
        records
    })
}

/// Refuses `--no-header` where a format names its columns.
pub fn refuse_no_header(name: &str, holds: &str, options: &ReadOptions) -> Result<()> {
    if options.header != HeaderChoice::Absent {
        return Ok(());
    }
    let problem = format!("{name} holds {holds}");
    Err(Error::parameter("--no-header", problem).with_hint("leave it out"))
}

/// The first rows of a file.
///
/// # Errors
/// A row that cannot be read.
pub fn read_probe(name: &str, records: &mut dyn Records, most: usize) -> Result<Vec<StringRecord>> {
    let mut probe = Vec::new();
    let mut bytes = 0;
    let mut record = ByteRecord::new();
    while probe.len() < most && bytes < PROBE_BYTES && records.next(&mut record)? {
        bytes += record.as_slice().len();
        let row = StringRecord::from_byte_record(rows::fitting(&record)).map_err(|error| {
            let column = error.utf8_error().field() + 1;
            rows::not_utf8(rows::place_of(name, &record).column(column.to_string()))
        })?;
        probe.push(row);
    }
    Ok(probe)
}
