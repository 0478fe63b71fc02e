//! Opening what the user named: a file or standard input, plain or gzip, and refusing early what is
//! not delimited text.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

/// The longest line that is still believed to be a row of a log.
const LONGEST_LINE: usize = 16 << 20;

/// The name that stands for standard input.
pub const STDIN: &str = "-";

/// How far reading has come, for a progress display. Shared between the reader and whoever shows it.
#[derive(Debug, Default, Clone)]
pub struct ReadMeter {
    read: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
}

impl ReadMeter {
    /// Bytes read from disk so far.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Bytes of all files opened so far; 0 where the size is not known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

/// Opens a log for reading, unpacked and without a byte-order mark.
///
/// # Errors
/// A file that is missing, is a directory, cannot be read, or is plainly not delimited text.
pub fn open(name: &str, meter: &ReadMeter) -> Result<Box<dyn Read + Send>> {
    if name == STDIN {
        unpack(name, io::stdin(), meter)
    } else {
        unpack(name, open_file(name, meter)?, meter)
    }
}

/// Unpacks what is being read under a name.
///
/// # Errors
/// As [`open`].
pub fn unpack(
    name: &str,
    raw: impl Read + Send + 'static,
    meter: &ReadMeter,
) -> Result<Box<dyn Read + Send>> {
    let metered = Metered {
        inner: raw,
        meter: meter.clone(),
    };
    let mut buffered = BufReader::with_capacity(1 << 17, metered);
    let packed = first_bytes(&mut buffered, 4).map_err(|e| read_error(name, &e))?;
    let is_gzip = packed.starts_with(&[0x1f, 0x8b]);
    refuse_foreign_format(name, &packed)?;
    let rejoined = Cursor::new(packed).chain(buffered);
    let plain: Box<dyn Read + Send> = if is_gzip {
        Box::new(MultiGzDecoder::new(rejoined))
    } else {
        Box::new(rejoined)
    };
    let mut guarded = LineGuard {
        inner: plain,
        since_break: 0,
    };
    let mut head = first_bytes(&mut guarded, 3).map_err(|e| read_error(name, &e))?;
    if head == [0xef, 0xbb, 0xbf] {
        head.clear();
    }
    Ok(Box::new(Cursor::new(head).chain(guarded)))
}

/// Says what a failed read of a log means.
pub fn read_error(name: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::file(
            name,
            "the gzip stream ends before its end: the file is truncated",
        )
        .with_hint("copy the file again, or unpack what is there with `gzip -dc` and use that"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            Error::file(name, format!("the gzip stream is damaged ({error})"))
                .with_hint("copy the file again")
        }
        _ => Error::file(name, error.to_string()),
    }
}

fn open_file(name: &str, meter: &ReadMeter) -> Result<File> {
    let file = File::open(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::file(name, "no such file")
            .with_hint("give the path of a CSV or TSV file, or - for standard input"),
        _ => Error::file(name, error.to_string()),
    })?;
    let facts = file
        .metadata()
        .map_err(|error| Error::file(name, error.to_string()))?;
    if facts.is_dir() {
        return Err(
            Error::file(name, "is a directory, not a log").with_hint("name the files in it")
        );
    }
    meter.total.fetch_add(facts.len(), Ordering::Relaxed);
    Ok(file)
}

fn refuse_foreign_format(name: &str, head: &[u8]) -> Result<()> {
    let format = match head {
        [b'P', b'A', b'R', b'1', ..] => "a Parquet file",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file",
        [b'P', b'K', 3, 4, ..] => "a zip or spreadsheet file",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16 text",
        _ => return Ok(()),
    };
    Err(Error::file(name, format!("is {format}"))
        .with_hint("leakgauge reads CSV and TSV in UTF-8, plain or gzip: convert it first"))
}

/// Up to `wanted` bytes from the front of a reader; fewer only at its end.
fn first_bytes(reader: &mut impl Read, wanted: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(wanted);
    reader.take(wanted as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Counts the bytes that pass, as they are on disk.
struct Metered<R> {
    inner: R,
    meter: ReadMeter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.meter.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Stops at a line that no log has, before it fills the memory.
struct LineGuard<R> {
    inner: R,
    since_break: usize,
}

impl<R: Read> Read for LineGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        match memchr::memrchr2(b'\n', b'\r', &buffer[..n]) {
            Some(last) => self.since_break = n - last - 1,
            None => self.since_break += n,
        }
        if self.since_break > LONGEST_LINE {
            return Err(io::Error::other(format!(
                "a line is longer than {} MiB: this does not look like one row per line",
                LONGEST_LINE >> 20
            )));
        }
        Ok(n)
    }
}
