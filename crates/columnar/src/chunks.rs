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
