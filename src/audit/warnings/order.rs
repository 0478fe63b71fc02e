//! What the order of rows says against their independence.
//!
//! Dependence alone accuses nobody: with secrets in random order, what changes while a log is taken meets all
//! secrets alike, and limits hold for the mean over that time; see [`order::own_correlation`]. It is said where
//! secrets are not in random order, or where rows of one secret hang together more than rows of the log do.

use std::cell::LazyCell;
use std::collections::BTreeMap;

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
/// A wave that repeats within so many turns of all secrets shows each secret phases of its own.
const TURNS: usize = 8;
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
    let found = of_observations(observations, secrets, rows, is_mixed);
    warnings.extend(said(found, || *splits));
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

/// A column that repeats.
struct Periodic {
    column: String,
    period: order::Period,
    /// How many times fewer independent rows the rows are worth.
    inflation: f64,
}

/// What was found of the columns of observations.
#[derive(Default)]
struct Found {
    autocorrelation: Worst,
    drift: Worst,
    /// The first column that repeats.
    periodic: Option<Periodic>,
}

/// What is known of the order before a column is looked at.
struct Design {
    /// The level of a test.
    level: f64,
    is_random: bool,
    /// Whether rows of equal secrets do not stand together.
    is_mixed: bool,
    /// Columns of numbers.
    columns: usize,
}

/// What the order of the numbers of a column shows, their period and how many times fewer independent rows they are worth;
/// `None` if nothing is to be said.
fn of_numbers(
    values: &[f64],
    rows: &RowOrder,
    secrets: usize,
    design: &Design,
) -> Option<(order::NumericTests, order::Period, f64)> {
    let block = if rows.thinned { BLOCK } else { usize::MAX };
    let tests = order::numeric_tests(&rows.secrets, values, secrets);
    let all = [tests.serial, tests.across, tests.trend];
    let is_dependent = all.iter().any(|test| test.p_value < design.level);
    let own = || order::own_correlation(&rows.secrets, values, secrets) < OWN;
    let is_looked_at = is_dependent || design.columns <= SHIFTED;
    let measured = is_looked_at
        .then(|| order::own_inflation(&rows.secrets, values, secrets))
        .flatten();
    let known = worth(measured, design.columns, is_dependent, design.is_mixed);
    let inflation = known.unwrap_or_else(|| match own() {
        true => of_neighbors(tests.serial.correlation),
        false => 1.0,
    });
    if design.is_random && inflation <= 1.0 && !(is_dependent && own()) {
        return None;
    }
    let period = order::period(&rows.secrets, values, secrets, block);
    Some((tests, period, inflation))
}

fn of_observations(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
    is_mixed: bool,
) -> Found {
    let d = observations.dimensions();
    let categorical = usize::from(observations.category_count() > 1);
    // Two tests of autocorrelation a numeric column.
    let level = ALARM / (2 * d + categorical).max(1) as f64;
    let numeric = observations
        .columns()
        .iter()
        .filter(|column| column.kind != ColumnType::Categorical);
    let numeric: Vec<_> = numeric.collect();
    let design = Design {
        level,
        is_random: order::random_order(&rows.secrets, secrets) >= ALARM,
        is_mixed,
        columns: numeric.len(),
    };
    let mut found = Found::default();
    let tested = parallel::map(numeric.len(), |at| {
        let of = |&symbol: &u32| observations.numbers(symbol)[at];
        let values: Vec<f64> = rows.symbols.iter().map(of).collect();
        of_numbers(&values, rows, secrets, &design)
    });
    for (column, tested) in numeric.into_iter().zip(tested) {
        let Some((tests, period, inflation)) = tested else {
            continue;
        };
        let order::NumericTests {
            serial,
            across,
            trend,
        } = tests;
        let is_periodic = period.p_value < ALARM && period.correlation.abs() > LEAST_EFFECT;
        if is_periodic && found.periodic.is_none() {
            found.periodic = Some(Periodic {
                column: column.name.clone(),
                period,
                inflation: match !is_mixed || !design.is_random && period.lag <= TURNS * secrets {
                    true => f64::INFINITY,
                    false => inflation,
                },
            });
        }
        for test in [serial, across] {
            let alarms = test.p_value < level || is_measured(inflation);
            found
                .autocorrelation
                .offer(&column.name, test.correlation, alarms, inflation);
        }
        let alarms = trend.p_value < level;
        found
            .drift
            .offer(&column.name, trend.correlation, alarms, inflation);
    }
    if categorical > 0 {
        of_labels(observations, secrets, rows, &design, &mut found);
    }
    found
}

