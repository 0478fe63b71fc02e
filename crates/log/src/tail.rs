//! Reading a log that grows: a file behind its end, or standard input until it ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::format::{Columnar, MAGIC_BYTES};
use crate::source::{self, LONGEST_ROW, ReadMeter, STDIN};
use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

/// How long to wait before looking again.
const POLL: Duration = Duration::from_millis(200);
/// Bytes taken at once.
const CHUNK: usize = 1 << 16;
/// What is at hand is handed out together, but not more than about so much.
const AT_HAND: usize = 1 << 20;
/// So many bytes before the end are looked at again, to see whether they are still there.
const LOOKED_AT: usize = 64;

/// The text of a growing log, whole lines only, until its end or until it is told to stop. A line that
/// is still being written when it stops is left out.
pub struct Tail {
    from: From,
    stop: Arc<AtomicBool>,
    /// Read and not yet handed out.
    ready: Vec<u8>,
    at: usize,
    /// The beginning of a line without its end.
    partial: Vec<u8>,
    ended: bool,
    /// What went wrong behind what is ready.
    failed: Option<io::Error>,
}

enum From {
    File(Growing),
    Channel(Receiver<io::Result<Vec<u8>>>),
}

/// What came next.
enum Next {
    Bytes(Vec<u8>),
    /// Nothing yet.
    Nothing,
    End,
    Stopped,
}

/// A file that is waited on.
struct Growing {
    name: String,
    file: File,
    read: u64,
    /// The last bytes that were read.
    last: Vec<u8>,
}

/// Opens a log to be followed: a file is waited on until `stop` is set, `-` and pipes are read to their end. A file
/// that becomes shorter, or is replaced by another one under its name, is an error when it is read.
///
/// # Errors
/// As [`open`](super::open()); a packed file.
pub fn follow(name: &str, stop: Arc<AtomicBool>) -> Result<Box<dyn Read + Send>> {
    let listening = |heard: io::Result<_>| heard.map_err(|error| Error::io(name, error));
    let from = if name == STDIN {
        From::Channel(listening(listen(io::stdin()))?)
    } else {
        let mut file = source::open_file(name, &ReadMeter::default())?;
        if without_packing(name) != name {
            return Err(
                Error::file(name, "a packed file cannot be followed while it grows")
                    .with_hint("unpack it; or give `-`, and pipe in what `gzip -dc` unpacks"),
            );
        }
        if file.metadata().is_ok_and(|facts| facts.is_file()) {
            refuse_columns(name, &mut file)?;
            From::File(Growing {
                name: name.to_owned(),
                file,
                read: 0,
                last: Vec::new(),
            })
        } else {
            From::Channel(listening(listen(file))?)
        }
    };
    let tail = Tail {
        from,
        stop,
        ready: Vec::new(),
        at: 0,
        partial: Vec::new(),
        ended: false,
        failed: None,
    };
    source::unpack(name, tail, &ReadMeter::default())
}

impl Growing {
    /// What the file has grown by; `None` if it has not. `has_waited`: something may have happened to it since it was
    /// read.
    fn next(&mut self, has_waited: bool) -> io::Result<Option<Vec<u8>>> {
        if has_waited {
            self.check()?;
        }
        let mut bytes = vec![0; CHUNK];
        let n = self.file.read(&mut bytes)?;
        if n == 0 {
            return Ok(None);
        }
        bytes.truncate(n);
        self.read += n as u64;
        self.last
            .extend_from_slice(&bytes[n.saturating_sub(LOOKED_AT)..]);
        self.last.drain(..self.last.len().saturating_sub(LOOKED_AT));
        Ok(Some(bytes))
    }

