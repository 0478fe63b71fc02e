//! Groups as rows, for everything that reads logs.

use datafusion::arrow::array::RecordBatch;

use leakgauge_base::error::{Error, Result};
use leakgauge_columnar::{Values, values};
use leakgauge_log::format::Format;
use leakgauge_log::layout::Layout;
use leakgauge_log::{Field, Number, Records, Row};

/// A group that is given out: its batch, its row there, and how often it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    pub(super) batch: u32,
    pub(super) row: u32,
    pub(super) count: u64,
}

/// Groups as rows with a number of occurrences.
pub(super) struct Answer {
    /// Per batch, per column of a group: its values.
    batches: Vec<Vec<Values>>,
    picks: std::vec::IntoIter<Pick>,
    /// Per column of the layout: the column of the batches.
    source: Vec<Option<usize>>,
    header: Option<Vec<String>>,
}

impl Answer {
    /// The groups picked, as rows of a layout whose last column is the count.
    ///
    /// # Errors
    /// A value that cannot be read.
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
            let of_column = |(at, &column): (usize, &usize)| {
                let found = values(batch.column(at), None);
                found.map_err(|problem| Error::parameter(&layout.names[column], problem.words))
            };
            used.iter()
                .enumerate()
                .map(of_column)
                .collect::<Result<Vec<_>>>()
        };
        Ok(Answer {
            batches: batches.into_iter().map(of_batch).collect::<Result<_>>()?,
            picks: picks.into_iter(),
            source,
            header: Some(layout.names.clone()),
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

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if let Some(names) = self.header.take() {
            names
                .iter()
                .for_each(|name| row.push(Field::Text(name.as_bytes())));
            return Ok(true);
        }
        let Some(pick) = self.picks.next() else {
            return Ok(false);
        };
        let batch = &self.batches[pick.batch as usize];
        let last = self.source.len() - 1;
        for source in &self.source[..last] {
            row.push(match source {
                Some(column) => batch[*column].field(pick.row as usize),
                None => Field::Text(b""),
            });
        }
        row.push(Field::Number(Number::Unsigned(pick.count)));
        Ok(true)
    }
}
