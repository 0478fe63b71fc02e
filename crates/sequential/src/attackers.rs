//! Attackers: what gives outputs a score, large for the first input of a pair and small for the second.
//!
//! All learn from past rows only. The odds of a bin or a value are drawn toward even ones, as if it had come up a few
//! times more, and so are the rows that it counts for, so that a value seen once or twice does not look like evidence.

use hashbrown::HashMap;

use crate::cells::Scored;

/// Rows of either input that a bin or a value has more, where its odds are taken.
const MORE: f64 = 1.0;
/// Bins at least and at most.
const BINS: (usize, usize) = (4, 64);

/// Parts of the values that windows have.
const WINDOWS: [f64; 3] = [0.8, 0.47, 0.35];

/// Rows by number, as attackers see them.
pub trait Seen {
    /// The number in a column; NaN where there is none.
    fn number(&self, column: usize, row: u32) -> f64;

    /// The same for rows that are equal, and for no others.
    fn key(&self, row: u32) -> u64;

    /// The position of the lowest bit that is set in the number of a column.
    fn lowest_bit(&self, column: usize, row: u32) -> u64;
}

/// The kinds of attackers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Large values of a column speak for one input, small ones for the other.
    Threshold {
        /// The column.
        column: usize,
    },
    /// Values far from the middle of a column speak for one input, near ones for the other: one has the larger spread, or
    /// the heavier tails.
    Distance {
        /// The column.
        column: usize,
    },
    /// Large values among those near the middle of a column speak for one input, small ones for the other, and the rest for
    /// neither: what lies far out is noise that drowns a shift.
    Window {
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
    /// The attacks of an audit of a log, learned elsewhere.
    Learned,
}

/// A way to score outputs.
#[derive(Debug, Clone)]
pub enum Scoring {
    /// The number in a column, or its negative.
    Value {
        /// The column.
        column: usize,
        /// 1 or −1.
        sign: f64,
    },
    /// The distance of the number in a column from the middle of past numbers, or its negative.
    Distance {
        /// The column.
        column: usize,
        /// The middle.
        center: f64,
        /// 1 or −1.
        sign: f64,
    },
    /// The number in a column, or its negative, if it lies between two ends.
    Window {
        /// The column.
        column: usize,
        /// The ends.
        ends: [f64; 2],
        /// 1 or −1.
        sign: f64,
    },
    /// The score of the bin of the number in a column.
    Bins {
        /// The column.
        column: usize,
        /// Where bins begin, but the first.
        edges: Vec<f64>,
        /// A score for each bin.
        scores: Vec<f64>,
    },
    /// The score of each row that recurred.
    Values {
        /// By key.
        scores: HashMap<u64, f64>,
    },
    /// The score of each lowest bit.
    Bits {
        /// The column.
        column: usize,
        /// By position.
        scores: HashMap<u64, f64>,
    },
    /// By a model that scores rows elsewhere.
    Model,
}

impl Scoring {
    /// The score of a row; NaN says nothing.
    #[inline]
    pub fn score<S: Seen + ?Sized>(&self, seen: &S, row: u32) -> f64 {
        match self {
            Scoring::Value { column, sign } => sign * seen.number(*column, row),
            Scoring::Distance {
                column,
                center,
                sign,
            } => sign * (seen.number(*column, row) - center).abs(),
            Scoring::Window { column, ends, sign } => {
                let value = seen.number(*column, row);
                match ends[0] <= value && value <= ends[1] {
                    true => sign * value,
                    false => f64::NAN,
                }
            }
            Scoring::Bins {
                column,
                edges,
                scores,
            } => {
                let value = seen.number(*column, row);
                if value.is_nan() {
                    return value;
                }
                scores[edges.partition_point(|&edge| edge <= value)]
            }
            Scoring::Values { scores } => of_key(scores, seen.key(row)),
            Scoring::Bits { column, scores } => of_key(scores, seen.lowest_bit(*column, row)),
            Scoring::Model => f64::NAN,
        }
    }
}

#[inline]
fn of_key(scores: &HashMap<u64, f64>, key: u64) -> f64 {
    scores.get(&key).copied().unwrap_or(f64::NAN)
}

/// The past rows of a pair.
pub struct Past<'a, S: ?Sized> {
    /// All rows.
    pub seen: &'a S,
    /// Those of the first law.
    pub first: &'a [u32],
    /// Those of the second law.
    pub second: &'a [u32],
}

