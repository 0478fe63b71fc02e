//! Arrow IPC, files and streams. What a message says of its own size is checked before memory is taken
//! for it: a broken one may say anything.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow::ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};

use crate::damage::{damaged, guarded, too_wide};
use crate::decoded_batches::{Batches, Rows};
use crate::leaves::Leaves;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::ReadOptions;
use leakgauge_log::source::{self, ReadMeter};

/// The most bytes that one column of a batch may unpack to.
const LARGEST_COLUMN: i64 = 2 << 30;
/// The most bytes that a message may be beside its columns.
const LARGEST_HEAD: u32 = 256 << 20;
/// What stands before every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Behind the footer: its length and `ARROW1`.
const FILE_END: usize = 10;

/// A file on disk, or an object behind a URL.
pub(super) trait Seekable: Read + Seek + Send {}

impl<F: Read + Seek + Send> Seekable for F {}

type Opened = Result<(Leaves, Box<dyn Batches>)>;

/// Why a message is not decoded.
enum Failure {
    Io(io::Error),
    Broken(String),
}

impl Failure {
    fn broken(words: impl Into<String>) -> Self {
        Failure::Broken(words.into())
    }

    fn into_error(self, name: &str, part: &str) -> Error {
        match self {
            Failure::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => truncated(name),
            Failure::Io(error) => source::read_error(name, &error),
            Failure::Broken(words) => damaged(name, part, words),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Failure::Broken(error.to_string())
    }
}

type Decoded<T> = std::result::Result<T, Failure>;

fn truncated(name: &str) -> Error {
    Error::file(
        name,
        "ends before its end: it is truncated, or its writer did not close it",
    )
    .with_hint("copy the file again, or write it anew and close its writer")
}

/// The columns of an Arrow file and its rows.
///
/// # Errors
/// A file without its end, or whose end cannot be read.
pub(super) fn open_file(
    name: &str,
    file: Box<dyn Seekable>,
    meter: ReadMeter,
    options: &ReadOptions,
) -> Opened {
    let part = "the footer of the Arrow file";
    let mut blocks = guarded(|| Blocks::open(name, file, meter))
        .unwrap_or_else(|words| Err(Failure::Broken(words)))
        .map_err(|failure| failure.into_error(name, part))?;
    let leaves = Leaves::of(name, &blocks.schema, options)?;
    blocks.decoder = Some(
        FileDecoder::new(blocks.schema.clone(), blocks.version)
            .with_projection(leaves.roots().to_vec()),
    );
    Ok((leaves, Box::new(blocks)))
}

/// The record batches of a file.
struct Blocks {
    name: String,
    file: Box<dyn Seekable>,
    length: u64,
    schema: SchemaRef,
    version: arrow::ipc::MetadataVersion,
    decoder: Option<FileDecoder>,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
    /// The batch that is being read or comes next.
    at: usize,
    meter: ReadMeter,
}

impl Blocks {
    fn open(name: &str, mut file: Box<dyn Seekable>, meter: ReadMeter) -> Decoded<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let mut end = [0; FILE_END];
        if length >= 2 * FILE_END as u64 {
            file.seek(SeekFrom::End(-(FILE_END as i64)))?;
            file.read_exact(&mut end)?;
        }
        if !end.ends_with(b"ARROW1") {
            return Err(Failure::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        let footer = read_footer_length(end)? as u64;
        let start = (length - FILE_END as u64).checked_sub(footer);
        let start = start.ok_or_else(|| Failure::broken("it is longer than the file"))?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; footer as usize];
        file.read_exact(&mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(|error| Failure::broken(error.to_string()))?;
        let schema = footer
            .schema()
            .ok_or_else(|| Failure::broken("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(Failure::broken(
                "its numbers are in the byte order of another machine",
            ));
        }
        Ok(Blocks {
            name: name.to_owned(),
            schema: Arc::new(fb_to_schema(schema)),
            version: footer.version(),
            decoder: None,
            dictionaries: footer
                .dictionaries()
                .map_or(Vec::new(), |blocks| blocks.iter().copied().collect()),
            batches: footer
                .recordBatches()
                .map_or(Vec::new(), |blocks| blocks.iter().copied().collect()),
            at: 0,
            meter,
            length,
            file,
        })
    }

