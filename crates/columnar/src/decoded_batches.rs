//! Batches as fields, decoded on a thread of their own while the rows before are counted.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow::array::{Array, RecordBatch};

use crate::damage::{damaged, guarded};
use crate::leaves::Leaves;
use crate::numbers::RowNumbers;
use crate::values::Values;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;

/// Rows that are converted at once …
const MAX_ROWS: usize = 8192;
/// … unless they are this many bytes.
const MAX_BYTES: usize = 4 << 20;
/// Groups of rows that may wait.
const WAITING: usize = 4;

/// Batches of the columns that are wanted, in the order of their rows.
pub(super) trait Batches: Send {
    /// The next rows; `None` behind the last.
    fn next(&mut self) -> Result<Option<Rows>>;

    /// What is being read, in words: `row group 3`.
    fn part(&self) -> String;
}

/// Rows as they are stored.
pub(super) enum Rows {
    /// The fields of the schema that hold wanted columns.
    Batch(RecordBatch),
    /// The values of those fields, where none is nested.
    Coded(Vec<Values>),
}

/// Some rows that follow each other.
#[derive(Default)]
pub(super) struct DecodedRows {
    /// Rows of the file before them.
    pub(super) before: u64,
    /// How many they are.
    pub(super) count: usize,
    /// The values by column; `None` for a column that is not wanted.
    pub(super) columns: Vec<Option<Values>>,
    /// Equal numbers for equal rows; none once too many are different.
    pub(super) numbers: Vec<u32>,
}

/// The rows of a file, in order.
pub(super) struct DecodedBatches {
    name: String,
    /// `None` behind the last rows: without it the thread has died.
    receiver: Receiver<Result<Option<DecodedRows>>>,
    is_over: bool,
}

impl DecodedBatches {
    /// Begins to decode.
    pub(super) fn of(name: &str, leaves: Leaves, batches: Box<dyn Batches>) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let mut decoder = Decoder {
            name: name.to_owned(),
            leaves,
            batches,
            rows: 0,
            numbers: RowNumbers::default(),
        };
        // It ends when its file does, or at the next rows that nobody takes.
        let to_thread = sender.clone();
        let started = std::thread::Builder::new().spawn(move || decoder.run(&to_thread));
        if let Err(error) = started {
            let problem = format!("cannot be read: no thread can be started: {error}");
            let error = Error::file(name, problem).with_hint(format!(
                "{}, or allow this user more processes",
                option("threads")
            ));
            // There is room for it, and somebody to take it.
            let _ = sender.try_send(Err(error));
        }
        DecodedBatches {
            name: name.to_owned(),
            receiver,
            is_over: false,
        }
    }

    /// The next rows; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<DecodedRows>> {
        if self.is_over {
            return Ok(None);
        }
        let lost = || Err(damaged(&self.name, "the file", "its decoder gave up"));
        let rows = self.receiver.recv().unwrap_or_else(|_| lost());
        self.is_over = !matches!(rows, Ok(Some(_)));
        rows
    }
}

struct Decoder {
    name: String,
    leaves: Leaves,
    batches: Box<dyn Batches>,
    /// Rows that have been converted.
    rows: u64,
    numbers: RowNumbers,
}

impl Decoder {
    fn run(&mut self, sender: &SyncSender<Result<Option<DecodedRows>>>) {
        loop {
            let batches = &mut self.batches;
            let batch = guarded(|| batches.next()).unwrap_or_else(|words| self.gave_up(&words));
            let batch = match batch {
                Ok(Some(Rows::Batch(batch))) => batch,
                Ok(Some(Rows::Coded(values))) => {
                    let count = values.first().map_or(0, Values::len);
                    let rows = self.count(self.leaves.spread(values), count);
                    if sender.send(Ok(Some(rows))).is_err() {
                        return;
                    }
                    continue;
                }
                // Nobody may be there to hear it.
                Ok(None) => return drop(sender.send(Ok(None))),
                Err(error) => return drop(sender.send(Err(error))),
            };
            let step = step(&batch);
            for from in (0..batch.num_rows()).step_by(step) {
                let rows = self.convert(&batch.slice(from, step.min(batch.num_rows() - from)));
                let failed = rows.is_err();
                if sender.send(rows.map(Some)).is_err() || failed {
                    return;
                }
            }
        }
    }

    /// The error of a decoder that panicked.
    fn gave_up<T>(&self, words: &str) -> Result<T> {
        Err(damaged(&self.name, &self.batches.part(), words))
    }

    fn convert(&mut self, rows: &RecordBatch) -> Result<DecodedRows> {
        let before = self.rows;
        let values = guarded(|| self.leaves.values(rows)).or_else(|words| self.gave_up(&words))?;
        let columns = values.map_err(|(column, problem)| {
            let row = before + problem.row as u64 + 1;
            Error::data(
                Place::file(&self.name).row(row).column(column),
                problem.words,
            )
            .with_hint(format!(
                "repair the row, or name the observation columns with {}",
                option("observe")
            ))
        })?;
        Ok(self.count(columns, rows.num_rows()))
    }

    /// Numbers rows that have been converted.
    fn count(&mut self, columns: Vec<Option<Values>>, count: usize) -> DecodedRows {
        let before = self.rows;
        self.rows += count as u64;
        let numbers = self.numbers.number(&columns, count);
        DecodedRows {
            before,
            count,
            columns,
            numbers,
        }
    }
}

/// How many rows of a batch are converted at once.
fn step(batch: &RecordBatch) -> usize {
    let bytes = |column: &dyn Array| column.to_data().get_slice_memory_size().unwrap_or(0);
    let bytes: usize = batch.columns().iter().map(|column| bytes(column)).sum();
    let of_row = (bytes / batch.num_rows().max(1)).max(1);
    (MAX_BYTES / of_row).clamp(1, MAX_ROWS)
}
