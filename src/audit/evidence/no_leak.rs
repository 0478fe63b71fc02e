//! The p-value of "no leak at all": that the observation does not depend on the secret.

use crate::audit::prepare::Prepared;
use crate::audit::units;
use leakgauge_attack::measure::tables::tables;
use leakgauge_attack::pairwise::pair_count;
use leakgauge_judge::Independence;
use leakgauge_stats::multiplicity::holm;
use leakgauge_stats::no_leak::{Effort, Kind, Table, least_no_leak, no_leak_pairs};
use leakgauge_stats::random::Stream;

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
    /// Whether units were compared, for their rows depend on each other.
    pub of_units: bool,
}

/// Random tables times rows, beyond which fewer tables are drawn, down to so many.
const MOST_WORK: u64 = 4_000_000;
const FEWEST_TABLES: u64 = 199;
/// Pairs times distinct observations up to which pairs are tested too.
const MOST_CELLS: usize = 500_000;

/// Whether the log is tested: not where rows may depend on those nearby, and not where only limits were asked for.
pub(crate) fn applies(prepared: &Prepared) -> bool {
    prepared.independence.is_of_rows() && !prepared.options.quick
}

/// Whether the test of the differences inside blocks is one of no leak at all: with two secrets, an observer of a time and
/// of the other one of its block sees the same of either exactly if it makes no difference which is which.
pub(crate) fn is_tested_in_blocks(prepared: &Prepared) -> bool {
    prepared.measured.is_some() && prepared.labels.len() == 2
}

/// Tests the log.
pub(crate) fn judge(prepared: &Prepared) -> Option<NoLeak> {
    let log = prepared.log;
    if prepared.independence == Independence::Units && !prepared.options.quick {
        return of_units(prepared);
    }
    if !applies(prepared) {
        return None;
    }
    let tables = tables(&log.observations, &log.counts);
    let columns = tables.len();
    let effort = Effort {
        most: (MOST_WORK / log.counts.total().max(1)).clamp(FEWEST_TABLES, Effort::default().most),
        seed: prepared.random.seed(Stream::NoLeak),
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
        of_units: false,
    })
}

/// The same of units. No claim reads it: that units differ is more than that rows of theirs do.
fn of_units(prepared: &Prepared) -> Option<NoLeak> {
    let log = prepared.log;
    let secrets = log.secrets.len();
    let seed = prepared.random.seed(Stream::NoLeak);
    let rows = prepared.units_of_the_log()?;
    let p_value = units::no_leak::p_value(rows, &log.observations, secrets, seed)?;
    Some(NoLeak {
        p_value,
        pairs: (pair_count(secrets) == 1).then(|| vec![p_value]),
        columns: 1,
        of_units: true,
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
