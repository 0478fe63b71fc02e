//! What an observer of a block sees of a measurement.

use rand::RngExt;
use serde::Serialize;

use leakgauge_log::observations::Observations;
use leakgauge_log::{Log, UnitCell, UnitRows, Units};
use leakgauge_stats::random::{Randomness, Stream};

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

/// Rows that attacks learn from and are judged on, at most: more would make them no better, and take memory.
const MAX_ATTACKED: usize = 3_000_000;

/// A random sample of the blocks, if these have too many rows: so many blocks are drawn, whatever they show, that
/// their limits stay valid.
pub fn sampled(rows: &UnitRows, random: Randomness) -> Option<UnitRows> {
    let cells = rows.cells().len();
    if cells <= MAX_ATTACKED {
        return None;
    }
    let blocks = rows.len();
    let mut wanted = (blocks as u128 * MAX_ATTACKED as u128 / cells as u128) as usize;
    let mut rng = random.rng(Stream::Blocks);
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
pub fn relative_to(values: &[f64], reference: Reference) -> Vec<f64> {
    let others = values.len() - 1;
    match reference {
        Reference::Nothing => values.to_vec(),
        Reference::MeanOfOthers => {
            let mean = |at: usize| {
                let sum: f64 = values[..at].iter().chain(&values[at + 1..]).sum();
                sum / others as f64
            };
            let all = values.iter().enumerate();
            all.map(|(at, own)| own - mean(at)).collect()
        }
        Reference::MedianOfOthers => {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let median = |own: f64| {
                let rank = sorted.partition_point(|x| x.total_cmp(&own).is_lt());
                // The others are all values but that of this rank.
                let other = |place: usize| sorted[place + usize::from(place >= rank)];
                0.5 * (other((others - 1) / 2) + other(others / 2))
            };
            values.iter().map(|&own| own - median(own)).collect()
        }
    }
}

/// The reference with which some pair of secrets differs most.
pub fn best(log: &Log, fit: &UnitRows, secrets: usize) -> Reference {
    let blocks = || {
        fit.units().map(|block| {
            let cells = block.iter();
            cells.map(|cell| (cell.secret, value(log, cell))).collect()
        })
    };
    best_reference(blocks, secrets)
}

/// The reference with which some pair of so many secrets differs most in blocks of secrets and values.
pub fn best_reference<I>(blocks: impl Fn() -> I, secrets: usize) -> Reference
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
pub fn relative(log: &Log, units: &Units, reference: Reference) -> Log {
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
pub fn with_rows(log: &Log, observations: Observations, column: &str, rows: UnitRows) -> Log {
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
        let random = Randomness::new(1, rows.digest());
        let sample = sampled(&rows, random).expect("more rows than attacks need");
        assert_eq!(sample.cells().len(), MAX_ATTACKED);
        assert!(sample.units().all(|block| block.len() == 2));
        // A hypergeometric number with a standard deviation of about 433; seed fixed.
        let early = sample.units().filter(|block| block[0].unit < blocks / 2);
        assert!(early.count().abs_diff(750_000) < 2_000);
        assert!(sampled(&sample, random).is_none());
    }

    #[test]
    fn distances_count_ties_together() {
        let third = distance(&[1.0, 2.0, 2.0], &[2.0, 2.0, 3.0]);
        assert!((third - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(distance(&[1.0, 1.0], &[1.0]), 0.0);
        assert_eq!(distance(&[1.0], &[2.0]), 1.0);
    }
}
