//! Groups as rows of texts, for everything that reads logs.

use csv::ByteRecord;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::error::{Error, Result};
use crate::log::layout::Layout;
use crate::log::records::Records;

/// A group that is given out: its batch, its row there, and how often it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    pub(super) batch: u32,
    pub(super) row: u32,
    pub(super) count: u64,
}

/// Groups as rows with a number of occurrences.
pub(super) struct Answer {
    batches: Vec<RecordBatch>,
    picks: std::vec::IntoIter<Pick>,
    /// Per column of the layout: the column of the batches.
    source: Vec<Option<usize>>,
    header: Option<Vec<String>>,
    text: String,
}

impl Answer {
    /// The groups picked, as rows of a layout whose last column is the count.
    pub(super) fn new(batches: Vec<RecordBatch>, picks: Vec<Pick>, layout: &Layout) -> Self {
        let mut source = vec![None; layout.names.len()];
        for (at, &column) in layout.secret.iter().chain(&layout.observe).enumerate() {
            source[column] = Some(at);
        }
        Answer {
            batches,
            picks: picks.into_iter(),
            source,
            header: Some(layout.names.clone()),
            text: String::new(),
        }
    }
}

impl Records for Answer {
    fn is_named(&self) -> bool {
        true
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        record.clear();
        record.set_position(None);
        if let Some(names) = self.header.take() {
            names.iter().for_each(|name| record.push_field(name.as_bytes()));
            return Ok(true);
        }
        let Some(pick) = self.picks.next() else {
            return Ok(false);
        };
        let batch = &self.batches[pick.batch as usize];
        let last = self.source.len() - 1;
        for (at, source) in self.source.iter().enumerate() {
            self.text.clear();
            match source {
                _ if at == last => self.text.push_str(&pick.count.to_string()),
                None => {}
                Some(column) => {
                    let formatter = ArrayFormatter::try_new(batch.column(*column), &FormatOptions::default())
                        .map_err(|e| Error::parameter("--engine", e.to_string()))?;
                    self.text.push_str(&formatter.value(pick.row as usize).to_string());
                }
            }
            record.push_field(self.text.as_bytes());
        }
        Ok(true)
    }
}
