//! The rows of one part of a log: counts of all of them, or a sample where what is distinct is too much.

use crate::fold::CellCounter;
use crate::observations::Cell;
use crate::sample::{Sample, Sampler};
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::{option, setting};

/// A cap below this tells more of the limit than of the log.
const MIN_CAP: u64 = 100;

/// Set in the identity of rows that were counted before the sample began, and in no number of a row.
const COUNTED: u64 = 1 << 63;

/// Counts rows exactly as long as there are at most so many distinct pairs of a secret and an observation,
/// and keeps a sample of so many rows from then on.
///
/// Which rows are kept does not depend on what they show, and limits stay valid: see [`crate::sample`].
/// Whether a sample is drawn does depend on it, but only on how many pairs are distinct: numbers with many
/// digits settle that by how many rows there are.
pub(crate) struct RowStore {
    /// Distinct pairs counted, and rows sampled, at most.
    most: u64,
    seed: u64,
    /// Rows so far, however often each occurred: the number of a row is its identity.
    added: u64,
    rows: Rows,
}

enum Rows {
    Counted(CellCounter),
    Sampled(Sampler),
}

impl RowStore {
    /// No rows; `None` if all are to be counted, whatever that takes.
    pub fn new(most: Option<u64>, seed: u64) -> Self {
        let most = most.unwrap_or(u64::MAX);
        RowStore {
            most,
            seed,
            added: 0,
            rows: Rows::Counted(CellCounter::new(most)),
        }
    }

    /// Adds a row. Its observation is asked for only if it may be needed.
    ///
    /// True if observations may have become needless: see [`symbols`](Self::symbols).
    pub fn add(&mut self, secret: u32, count: u64, symbol: impl FnOnce() -> u32) -> bool {
        let identity = self.added;
        self.added += 1;
        match &mut self.rows {
            Rows::Counted(cells) => {
                cells.add(secret, symbol(), count);
                if cells.distinct() as u64 <= self.most {
                    return false;
                }
                let cells = cells.take_cells();
                self.rows = Rows::Sampled(sample_of(cells, self.most, self.seed));
                true
            }
            Rows::Sampled(sampler) => sampler.offer(secret, count, identity, symbol),
        }
    }

    /// Whether a sample has begun.
    pub fn is_sampled(&self) -> bool {
        matches!(self.rows, Rows::Sampled(_))
    }

    /// The observations that are needed, with repetitions.
    pub fn symbols(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match &self.rows {
            Rows::Counted(cells) => Box::new(cells.symbols()),
            Rows::Sampled(sampler) => Box::new(sampler.items()),
        }
    }

    /// Gives observations other numbers, in the same order.
    pub fn renumber(&mut self, number: &[u32]) {
        match &mut self.rows {
            Rows::Counted(cells) => cells.renumber(number),
            Rows::Sampled(sampler) => sampler.renumber(|symbol| number[symbol as usize]),
        }
    }

    /// The counts, of a sample with what it is a sample of.
    /// No rows are left.
    pub fn finish(&mut self) -> (Vec<Cell>, Option<Sample>) {
        let nothing = Rows::Counted(CellCounter::new(self.most));
        let sampler = match std::mem::replace(&mut self.rows, nothing) {
            Rows::Sampled(sampler) => sampler,
            Rows::Counted(mut cells) => {
                let cells = cells.take_cells();
                if cells.len() as u64 <= self.most {
                    return (cells, None);
                }
                sample_of(cells, self.most, self.seed)
            }
        };
        let mut sample = sampler.finish();
        (std::mem::take(&mut sample.cells), Some(sample))
    }
}

/// From counts to a sample: the rows of a count are equal, so that it does not matter which of them has
/// which priority.
fn sample_of(cells: Vec<Cell>, most: u64, seed: u64) -> Sampler {
    let mut sampler = Sampler::new(most, seed);
    for cell in cells {
        let identity = COUNTED | u64::from(cell.symbol) << 16 | u64::from(cell.secret);
        sampler.offer(cell.secret, cell.count, identity, || cell.symbol);
    }
    sampler
}

/// What a sample of a log's rows was drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledFrom {
    /// The limit of rows that was given.
    pub max_rows: u64,
    /// Rows of a secret that the sample has at most.
    pub cap: u64,
    /// Rows of every secret in the whole log.
    pub rows: Vec<u64>,
}

impl SampledFrom {
    pub(crate) fn new(sample: &Sample, max_rows: u64, secret_rank: &[u32]) -> Self {
        let mut rows = vec![0; secret_rank.len()];
        for (&of_secret, &rank) in sample.rows.iter().zip(secret_rank) {
            rows[rank as usize] = of_secret;
        }
        SampledFrom {
            max_rows,
            cap: sample.cap,
            rows,
        }
    }

    /// Refuses a limit that leaves next to nothing of secrets that the log has rows of.
    pub fn check(self, place: &Place) -> Result<Self> {
        if self.cap >= MIN_CAP {
            return Ok(self);
        }
        let secrets = self.rows.iter().filter(|&&rows| rows > 0).count() as u64;
        let problem = format!(
            "{} leaves {} rows of a secret at most: there are {secrets}",
            setting("max_rows", self.max_rows),
            self.cap
        );
        Err(Error::data(place.clone(), problem).with_hint(format!(
            "give at least {}, or name the secrets that matter with {}",
            MIN_CAP * secrets,
            option("secrets")
        )))
    }

    /// Rows in the sample.
    pub fn rows_used(&self) -> u64 {
        self.rows.iter().map(|&rows| rows.min(self.cap)).sum()
    }

    /// Rows in the whole log.
    pub fn rows_in_all(&self) -> u64 {
        self.rows.iter().sum()
    }
}
