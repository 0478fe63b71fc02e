//! Batches as texts, decoded on a thread of their own while the rows before are counted.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow::array::{Array, RecordBatch};

use crate::Batches;
use crate::damage::{damaged, guarded};
use crate::leaves::Leaves;
use crate::texts::Texts;
use leakgauge_base::error::{Error, Place, Result};

/// Rows that become texts at once …
const MOST_ROWS: usize = 8192;
/// … unless they are this many bytes.
const MOST_BYTES: usize = 4 << 20;
/// Pieces that may wait.
const WAITING: usize = 4;

/// Some rows that follow each other.
#[derive(Default)]
pub(super) struct Piece {
    /// Rows of the file before them.
    pub(super) before: u64,
    /// How many they are.
    pub(super) rows: usize,
    /// The texts by column; `None` for a column that is not wanted.
    pub(super) columns: Vec<Option<Texts>>,
}

/// The pieces of a file, in order.
pub(super) struct Pieces {
    name: String,
    /// `None` behind the last piece: without it the thread has died.
    receiver: Receiver<Result<Option<Piece>>>,
    is_over: bool,
}

impl Pieces {
    /// Begins to decode.
    pub(super) fn of(name: &str, leaves: Leaves, batches: Box<dyn Batches>) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let mut decoder = Decoder {
            name: name.to_owned(),
            leaves,
            batches,
            rows: 0,
        };
        // It ends when its file does, or at the next piece that nobody takes.
        std::thread::spawn(move || decoder.run(&sender));
        Pieces {
            name: name.to_owned(),
            receiver,
            is_over: false,
        }
    }

    /// The next piece; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        if self.is_over {
            return Ok(None);
        }
        let lost = || Err(damaged(&self.name, "the file", "its decoder gave up"));
        let piece = self.receiver.recv().unwrap_or_else(|_| lost());
        self.is_over = !matches!(piece, Ok(Some(_)));
        piece
    }
}

struct Decoder {
    name: String,
    leaves: Leaves,
    batches: Box<dyn Batches>,
    /// Rows that have become texts.
    rows: u64,
}

impl Decoder {
    fn run(&mut self, sender: &SyncSender<Result<Option<Piece>>>) {
        loop {
            let batches = &mut self.batches;
            let batch = guarded(|| batches.next()).unwrap_or_else(|words| self.gave_up(&words));
            let batch = match batch {
                Ok(Some(batch)) => batch,
                // Nobody may be there to hear it.
                Ok(None) => return drop(sender.send(Ok(None))),
                Err(error) => return drop(sender.send(Err(error))),
            };
            let step = step(&batch);
            for from in (0..batch.num_rows()).step_by(step) {
                let piece = self.piece(&batch.slice(from, step.min(batch.num_rows() - from)));
                let failed = piece.is_err();
                if sender.send(piece.map(Some)).is_err() || failed {
                    return;
                }
            }
        }
    }

    /// The error of a decoder that panicked.
    fn gave_up<T>(&self, words: &str) -> Result<T> {
        Err(damaged(&self.name, &self.batches.part(), words))
    }

    fn piece(&mut self, rows: &RecordBatch) -> Result<Piece> {
        let before = self.rows;
        let texts = guarded(|| self.leaves.texts(rows)).or_else(|words| self.gave_up(&words))?;
        let columns = texts.map_err(|(column, problem)| {
            let row = before + problem.row as u64 + 1;
            Error::data(
                Place::file(&self.name).row(row).column(column),
                problem.words,
            )
            .with_hint("repair the row, or name the observation columns with --observe")
        })?;
        self.rows += rows.num_rows() as u64;
        Ok(Piece {
            before,
            rows: rows.num_rows(),
            columns,
        })
    }
}

/// Rows of a batch that make a piece.
fn step(batch: &RecordBatch) -> usize {
    let bytes = |column: &dyn Array| column.to_data().get_slice_memory_size().unwrap_or(0);
    let bytes: usize = batch.columns().iter().map(|column| bytes(column)).sum();
    let of_row = (bytes / batch.num_rows().max(1)).max(1);
    (MOST_BYTES / of_row).clamp(1, MOST_ROWS)
}
