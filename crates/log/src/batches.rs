//! The lines of a text, split and numbered on a thread of their own while those before are counted.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::lines::{Batch, Lines};
use crate::numbering::Numbering;

/// Batches that may wait.
const WAITING: usize = 8;

/// What the thread says.
enum Split {
    Batch(Batch),
    /// No more rows of a line each: what is left of the text.
    Rest(Box<Lines>),
    Failed(io::Error),
}

/// Rows of one line each.
pub struct Batches {
    receiver: Receiver<Split>,
    /// What the thread said last.
    last: Option<Split>,
}

impl Batches {
    /// Begins to split. Gives the lines back where no thread can be started.
    pub fn of(lines: Lines) -> Result<Batches, Lines> {
        let (sender, receiver) = sync_channel(WAITING);
        let (to_thread, given) = sync_channel(1);
        // It ends with the lines, or at the next rows that nobody takes.
        let thread = std::thread::Builder::new().spawn(move || {
            if let Ok(lines) = given.recv() {
                run(lines, &sender);
            }
        });
        if thread.is_err() {
            return Err(lines);
        }
        match to_thread.send(lines) {
            Ok(()) => Ok(Batches {
                receiver,
                last: None,
            }),
            Err(error) => Err(error.0),
        }
    }

    /// The next rows; `None` if what comes next is no row of one line.
    pub fn next(&mut self) -> io::Result<Option<Batch>> {
        if self.last.is_some() {
            return Ok(None);
        }
        match self.receive() {
            Split::Batch(batch) => Ok(Some(batch)),
            Split::Failed(error) => Err(error),
            rest => {
                self.last = Some(rest);
                Ok(None)
            }
        }
    }

    /// What is left of the text behind the last row.
    pub fn rest(&mut self) -> io::Result<Lines> {
        loop {
            match self.last.take().unwrap_or_else(|| self.receive()) {
                Split::Rest(lines) => return Ok(*lines),
                Split::Failed(error) => return Err(error),
                Split::Batch(_) => {}
            }
        }
    }

    fn receive(&mut self) -> Split {
        let lost = |_| Split::Failed(io::Error::other("the thread that splits lines is gone"));
        self.receiver.recv().unwrap_or_else(lost)
    }
}

fn run(mut lines: Lines, sender: &SyncSender<Split>) {
    let mut numbers = Numbering::default();
    loop {
        match lines.batch(&mut numbers) {
            Ok(Some(batch)) => {
                if sender.send(Split::Batch(batch)).is_err() {
                    return;
                }
            }
            // Nobody may be there to hear it.
            Ok(None) => return drop(sender.send(Split::Rest(Box::new(lines)))),
            Err(error) => return drop(sender.send(Split::Failed(error))),
        }
    }
}
