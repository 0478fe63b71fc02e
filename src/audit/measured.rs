//! Measurements in blocks: one of each secret, taken close together, so that drift meets all secrets alike. What an
//! observer of a block sees of one of them.
//!
//! Blocks are the units of the log. An observer sees a measurement and the others of its block: [`observed`] makes of
//! the measurements what it sees, relative to the block if that separates secrets better on training blocks.

use std::borrow::Cow;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::audit::options::AuditOptions;
use crate::audit::parts::split_rows;
use leakgauge_base::error::Result;
use leakgauge_log::observations::Observations;
use leakgauge_log::{Log, UnitCell, UnitRows, Units};

/// What measurements are seen relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Nothing: as they are.
    Nothing,
    /// The median of the other measurements of the block.
    MedianOfOthers,
    /// Their mean.
    MeanOfOthers,
}

/// The measurements of a log in blocks.
#[derive(Debug)]
pub(super) struct Measured {
    /// By secret: blocks and values, by block.
    pub of_secrets: Vec<Vec<(u32, f64)>>,
    /// What the attacks see them relative to.
    pub reference: Reference,
    /// How many blocks the attacks see: all, or a random sample.
    pub attacked: u64,
}

impl Measured {
    /// The size of the largest measurement.
    pub fn largest(&self) -> f64 {
        let all = self.of_secrets.iter().flatten();
        all.map(|(_, value)| value.abs()).fold(0.0, f64::max)
    }
}

/// A log in blocks as its observer sees it, with the measurements themselves; another log as it is.
///
/// The reference is chosen on training blocks: the one with which two secrets differ most by Kolmogorov's distance.
/// Without training blocks it is the median of the others.
///
/// # Errors
/// Those of splitting the log.
pub(super) fn observed<'a>(
    log: Cow<'a, Log>,
    options: &AuditOptions,
) -> Result<(Cow<'a, Log>, Option<Measured>)> {
    let (Some(_), Some(units)) = (&log.facts.blocks, &log.units) else {
        return Ok((log, None));
    };
    let secrets = log.secrets.len();
    let mut of_secrets: Vec<Vec<(u32, f64)>> = log.counts.rows().iter().map(with_room).collect();
    for cell in units.rows.cells() {
        of_secrets[cell.secret as usize].push((cell.unit, value(&log, cell)));
    }
    let sample = sampled(&units.rows, options.seed);
    let log = match sample {
        Some(rows) => {
            let observations = log.observations.clone();
            Cow::Owned(with_rows(&log, observations, &units.column, rows))
        }
        None => log,
    };
    let units = log.units.as_ref().expect("the same as before");
    let attacked = units.rows.len() as u64;
    let given = options.attacks.are_given();
    // The split that the audit will make: it depends on the seed and on which secrets blocks have.
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let parts = split_rows(&log, options.split, given, &mut rng)?;
    let fit = parts.units.map(|parts| parts.fit);
    let reference = fit.map_or(Reference::MedianOfOthers, |fit| best(&log, &fit, secrets));
    let seen = relative(&log, units, reference);
    let measured = Measured {
        of_secrets,
        reference,
        attacked,
    };
    Ok((Cow::Owned(seen), Some(measured)))
}

/// Rows that attacks learn from and are judged on, at most: more would make them no better, and take memory.
const MAX_ATTACKED: usize = 3_000_000;
/// A stream of the seed's random numbers that no other use reaches.
const SAMPLE: u64 = 1 << 54;

fn with_room(rows: &u64) -> Vec<(u32, f64)> {
    Vec::with_capacity(*rows as usize)
}

/// A random sample of the blocks, if these have too many rows: so many blocks are drawn, whatever they show, that
/// their limits stay valid.
fn sampled(rows: &UnitRows, seed: u64) -> Option<UnitRows> {
    let cells = rows.cells().len();
    if cells <= MAX_ATTACKED {
        return None;
    }
    let blocks = rows.len();
    let mut wanted = (blocks as u128 * MAX_ATTACKED as u128 / cells as u128) as usize;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(SAMPLE);
    let mut kept = Vec::with_capacity(MAX_ATTACKED);
    for (at, block) in rows.units().enumerate() {
        // Each of the blocks that are left is as likely to be among the wanted ones.
        if rng.random_range(0..blocks - at) < wanted {
            wanted -= 1;
            kept.extend_from_slice(block);
        }
    }
    Some(UnitRows::new(kept))
}

fn value(log: &Log, cell: &UnitCell) -> f64 {
    log.observations.numbers(cell.symbol)[0]
}

/// The values of a block relative to the others of it.
fn of_block(log: &Log, block: &[UnitCell], reference: Reference) -> Vec<f64> {
    let values: Vec<f64> = block.iter().map(|cell| value(log, cell)).collect();
    relative_to(&values, reference)
}

