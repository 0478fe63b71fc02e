//! Reading a log that grows: a file behind its end, or standard input until it ends.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::format::{Columnar, MAGIC_BYTES};
use crate::source::{self, ReadMeter, STDIN};
use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Result};

/// How long to wait before looking again.
const POLL: Duration = Duration::from_millis(200);
/// Bytes taken at once.
const CHUNK: usize = 1 << 16;

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
}

enum From {
    File {
        name: String,
        file: File,
        read: u64,
        grows: bool,
    },
    Channel(Receiver<io::Result<Vec<u8>>>),
}

/// What came next.
enum Next {
    Bytes(Vec<u8>),
    End,
    Stopped,
}

/// Opens a log to be followed: a file is waited on until `stop` is set, `-` is read to its end. A file
/// that becomes shorter is an error when it is read.
///
/// # Errors
/// As [`open`](super::open()); a packed file.
pub fn follow(name: &str, stop: Arc<AtomicBool>) -> Result<Box<dyn Read + Send>> {
    let from = if name == STDIN {
        From::Channel(listen(io::stdin()).map_err(|error| Error::io(name, error))?)
    } else {
        let mut file = source::open_file(name, &ReadMeter::default())?;
        if without_packing(name) != name {
            return Err(
                Error::file(name, "a packed file cannot be followed while it grows")
                    .with_hint("unpack it; or give `-`, and pipe in what `gzip -dc` unpacks"),
            );
        }
        let grows = file.metadata().is_ok_and(|facts| facts.is_file());
        if grows {
            refuse_columns(name, &mut file)?;
        }
        From::File {
            name: name.to_owned(),
            file,
            read: 0,
            grows,
        }
    };
    let tail = Tail {
        from,
        stop,
        ready: Vec::new(),
        at: 0,
        partial: Vec::new(),
        ended: false,
    };
    source::unpack(name, tail, &ReadMeter::default())
}

/// Columns in binary have no lines to wait for.
fn refuse_columns(name: &str, file: &mut File) -> Result<()> {
    let failed = |error| source::read_error(name, &error);
    let head = source::first_bytes(file, MAGIC_BYTES).map_err(failed)?;
    file.rewind().map_err(failed)?;
    match Columnar::of(&head) {
        Some(columnar) => Err(columnar.cannot_grow(name)),
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
    fn next(&mut self) -> io::Result<Next> {
        while !self.stop.load(Ordering::Relaxed) {
            match &mut self.from {
                From::Channel(channel) => match channel.recv_timeout(POLL) {
                    Ok(bytes) => {
                        let bytes = bytes?;
                        return Ok(if bytes.is_empty() {
                            Next::End
                        } else {
                            Next::Bytes(bytes)
                        });
                    }
                    Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
                    Err(RecvTimeoutError::Timeout) => {}
                },
                From::File {
                    name,
                    file,
                    read,
                    grows,
                } => {
                    let mut bytes = vec![0; CHUNK];
                    let n = file.read(&mut bytes)?;
                    *read += n as u64;
                    if n > 0 {
                        bytes.truncate(n);
                        return Ok(Next::Bytes(bytes));
                    }
                    if !*grows {
                        return Ok(Next::End);
                    }
                    if !std::fs::metadata(name).is_ok_and(|facts| facts.len() >= *read) {
                        return Err(io::Error::other(
                            "became shorter or vanished while it was followed (rotated?): follow the new file",
                        ));
                    }
                    std::thread::sleep(POLL);
                }
            }
        }
        Ok(Next::Stopped)
    }

    /// Fills `ready` with whole lines, or with the rest at the end.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() && !self.ended {
            match self.next()? {
                Next::Bytes(bytes) => {
                    let whole = bytes
                        .iter()
                        .rposition(|&byte| byte == b'\n')
                        .map_or(0, |at| at + 1);
                    if whole > 0 {
                        self.ready.append(&mut self.partial);
                        self.ready.extend_from_slice(&bytes[..whole]);
                    }
                    self.partial.extend_from_slice(&bytes[whole..]);
                }
                Next::End => {
                    self.ready.append(&mut self.partial);
                    self.ended = true;
                }
                Next::Stopped => self.ended = true,
            }
        }
        Ok(())
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
