//! Attackers: what gives outputs a score, large for the first input of a pair and small for the second.
//!
//! All learn from past rows only. The odds of a bin or a value are drawn toward even ones, as if it had come up a few
//! times more, and so are the rows that it counts for, so that a value seen once or twice does not look like evidence.

use hashbrown::HashMap;
use leakgauge_attack::scorer::lowest_bit;

use crate::cells::Scored;
use crate::samples::Samples;

/// Rows of either input that a bin or a value has more, where its odds are taken.
const MORE: f64 = 1.0;
/// Bins at least and at most.
const BINS: (usize, usize) = (4, 64);

/// The kinds of attackers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Large values of a column speak for one input, small ones for the other.
    Threshold {
        /// The column.
        column: usize,
    },
    /// Values of a column by bins of equal frequency: how often either input falls into each.
    Bins {
        /// The column.
        column: usize,
    },
    /// How often either input gave exactly this output.
    Values,
    /// The lowest bit that is set in a floating-point number: rounding tells how it was computed.
    Bits {
        /// The column.
        column: usize,
    },
    /// The attacks of an audit of a log.
    Learned,
}

/// A way to score outputs.
#[derive(Debug, Clone)]
pub(crate) enum Scoring {
    Value {
        column: usize,
        sign: f64,
    },
    Bins {
        column: usize,
        edges: Vec<f64>,
        scores: Vec<f64>,
    },
    Values {
        scores: HashMap<u64, f64>,
    },
    Bits {
        column: usize,
        scores: HashMap<u64, f64>,
    },
    /// By a model that scored the rows of this batch before.
    Model,
}

impl Scoring {
    /// The score of a row; NaN says nothing.
    #[inline]
    pub fn score(&self, samples: &Samples, row: u32) -> f64 {
        match self {
            Scoring::Value { column, sign } => sign * samples.number(*column, row),
            Scoring::Bins {
                column,
                edges,
                scores,
            } => {
                let value = samples.number(*column, row);
                if value.is_nan() {
                    return value;
                }
                scores[edges.partition_point(|&edge| edge <= value)]
            }
            Scoring::Values { scores } => of_key(scores, samples.key_bits(row)),
            Scoring::Bits { column, scores } => {
                of_key(scores, lowest_bit(samples.number(*column, row)))
            }
            Scoring::Model => f64::NAN,
        }
    }
}

#[inline]
fn of_key(scores: &HashMap<u64, f64>, key: u64) -> f64 {
    scores.get(&key).copied().unwrap_or(f64::NAN)
}

/// The past rows of a pair.
#[derive(Clone, Copy)]
pub(crate) struct Past<'a> {
    pub samples: &'a Samples,
    pub first: &'a [u32],
    pub second: &'a [u32],
}

impl Past<'_> {
    /// All rows, and whether each is the second input's.
    fn rows(&self) -> impl Iterator<Item = (u32, bool)> {
        let first = self.first.iter().map(|&row| (row, false));
        first.chain(self.second.iter().map(|&row| (row, true)))
    }

    /// ln of how much likelier the first input is where so many rows of either were, and the rows it counts for: both
    /// drawn together by `MORE` rows of either.
    fn drawn_together(&self, [first, second]: [u32; 2]) -> Scored {
        let [all_first, all_second] =
            [self.first, self.second].map(|rows| rows.len().max(1) as f64);
        let both = all_first + all_second;
        let more = [all_first, all_second].map(|rows| 2.0 * MORE * rows / both);
        let [first, second] = [f64::from(first), f64::from(second)];
        let kept = (first + second) / (first + second + 2.0 * MORE);
        let [a, b] = [first + more[0], second + more[1]];
        Scored {
            score: (a / all_first / (b / all_second)).ln(),
            first: kept * a,
            second: kept * b,
        }
    }
}

/// Ways to score, each with the past rows in ascending order of their scores.
pub(crate) fn learn(kind: Kind, past: Past) -> Vec<(Scoring, Vec<Scored>)> {
    match kind {
        Kind::Threshold { column } => thresholds(column, past),
        Kind::Bins { column } => bins(column, past).into_iter().collect(),
        Kind::Values => {
            let (scores, scored) = keyed(past, |row| past.samples.key_bits(row));
            vec![(Scoring::Values { scores }, scored)]
        }
        Kind::Bits { column } => {
            let (scores, scored) = keyed(past, |row| lowest_bit(past.samples.number(column, row)));
            vec![(Scoring::Bits { column, scores }, scored)]
        }
        Kind::Learned => Vec::new(),
    }
}

fn thresholds(column: usize, past: Past) -> Vec<(Scoring, Vec<Scored>)> {
    let value = |(row, is_second)| Scored::row(past.samples.number(column, row), is_second);
    let mut up: Vec<Scored> = past
        .rows()
        .map(value)
        .filter(|row| !row.score.is_nan())
        .collect();
    sort(&mut up);
    let mirrored = |row: &Scored| Scored {
        score: -row.score,
        ..*row
    };
    let down = up.iter().rev().map(mirrored).collect();
    vec![
        (Scoring::Value { column, sign: 1.0 }, up),
        (Scoring::Value { column, sign: -1.0 }, down),
    ]
}

