//! Logs that hold columns in binary: Parquet and Arrow IPC. Their columns are decoded a batch at a time
//! and become the texts that JSON lines would hold.

mod damage;
mod ipc;
mod leaves;
mod nested;
mod pieces;
mod row_groups;
mod texts;

use std::fs::File;
use std::io::{Read, Seek};

use arrow::array::RecordBatch;
use csv::{ByteRecord, Position};

use crate::leaves::Leaves;
use crate::pieces::{Piece, Pieces};
use leakgauge_base::error::{Error, Result};
use leakgauge_log::format::{Columnar, Format, MAGIC_BYTES};
use leakgauge_log::records::{ColumnarReader, Opened, Records, refuse_no_header};
use leakgauge_log::source::{self, ReadMeter};
use leakgauge_log::{ReadOptions, STDIN};

pub use texts::{Style, Texts, texts};

/// Reads Parquet and Arrow IPC; for [`ReadOptions::columnar`].
#[derive(Debug)]
pub struct ArrowReader;

impl ColumnarReader for ArrowReader {
    fn open_file(
        &self,
        name: &str,
        file: File,
        meter: &ReadMeter,
        options: &ReadOptions,
    ) -> Result<Opened> {
        open_file(name, file, meter, options)
    }

    fn open_stream(
        &self,
        name: &str,
        stream: Box<dyn Read + Send>,
        options: &ReadOptions,
    ) -> Result<Box<dyn Records>> {
        open_stream(name, stream, options)
    }
}

/// Batches of the columns that are wanted, in the order of their rows.
trait Batches: Send {
    /// The next batch; `None` behind the last.
    fn next(&mut self) -> Result<Option<RecordBatch>>;

    /// What is being read, in words: `row group 3`.
    fn part(&self) -> String;
}

/// Opens a file, if its first bytes are those of Parquet or of an Arrow file.
///
/// # Errors
/// A file that is cut off, encrypted or broken at its end; columns that are no text and cannot become one;
/// options for delimited text.
fn open_file(
    name: &str,
    mut file: File,
    meter: &ReadMeter,
    options: &ReadOptions,
) -> Result<Opened> {
    // What cannot be rewound (a pipe) is read once, from its beginning.
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return Ok(Opened::Other(file));
    }
    let failed = |error| source::read_error(name, &error);
    let head = source::first_bytes(&mut file, MAGIC_BYTES).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let columnar = match Columnar::of(&head) {
        None if row_groups::is_encrypted(&mut file).map_err(failed)? => Columnar::Parquet,
        None | Some(Columnar::ArrowStream) => return Ok(Opened::Other(file)),
        Some(columnar) => columnar,
    };
    refuse_text_options(name, columnar, options)?;
    let meter = meter.clone();
    let (leaves, batches): (Leaves, Box<dyn Batches>) = match columnar {
        Columnar::Parquet => row_groups::open(name, file, meter, options)?,
        _ => ipc::open_file(name, file, meter, options)?,
    };
    let format = match columnar {
        Columnar::Parquet => Format::Parquet,
        _ => Format::Arrow,
    };
    let records = ColumnarRecords::new(name, format, leaves, batches);
    Ok(Opened::Records(Box::new(records)))
}

/// Opens an Arrow IPC stream.
///
/// # Errors
/// As [`open_file`].
fn open_stream(
    name: &str,
    stream: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    refuse_text_options(name, Columnar::ArrowStream, options)?;
    let (leaves, batches) = ipc::open_stream(name, stream, options)?;
    let records = ColumnarRecords::new(name, Format::Arrow, leaves, batches);
    Ok(Box::new(records))
}

fn refuse_text_options(name: &str, columnar: Columnar, options: &ReadOptions) -> Result<()> {
    refuse_no_header(name, "columns that have names", options)?;
    if options.delimiter.is_none() {
        return Ok(());
    }
    let name = if name == STDIN {
        "standard input"
    } else {
        name
    };
    let problem = format!("{name} is {columnar}, where nothing separates fields");
    Err(Error::parameter("--delimiter", problem).with_hint("leave it out"))
}

/// Rows out of batches that are decoded ahead.
struct ColumnarRecords {
    format: Format,
    names: Vec<String>,
    pieces: Pieces,
    piece: Piece,
    /// The next row of `piece`.
    at: usize,
    /// The texts of the next row.
    line: Vec<u8>,
    is_begun: bool,
}

impl ColumnarRecords {
    fn new(name: &str, format: Format, leaves: Leaves, batches: Box<dyn Batches>) -> Self {
        ColumnarRecords {
            format,
            names: leaves.names().map(str::to_owned).collect(),
            pieces: Pieces::of(name, leaves, batches),
            piece: Piece::default(),
            at: 0,
            line: Vec::new(),
            is_begun: false,
        }
    }

    /// Whether there is a next row; decodes it if need be.
    fn has_row(&mut self) -> Result<bool> {
        while self.at == self.piece.rows {
            let Some(piece) = self.pieces.next()? else {
                return Ok(false);
            };
            self.piece = piece;
            self.at = 0;
        }
        Ok(true)
    }
}

impl Records for ColumnarRecords {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        self.format
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn line(&mut self) -> Result<Option<&[u8]>> {
        if !self.is_begun || !self.has_row()? {
            return Ok(None);
        }
        self.line.clear();
        for texts in self.piece.columns.iter().flatten() {
            self.line.extend_from_slice(texts.get(self.at).as_bytes());
            // No text holds this byte: different rows are different lines.
            self.line.push(0xff);
        }
        Ok(Some(&self.line))
    }

    fn skip_line(&mut self) {
        self.at += 1;
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        record.clear();
        if !self.is_begun {
            self.is_begun = true;
            record.extend(&self.names);
            return Ok(!self.names.is_empty());
        }
        if !self.has_row()? {
            return Ok(false);
        }
        for column in &self.piece.columns {
            // A column that no option names keeps its place, and nothing else.
            let text = column.as_ref().map_or("", |texts| texts.get(self.at));
            record.push_field(text.as_bytes());
        }
        let mut position = Position::new();
        position.set_record(self.piece.before + self.at as u64);
        record.set_position(Some(position));
        self.at += 1;
        Ok(true)
    }
}