impl<S: ?Sized> Clone for Past<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for Past<'_, S> {}

impl<S: ?Sized> Past<'_, S> {
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
pub fn learn<S: Seen + ?Sized>(kind: Kind, past: Past<S>) -> Vec<(Scoring, Vec<Scored>)> {
    match kind {
        Kind::Threshold { column } => thresholds(column, past),
        Kind::Distance { column } => distances(column, past),
        Kind::Window { column } => windows(column, past),
        Kind::Bins { column } => bins(column, past).into_iter().collect(),
        Kind::Values => {
            let (scores, scored) = keyed(past, |row| past.seen.key(row));
            vec![(Scoring::Values { scores }, scored)]
        }
        Kind::Bits { column } => {
            let (scores, scored) = keyed(past, |row| past.seen.lowest_bit(column, row));
            vec![(Scoring::Bits { column, scores }, scored)]
        }
        Kind::Learned => Vec::new(),
    }
}

fn thresholds<S: Seen + ?Sized>(column: usize, past: Past<S>) -> Vec<(Scoring, Vec<Scored>)> {
    let up = ascending(column, past);
    let down = mirrored(&up);
    vec![
        (Scoring::Value { column, sign: 1.0 }, up),
        (Scoring::Value { column, sign: -1.0 }, down),
    ]
}

/// The past rows that have a number in a column, in ascending order of it.
fn ascending<S: Seen + ?Sized>(column: usize, past: Past<S>) -> Vec<Scored> {
    let value = |(row, is_second)| Scored::row(past.seen.number(column, row), is_second);
    let mut up: Vec<Scored> = past
        .rows()
        .map(value)
        .filter(|row| !row.score.is_nan())
        .collect();
    sort(&mut up);
    up
}

/// The same rows with negative scores.
fn mirrored(up: &[Scored]) -> Vec<Scored> {
    let mirrored = |row: &Scored| Scored {
        score: -row.score,
        ..*row
    };
    up.iter().rev().map(mirrored).collect()
}

fn distances<S: Seen + ?Sized>(column: usize, past: Past<S>) -> Vec<(Scoring, Vec<Scored>)> {
    let mut rows = ascending(column, past);
    let Some(middle) = rows.get(rows.len() / 2) else {
        return Vec::new();
    };
    let center = middle.score;
    for row in &mut rows {
        row.score = (row.score - center).abs();
    }
    // An infinite middle is at no distance from itself.
    rows.retain(|row| !row.score.is_nan());
    sort(&mut rows);
    let near = mirrored(&rows);
    let scoring = |sign| Scoring::Distance {
        column,
        center,
        sign,
    };
    vec![(scoring(1.0), rows), (scoring(-1.0), near)]
}

/// Thresholds for the values in the middle, of which each of some parts is looked at.
fn windows<S: Seen + ?Sized>(column: usize, past: Past<S>) -> Vec<(Scoring, Vec<Scored>)> {
    let all = ascending(column, past);
    let window = |part: f64| {
        let outside = (0.5 * (1.0 - part) * all.len() as f64) as usize;
        let rows = all.get(outside..all.len() - outside)?;
        let ends = [rows.first()?.score, rows.last()?.score];
        let scoring = |sign| Scoring::Window { column, ends, sign };
        Some([
            (scoring(1.0), rows.to_vec()),
            (scoring(-1.0), mirrored(rows)),
        ])
    };
    WINDOWS.into_iter().filter_map(window).flatten().collect()
}

fn sort(scored: &mut [Scored]) {
    scored.sort_unstable_by(|x, y| x.score.total_cmp(&y.score));
}

