//! What the order of rows says against their independence.
//!
//! Dependence alone accuses nobody: with secrets in random order, what changes while a log is taken meets all
//! secrets alike, and limits hold for the mean over that time; see [`order::own_correlation`]. It is said where
//! secrets are not in random order, or where rows of one secret hang together more than rows of the log do.

use std::cell::LazyCell;

use crate::audit::warnings::warning::Warning;
use leakgauge_attack::split::Split;
use leakgauge_base::parallel;
use leakgauge_log::RowOrder;
use leakgauge_log::observations::{ColumnType, Observations};
use leakgauge_stats::order;

/// A diagnostic of the order alarms falsely at most this often, over all columns together.
pub(crate) const ALARM: f64 = 1e-3;
/// Shifted rows take verdicts away: that they seem to be alarms falsely at most this often.
const ALARM_OF_SHIFTS: f64 = 1e-4;
/// Columns of numbers that are looked at for it, at most.
const SHIFTED: usize = 64;
/// Smaller effects are not worth a warning, however significant.
const LEAST_EFFECT: f64 = 0.02;
/// Rows of a shared disturbance are taken for those of each secret's own at most this often.
const OWN: f64 = 0.01;
/// Rows that are known to follow each other, where some were left out.
const BLOCK: usize = 4096;
/// Secrets alternate if equal neighbors have less than this part of the share that chance gives them.
const FAR_RARER: f64 = 0.5;

/// What the order of rows gives reason to doubt; secrets and observations by their numbers in the table.
pub(crate) fn order_warnings(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
) -> Vec<Warning> {
    // Asked by few warnings, of all rows.
    let splits = LazyCell::new(|| splits(rows, secrets));
    let interleaving = interleaving(&rows.secrets, secrets, || *splits);
    let is_mixed = !matches!(interleaving, Some(Warning::LabelsNotInterleaved { .. }));
    let mut warnings: Vec<Warning> = interleaving.into_iter().collect();
    // Where secrets stay for long, what drifts would look like the secrets around a row.
    if is_mixed {
        warnings.extend(shifted(observations, rows));
    }
    warnings.extend(of_observations(observations, secrets, rows, || *splits));
    warnings
}

/// Whether a split by time has two secrets in each of its parts.
fn splits(rows: &RowOrder, secrets: usize) -> bool {
    let both = rows.secrets.iter().copied();
    let both: Vec<(u32, u32)> = both.zip(rows.symbols.iter().copied()).collect();
    Split::blocks(&both, secrets).0.in_every_part() > 1
}

/// Do observations depend on the secret of the row before or behind more than on their own?
fn shifted(observations: &Observations, rows: &RowOrder) -> Option<Warning> {
    let columns = observations.columns();
    let numeric = columns
        .iter()
        .filter(|column| column.kind != ColumnType::Categorical);
    let numeric: Vec<&str> = numeric
        .map(|column| column.name.as_str())
        .take(SHIFTED)
        .collect();
    let has_labels = observations.category_count() > 1;
    let tests = 2 * (numeric.len() + usize::from(has_labels));
    let block = if rows.thinned { BLOCK } else { usize::MAX };
    let found = parallel::map(tests, |at| {
        let neighbor = match at % 2 {
            0 => order::Neighbor::Before,
            _ => order::Neighbor::Behind,
        };
        let first = rows.symbols.iter().take(order::MOST_ROWS);
        let found = match numeric.get(at / 2) {
            Some(_) => {
                let values: Vec<f64> = first
                    .map(|&symbol| observations.numbers(symbol)[at / 2])
                    .collect();
                order::neighbor_secret(&rows.secrets[..values.len()], &values, block, neighbor)
            }
            None => {
                let codes: Vec<u32> = first.map(|&symbol| observations.category(symbol)).collect();
                order::neighbor_secret_of_labels(
                    &rows.secrets[..codes.len()],
                    &codes,
                    block,
                    neighbor,
                )
            }
        };
        (found, neighbor, at / 2)
    });
    let worst = found
        .into_iter()
        .filter(|(found, ..)| found.is_more)
        .min_by(|x, y| x.0.p_value.total_cmp(&y.0.p_value))?;
    let (found, neighbor, column) = worst;
    let is_alarm = found.p_value * (tests as f64) < ALARM_OF_SHIFTS;
    is_alarm.then(|| Warning::ShiftedRows {
        column: numeric.get(column).map(|&name| name.to_owned()),
        before: neighbor == order::Neighbor::Before,
        p_value: found.p_value,
    })
}

/// Are equal secrets neighbors far more often than by chance, or far less often?
fn interleaving(rows: &[u32], secrets: usize, splits: impl Fn() -> bool) -> Option<Warning> {
    let order::NeighborTest {
        share,
        expected_share: expected,
        p_value,
        ..
    } = order::interleaving(rows, secrets);
    if p_value >= ALARM {
        None
    } else if share - expected > LEAST_EFFECT {
        Some(Warning::LabelsNotInterleaved {
            share,
            expected,
            splits: splits(),
        })
    } else if share < FAR_RARER * expected && !are_random_blocks(rows, secrets) {
        Some(Warning::LabelsAlternate { share, expected })
    } else {
        None
    }
}