    /// The bytes of a message and its body.
    fn block(&mut self, block: &Block) -> Decoded<Buffer> {
        let out_of_file = || Failure::broken("it is said to stand outside of the file");
        let size = |bytes: i64| u64::try_from(bytes).map_err(|_| out_of_file());
        let (start, head) = (size(block.offset())?, size(block.metaDataLength().into())?);
        let body = size(block.bodyLength())?;
        let end = start
            .checked_add(head)
            .and_then(|end| end.checked_add(body));
        if end.is_none_or(|end| end > self.length) {
            return Err(out_of_file());
        }
        self.file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; (head + body) as usize];
        self.file.read_exact(&mut bytes)?;
        let (head, body) = bytes.split_at(head as usize);
        let prefix = if head.starts_with(&CONTINUATION) {
            8
        } else {
            4
        };
        check_sizes(head.get(prefix..).unwrap_or_default(), body)?;
        self.meter.advance((head.len() + body.len()) as u64);
        Ok(Buffer::from_vec(bytes))
    }

    fn decode(&mut self) -> Decoded<Option<RecordBatch>> {
        let mut decoder = self.decoder.take().expect("given when the file is opened");
        for block in std::mem::take(&mut self.dictionaries) {
            let bytes = self.block(&block)?;
            decoder.read_dictionary(&block, &bytes)?;
        }
        let Some(&block) = self.batches.get(self.at) else {
            return Ok(None);
        };
        let bytes = self.block(&block)?;
        let batch = decoder.read_record_batch(&block, &bytes)?;
        self.decoder = Some(decoder);
        batch
            .map(Some)
            .ok_or_else(|| Failure::broken("its message holds no rows"))
    }
}

impl Batches for Blocks {
    fn next(&mut self) -> Result<Option<Rows>> {
        let batch = self.decode();
        let batch = batch.map_err(|failure| failure.into_error(&self.name, &self.part()))?;
        self.at += 1;
        Ok(batch.map(Rows::Batch))
    }

    fn part(&self) -> String {
        format!("record batch {}", self.at + 1)
    }
}

