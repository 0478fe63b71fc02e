//! Units of a log: the users, devices or sessions that its rows come from.
//!
//! Rows of one unit may depend on each other, units are independent. What is kept is how often each unit
//! produced each observation with each secret: cells, not rows.

use crate::cell;
use crate::layout::Layout;
use crate::observations::{Cell, Counts};
use crate::packed_labels::PackedLabels;
use crate::row::{self, Row};
use crate::tabulate::{natural_order, ranks};
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;
use leakgauge_stats::random::Digest;

/// How often a unit produced an observation with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitCell {
    /// The number of the unit.
    pub unit: u32,
    /// The number of the observation.
    pub symbol: u32,
    /// The number of the secret.
    pub secret: u32,
    /// How many rows.
    pub count: u64,
}

/// The rows of units: which unit produced which observation with which secret how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitRows {
    /// By unit, then observation, then secret; each once.
    cells: Vec<UnitCell>,
}

impl UnitRows {
    /// From cells in any order; equal ones are added up.
    pub fn new(mut cells: Vec<UnitCell>) -> Self {
        compact(&mut cells);
        UnitRows { cells }
    }

    /// Every distinct row, a secret with an observation, as a unit of its own: for logs in which equal rows
    /// are copies of one.
    pub fn distinct(counts: &Counts) -> Self {
        let cells = counts.cells().iter().zip(0..);
        UnitRows {
            cells: cells.map(|(cell, unit)| of_unit(unit, cell)).collect(),
        }
    }

    /// All cells, by unit, then observation, then secret.
    pub fn cells(&self) -> &[UnitCell] {
        &self.cells
    }

    /// These cells and others.
    #[must_use]
    pub fn plus(&self, other: &UnitRows) -> UnitRows {
        UnitRows::new([&self.cells[..], &other.cells[..]].concat())
    }

    /// A digest of all cells.
    pub fn digest(&self) -> Digest {
        let numbers = |cell: &UnitCell| {
            let place = u64::from(cell.symbol) << 32 | u64::from(cell.secret);
            [cell.unit.into(), place, cell.count]
        };
        Digest::EMPTY.with_all(self.cells.iter().flat_map(numbers))
    }

    /// The cells of each unit.
    pub fn units(&self) -> impl Iterator<Item = &[UnitCell]> {
        self.cells.chunk_by(|one, next| one.unit == next.unit)
    }

    /// The number of units.
    pub fn len(&self) -> usize {
        self.units().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many units have rows of each of so many secrets.
    pub fn units_of_secrets(&self, secrets: usize) -> Vec<u64> {
        let mut of_secret = vec![0; secrets];
        for unit in self.units() {
            for secret in secrets_of(unit) {
                of_secret[secret as usize] += 1;
            }
        }
        of_secret
    }

    /// The rows without their units.
    pub fn counts(&self, secrets: usize) -> Counts {
        let cells = self.cells.iter().map(|cell| Cell {
            secret: cell.secret,
            symbol: cell.symbol,
            count: cell.count,
        });
        Counts::new(secrets, cells.collect())
    }

    /// Some of the units.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(u32) -> bool) -> UnitRows {
        let cells = self.cells.iter().copied();
        UnitRows {
            cells: cells.filter(|cell| keep(cell.unit)).collect(),
        }
    }
}

/// The secrets of a unit's cells, ascending, each once.
pub fn secrets_of(unit: &[UnitCell]) -> Vec<u32> {
    let mut secrets: Vec<u32> = unit.iter().map(|cell| cell.secret).collect();
    secrets.sort_unstable();
    secrets.dedup();
    secrets
}

/// What the units of a log are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// The column that names them.
    pub column: String,
    /// The rows of the log itself.
    pub rows: UnitRows,
    /// The rows of the log to learn on, without units that the log itself has.
    pub fit: Option<UnitRows>,
}

fn of_unit(unit: u32, cell: &Cell) -> UnitCell {
    UnitCell {
        unit,
        symbol: cell.symbol,
        secret: cell.secret,
        count: cell.count,
    }
}

fn compact(cells: &mut Vec<UnitCell>) {
    let key = |cell: &UnitCell| (cell.unit, cell.symbol, cell.secret);
    // Rows of a unit often stand together.
    if cells.is_sorted_by_key(|cell| cell.unit) {
        for unit in cells.chunk_by_mut(|one, next| one.unit == next.unit) {
            unit.sort_unstable_by_key(key);
        }
    } else {
        cells.sort_unstable_by_key(key);
    }
    cells.dedup_by(|next, kept| {
        let same = key(next) == key(kept);
        if same {
            kept.count = kept.count.saturating_add(next.count);
        }
        same
    });
}

/// Adds up the rows of units in memory that grows with the distinct ones.
#[derive(Default)]
struct UnitCounter {
    cells: Vec<UnitCell>,
    compacted: usize,
}

impl UnitCounter {
    const BATCH: usize = 1 << 17;

    fn add(&mut self, cell: UnitCell) {
        self.cells.push(cell);
        if self.cells.len() >= Self::BATCH.max(2 * self.compacted) {
            compact(&mut self.cells);
            self.compacted = self.cells.len();
        }
    }
}

/// Collects the units of a log while it is read.
#[derive(Default)]
pub(crate) struct UnitReader {
    labels: PackedLabels,
    log: UnitCounter,
    fit: UnitCounter,
    text: String,
    /// Blocks of wide files so far, and the row of the last one.
    blocks: u32,
    last: Option<u64>,
}

