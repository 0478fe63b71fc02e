//! The p-value of "no leak at all" where units are independent and their rows are not.
//!
//! If what units are seen to do does not depend on their secret, all assignments of the secrets to the units are equally
//! likely. Units are compared by the means over their rows of what rows tell: of each column of numbers the rank, and its
//! squared distance from the middle; of each of the most frequent observations whether it is the row's. Means of few rows
//! vary more than those of many, and numbers of rows may depend on the secret: so of every unit equally many random rows are
//! taken, as many as the unit with the fewest has.

use leakgauge_log::groups::secrets_of;
use leakgauge_log::observations::{ObservationKind, Observations};
use leakgauge_log::{UnitCell, UnitRows};
use leakgauge_stats::column_tests::{Rows, test_columns};
use leakgauge_stats::hypergeometric;
use leakgauge_stats::no_leak::ordered_bits;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Random assignments.
const ASSIGNMENTS: u64 = 999;
/// Observations that are compared one by one, at most.
const MOST_LABELS: usize = 64;
/// Units times what they are compared by.
const MOST_NUMBERS: usize = 4_000_000;

/// The p-value over all secrets; `None` where a unit has several secrets, so that their rows are no two groups of
/// units, or there is nothing to compare.
///
/// # References
/// [`test_columns`]: the largest of all statistics, against that after random assignments.
pub(crate) fn p_value(
    rows: &UnitRows,
    observations: &Observations,
    secret_count: usize,
    seed: u64,
) -> Option<f64> {
    let units: Vec<_> = rows.units().collect();
    let secrets: Option<Vec<u32>> = units
        .iter()
        .map(|unit| match secrets_of(unit)[..] {
            [secret] => Some(secret),
            _ => None,
        })
        .collect();
    let secrets = secrets?;
    let rows = &equally_many(rows, seed);
    let features = features(rows, observations, secrets.len())?;
    let numbers: Vec<&[f64]> = features.iter().map(Vec::as_slice).collect();
    let columns = numbers.first()?.len();
    let compared = Rows {
        products: None,
        numbers: &numbers,
        secrets: &secrets,
        secret_count,
        columns,
    };
    let found = test_columns(&compared, ASSIGNMENTS, seed);
    let p_values = found.columns.iter().map(|column| column.p_value);
    p_values.reduce(f64::min)
}

/// As many random rows of every unit as the unit with the fewest has.
fn equally_many(rows: &UnitRows, seed: u64) -> UnitRows {
    let total = |unit: &[UnitCell]| -> u64 { unit.iter().map(|cell| cell.count).sum() };
    let least = rows.units().map(total).min().unwrap_or(0);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Assignments have the streams from 0 on.
    rng.set_stream(u64::MAX);
    let mut taken = Vec::new();
    for unit in rows.units() {
        let (mut left, mut wanted) = (total(unit), least);
        for cell in unit {
            let count = hypergeometric::sample(left, cell.count, wanted, &mut rng);
            left -= cell.count;
            wanted -= count;
            taken.extend((count > 0).then_some(UnitCell { count, ..*cell }));
        }
    }
    UnitRows::new(taken)
}

/// What each unit is compared by; `None` if that is nothing, or would not fit into memory.
fn features(rows: &UnitRows, observations: &Observations, units: usize) -> Option<Vec<Vec<f64>>> {
    let labels = match observations.kind() {
        ObservationKind::Discrete => most_frequent(rows, observations.len()),
        _ => Vec::new(),
    };
    let columns = observations.dimensions();
    let wide = 2 * columns + labels.len();
    if wide == 0 || wide.saturating_mul(units) > MOST_NUMBERS {
        return None;
    }
    let of_cells: Vec<Vec<f64>> = (0..columns)
        .map(|column| ranks(rows, observations, column))
        .collect();
    const MIDDLE: f64 = 0.5;
    let mut at = 0;
    let of_unit = |unit: &[UnitCell]| {
        let total: u64 = unit.iter().map(|cell| cell.count).sum();
        let mut means = vec![0.0; wide];
        for cell in unit {
            let share = cell.count as f64 / total as f64;
            for (column, ranks) in of_cells.iter().enumerate() {
                means[2 * column] += share * ranks[at];
                means[2 * column + 1] += share * (ranks[at] - MIDDLE).powi(2);
            }
            if let Some(label) = labels.iter().position(|label| *label == cell.symbol) {
                means[2 * columns + label] += share;
            }
            at += 1;
        }
        means
    };
    Some(rows.units().map(of_unit).collect())
}

/// The observations that most rows have.
fn most_frequent(rows: &UnitRows, distinct: usize) -> Vec<u32> {
    let mut counts = vec![0u64; distinct];
    for cell in rows.cells() {
        counts[cell.symbol as usize] += cell.count;
    }
    let mut all: Vec<u32> = (0..distinct as u32).collect();
    all.sort_by_key(|&symbol| (std::cmp::Reverse(counts[symbol as usize]), symbol));
    all.truncate(MOST_LABELS);
    all
}

/// The mean rank of the number of each cell among all rows, as a share of them.
fn ranks(rows: &UnitRows, observations: &Observations, column: usize) -> Vec<f64> {
    let cells = rows.cells();
    let key = |at: u32| ordered_bits(observations.numbers(cells[at as usize].symbol)[column]);
    let mut order: Vec<(u64, u32)> = (0..cells.len() as u32).map(|at| (key(at), at)).collect();
    order.sort_unstable();
    let total: u64 = cells.iter().map(|cell| cell.count).sum();
    let mut ranks = vec![0.0; cells.len()];
    let mut before = 0;
    for equal in order.chunk_by(|x, y| x.0 == y.0) {
        let count: u64 = equal.iter().map(|(_, at)| cells[*at as usize].count).sum();
        let rank = (before as f64 + 0.5 * count as f64) / total as f64;
        equal.iter().for_each(|(_, at)| ranks[*at as usize] = rank);
        before += count;
    }
    ranks
}