    /// Checks that the name is still that of the file, and that what was read is still in it.
    fn check(&mut self) -> io::Result<()> {
        let changed = |what: &str| {
            let problem = format!("{what} while it was followed (rotated?): follow the new file");
            Err(io::Error::other(problem))
        };
        let Ok(named) = std::fs::metadata(&self.name) else {
            return changed("became shorter or vanished");
        };
        if !is_of(&named, &self.file.metadata()?) {
            return changed("was replaced by another file");
        }
        if named.len() < self.read {
            return changed("became shorter or vanished");
        }
        let mut there = vec![0; self.last.len()];
        let from = self.read - self.last.len() as u64;
        self.file.seek(SeekFrom::Start(from))?;
        match self.file.read_exact(&mut there) {
            Ok(()) if there == self.last => Ok(()),
            Ok(()) => changed("was written anew"),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                changed("became shorter or vanished")
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether two descriptions are of one file.
#[cfg(unix)]
fn is_of(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Here only lengths and bytes tell files apart.
#[cfg(not(unix))]
fn is_of(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    true
}

/// Columns in binary have no lines to wait for.
fn refuse_columns(name: &str, file: &mut File) -> Result<()> {
    let failed = |error| source::read_error(name, &error);
    let head = source::first_bytes(file, MAGIC_BYTES).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let arrays: [&[u8]; 2] = [b"\x93NUMPY", b"PK\x03\x04"];
    match Columnar::of(&head) {
        Some(columnar) => Err(columnar.cannot_grow(name)),
        None if arrays.iter().any(|magic| head.starts_with(magic)) => Err(Error::file(
            name,
            "is an array or an archive of arrays, which cannot be followed",
        )
        .with_hint(format!("read it whole, without {}", option("follow")))),
        None => Ok(()),
    }
}

/// Reads on a thread of its own, so that waiting for more can be interrupted.
fn listen(mut input: impl Read + Send + 'static) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (sender, receiver) = sync_channel(4);
    std::thread::Builder::new().spawn(move || {
        loop {
            let mut bytes = vec![0; CHUNK];
            let read = match input.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(n) => {
                    bytes.truncate(n);
                    Ok(bytes)
                }
                Err(error) => Err(error),
            };
            let last = read.as_ref().map_or(true, Vec::is_empty);
            if sender.send(read).is_err() || last {
                return;
            }
        }
    })?;
    Ok(receiver)
}

impl Tail {
    /// What is at hand, or, if it `waits`, what comes.
    fn next(&mut self, waits: bool) -> io::Result<Next> {
        let mut has_waited = false;
        while !self.stop.load(Ordering::Relaxed) {
            match &mut self.from {
                From::Channel(channel) => {
                    let patience = if waits { POLL } else { Duration::ZERO };
                    match channel.recv_timeout(patience) {
                        Ok(bytes) => {
                            let bytes = bytes?;
                            return Ok(match bytes.is_empty() {
                                true => Next::End,
                                false => Next::Bytes(bytes),
                            });
                        }
                        Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
                        Err(RecvTimeoutError::Timeout) if waits => {}
                        Err(RecvTimeoutError::Timeout) => return Ok(Next::Nothing),
                    }
                }
                From::File(file) => match file.next(has_waited)? {
                    Some(bytes) => return Ok(Next::Bytes(bytes)),
                    None if waits => {
                        std::thread::sleep(POLL);
                        has_waited = true;
                    }
                    None => return Ok(Next::Nothing),
                },
            }
        }
        Ok(Next::Stopped)
    }

    /// Fills `ready` with the whole lines that are at hand, at least one of them, with the rest at the end, or with
    /// what of a line is too long for a row.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while !self.ended && self.ready.len() < AT_HAND {
            match self.next(self.ready.is_empty()) {
                Ok(Next::Bytes(bytes)) => self.take(&bytes),
                Ok(Next::Nothing) => break,
                Ok(Next::End) => {
                    self.ready.append(&mut self.partial);
                    self.ended = true;
                }
                Ok(Next::Stopped) => self.ended = true,
                Err(error) if self.ready.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) {
        let line_break = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = line_break.map_or(0, |at| at + 1);
        if whole > 0 {
            self.ready.append(&mut self.partial);
            self.ready.extend_from_slice(&bytes[..whole]);
        }
        self.partial.extend_from_slice(&bytes[whole..]);
        // Whoever reads lines refuses one that is so long.
        if self.partial.len() > LONGEST_ROW {
            self.ready.append(&mut self.partial);
        }
    }
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.fill()?;
        }
        let n = buffer.len().min(self.ready.len() - self.at);
        buffer[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