/// Each value of a block relative to the others.
pub(crate) fn relative_to(values: &[f64], reference: Reference) -> Vec<f64> {
    let others = |at: usize| {
        let mut others = values.to_vec();
        others.remove(at);
        others
    };
    let relative = |(at, own): (usize, &f64)| match reference {
        Reference::Nothing => *own,
        Reference::MeanOfOthers => {
            let others = others(at);
            own - others.iter().sum::<f64>() / others.len() as f64
        }
        Reference::MedianOfOthers => {
            let mut others = others(at);
            others.sort_unstable_by(f64::total_cmp);
            let n = others.len();
            own - 0.5 * (others[(n - 1) / 2] + others[n / 2])
        }
    };
    values.iter().enumerate().map(relative).collect()
}

/// The reference with which some pair of secrets differs most.
fn best(log: &Log, fit: &UnitRows, secrets: usize) -> Reference {
    let blocks = || {
        fit.units().map(|block| {
            let cells = block.iter();
            cells.map(|cell| (cell.secret, value(log, cell))).collect()
        })
    };
    best_reference(blocks, secrets)
}

/// The reference with which some pair of so many secrets differs most in blocks of secrets and values.
pub(crate) fn best_reference<I>(blocks: impl Fn() -> I, secrets: usize) -> Reference
where
    I: Iterator<Item = Vec<(u32, f64)>>,
{
    let all = [
        Reference::Nothing,
        Reference::MedianOfOthers,
        Reference::MeanOfOthers,
    ];
    let distance = |reference: Reference| {
        let mut of_secrets = vec![Vec::new(); secrets];
        for block in blocks() {
            let values: Vec<f64> = block.iter().map(|row| row.1).collect();
            let relative = relative_to(&values, reference);
            for ((secret, _), value) in block.into_iter().zip(relative) {
                of_secrets[secret as usize].push(value);
            }
        }
        of_secrets
            .iter_mut()
            .for_each(|values| values.sort_unstable_by(f64::total_cmp));
        largest_distance(&of_secrets)
    };
    let found = all.map(|reference| (reference, distance(reference)));
    let best = found
        .into_iter()
        .fold((Reference::Nothing, -1.0), |best, next| {
            if next.1 > best.1 { next } else { best }
        });
    best.0
}

/// The largest Kolmogorov distance of the first pairs; where there are more, a choice needs no more of them.
fn largest_distance(of_secrets: &[Vec<f64>]) -> f64 {
    const PAIRS: usize = 200;
    let n = of_secrets.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let pairs = pairs.take(PAIRS);
    pairs
        .map(|(a, b)| distance(&of_secrets[a], &of_secrets[b]))
        .fold(0.0, f64::max)
}

/// The largest distance of two empirical distribution functions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let next = a[i].min(b[j]);
        i += a[i..].iter().take_while(|&&x| x <= next).count();
        j += b[j..].iter().take_while(|&&x| x <= next).count();
        let gap = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        largest = largest.max(gap.abs());
    }
    largest
}

/// The log with every measurement relative to its block.
fn relative(log: &Log, units: &Units, reference: Reference) -> Log {
    let mut seen: Vec<(f64, UnitCell)> = Vec::with_capacity(units.rows.cells().len());
    for block in units.rows.units() {
        let values = of_block(log, block, reference);
        seen.extend(values.into_iter().zip(block.iter().copied()));
    }
    seen.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    let mut numbers: Vec<f64> = Vec::new();
    let mut cells = Vec::with_capacity(seen.len());
    for (value, cell) in seen {
        if numbers.last() != Some(&value) {
            numbers.push(value);
        }
        cells.push(UnitCell {
            symbol: numbers.len() as u32 - 1,
            ..cell
        });
    }
    let observations = log.observations.with_numbers(numbers);
    with_rows(log, observations, &units.column, UnitRows::new(cells))
}

/// A log with other rows.
fn with_rows(log: &Log, observations: Observations, column: &str, rows: UnitRows) -> Log {
    Log {
        observations,
        counts: rows.counts(log.secrets.len()),
        units: Some(Units {
            column: column.to_owned(),
            rows,
            fit: None,
        }),
        fit_counts: None,
        order: None,
        sequence: None,
        secrets: log.secrets.clone(),
        left_out: log.left_out.clone(),
        facts: log.facts.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_whole_blocks_and_is_of_all_parts_of_the_log() {
        let cell = |unit: u32, secret: u32| UnitCell {
            unit,
            symbol: unit % 7,
            secret,
            count: 1,
        };
        let blocks = 2_000_000;
        let cells = (0..blocks).flat_map(|unit| [cell(unit, 0), cell(unit, 1)]);
        let rows = UnitRows::new(cells.collect());
        let sample = sampled(&rows, 1).expect("more rows than attacks need");
        assert_eq!(sample.cells().len(), MAX_ATTACKED);
        assert!(sample.units().all(|block| block.len() == 2));
        // A hypergeometric number with a standard deviation of about 433; seed fixed.
        let early = sample.units().filter(|block| block[0].unit < blocks / 2);
        assert!(early.count().abs_diff(750_000) < 2_000);
        assert!(sampled(&sample, 1).is_none());
    }

    #[test]
    fn distances_count_ties_together() {
        let third = distance(&[1.0, 2.0, 2.0], &[2.0, 2.0, 3.0]);
        assert!((third - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(distance(&[1.0, 1.0], &[1.0]), 0.0);
        assert_eq!(distance(&[1.0], &[2.0]), 1.0);
    }
}
