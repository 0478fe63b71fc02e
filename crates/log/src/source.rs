//! Opening what the user named: a file or standard input, plain or packed, and refusing early what is
//! not delimited text.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::ByteRecord;

use crate::format::{Columnar, MAGIC_BYTES};
use crate::objects;
use crate::unpack::{self, Damage, Packing, without_packing};
use leakgauge_base::error::{Error, Result};

/// The longest text that is still believed to be a row of a log.
pub(crate) const LONGEST_ROW: usize = 16 << 20;

/// The name that stands for standard input.
pub const STDIN: &str = "-";

/// How far reading has come, for a progress display. Shared between the reader and whoever shows it.
#[derive(Debug, Default, Clone)]
pub struct ReadMeter {
    read: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
    /// Whether `total` already holds the files to come.
    expects: bool,
}

impl ReadMeter {
    /// The same meter, knowing all files that are going to be opened: what is left is then about all of
    /// them.
    #[must_use]
    pub fn expecting<'f>(&self, files: impl IntoIterator<Item = &'f String>) -> Self {
        // A file that cannot be opened is an error when it is.
        let size = |file: &String| std::fs::metadata(file).map_or(0, |facts| facts.len());
        let sizes = files.into_iter().filter(|file| *file != STDIN).map(size);
        self.total.fetch_add(sizes.sum(), Ordering::Relaxed);
        ReadMeter {
            expects: true,
            ..self.clone()
        }
    }

    /// Bytes read from disk so far.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Says how far reading has come.
    pub fn set(&self, read: u64) {
        self.read.store(read, Ordering::Relaxed);
    }

    /// So many more bytes are read.
    pub fn advance(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// An object of so many bytes is going to be read. No look at the files beforehand has seen it.
    pub(crate) fn found(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of all files that are expected or were opened so far; 0 where sizes are not known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

/// Opens a text for reading, unpacked and without a byte-order mark.
///
/// # Errors
/// A file that is missing, is a directory, cannot be read, or is plainly not text.
pub fn open(name: &str, meter: &ReadMeter) -> Result<Box<dyn Read + Send>> {
    let mut text = if name == STDIN {
        unpack(name, io::stdin(), meter)?
    } else {
        unpack(name, open_file(name, meter)?, meter)?
    };
    let head = first_bytes(&mut text, MAGIC_BYTES).map_err(|e| read_error(name, &e))?;
    match Columnar::of(&head) {
        Some(columnar) => Err(columnar.is_no_text(name)),
        None => Ok(Box::new(Cursor::new(head).chain(text))),
    }
}

/// Unpacks what is being read under a name.
///
/// # Errors
/// As [`open`]; columns in binary come through.
pub(crate) fn unpack(
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
    let packing = Packing::of(&packed);
    let rejoined = Cursor::new(packed).chain(buffered);
    let mut plain: Box<dyn Read + Send> = match packing {
        Some(packing) => packing.unpack(rejoined),
        None => Box::new(rejoined),
    };
    let mut head = first_bytes(&mut plain, 4).map_err(|e| read_error(name, &e))?;
    let is_npz = head.starts_with(b"PK\x03\x04") && without_packing(name).ends_with(".npz");
    if !is_npz && !without_packing(name).ends_with(".trs") {
        refuse_foreign_format(name, &head)?;
    }
    if head.starts_with(&[0xef, 0xbb, 0xbf]) {
        head.drain(..3);
    }
    Ok(Box::new(Cursor::new(head).chain(plain)))
}

/// Says what a failed read of a log means.
pub fn read_error(name: &str, error: &io::Error) -> Error {
    match Damage::of(error) {
        Some(damage) => Error::file(name, damage.to_string()).with_hint(damage.hint()),
        None => Error::file(name, error.to_string()),
    }
}

/// Opens a file that is to be read.
///
/// # Errors
/// A file that is missing, is a directory or cannot be read.
pub fn open_file(name: &str, meter: &ReadMeter) -> Result<File> {
    if objects::is_url(name) {
        return Err(objects::is_no_file(name));
    }
    let file = File::open(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::file(name, "no such file")
            .with_hint("give the path of a CSV, TSV or JSON lines file, or - for standard input")
            .with_source(error),
        _ => Error::io(name, error),
    })?;
    let facts = file.metadata().map_err(|error| Error::io(name, error))?;
    if facts.is_dir() {
        return Err(Error::file(name, "is a directory, not a log")
            .with_hint("name the files in it: 'directory/*.csv' are all of a name as one log"));
    }
    if !meter.expects {
        meter.total.fetch_add(facts.len(), Ordering::Relaxed);
    }
    Ok(file)
}

fn refuse_foreign_format(name: &str, head: &[u8]) -> Result<()> {
    let format = match head {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file inside a packed file",
        [b'P', b'K', 3, 4, ..] => "a zip or spreadsheet file",
        [b'B', b'Z', b'h', ..] => "a bzip2 file",
        [0xfd, b'7', b'z', b'X', ..] => "an xz file",
        [0x1f, 0x8b, ..] => "a gzip file inside a packed file",
        [0x89, b'P', b'N', b'G'] | [0xff, 0xd8, 0xff, ..] => "a picture",
        [0x89, b'H', b'D', b'F'] => "an HDF5 file",
        [b'%', b'P', b'D', b'F'] => "a PDF file",
        [b'S', b'Q', b'L', b'i'] => "an SQLite database",
        [0x80, 2..=5, ..] => "a pickle of Python",
        [0x7f, b'E', b'L', b'F'] => "a program",
        [0xd4, 0xc3, 0xb2, 0xa1] | [0xa1, 0xb2, 0xc3, 0xd4] | [0x0a, 0x0d, 0x0d, 0x0a] => {
            return Err(Error::file(name, "is a capture of packets").with_hint(
                "write what an observer sees of each visit to a table, for instance with `tshark -T fields -E header=y`",
            ));
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Err(Error::file(name, "is UTF-16 text")
                .with_hint("leakgauge reads UTF-8: convert it with `iconv -f utf-16 -t utf-8`"));
        }
        _ if head.contains(&0) => "a binary file, or UTF-16 text",
        _ => return Ok(()),
    };
    Err(Error::file(name, format!("is {format}")).with_hint(
        "leakgauge reads CSV, TSV and JSON lines in UTF-8, plain, gzip or zstd: save it as one of these",
    ))
}

/// Up to `wanted` bytes from the front of a reader; fewer only at its end.
pub fn first_bytes(reader: &mut impl Read, wanted: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(wanted);
    reader.take(wanted as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// All that is left of a text that is needed whole, such as a matrix or the edges of a graph. `name` stands for it in
/// messages.
///
/// # Errors
/// It cannot be read, or has more than 480 MiB, or far more than it has on disk.
pub fn whole_text(name: &str, input: impl Read) -> Result<Vec<u8>> {
    let text = whole(name, input, on_disk(name))?;
    if text.len() as u64 > unpack::MOST {
        return Err(Error::file(
            name,
            "has more than 480 MiB of text, which is too much to hold in memory",
        )
        .with_hint("is this the right file?"));
    }
    refuse_foreign_format(name, &text[..text.len().min(4)])?;
    Ok(text)
}

/// What a file has on disk; `None` if it is none.
pub(crate) fn on_disk(name: &str) -> Option<u64> {
    let facts = std::fs::metadata(name).ok()?;
    facts.is_file().then_some(facts.len())
}

/// All that is left of an input that has so much on disk.
///
/// # Errors
/// It cannot be read, or is far more than that.
pub(crate) fn whole(name: &str, mut input: impl Read, on_disk: Option<u64>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        // In steps: what is too much is never held.
        let n = (&mut input)
            .take(1 << 20)
            .read_to_end(&mut all)
            .map_err(|error| read_error(name, &error))?;
        if n == 0 {
            return Ok(all);
        }
        if !unpack::may_hold(all.len() as u64, on_disk) {
            return Err(Error::file(name, unpack::too_large()));
        }
    }
}

/// Opens a text as [`open`] does, for a reader that holds all of it. One that unpacks to far more than it has on disk
/// is an error once that is seen.
///
/// # Errors
/// As [`open`].
pub fn open_to_hold(name: &str) -> Result<impl Read + Send + use<>> {
    let meter = ReadMeter::default();
    Ok(Held {
        text: open(name, &meter)?,
        meter,
        unpacked: 0,
    })
}

/// A text that is held in memory.
struct Held<R> {
    text: R,
    meter: ReadMeter,
    unpacked: u64,
}

impl<R: Read> Read for Held<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.text.read(buffer)?;
        self.unpacked += n as u64;
        if !unpack::may_hold(self.unpacked, Some(self.meter.read())) {
            return Err(io::Error::other(unpack::too_large()));
        }
        Ok(n)
    }
}

