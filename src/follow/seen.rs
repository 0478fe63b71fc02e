//! Rows of a log as attackers see them that learn in no time: numbers by observation.

use super::attack::Rows;
use leakgauge_log::observations::{ColumnType, Observations};
use leakgauge_sequential::attackers::{Kind, Seen};
use leakgauge_sequential::shares::{self, MAX_COLUMNS, Shape};

/// The numbers of the observations so far. Equal rows have the same number in the stream.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The columns that are looked at, among all.
    columns: Vec<usize>,
    /// How many columns there are.
    width: usize,
    /// For each observation that was met, its numbers; NaN where it has a word.
    values: Vec<f64>,
    is_known: Vec<bool>,
}

impl Numbers {
    /// Looks at observations that are new, by their numbers in the stream.
    pub fn meet(&mut self, symbols: impl Iterator<Item = u32>, rows: &dyn Rows) {
        let is_new = |symbol: &u32| {
            !self
                .is_known
                .get(*symbol as usize)
                .is_some_and(|known| *known)
        };
        let mut new: Vec<u32> = symbols.filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return;
        }
        let (table, ids) = rows.table(new);
        if self.width == 0 {
            self.width = table.columns().len();
            self.columns = of_numbers(&table);
        }
        let most = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let most = most.max(self.is_known.len());
        self.is_known.resize(most, false);
        self.values.resize(most * self.columns.len(), f64::NAN);
        for (at, &id) in ids.iter().enumerate() {
            self.is_known[id as usize] = true;
            for (place, &column) in self.columns.iter().enumerate() {
                let number = table.number_in(at as u32, column);
                self.values[id as usize * self.columns.len() + place] = number.unwrap_or(f64::NAN);
            }
        }
    }

    /// Who bets on such rows, with shares of the capital, where `recurs` says whether the first rows repeat.
    pub fn attackers(&self, recurs: bool) -> (Vec<Kind>, Vec<f64>) {
        let numbers: Vec<(usize, bool)> = (0..self.columns.len()).map(|at| (at, false)).collect();
        shares::of(Shape {
            numbers: &numbers,
            is_alone: self.width == 1,
            recurs,
            is_learned_alone: true,
        })
    }
}

/// The first columns that hold numbers.
fn of_numbers(table: &Observations) -> Vec<usize> {
    let columns = table.columns().iter().enumerate();
    let columns = columns.filter(|(_, column)| column.kind != ColumnType::Categorical);
    columns.map(|(at, _)| at).take(MAX_COLUMNS).collect()
}

impl Seen for Numbers {
    fn number(&self, column: usize, row: u32) -> f64 {
        self.values[row as usize * self.columns.len() + column]
    }

    fn key(&self, row: u32) -> u64 {
        u64::from(row)
    }

    fn lowest_bit(&self, column: usize, row: u32) -> u64 {
        u64::from(self.number(column, row).to_bits().trailing_zeros())
    }
}
