//! Groups as rows of texts, for everything that reads logs.

use std::fmt::Write;

use csv::ByteRecord;
use datafusion::arrow::array::RecordBatch;

use leakgauge_base::error::{Error, Result};
use leakgauge_columnar::{Style, Texts, texts};
use leakgauge_log::format::Format;
use leakgauge_log::layout::Layout;
use leakgauge_log::records::Records;

/// A group that is given out: its batch, its row there, and how often it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    pub(super) batch: u32,
    pub(super) row: u32,
    pub(super) count: u64,
}

/// Groups as rows with a number of occurrences.
pub(super) struct Answer {
    /// Per batch, per column of a group: its texts.
    batches: Vec<Vec<Texts>>,
    picks: std::vec::IntoIter<Pick>,
    /// Per column of the layout: the column of the batches.
    source: Vec<Option<usize>>,
    header: Option<Vec<String>>,
    text: String,
}

impl Answer {
    /// The groups picked, as rows of a layout whose last column is the count.
    ///
    /// # Errors
    /// A value that has no text.
    pub(super) fn new(
        batches: Vec<RecordBatch>,
        picks: Vec<Pick>,
        layout: &Layout,
    ) -> Result<Self> {
        let mut source = vec![None; layout.names.len()];
        let used: Vec<usize> = layout.used().collect();
        for (at, &column) in used.iter().enumerate() {
            source[column] = Some(at);
        }
        let of_batch = |batch: RecordBatch| {
            let text = |(at, &column): (usize, &usize)| {
                let found = texts(batch.column(at), None, Style::Plain);
                found.map_err(|problem| Error::parameter(&layout.names[column], problem.words))
            };
            used.iter()
                .enumerate()
                .map(text)
                .collect::<Result<Vec<_>>>()
        };
        Ok(Answer {
            batches: batches.into_iter().map(of_batch).collect::<Result<_>>()?,
            picks: picks.into_iter(),
            source,
            header: Some(layout.names.clone()),
            text: String::new(),
        })
    }
}

impl Records for Answer {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::default()
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        record.clear();
        record.set_position(None);
        if let Some(names) = self.header.take() {
            names
                .iter()
                .for_each(|name| record.push_field(name.as_bytes()));
            return Ok(true);
        }
        let Some(pick) = self.picks.next() else {
            return Ok(false);
        };
        let batch = &self.batches[pick.batch as usize];
        let last = self.source.len() - 1;
        for source in &self.source[..last] {
            let text = source.map_or("", |column| batch[column].get(pick.row as usize));
            record.push_field(text.as_bytes());
        }
        self.text.clear();
        // Writing to memory cannot fail.
        let _ = write!(self.text, "{}", pick.count);
        record.push_field(self.text.as_bytes());
        Ok(true)
    }
}