/// Counts the bytes that pass, as they are on disk.
struct Metered<R> {
    inner: R,
    meter: ReadMeter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.meter.advance(n as u64);
        Ok(n)
    }
}

/// The text of a log, with two things that a CSV reader does not see by itself: that a row grows beyond
/// what any log has (a file of one line, a quote that is never closed), and that the file ends inside
/// a quote.
pub struct Source {
    text: Box<dyn Read + Send>,
    /// Bytes since [`row_is_read`](Self::row_is_read).
    since_row: usize,
    /// What is left of [`END`].
    end: &'static [u8],
}

/// Stands behind the last row. It is one more row, which no text can hold; where it does not come out
/// as a row, a quote is still open.
const END: &[u8] = b"\n\xff\n";

impl Source {
    /// A log from its text.
    pub fn new(text: impl Read + Send + 'static) -> Self {
        Source {
            text: Box::new(text),
            since_row: 0,
            end: END,
        }
    }

    /// A row has come out of the reader.
    pub fn row_is_read(&mut self) {
        self.since_row = 0;
    }

    /// Whether a row is the one behind the last.
    pub fn is_end(row: &ByteRecord) -> bool {
        row.len() == 1 && row[0] == END[1..2]
    }

    /// Whether a row has swallowed the one behind the last.
    pub fn holds_end(row: &ByteRecord) -> bool {
        // Hardly a row ends with the end of a line: the first look settles it.
        row.as_slice().last() == END.last() && row.as_slice().ends_with(END)
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row > LONGEST_ROW {
            return Err(io::Error::other(format!(
                "a row is longer than {} MiB: a quote may be left open, or the file is not one row per line",
                LONGEST_ROW >> 20
            )));
        }
        let n = self.text.read(buffer)?;
        self.since_row += n;
        if n == 0 {
            return self.end.read(buffer);
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_held_may_be_long_but_not_packed_to_nothing() {
        let read = |on_disk: u64| {
            let meter = ReadMeter::default();
            meter.advance(on_disk);
            let mut held = Held {
                text: io::repeat(b'1').take(unpack::MOST + (1 << 20)),
                meter,
                unpacked: 0,
            };
            io::copy(&mut held, &mut io::sink())
        };
        let refused = read(20_000).unwrap_err().to_string();
        assert!(
            refused.contains("unpacks to far more than its size"),
            "{refused}"
        );
        assert_eq!(read(40 << 20).unwrap(), unpack::MOST + (1 << 20));
    }

    #[test]
    fn what_is_needed_whole_is_refused_before_it_is_held() {
        let text = |bytes: u64| io::repeat(b'1').take(bytes);
        assert_eq!(whole("x", text(70 << 20), None).unwrap().len(), 70 << 20);
        assert!(whole("x", text(70 << 20), Some(300_000)).is_err());
        assert!(whole("x", text(70 << 20), Some(400_000)).is_ok());
        let refused = whole_text("no such file", text(u64::MAX))
            .unwrap_err()
            .to_string();
        assert!(refused.contains("hold in memory"), "{refused}");
    }
}
