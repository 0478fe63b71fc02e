//! What tests of "no leak" compare: rows by observation and secret.

use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, ObservationKind, Observations};
use leakgauge_stats::no_leak::{Kind, Table};

/// What is compared: labels, or integers that recur often, as they are; else each column of numbers in its order, and
/// the labels beside them.
pub fn tables(observations: &Observations, counts: &Counts) -> Vec<(Table, Kind)> {
    if observations.kind() == ObservationKind::Discrete && !is_sparse(observations, counts) {
        return vec![(by_key(counts, u64::from), Kind::Unordered)];
    }
    let columns = observations.dimensions();
    let mut tables = parallel::map(columns, |column| {
        let key = |symbol: u32| ordered(observations.numbers(symbol)[column]);
        (by_key(counts, key), Kind::Ordered)
    });
    if observations.category_count() > 1 {
        let category = |symbol: u32| u64::from(observations.category(symbol));
        tables.push((by_key(counts, category), Kind::Unordered));
    }
    tables
}

/// One column of numbers so different that cells hold hardly any rows: their order says more. Secrets are not looked
/// at.
fn is_sparse(observations: &Observations, counts: &Counts) -> bool {
    const FEW: u64 = 50;
    observations.columns().len() == 1
        && observations.dimensions() == 1
        && observations.category_count() <= 1
        && counts.total() < FEW * observations.len() as u64
}

/// Bits that are ordered as the numbers are.
fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// Rows by the key of their observation, in the order of keys.
fn by_key(counts: &Counts, key: impl Fn(u32) -> u64) -> Table {
    let cells = counts.cells().iter();
    let rows = cells.map(|cell| (key(cell.symbol), cell.secret, cell.count));
    Table::by_key(counts.secrets(), rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_ordered_as_numbers() {
        let numbers = [f64::MIN, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::MAX];
        assert!(numbers.map(ordered).is_sorted());
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