/// Bins of equal frequency, by the odds of the rows in them.
fn bins<S: Seen + ?Sized>(column: usize, past: Past<S>) -> Option<(Scoring, Vec<Scored>)> {
    let value = |(row, is_second)| (past.seen.number(column, row), is_second);
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
fn keyed<S: ?Sized>(past: Past<S>, key: impl Fn(u32) -> u64) -> (HashMap<u64, f64>, Vec<Scored>) {
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

    /// One column of numbers.
    struct Numbers(Vec<f64>);

    impl Seen for Numbers {
        fn number(&self, _: usize, row: u32) -> f64 {
            self.0[row as usize]
        }

        fn key(&self, row: u32) -> u64 {
            self.0[row as usize].to_bits()
        }

        fn lowest_bit(&self, _: usize, row: u32) -> u64 {
            let bits = self.0[row as usize].to_bits();
            (bits >> 52) + u64::from(bits.trailing_zeros())
        }
    }

    /// What a kind learns where so many rows, the first ones, are of the first law.
    fn learned(kind: Kind, seen: &Numbers, first: u32) -> Vec<(Scoring, Vec<Scored>)> {
        let rows: Vec<u32> = (0..seen.0.len() as u32).collect();
        let (first, second) = rows.split_at(first as usize);
        learn(
            kind,
            Past {
                seen,
                first,
                second,
            },
        )
    }

    #[test]
    fn a_value_seen_once_is_no_evidence() {
        let seen = Numbers(vec![1.0, 1.0, 1.0, 5.0, 2.0, 2.0, 2.0, 7.0]);
        let (scoring, scored) = learned(Kind::Values, &seen, 4).pop().unwrap();
        assert_eq!(scored.len(), 2, "5 and 7 came up once");
        assert!(scoring.score(&seen, 0) > 1.0 && scoring.score(&seen, 4) < -1.0);
        assert!(scoring.score(&seen, 3).is_nan());
        assert_eq!(scored[0].score, -(4f64.ln()));
        assert!(scored[0].second < 3.0 && scored[0].first > 0.0);
    }

    #[test]
    fn bins_find_what_no_threshold_does() {
        // The first law is in the middle, the second at both ends.
        let values = (0..200).map(|i| {
            if i < 100 {
                f64::from(i % 10)
            } else {
                f64::from(i % 2) * 30.0 - 10.0 + f64::from(i % 5) * 0.1
            }
        });
        let seen = Numbers(values.collect());
        let (scoring, _) = learned(Kind::Bins { column: 0 }, &seen, 100).pop().unwrap();
        assert!(scoring.score(&seen, 5) > 0.5);
        assert!(scoring.score(&seen, 150) < -0.5 && scoring.score(&seen, 151) < -0.5);
        assert_eq!(learned(Kind::Threshold { column: 0 }, &seen, 100).len(), 2);
    }

    /// The numbers of the second law are twice as far from 100.
    #[test]
    fn a_larger_spread_is_told_by_the_distance_from_the_middle() {
        let values = (0..200).map(|i| {
            let spread = if i < 100 { 1.0 } else { 2.0 };
            100.0 + spread * f64::from(i % 21 - 10)
        });
        let seen = Numbers(values.collect());
        let found = learned(Kind::Distance { column: 0 }, &seen, 100);
        let (far, near) = (&found[0], &found[1]);
        assert!(
            far.1
                .last()
                .is_some_and(|row| row.second == 1.0 && row.score == 20.0)
        );
        // This row is 112.
        assert_eq!(far.0.score(&seen, 100), 12.0);
        assert_eq!(near.0.score(&seen, 100), -12.0);
        assert!(near.1.is_sorted_by(|x, y| x.score <= y.score));
    }

    /// A shift by 1 among half of the numbers, the others far out on either side.
    #[test]
    fn a_shift_in_the_middle_is_told_by_a_window() {
        let values = (0..200).map(|i| {
            let shift = if i < 100 { 0.0 } else { 1.0 };
            match i % 4 {
                0 => 1e9 + f64::from(i),
                1 => -1e9 - f64::from(i),
                _ => shift + f64::from(i % 10) / 10.0,
            }
        });
        let seen = Numbers(values.collect());
        let found = learned(Kind::Window { column: 0 }, &seen, 100);
        assert_eq!(found.len(), 6);
        let (scoring, scored) = &found[2];
        assert!(scored.iter().all(|row| row.score.abs() < 3.0));
        assert!(scoring.score(&seen, 100).is_nan());
        assert_eq!(scoring.score(&seen, 102), 1.2);
    }

    #[test]
    fn numbers_are_told_by_the_lowest_bit() {
        let whole = (0..50).map(|at| f64::from(1 + 2 * at));
        let halves = (0..50).map(|at| 0.5 + f64::from(at));
        let seen = Numbers(whole.chain(halves).collect());
        let kind = Kind::Bits { column: 0 };
        let (scoring, scored) = learned(kind, &seen, 50).pop().unwrap();
        assert_eq!(scored.len(), 2);
        assert!(scoring.score(&seen, 7) > 3.0 && scoring.score(&seen, 70) < -3.0);
    }
}
