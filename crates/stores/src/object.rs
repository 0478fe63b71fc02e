//! An object, read in parts.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use bytes::{Buf, Bytes};
use futures::{StreamExt, TryStreamExt, stream};
use leakgauge_base::error::{Error, Result};
use leakgauge_log::RemoteObject;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectMeta, ObjectStoreExt};

use crate::failure;
use crate::kind::Kind;
use crate::location::Location;
use crate::runtime::{LONGEST_ANSWER, no_answer, runtime, wait};

/// Bytes of a text that are asked for at once. Every part has its own time limit and repetitions.
const PART: u64 = 8 << 20;
/// Parts that are under way or wait to be read.
const AHEAD: usize = 3;

/// An object that was found.
#[derive(Debug)]
pub(crate) struct Object {
    location: Location,
    meta: ObjectMeta,
}

/// Looks an object up.
///
/// # Errors
/// It is not there, or the store does not answer.
pub(crate) fn open(location: &Location) -> Result<Object> {
    let path = location.path()?;
    let store = location.store.clone();
    let is_web = location.kind == Kind::Web;
    let found = wait(async move {
        match store.head(&path).await {
            // An answer without a body does not say what is missing; signed URLs are of one method.
            Err(error) if is_web || matches!(error, StoreError::NotFound { .. }) => {
                store.get(&path).await.map(|object| object.meta)
            }
            found => found,
        }
    });
    let found = found.map_err(|error| Error::file(&location.url, error.to_string()))?;
    let meta = found.map_err(|error| failure::explain(&location.url, location.kind, &error))?;
    Ok(Object {
        location: location.clone(),
        meta,
    })
}

impl Object {
    /// A request for bytes of the object as it was when it was found.
    fn request(&self, range: Option<Range<u64>>) -> GetOptions {
        // Weak tags match nothing.
        let tag = self.meta.e_tag.clone();
        GetOptions {
            range: range.map(GetRange::Bounded),
            if_match: tag.filter(|tag| !tag.starts_with("W/")),
            ..GetOptions::default()
        }
    }

    fn failed(&self, error: &StoreError) -> io::Error {
        let error = failure::explain(&self.location.url, self.location.kind, error);
        io::Error::other(error.problem().to_owned())
    }

    async fn part(&self, range: Range<u64>) -> object_store::Result<Bytes> {
        let request = self.request(Some(range));
        let answer = self.location.store.get_opts(&self.meta.location, request);
        answer.await?.bytes().await
    }

    /// The part, in bounded time.
    async fn timely(&self, range: Range<u64>) -> io::Result<Bytes> {
        let expected = range.end - range.start;
        let answer = tokio::time::timeout(LONGEST_ANSWER, self.part(range)).await;
        let answer = answer.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, no_answer()))?;
        let bytes = answer.map_err(|error| match error {
            StoreError::NotSupported { .. } => io::ErrorKind::Unsupported.into(),
            error => self.failed(&error),
        })?;
        if bytes.len() as u64 != expected {
            return Err(io::Error::other("has changed while it was read"));
        }
        Ok(bytes)
    }

    /// Sends all parts in order, until nobody takes them.
    async fn send(&self, sender: &SyncSender<io::Result<Bytes>>) {
        let size = self.meta.size;
        let starts = (0..size.div_ceil(PART)).map(|part| part * PART);
        let parts = starts.map(|start| self.timely(start..size.min(start + PART)));
        let mut parts = stream::iter(parts).buffered(AHEAD);
        let mut is_first = true;
        while let Some(part) = parts.next().await {
            let is_unsupported =
                |error: &io::Error| error.kind() == io::ErrorKind::Unsupported && is_first;
            if part.as_ref().is_err_and(is_unsupported) {
                return self.send_whole(sender).await;
            }
            is_first = false;
            let failed = part.is_err();
            if sender.send(part).is_err() || failed {
                return;
            }
        }
    }

    /// The same from a server that gives no parts.
    async fn send_whole(&self, sender: &SyncSender<io::Result<Bytes>>) {
        let request = self
            .location
            .store
            .get_opts(&self.meta.location, self.request(None));
        let mut bytes = match request.await {
            Ok(answer) => answer.into_stream(),
            Err(error) => return drop(sender.send(Err(self.failed(&error)))),
        };
        let mut left = self.meta.size;
        loop {
            let piece = match tokio::time::timeout(LONGEST_ANSWER, bytes.try_next()).await {
                Ok(Ok(Some(piece))) => Ok(piece),
                Ok(Ok(None)) if left == 0 => return,
                Ok(Ok(None)) => Err(io::Error::other("has changed while it was read")),
                Ok(Err(error)) => Err(self.failed(&error)),
                Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, no_answer())),
            };
            left = left.saturating_sub(piece.as_ref().map_or(0, |piece| piece.len() as u64));
            let failed = piece.is_err();
            if sender.send(piece).is_err() || failed {
                return;
            }
        }
    }
}

impl RemoteObject for Object {
    fn size(&self) -> u64 {
        self.meta.size
    }

    fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
        let (sender, receiver) = sync_channel(1);
        match runtime() {
            Ok(runtime) => {
                // A thread of its own: it waits while nobody reads.
                let to_thread = sender.clone();
                let send = move || runtime.block_on(self.send(&to_thread));
                if let Err(error) = std::thread::Builder::new().spawn(send) {
                    drop(sender.send(Err(error)));
                }
            }
            Err(error) => drop(sender.send(Err(error))),
        }
        Box::new(Parts {
            receiver,
            part: Bytes::new(),
        })
    }

    fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let object = Object {
            location: self.location.clone(),
            meta: self.meta.clone(),
        };
        let ranges = ranges.to_vec();
        wait(async move {
            let parts = ranges.into_iter().map(|range| object.timely(range));
            let parts = stream::iter(parts).buffered(2 * AHEAD);
            parts.map_ok(|bytes| bytes.to_vec()).try_collect().await
        })?
    }
}

/// The parts of a text one after another.
struct Parts {
    receiver: Receiver<io::Result<Bytes>>,
    part: Bytes,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            // The sender goes when all is sent.
            match self.receiver.recv() {
                Ok(part) => self.part = part?,
                Err(_) => return Ok(0),
            }
        }
        let n = self.part.len().min(buffer.len());
        self.part.copy_to_slice(&mut buffer[..n]);
        Ok(n)
    }
}
