//! What is kept of the order of rows: enough to see blocks, drift and autocorrelation.

use crate::observations::Observations;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::{option, setting};

/// Rows per contiguous block.
const BLOCK: usize = 4096;
/// Blocks kept at most; beyond, every second is dropped.
const MAX_BLOCKS: usize = 64;

/// Rows whose order can be kept whole, 8 bytes each.
const MAX_ORDERED: usize = 100_000_000;

/// The order of rows: contiguous blocks spread evenly over the log, all of it if it is short.
#[derive(Debug, Clone, Default)]
pub struct RowOrder {
    /// The secret of each kept row.
    pub secrets: Vec<u32>,
    /// The observation of each kept row.
    pub symbols: Vec<u32>,
    /// Whether rows were left out.
    pub thinned: bool,
    /// The table that has the observations, where it is not that of the log: of a log that is sampled, rows
    /// are looked at in their order whether they are in the sample or not.
    pub observations: Option<Observations>,
}

/// Records the order of rows in bounded memory.
#[derive(Default)]
pub struct OrderSketch {
    blocks: Vec<Vec<(u32, u32)>>,
    /// One block in `stride` is kept.
    stride: usize,
    row: usize,
}

impl OrderSketch {
    /// Records the next row.
    pub fn push(&mut self, secret: u32, symbol: u32) {
        self.push_with(secret, || symbol);
    }

    /// Records the next row, and asks for its observation if it is kept.
    pub fn push_with(&mut self, secret: u32, symbol: impl FnOnce() -> u32) {
        let stride = self.stride.max(1);
        let block = self.row / BLOCK;
        self.row += 1;
        // A power of two: no row needs a division.
        if block & (stride - 1) != 0 {
            return;
        }
        let slot = block / stride;
        if slot == MAX_BLOCKS {
            let mut index = 0;
            self.blocks.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride = 2 * stride;
            self.row -= 1;
            return self.push_with(secret, symbol);
        }
        if slot == self.blocks.len() {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        self.blocks[slot].push((secret, symbol()));
    }

    /// Records rows that follow each other, those that are kept by what `row` says of them.
    pub fn push_all(&mut self, count: usize, row: impl Fn(usize) -> (u32, u32)) {
        let mut at = 0;
        while at < count {
            let block = self.row / BLOCK;
            let is_left_out = block & (self.stride.max(1) - 1) != 0;
            if is_left_out {
                let rest = (BLOCK - self.row % BLOCK).min(count - at);
                self.row += rest;
                at += rest;
                continue;
            }
            let (secret, symbol) = row(at);
            self.push(secret, symbol);
            at += 1;
        }
    }

    /// Gives observations other numbers.
    pub fn renumber(&mut self, number: &[u32]) {
        for (_, symbol) in self.blocks.iter_mut().flatten() {
            *symbol = number[*symbol as usize];
        }
    }

    /// The rows that are kept, secrets and observations by the numbers they came with.
    pub fn kept(&self) -> impl Iterator<Item = (u32, u32)> {
        self.blocks.iter().flatten().copied()
    }

    /// The order of the rows so far; only kept rows need a new number.
    pub fn so_far(&self, secret_rank: &[u32], symbol_rank: &[u32]) -> RowOrder {
        let thinned = self.stride > 1;
        let rows = self.kept();
        let (secrets, symbols) = rows
            .map(|(secret, symbol)| (secret_rank[secret as usize], symbol_rank[symbol as usize]))
            .unzip();
        RowOrder {
            secrets,
            symbols,
            thinned,
            observations: None,
        }
    }
}

/// Keeps a row in its place.
pub fn keep(
    sequence: &mut Vec<(u32, u32)>,
    secret: u32,
    symbol: u32,
    place: &dyn Fn() -> Place,
) -> Result<()> {
    if sequence.len() == MAX_ORDERED {
        let problem = format!(
            "{} keeps the order of at most {MAX_ORDERED} rows in memory",
            option("keep_order")
        );
        return Err(Error::data(place(), problem).with_hint(format!(
            "give a part of the log, or use {}",
            setting("split", "random")
        )));
    }
    sequence.push((secret, symbol));
    Ok(())
}

/// A log whose rows are needed in their order, and that has too many different ones.
pub fn too_different(max_rows: Option<u64>, place: Place) -> Error {
    let most = max_rows.unwrap_or(u64::MAX);
    let problem = format!(
        "{} needs all rows in their order, and there are more than {most} different ones ({})",
        option("keep_order"),
        option("max_rows")
    );
    Error::data(place, problem).with_hint(format!(
        "give a larger {} if memory allows, a part of the log, or use {}, which can do with a sample",
        option("max_rows"),
        setting("split", "random")
    ))
}

/// A log whose rows are needed with their units, and that has too many different ones.
pub fn too_many_units(max_rows: Option<u64>, place: Place) -> Error {
    let most = max_rows.unwrap_or(u64::MAX);
    let problem = format!(
        "{} needs all rows with their units, and there are more than {most} different ones ({})",
        option("group"),
        option("max_rows")
    );
    Error::data(place, problem).with_hint(format!(
        "give a larger {} if memory allows, or the rows of fewer units",
        option("max_rows")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_log_is_kept_whole_and_a_long_one_evenly() {
        let identity: Vec<u32> = (0..3_000_000).collect();
        let kept = |rows: u32| {
            let mut sketch = OrderSketch::default();
            (0..rows).for_each(|row| sketch.push(0, row));
            sketch.so_far(&[0], &identity)
        };
        let short = kept(10_000);
        assert!(!short.thinned && short.symbols == (0..10_000).collect::<Vec<_>>());
        let mut together = OrderSketch::default();
        for from in (0..3_000_000).step_by(10_000) {
            together.push_all(10_000, |at| (0, (from + at) as u32));
        }
        let long = kept(3_000_000);
        assert_eq!(together.so_far(&[0], &identity).symbols, long.symbols);
        assert!(long.thinned);
        assert!(
            long.symbols.len() <= BLOCK * MAX_BLOCKS
                && long.symbols.len() >= BLOCK * MAX_BLOCKS / 2
        );
        assert!(long.symbols.is_sorted() && *long.symbols.last().unwrap() > 2_950_000);
        assert_eq!(long.symbols[BLOCK], 16 * BLOCK as u32);
    }
}
