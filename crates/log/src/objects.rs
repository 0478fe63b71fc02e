//! Logs behind URLs. What fetches them is handed in, so that ingestion does not depend on networks.

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use leakgauge_base::error::{Error, Result};

/// The beginnings of names that stand for objects on other machines.
const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "http://", "https://"];

/// Whether a name stands for an object in a store or on a web server.
pub fn is_url(name: &str) -> bool {
    SCHEMES.iter().any(|scheme| name.starts_with(scheme))
}

/// Finds objects by their URLs.
pub trait ObjectReader: Debug + Send + Sync {
    /// Looks up an object.
    ///
    /// # Errors
    /// No such object, no access, no answer.
    fn open(&self, url: &str) -> Result<Arc<dyn RemoteObject>>;

    /// The objects that a URL with `*` or with `/` at its end stands for, sorted; itself, if it has neither.
    ///
    /// # Errors
    /// As [`open`](Self::open); a pattern that no object matches.
    fn expand(&self, url: &str) -> Result<Vec<String>>;
}

/// An object that can be read.
pub trait RemoteObject: Debug + Send + Sync {
    /// Its bytes in all.
    fn size(&self) -> u64;

    /// Its bytes from the first to the last.
    fn stream(self: Arc<Self>) -> Box<dyn Read + Send>;

    /// Some of its bytes, range by range.
    ///
    /// # Errors
    /// No answer, or the object has changed since it was opened.
    fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>>;
}

/// An object as a file that is read here and there.
#[derive(Debug)]
pub struct SeekableObject {
    object: Arc<dyn RemoteObject>,
    at: u64,
}

impl SeekableObject {
    /// An object, from its beginning.
    pub fn new(object: Arc<dyn RemoteObject>) -> Self {
        SeekableObject { object, at: 0 }
    }
}

impl Read for SeekableObject {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.object.size().min(self.at + buffer.len() as u64);
        if self.at >= end {
            return Ok(0);
        }
        let bytes = self
            .object
            .ranges(std::slice::from_ref(&(self.at..end)))?
            .concat();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl Seek for SeekableObject {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.object.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The reader of objects of this build.
///
/// # Errors
/// There is none.
pub fn reader(
    name: &str,
    objects: Option<&'static dyn ObjectReader>,
) -> Result<&'static dyn ObjectReader> {
    objects.ok_or_else(|| {
        Error::file(name, "this build reads no object stores and no web servers").with_hint(
            "build it with: cargo build --release --features object-store; or fetch the file, and name the copy",
        )
    })
}

/// The error of whoever reads files of this machine only.
pub(crate) fn is_no_file(name: &str) -> Error {
    Error::file(name, "is a URL, where a file of this machine is needed")
        .with_hint("fetch the file, and name the copy: only logs are read from other machines")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[derive(Debug)]
    pub(crate) struct Memory(pub(crate) &'static [u8]);

    impl RemoteObject for Memory {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }

        fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
            Box::new(self.0)
        }

        fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
            let part =
                |range: &Range<u64>| self.0[range.start as usize..range.end as usize].to_vec();
            Ok(ranges.iter().map(part).collect())
        }
    }

    #[test]
    fn an_object_is_read_here_and_there() {
        let mut object = SeekableObject::new(Arc::new(Memory(b"0123456789")));
        let mut bytes = [0; 3];
        object.seek(SeekFrom::End(-4)).unwrap();
        object.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"678");
        object.seek(SeekFrom::Current(-5)).unwrap();
        let mut rest = String::new();
        object.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "456789");
        assert!(object.seek(SeekFrom::End(-11)).is_err());
    }
}
