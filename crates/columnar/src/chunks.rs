//! Where the bytes of a Parquet file come from: a file on disk, or an object behind a URL, of which only the
//! wanted columns are fetched.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use leakgauge_log::RemoteObject;

/// Bytes that are held of an object at once, shared among its wanted columns …
const HELD: u64 = 64 << 20;
/// … but of each of them at least so many …
const SMALLEST_PIECE: u64 = 256 << 10;
/// … and at most so many.
const LARGEST_PIECE: u64 = 8 << 20;

/// The bytes of a Parquet file.
pub(super) enum Chunks {
    /// On disk.
    File(File),
    /// Behind a URL.
    Object(ObjectChunks),
}

impl Chunks {
    /// The same bytes for another reader.
    ///
    /// # Errors
    /// No more files can be open.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Chunks::File(file) => Chunks::File(file.try_clone()?),
            Chunks::Object(object) => Chunks::Object(object.clone()),
        })
    }

    /// Some bytes.
    ///
    /// # Errors
    /// They cannot be read, or end before so many.
    pub(super) fn bytes(&self, start: u64, length: usize) -> io::Result<Bytes> {
        match self {
            Chunks::File(file) => {
                let mut file = file;
                let mut bytes = vec![0; length];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            Chunks::Object(object) => object.bytes(start, length),
        }
    }

    /// Says which parts will be read next, each from its beginning. An object gives their beginnings together.
    ///
    /// # Errors
    /// The object cannot be read.
    pub(super) fn prepare(&self, parts: Vec<Range<u64>>) -> io::Result<()> {
        match self {
            Chunks::File(_) => Ok(()),
            Chunks::Object(object) => object.prepare(parts),
        }
    }

    /// Why the last read from an object failed, if one did.
    pub(super) fn failure(&self) -> Option<io::Error> {
        match self {
            Chunks::File(_) => None,
            Chunks::Object(object) => object.held().failure.take(),
        }
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        match self {
            Chunks::File(file) => Length::len(file),
            Chunks::Object(object) => object.object.size(),
        }
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(match self {
            Chunks::File(file) => Box::new(file.get_read(start)?),
            Chunks::Object(object) => Box::new(ChunkRead {
                chunks: object.clone(),
                at: start,
            }),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        match self {
            Chunks::File(file) => file.get_bytes(start, length),
            Chunks::Object(object) => object.bytes(start, length).map_err(ParquetError::from),
        }
    }
}

/// An object, and pieces of it that were fetched ahead.
#[derive(Debug, Clone)]
pub(super) struct ObjectChunks {
    object: Arc<dyn RemoteObject>,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    pieces: Vec<Piece>,
    /// Bytes that are fetched of a part at once.
    at_once: u64,
    failure: Option<io::Error>,
}

/// A part of the object that is read from its beginning to its end, and the bytes of it that are held.
#[derive(Debug)]
struct Piece {
    part: Range<u64>,
    start: u64,
    bytes: Bytes,
}

impl Piece {
    /// What is held from a place on; empty if the place is outside.
    fn from(&self, at: u64) -> Bytes {
        match at.checked_sub(self.start).map(usize::try_from) {
            Some(Ok(at)) if at < self.bytes.len() => self.bytes.slice(at..),
            _ => Bytes::new(),
        }
    }
}

impl ObjectChunks {
    pub(super) fn new(object: Arc<dyn RemoteObject>) -> Self {
        ObjectChunks {
            object,
            held: Arc::default(),
        }
    }

    /// What a thread that panicked leaves is whole: pieces are replaced, never changed.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetch(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let fetched = self.object.ranges(ranges).map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.held().failure = Some(error);
            copy
        })?;
        Ok(fetched.into_iter().map(Bytes::from).collect())
    }

    fn prepare(&self, parts: Vec<Range<u64>>) -> io::Result<()> {
        let size = self.object.size();
        let clipped = |part: Range<u64>| part.start..part.end.min(size);
        let parts: Vec<_> = parts.into_iter().map(clipped).collect();
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let at_once = (HELD / parts.len().max(1) as u64).clamp(SMALLEST_PIECE, LARGEST_PIECE);
        let first = |part: &Range<u64>| part.start..part.end.min(part.start + at_once);
        let fetched = self.fetch(&parts.iter().map(first).collect::<Vec<_>>())?;
        let pieces = parts.into_iter().zip(fetched);
        let pieces = pieces.map(|(part, bytes)| Piece {
            start: part.start,
            part,
            bytes,
        });
        let mut held = self.held();
        held.pieces = pieces.collect();
        held.at_once = at_once;
        Ok(())
    }

    /// At least `length` bytes from a place on, or all to the end.
    fn from(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let (at, end) = {
            let held = self.held();
            let mut pieces = held.pieces.iter();
            let at = pieces.position(|piece| piece.part.contains(&start));
            if let Some(at) = at {
                let bytes = held.pieces[at].from(start);
                if bytes.len() as u64 >= length {
                    return Ok(bytes);
                }
            }
            let ahead = at.map_or(start, |at| {
                held.pieces[at].part.end.min(start + held.at_once)
            });
            (at, ahead.max(start.saturating_add(length)))
        };
        let end = end.min(self.object.size());
        if start >= end {
            return Ok(Bytes::new());
        }
        let bytes = self.fetch(std::slice::from_ref(&(start..end)))?;
        let bytes = bytes.into_iter().next().unwrap_or_default();
        if let Some(at) = at {
            let piece = &mut self.held().pieces[at];
            piece.start = start;
            piece.bytes = bytes.clone();
        }
        Ok(bytes)
    }

    fn bytes(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let mut bytes = self.from(start, length as u64)?;
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// Reads on from a place.
struct ChunkRead {
    chunks: ObjectChunks,
    at: u64,
}

impl Read for ChunkRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let bytes = self.chunks.from(self.at, 1)?;
        let n = bytes.len().min(buffer.len());
        buffer[..n].copy_from_slice(&bytes[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use leakgauge_log::{ColumnarReader, ReadMeter, ReadOptions, Row};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;
    use crate::ArrowReader;

    /// An object in memory that counts what is fetched of it.
    #[derive(Debug)]
    struct Counted {
        bytes: Vec<u8>,
        fetched: AtomicU64,
    }

    impl RemoteObject for Counted {
        fn size(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
            Box::new(io::Cursor::new(self.bytes.clone()))
        }

        fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
            let part = |range: &Range<u64>| {
                self.fetched
                    .fetch_add(range.end - range.start, Ordering::Relaxed);
                self.bytes[range.start as usize..range.end as usize].to_vec()
            };
            Ok(ranges.iter().map(part).collect())
        }
    }

    /// Ten columns of numbers that do not pack, in several row groups.
    fn table() -> Vec<u8> {
        let value = |row: i64, column: i64| (row * 10 + column).wrapping_mul(0x1e37_79b9_7f4a_7c15);
        let column = |column: i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(
                (0..60_000).map(|row| value(row, column)),
            ))
        };
        let columns = (0..10).map(|at| (format!("c{at}"), column(at)));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_max_row_group_row_count(Some(25_000));
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn rows(records: &mut dyn leakgauge_log::Records) -> Vec<String> {
        let mut row = Row::new();
        let mut rows = Vec::new();
        while records.next(&mut row).unwrap() {
            rows.push(format!("{row:?}"));
        }
        rows
    }

    #[test]
    fn of_an_object_only_the_wanted_columns_are_fetched() {
        let bytes = table();
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log.parquet");
        std::fs::write(&path, &bytes).unwrap();
        let options = ReadOptions {
            secret: Some("c1".into()),
            observe: Some(vec!["c7".into()]),
            ..ReadOptions::default()
        };
        let meter = ReadMeter::default();
        let file = File::open(&path).unwrap();
        let opened = ArrowReader
            .open_file("log", file, &meter, &options)
            .unwrap();
        let leakgauge_log::Opened::Records(mut of_disk) = opened else {
            panic!("it is Parquet");
        };
        let object = Arc::new(Counted {
            bytes,
            fetched: AtomicU64::new(0),
        });
        let of_object = ArrowReader.open_object("log", object.clone(), &meter, &options);
        let read = rows(&mut *of_object.unwrap());
        assert_eq!(read.len(), 60_001);
        assert!(read == rows(&mut *of_disk));
        // Two columns of ten, and the footer.
        let fetched = object.fetched.load(Ordering::Relaxed);
        assert!(
            fetched < object.size() / 5 + (80 << 10),
            "{fetched} of {}",
            object.size()
        );
        assert!(fetched > object.size() / 6);
    }
}
