//! What tests of "no leak" compare: rows by observation and secret.

use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, ObservationKind, Observations};
use leakgauge_stats::no_leak::{Kind, Table, ordered_bits};

/// What is compared: labels, or integers that recur often, as they are; else each column of numbers in its order, and
/// the labels beside them.
pub fn tables(observations: &Observations, counts: &Counts) -> Vec<(Table, Kind)> {
    if observations.kind() == ObservationKind::Discrete && !is_sparse(observations, counts) {
        return vec![(by_key(counts, u64::from), Kind::Unordered)];
    }
    let columns = observations.dimensions();
    let mut tables = parallel::map(columns, |column| {
        let key = |symbol: u32| ordered_bits(observations.numbers(symbol)[column]);
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

/// Rows by the key of their observation, in the order of keys.
fn by_key(counts: &Counts, key: impl Fn(u32) -> u64) -> Table {
    let cells = counts.cells().iter();
    let rows = cells.map(|cell| (key(cell.symbol), cell.secret, cell.count));
    Table::by_key(counts.secrets(), rows.collect())
}