fn sort(scored: &mut [Scored]) {
    scored.sort_unstable_by(|x, y| x.score.total_cmp(&y.score));
}

/// Bins of equal frequency, by the odds of the rows in them.
fn bins(column: usize, past: Past) -> Option<(Scoring, Vec<Scored>)> {
    let value = |(row, is_second)| (past.samples.number(column, row), is_second);
    let values: Vec<(f64, bool)> = past
        .rows()
        .map(value)
        .filter(|row| !row.0.is_nan())
        .collect();
    if values.len() < 2 * BINS.0 {
        return None;
    }
    let count = ((values.len() as f64).sqrt() as usize / 2).clamp(BINS.0, BINS.1);
    let mut order: Vec<f64> = values.iter().map(|row| row.0).collect();
    order.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> = (1..count)
        .map(|bin| order[bin * order.len() / count])
        .collect();
    edges.dedup();
    let mut counts = vec![[0u32; 2]; edges.len() + 1];
    for &(value, is_second) in &values {
        counts[edges.partition_point(|&edge| edge <= value)][usize::from(is_second)] += 1;
    }
    let mut scored: Vec<Scored> = counts
        .iter()
        .map(|&count| past.drawn_together(count))
        .collect();
    let scores = scored.iter().map(|bin| bin.score).collect();
    sort(&mut scored);
    Some((
        Scoring::Bins {
            column,
            edges,
            scores,
        },
        scored,
    ))
}

/// Scores of keys that came up more than once, and the past rows with theirs; others say nothing.
fn keyed(past: Past, key: impl Fn(u32) -> u64) -> (HashMap<u64, f64>, Vec<Scored>) {
    let mut counts: HashMap<u64, [u32; 2]> = HashMap::new();
    for (row, is_second) in past.rows() {
        counts.entry(key(row)).or_default()[usize::from(is_second)] += 1;
    }
    counts.retain(|_, count| count[0] + count[1] > 1);
    let of = |(&key, &count): (&u64, &[u32; 2])| (key, past.drawn_together(count));
    let keyed: Vec<(u64, Scored)> = counts.iter().map(of).collect();
    let mut scored: Vec<Scored> = keyed.iter().map(|(_, scored)| *scored).collect();
    // Also by rows: sums must not depend on the order of a hash.
    scored.sort_unstable_by(|x, y| {
        x.score
            .total_cmp(&y.score)
            .then(x.first.total_cmp(&y.first))
    });
    (
        keyed
            .into_iter()
            .map(|(key, scored)| (key, scored.score))
            .collect(),
        scored,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Column;

    fn past_of(values: &[f64], first: usize) -> Samples {
        let mut samples = Samples::new(2);
        let draws = [(0, first), (1, values.len() - first)];
        samples
            .push(&draws, vec![Column::Numbers(values.to_vec())])
            .unwrap();
        samples
    }

    fn learned(kind: Kind, samples: &Samples) -> Vec<(Scoring, Vec<Scored>)> {
        let past = Past {
            samples,
            first: samples.rows(0),
            second: samples.rows(1),
        };
        learn(kind, past)
    }

    #[test]
    fn a_value_seen_once_is_no_evidence() {
        let samples = past_of(&[1.0, 1.0, 1.0, 5.0, 2.0, 2.0, 2.0, 7.0], 4);
        let (scoring, scored) = learned(Kind::Values, &samples).pop().unwrap();
        assert_eq!(scored.len(), 2, "5 and 7 came up once");
        assert!(scoring.score(&samples, 0) > 1.0 && scoring.score(&samples, 4) < -1.0);
        assert!(scoring.score(&samples, 3).is_nan());
        assert_eq!(scored[0].score, -(4f64.ln()));
        assert!(scored[0].second < 3.0 && scored[0].first > 0.0);
    }

    #[test]
    fn bins_find_what_no_threshold_does() {
        // The first input is in the middle, the second at both ends.
        let values: Vec<f64> = (0..200)
            .map(|i| {
                if i < 100 {
                    f64::from(i % 10)
                } else {
                    f64::from(i % 2) * 30.0 - 10.0 + f64::from(i % 5) * 0.1
                }
            })
            .collect();
        let samples = past_of(&values, 100);
        let (scoring, _) = learned(Kind::Bins { column: 0 }, &samples).pop().unwrap();
        assert!(scoring.score(&samples, 5) > 0.5);
        assert!(scoring.score(&samples, 150) < -0.5 && scoring.score(&samples, 151) < -0.5);
        assert_eq!(learned(Kind::Threshold { column: 0 }, &samples).len(), 2);
    }

    #[test]
    fn the_lowest_bit_is_found() {
        assert_eq!(lowest_bit(1.0), lowest_bit(3.0));
        assert_eq!(lowest_bit(1.0), lowest_bit(-5.0));
        assert_eq!(lowest_bit(0.5) + 1, lowest_bit(1.0));
        // 1 + x is a multiple of 2^-52, x is not.
        let x = 0.123456789;
        assert!(lowest_bit(x) < lowest_bit(1.0 + x));
        assert_ne!(lowest_bit(0.0), lowest_bit(-0.0));
    }
}
