//! Logs that hold columns in binary: Parquet, Arrow IPC, and Arrow record batches in memory. Their columns are
//! decoded a batch at a time. Numbers stay numbers; everything else becomes the texts that JSON lines would hold.

mod chunks;
mod coded;
mod damage;
mod decoded_batches;
mod ipc;
mod key_counts;
mod keys;
mod leaves;
mod numbers;
mod record_batches;
mod row_groups;
mod rows;
mod texts;
mod values;

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;

use crate::chunks::{Chunks, ObjectChunks};
use crate::decoded_batches::Batches;
use crate::leaves::Leaves;
use crate::rows::ColumnarRecords;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_log::format::{Columnar, Format, MAGIC_BYTES};
use leakgauge_log::source::{self, ReadMeter};
use leakgauge_log::{
    ColumnarReader, Opened, ReadOptions, Records, RemoteObject, STDIN, SeekableObject,
};

pub use key_counts::KeyCounts;
pub use record_batches::{from_batches, from_batches_fit_on};
pub use values::{Problem, Values, values};

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

    fn open_object(
        &self,
        name: &str,
        object: Arc<dyn RemoteObject>,
        meter: &ReadMeter,
        options: &ReadOptions,
    ) -> Result<Box<dyn Records>> {
        open_object(name, object, meter, options)
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
        Columnar::Parquet => row_groups::open(name, Chunks::File(file), meter, options)?,
        _ => ipc::open_file(name, Box::new(file), meter, options)?,
    };
    let records = ColumnarRecords::new(name, format(columnar), leaves, batches);
    Ok(Opened::Records(Box::new(records)))
}

/// Opens an object that is a Parquet or an Arrow file.
///
/// # Errors
/// As [`open_file`]; no answer of the server.
fn open_object(
    name: &str,
    object: Arc<dyn RemoteObject>,
    meter: &ReadMeter,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    let mut file = SeekableObject::new(object.clone());
    let head = source::first_bytes(&mut file, MAGIC_BYTES)
        .map_err(|error| source::read_error(name, &error))?;
    let columnar = Columnar::of(&head).unwrap_or(Columnar::Parquet);
    refuse_text_options(name, columnar, options)?;
    let meter = meter.clone();
    let (leaves, batches): (Leaves, Box<dyn Batches>) = match columnar {
        Columnar::Parquet => {
            let chunks = Chunks::Object(ObjectChunks::new(object));
            row_groups::open(name, chunks, meter, options)?
        }
        _ => ipc::open_file(name, Box::new(file), meter, options)?,
    };
    let records = ColumnarRecords::new(name, format(columnar), leaves, batches);
    Ok(Box::new(records))
}

fn format(columnar: Columnar) -> Format {
    match columnar {
        Columnar::Parquet => Format::Parquet,
        _ => Format::Arrow,
    }
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
    options.refuse_no_header(name, "columns that have names")?;
    if options.delimiter.is_none() {
        return Ok(());
    }
    let name = if name == STDIN {
        "standard input"
    } else {
        name
    };
    let problem = format!("{name} is {columnar}, where nothing separates fields");
    Err(Error::parameter(option("delimiter"), problem).with_hint("leave it out"))
}
