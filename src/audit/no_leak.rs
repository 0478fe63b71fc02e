//! The p-value of "no leak at all": that the observation does not depend on the secret.

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::pair_count;
use leakgauge_log::observations::{Counts, ObservationKind, Observations};
use leakgauge_stats::multiplicity::holm;
use leakgauge_stats::no_leak::{Effort, Kind, Table, least_no_leak, no_leak_pairs};

/// Evidence that the log leaks anything at all.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NoLeak {
    /// The p-value over all secrets.
    pub p_value: f64,
    /// Of every pair, corrected so that all hold together (Holm); `None` where there are too many to compute.
    pub pairs: Option<Vec<f64>>,
    /// How many columns were tested one by one, their p-values corrected (Bonferroni); 1 if the observation was
    /// tested whole.
    pub columns: usize,
}

/// Random tables times rows, beyond which fewer tables are drawn, down to so many.
const MOST_WORK: u64 = 4_000_000;
const FEWEST_TABLES: u64 = 199;
/// Pairs times distinct observations up to which pairs are tested too.
const MOST_CELLS: usize = 500_000;

/// Tests the log. `None` where rows may depend on those nearby.
pub(super) fn test(prepared: &Prepared) -> Option<NoLeak> {
    let log = prepared.log;
    if prepared.is_serial() || prepared.units.is_some() || prepared.options.quick {
        return None;
    }
    let tables = tables(&log.observations, &log.counts);
    let columns = tables.len();
    let effort = Effort {
        most: (MOST_WORK / log.counts.total().max(1)).clamp(FEWEST_TABLES, Effort::default().most),
        seed: prepared.options.seed,
        ..Effort::default()
    };
    let p_value = corrected(least_no_leak(&tables, &effort)?, columns);
    let pairs = pair_count(log.secrets.len());
    let pairs = match pairs {
        1 => Some(vec![p_value]),
        _ if pairs * log.observations.len() > MOST_CELLS => None,
        _ => Some(of_pairs(&tables, pairs)),
    };
    Some(NoLeak {
        p_value,
        pairs,
        columns,
    })
}

fn corrected(p_value: f64, columns: usize) -> f64 {
    (p_value * columns as f64).min(1.0)
}

fn of_pairs(tables: &[(Table, Kind)], pairs: usize) -> Vec<f64> {
    let mut least = vec![1.0f64; pairs];
    for (table, kind) in tables {
        for (least, p) in least.iter_mut().zip(no_leak_pairs(table, *kind)) {
            *least = least.min(p);
        }
    }
    let each: Vec<f64> = least
        .into_iter()
        .map(|p| corrected(p, tables.len()))
        .collect();
    holm(&each)
}

/// What is compared: labels, or integers that recur, as they are; else each column of numbers in its order, and the
/// labels beside them.
fn tables(observations: &Observations, counts: &Counts) -> Vec<(Table, Kind)> {
    if observations.kind() == ObservationKind::Discrete {
        return vec![(by_key(counts, u64::from), Kind::Unordered)];
    }
    let columns = observations.dimensions();
    let mut tables: Vec<(Table, Kind)> = (0..columns)
        .map(|column| {
            let key = |symbol: u32| ordered(observations.numbers(symbol)[column]);
            (by_key(counts, key), Kind::Ordered)
        })
        .collect();
    if observations.category_count() > 1 {
        let category = |symbol: u32| u64::from(observations.category(symbol));
        tables.push((by_key(counts, category), Kind::Unordered));
    }
    tables
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
    let mut cells: Vec<(u64, u32, u64)> = counts
        .cells()
        .iter()
        .map(|cell| (key(cell.symbol), cell.secret, cell.count))
        .collect();
    cells.sort_unstable();
    let mut table: Vec<Vec<(usize, u64)>> = Vec::new();
    for cells in cells.chunk_by(|x, y| x.0 == y.0) {
        let mut row: Vec<(usize, u64)> = Vec::with_capacity(cells.len());
        for &(_, secret, count) in cells {
            match row.last_mut() {
                Some(last) if last.0 == secret as usize => last.1 += count,
                _ => row.push((secret as usize, count)),
            }
        }
        table.push(row);
    }
    Table::new(counts.secrets(), table)
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