impl UnitReader {
    /// The number of the block that a row of a wide file belongs to: another row of the file, another block.
    pub fn wide_block(&mut self, row: &Row) -> u32 {
        if self.blocks == 0 || row.position() != self.last {
            self.last = row.position();
            self.blocks += 1;
        }
        self.blocks - 1
    }

    /// Another file begins.
    pub fn begin_file(&mut self) {
        self.last = None;
    }

    /// The labels of units by their numbers before [`finish`](Self::finish).
    pub fn labels(&self) -> &PackedLabels {
        &self.labels
    }

    /// The units as they first appeared, with secrets and observations renumbered; and their labels.
    pub fn finish_in_order(
        self,
        column: &str,
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> (Units, PackedLabels) {
        let mut cells = self.log.cells;
        for cell in &mut cells {
            cell.symbol = symbol_rank[cell.symbol as usize];
            cell.secret = secret_rank[cell.secret as usize];
        }
        let units = Units {
            column: column.to_owned(),
            rows: UnitRows::new(cells),
            fit: None,
        };
        (units, self.labels)
    }

    /// The number of a row's unit, in the column that an option, `group` or `block`, asked for.
    ///
    /// # Errors
    /// A unit that is blank or missing.
    pub fn unit(
        &mut self,
        row: &Row,
        column: usize,
        layout: &Layout,
        asked: &str,
        place: &dyn Fn() -> Place,
    ) -> Result<u32> {
        let text = cell::text(row, column, layout, place, &mut self.text)?.trim();
        if row::is_absent(text) {
            let (problem, what) = match asked {
                "block" => ("names no block", "block that it belongs to"),
                _ => ("names no unit", "unit that it comes from"),
            };
            let error = cell::at_column(place(), layout, column, row, problem);
            return Err(error.with_hint(format!(
                "every row needs the {what} ({}): repair the row, or remove it",
                option(asked)
            )));
        }
        Ok(self.labels.intern(text))
    }

    /// Adds rows of a unit, of the log itself or of the one to learn on.
    pub fn add(&mut self, is_fit: bool, cell: UnitCell) {
        let counter = if is_fit { &mut self.fit } else { &mut self.log };
        counter.add(cell);
    }

    /// The units in the order of their labels, with secrets and observations renumbered; and the labels of
    /// the units that stand in both logs.
    pub fn finish(
        self,
        column: &str,
        has_fit: bool,
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> (Units, Vec<String>) {
        let labels = self.labels.texts();
        let by_label = natural_order(&labels);
        let unit_rank = ranks(&by_label);
        let rows = |counter: UnitCounter| {
            let renumbered = counter.cells.into_iter().map(|cell| UnitCell {
                unit: unit_rank[cell.unit as usize],
                symbol: symbol_rank[cell.symbol as usize],
                secret: secret_rank[cell.secret as usize],
                count: cell.count,
            });
            UnitRows::new(renumbered.collect())
        };
        let (log, fit) = (rows(self.log), rows(self.fit));
        let is_in = |rows: &UnitRows| {
            let mut is_in = vec![false; labels.len()];
            rows.cells
                .iter()
                .for_each(|cell| is_in[cell.unit as usize] = true);
            is_in
        };
        let (in_log, in_fit) = (is_in(&log), is_in(&fit));
        let shared = (0..labels.len()).filter(|&unit| in_log[unit] && in_fit[unit]);
        let shared = shared
            .map(|unit| labels[by_label[unit] as usize].clone())
            .collect();
        let units = Units {
            column: column.to_owned(),
            rows: log,
            fit: has_fit.then(|| fit.filtered(|unit| !in_log[unit as usize])),
        };
        (units, shared)
    }
}

/// A log to learn on whose units all stand in the log itself.
pub(crate) fn nothing_to_learn_on(file: &str) -> Error {
    Error::file(file, "has only units that the log itself has").with_hint(format!(
        "no unit may be learned from and judged: give another log, or leave {} out, and the log is split by units",
        option("fit_on")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(unit: u32, symbol: u32, secret: u32, count: u64) -> UnitCell {
        UnitCell {
            unit,
            symbol,
            secret,
            count,
        }
    }

    #[test]
    fn cells_are_added_up_and_units_counted() {
        let rows = UnitRows::new(vec![
            cell(3, 1, 0, 2),
            cell(0, 5, 1, 1),
            cell(3, 1, 0, 4),
            cell(3, 0, 1, 1),
        ]);
        assert_eq!(rows.cells()[2], cell(3, 1, 0, 6));
        assert_eq!((rows.len(), rows.units_of_secrets(2)), (2, vec![1, 2]));
        assert_eq!(rows.counts(2).rows(), [6, 2]);
        assert_eq!(rows.filtered(|unit| unit == 0).len(), 1);
    }

    #[test]
    fn distinct_rows_are_units_of_their_own() {
        let counts = rows_of(&[(0, 7, 3), (1, 7, 1), (0, 9, 2)]);
        let rows = UnitRows::distinct(&counts);
        assert_eq!((rows.len(), rows.counts(2)), (3, counts));
    }

    fn rows_of(cells: &[(u32, u32, u64)]) -> Counts {
        let cells = cells.iter().map(|&(secret, symbol, count)| Cell {
            secret,
            symbol,
            count,
        });
        Counts::new(2, cells.collect())
    }

    #[test]
    fn batches_are_compacted() {
        let mut counter = UnitCounter::default();
        for row in 0..1_000_000u32 {
            counter.add(cell(row % 5, row % 3, row % 2, 1));
        }
        assert!(counter.cells.capacity() <= 4 * UnitCounter::BATCH);
        assert_eq!(UnitRows::new(counter.cells).cells().len(), 30);
    }
}