/// The columns of an Arrow stream and its rows.
///
/// # Errors
/// A stream that does not begin with a schema.
pub(super) fn open_stream(
    name: &str,
    stream: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Opened {
    let mut stream = Stream {
        name: name.to_owned(),
        input: BufReader::with_capacity(1 << 17, stream),
        decoder: StreamDecoder::new(),
        rest: Buffer::default(),
        roots: Vec::new(),
        at: 0,
        is_over: false,
    };
    let schema = guarded(|| stream.schema())
        .unwrap_or_else(|words| Err(Failure::Broken(words)))
        .map_err(|failure| failure.into_error(name, "the schema of the Arrow stream"))?;
    let leaves = Leaves::of(name, &schema, options)?;
    stream.roots = leaves.roots().to_vec();
    Ok((leaves, Box::new(stream)))
}

/// The record batches of a stream.
struct Stream {
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    decoder: StreamDecoder,
    /// What is read and not yet decoded.
    rest: Buffer,
    roots: Vec<usize>,
    /// Batches decoded.
    at: usize,
    is_over: bool,
}

impl Stream {
    /// The first message, which is left to be decoded.
    fn schema(&mut self) -> Decoded<Schema> {
        let first = self.message()?;
        let first = first.ok_or_else(|| Failure::broken("there is none"))?;
        let message = message(&first[8..])?;
        let schema = message.header_as_schema();
        let schema = schema.ok_or_else(|| Failure::broken("another message comes first"))?;
        let schema = fb_to_schema(schema);
        self.rest = first;
        Ok(schema)
    }

    /// The next message, whole; `None` at the mark of the end.
    fn message(&mut self) -> Decoded<Option<Buffer>> {
        let mut bytes = vec![0; 8];
        self.input.read_exact(&mut bytes)?;
        if bytes[..4] != CONTINUATION {
            return Err(Failure::broken("no message begins where one should"));
        }
        let size = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        if size == 0 {
            return Ok(None);
        }
        if size > LARGEST_HEAD {
            return Err(Failure::broken(format!(
                "its head is said to have {size} bytes"
            )));
        }
        self.read_on(&mut bytes, size.into())?;
        let head = bytes.len();
        let body = message(&bytes[8..])?.bodyLength();
        let body = u64::try_from(body).map_err(|_| Failure::broken("its size is negative"))?;
        self.read_on(&mut bytes, body)?;
        check_sizes(&bytes[8..head], &bytes[head..])?;
        Ok(Some(Buffer::from_vec(bytes)))
    }

    /// Reads so many bytes; memory grows with what is there.
    fn read_on(&mut self, bytes: &mut Vec<u8>, count: u64) -> Decoded<()> {
        match (&mut self.input).take(count).read_to_end(bytes)? as u64 == count {
            true => Ok(()),
            false => Err(Failure::Io(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    fn decode(&mut self) -> Decoded<Option<RecordBatch>> {
        loop {
            while !self.rest.is_empty() {
                if let Some(batch) = self.decoder.decode(&mut self.rest)? {
                    return Ok(Some(batch.project(&self.roots)?));
                }
            }
            if self.is_over {
                return Ok(None);
            }
            match self.message()? {
                Some(message) => self.rest = message,
                None => {
                    // The decoder holds back a message without a body until it sees what follows.
                    self.is_over = true;
                    self.rest = Buffer::from([CONTINUATION, [0; 4]].concat());
                }
            }
        }
    }
}

impl Batches for Stream {
    fn next(&mut self) -> Result<Option<Rows>> {
        let batch = self.decode();
        let batch = batch.map_err(|failure| failure.into_error(&self.name, &self.part()))?;
        self.at += 1;
        Ok(batch.map(Rows::Batch))
    }

    fn part(&self) -> String {
        format!("record batch {}", self.at + 1)
    }
}

fn message(head: &[u8]) -> Decoded<Message<'_>> {
    root_as_message(head).map_err(|error| Failure::broken(error.to_string()))
}

/// Refuses columns that unpack to more than any batch holds.
fn check_sizes(head: &[u8], body: &[u8]) -> Decoded<()> {
    let message = message(head)?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|dictionary| dictionary.data()),
        _ => None,
    };
    let packed = batch.filter(|batch| batch.compression().is_some());
    let rows = packed.map_or(0, |batch| batch.length()).max(1);
    let Some(buffers) = packed.and_then(|batch| batch.buffers()) else {
        return Ok(());
    };
    let mut all = 0i64;
    for buffer in buffers.iter().filter(|buffer| buffer.length() >= 8) {
        // Where a buffer stands outside of the body, its decoder says so.
        let size = usize::try_from(buffer.offset()).ok();
        let size = size.and_then(|start| body.get(start..)?.first_chunk::<8>());
        let size = size.map_or(0, |&size| i64::from_le_bytes(size));
        if size > LARGEST_COLUMN {
            let most = LARGEST_COLUMN >> 30;
            let words = format!(
                "a column unpacks to {size} bytes, more than {most} GiB: write smaller batches"
            );
            return Err(Failure::Broken(words));
        }
        all = all.saturating_add(size.max(0));
    }
    match too_wide([all.unsigned_abs(), 0], rows.unsigned_abs()) {
        Some(words) => Err(Failure::Broken(words)),
        None => Ok(()),
    }
}