/// The warnings about what was found worst.
fn said(found: Found, splits: impl Fn() -> bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // Neighbors that resemble each other do so at other distances too.
    if found.autocorrelation.found.is_none()
        && let Some(periodic) = found.periodic
    {
        warnings.push(Warning::Periodic {
            column: periodic.column,
            lag: periodic.period.lag,
            correlation: periodic.period.correlation,
            inflation: periodic.inflation,
        });
    }
    let inflation = found.autocorrelation.inflation;
    if let Some((column, correlation)) = found.autocorrelation.found {
        warnings.push(Warning::Autocorrelation {
            column,
            correlation,
            splits: splits(),
            inflation,
        });
    }
    let inflation = found.drift.inflation;
    if let Some((column, correlation)) = found.drift.found {
        warnings.push(Warning::Drift {
            column,
            correlation,
            splits: splits(),
            inflation,
        });
    }
    warnings
}

/// The labels of a row together, as one column.
fn of_labels(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
    design: &Design,
    found: &mut Found,
) {
    let level = design.level;
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
    let (serial, trend) = parallel::both(
        || order::agreement_autocorrelation(&rows.secrets, &codes, secrets),
        || order::category_drift(&rows.secrets, &codes, secrets),
    );
    let is_dependent = serial.p_value < level || trend.p_value < level;
    let own = || order::own_agreement(&rows.secrets, &codes, secrets) < OWN;
    let measured = labels_inflation(&rows.secrets, &codes, secrets);
    let excess = serial.share - serial.expected_share;
    let inflation =
        worth(measured, LABELS, is_dependent, design.is_mixed).unwrap_or_else(|| match own() {
            true => of_neighbors(excess),
            false => 1.0,
        });
    if design.is_random && inflation <= 1.0 && !(is_dependent && own()) {
        return;
    }
    let alarms = serial.p_value < level || is_measured(inflation);
    found
        .autocorrelation
        .offer(&name, excess, alarms, inflation);
    let alarms = trend.p_value < level;
    found
        .drift
        .offer(&name, trend.corrected_phi, alarms, inflation);
}

/// How many times fewer independent rows the rows are worth: as measured where secrets meet. Where they do not, nothing says it
/// of dependent rows of secrets that stand together; `None` where it must be guessed.
fn worth(
    measured: Option<order::OwnInflation>,
    tests: usize,
    is_dependent: bool,
    is_mixed: bool,
) -> Option<f64> {
    match measured {
        Some(found) => Some(match is_too_much(found, tests) {
            true => found.factor,
            false => 1.0,
        }),
        None if !is_dependent => Some(1.0),
        None => (!is_mixed).then_some(f64::INFINITY),
    }
}

/// What rows are worth whose correlation falls from row to row by this factor.
fn of_neighbors(correlation: f64) -> f64 {
    let correlation = correlation.clamp(0.0, 0.999);
    (1.0 + correlation) / (1.0 - correlation)
}

/// Whether rows of each secret hang together so much that limits are too narrow: by a fifth and more.
fn is_too_much(found: order::OwnInflation, tests: usize) -> bool {
    const FACTOR: f64 = 1.5;
    found.factor > FACTOR && tests as f64 * found.p_value < OWN
}

/// The most frequent labels, each against all others.
const LABELS: usize = 8;

/// The clearest inflation of them; `None` where it cannot be seen.
fn labels_inflation(rows: &[u32], codes: &[u32], secrets: usize) -> Option<order::OwnInflation> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &code in codes {
        *counts.entry(code).or_default() += 1;
    }
    let mut frequent: Vec<(usize, u32)> = counts.into_iter().map(|(code, n)| (n, code)).collect();
    frequent.sort_unstable_by(|x, y| y.cmp(x));
    frequent.truncate(LABELS);
    let of = |&(_, label): &(usize, u32)| {
        let is_label = |&code: &u32| f64::from(u8::from(code == label));
        let values: Vec<f64> = codes.iter().map(is_label).collect();
        order::own_inflation(rows, &values, secrets)
    };
    let found = frequent.iter().filter_map(of);
    found.min_by(|x, y| x.p_value.total_cmp(&y.p_value))
}

/// Of the columns that alarm, the one with the largest effect of those whose rows are worth fewer, or of all if none is.
#[derive(Default)]
struct Worst {
    found: Option<(String, f64)>,
    /// How many times fewer independent rows the rows are worth by that column.
    inflation: f64,
}

impl Worst {
    /// Small effects are not worth a warning, unless they were measured to make rows worth fewer.
    fn offer(&mut self, column: &str, effect: f64, alarms: bool, inflation: f64) {
        let is_measured = is_measured(inflation);
        if !alarms || effect.abs() <= LEAST_EFFECT && !is_measured {
            return;
        }
        let key = |effect: f64, inflation: f64| (inflation > 1.0, effect.abs());
        let found = self.found.as_ref();
        if found.is_none_or(|known| key(effect, inflation) > key(known.1, self.inflation)) {
            self.found = Some((column.to_owned(), effect));
            self.inflation = inflation;
        }
    }
}

/// Whether it was measured that rows are worth fewer.
fn is_measured(inflation: f64) -> bool {
    inflation > 1.0 && inflation < f64::INFINITY
}

#[cfg(test)]
mod tests;