/// Whether rows come in blocks that have each secret once, in random order: then whatever changes from row to row meets all
/// secrets alike.
fn are_random_blocks(rows: &[u32], secrets: usize) -> bool {
    let blocks = rows.chunks_exact(secrets);
    let mut firsts = vec![0u64; secrets];
    for block in blocks.clone() {
        let mut seen = vec![false; secrets];
        block
            .iter()
            .for_each(|&secret| seen[secret as usize] = true);
        if !seen.iter().all(|&is_seen| is_seen) {
            return false;
        }
        firsts[block[0] as usize] += 1;
    }
    let again = blocks.clone().zip(blocks.clone().skip(1));
    let again = again
        .filter(|(before, block)| before[0] == block[0])
        .count() as f64;
    let (blocks, share) = (blocks.len() as f64, 1.0 / secrets as f64);
    let chance = 5.0 * (share * (1.0 - share) / blocks).sqrt();
    let is_rare = |&first: &u64| first as f64 <= (share + chance) * blocks;
    // A block in random order tells nothing of the next one.
    firsts.iter().all(is_rare) && (again - share * (blocks - 1.0)).abs() <= chance * blocks
}

fn of_observations(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
    splits: impl Fn() -> bool,
) -> Vec<Warning> {
    let d = observations.dimensions();
    let categorical = usize::from(observations.category_count() > 1);
    // Two tests of autocorrelation a numeric column.
    let level = ALARM / (2 * d + categorical).max(1) as f64;
    let numeric = observations
        .columns()
        .iter()
        .filter(|column| column.kind != ColumnType::Categorical);
    let is_random = order::random_order(&rows.secrets, secrets) >= ALARM;
    let block = if rows.thinned { BLOCK } else { usize::MAX };
    let (mut autocorrelation, mut drift) = (Worst::default(), Worst::default());
    let mut periodic: Option<Warning> = None;
    let numeric: Vec<_> = numeric.collect();
    let tested = parallel::map(numeric.len(), |at| {
        let values: Vec<f64> = rows
            .symbols
            .iter()
            .map(|&symbol| observations.numbers(symbol)[at])
            .collect();
        let own = || order::own_correlation(&rows.secrets, &values, secrets) < OWN;
        let tests = order::numeric_tests(&rows.secrets, &values, secrets);
        let all = [tests.serial, tests.across, tests.trend];
        let is_dependent = all.iter().any(|test| test.p_value < level);
        if is_random && !(is_dependent && own()) {
            return None;
        }
        let period = order::period(&rows.secrets, &values, secrets, block);
        Some((tests, period))
    });
    for (column, tested) in numeric.into_iter().zip(tested) {
        let Some((tests, period)) = tested else {
            continue;
        };
        let order::NumericTests {
            serial,
            across,
            trend,
        } = tests;
        if period.p_value < ALARM && period.correlation.abs() > LEAST_EFFECT && periodic.is_none() {
            periodic = Some(Warning::Periodic {
                column: column.name.clone(),
                lag: period.lag,
                correlation: period.correlation,
            });
        }
        autocorrelation.offer(&column.name, serial.correlation, serial.p_value < level);
        autocorrelation.offer(&column.name, across.correlation, across.p_value < level);
        drift.offer(&column.name, trend.correlation, trend.p_value < level);
    }
    if categorical > 0 {
        of_labels(
            observations,
            secrets,
            rows,
            level,
            is_random,
            [&mut autocorrelation, &mut drift],
        );
    }
    said([autocorrelation, drift], periodic, splits)
}

/// The warnings about what was found worst.
fn said(
    [autocorrelation, drift]: [Worst; 2],
    periodic: Option<Warning>,
    splits: impl Fn() -> bool,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // Neighbors that resemble each other do so at other distances too.
    if autocorrelation.found.is_none() {
        warnings.extend(periodic);
    }
    if let Some((column, correlation)) = autocorrelation.found {
        warnings.push(Warning::Autocorrelation {
            column,
            correlation,
            splits: splits(),
        });
    }
    if let Some((column, correlation)) = drift.found {
        warnings.push(Warning::Drift {
            column,
            correlation,
            splits: splits(),
        });
    }
    warnings
}

/// The labels of a row together, as one column.
fn of_labels(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
    level: f64,
    is_random: bool,
    [autocorrelation, drift]: [&mut Worst; 2],
) {
    let labels = observations
        .columns()
        .iter()
        .filter(|column| column.kind != ColumnType::Numeric);
    let name = labels
        .map(|column| column.name.as_str())
        .collect::<Vec<_>>()
        .join(" with ");
    let codes: Vec<u32> = rows
        .symbols
        .iter()
        .map(|&symbol| observations.category(symbol))
        .collect();
    let own = || order::own_agreement(&rows.secrets, &codes, secrets) < OWN;
    let (serial, trend) = parallel::both(
        || order::agreement_autocorrelation(&rows.secrets, &codes, secrets),
        || order::category_drift(&rows.secrets, &codes, secrets),
    );
    let is_dependent = serial.p_value < level || trend.p_value < level;
    if !is_random || (is_dependent && own()) {
        let excess = serial.share - serial.expected_share;
        autocorrelation.offer(&name, excess, serial.p_value < level);
        drift.offer(&name, trend.corrected_phi, trend.p_value < level);
    }
}

/// The column with the largest effect among those that alarm.
#[derive(Default)]
struct Worst {
    found: Option<(String, f64)>,
}

impl Worst {
    fn offer(&mut self, column: &str, effect: f64, alarms: bool) {
        let largest = self
            .found
            .as_ref()
            .map_or(LEAST_EFFECT, |(_, effect)| effect.abs());
        if alarms && effect.abs() > largest {
            self.found = Some((column.to_owned(), effect));
        }
    }
}

#[cfg(test)]
mod tests;
