//! What the two secrets of the worst pair look like: the column in which they differ most.
//!
//! For looking at: all rows of the log, and nothing follows from them.

use crate::audit::evidence::Evidence;
use leakgauge_log::observations::{Cell, NUMBER, Part};

/// Bins of a histogram at most.
const MOST_BINS: usize = 60;
/// Labels that are told apart; the rest are one.
const MOST_LABELS: usize = 24;
/// Shares of a secret's rows that may lie beyond either end of a histogram, from the least.
const TAILS: [f64; 5] = [0.002, 0.005, 0.01, 0.02, 0.05];
/// A range this many times as wide as that of the largest share leaves no room for most rows.
const SQUASHED: f64 = 4.0;
/// Numbers whose largest is this many times their smallest may need a logarithmic axis.
const DECADES_APART: f64 = 100.0;

/// The rows of two secrets in one column.
#[derive(Debug, Clone)]
pub struct Distributions {
    /// The column.
    pub column: String,
    /// Out of so many columns, the one with the largest difference in these pictures.
    pub columns: usize,
    /// The picture.
    pub shape: Shape,
}

/// Shares of rows.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Of a number: shares of each secret's rows between the edges and beyond them.
    Numbers {
        /// Ends of the bins, one more than there are bins.
        edges: Vec<f64>,
        /// Whether bins are equally wide on a logarithmic axis.
        logarithmic: bool,
        /// For each secret, a share a bin.
        shares: [Vec<f64>; 2],
        /// For each secret, the shares of its rows before the first and after the last edge.
        outside: [[f64; 2]; 2],
        /// Share of the rows of both that lie beyond the first and the last edge.
        beyond: f64,
    },
    /// Of labels, or of few numbers.
    Labels {
        /// The likeliest; an empty label stands for all others.
        labels: Vec<String>,
        /// For each secret, a share a label.
        shares: [Vec<f64>; 2],
    },
}

impl Shape {
    /// Half the sum of the differences of shares.
    fn difference(&self) -> f64 {
        let (Shape::Numbers { shares, .. } | Shape::Labels { shares, .. }) = self;
        let pairs = shares[0].iter().zip(&shares[1]);
        let inside: f64 = pairs.map(|(a, b)| (a - b).abs()).sum();
        let outside = match self {
            Shape::Numbers {
                outside: [a, b], ..
            } => (a[0] - b[0]).abs() + (a[1] - b[1]).abs(),
            Shape::Labels { .. } => 0.0,
        };
        0.5 * (inside + outside)
    }
}

/// The column in which the worst pair differs most; `None` if a secret of it has no rows.
pub(super) fn of_worst_pair(evidence: &Evidence) -> Option<Distributions> {
    let rule = evidence.tuned.choices[evidence.worst].rule;
    let pair = [rule.a, rule.b];
    let rows = pair.map(|secret| evidence.counts.rows()[secret as usize]);
    if rows.contains(&0) {
        return None;
    }
    let cells: Vec<Cell> = evidence
        .counts
        .cells()
        .iter()
        .filter(|cell| pair.contains(&cell.secret))
        .copied()
        .collect();
    let columns = evidence.observations.columns();
    let words = evidence.observations.words_beside_numbers();
    let mut best: Option<(f64, Distributions)> = None;
    for (at, part) in evidence.observations.parts() {
        let label = |cell: &Cell, at: usize| evidence.observations.label_at(cell.symbol, at);
        let shape = match part {
            Part::Label(at) => by_label(
                cells.iter().map(|cell| (label(cell, at).to_owned(), *cell)),
                rule.a,
                rows,
            ),
            Part::Number(at) => match words[at] {
                None => numbers(evidence, &cells, at, rule.a, rows),
                // Of a mixed column its numbers only; its words are the other picture.
                Some(word) => {
                    let mut cells = cells.clone();
                    cells.retain(|cell| label(cell, word) == NUMBER);
                    let rows = pair.map(|secret| {
                        let own = cells.iter().filter(|cell| cell.secret == secret);
                        own.map(|cell| cell.count).sum()
                    });
                    if rows.contains(&0) {
                        continue;
                    }
                    numbers(evidence, &cells, at, rule.a, rows)
                }
            },
        };
        let difference = shape.difference();
        if best.as_ref().is_none_or(|(most, _)| difference > *most) {
            let found = Distributions {
                column: columns[at].name.clone(),
                columns: columns.len(),
                shape,
            };
            best = Some((difference, found));
        }
    }
    best.map(|(_, found)| found)
}

/// A numeric column: bars if few values recur, else a histogram.
fn numbers(evidence: &Evidence, cells: &[Cell], at: usize, a: u32, rows: [u64; 2]) -> Shape {
    let mut values: Vec<(f64, Cell)> = cells
        .iter()
        .map(|cell| (evidence.observations.numbers(cell.symbol)[at], *cell))
        .collect();
    values.sort_by(|x, y| x.0.total_cmp(&y.0));
    let distinct = values.chunk_by(|x, y| x.0 == y.0).count();
    if distinct <= MOST_LABELS {
        return in_order(&values, a, rows);
    }
    let (low, high) = range(&values, a, rows);
    if !(high > low && (high - low).is_finite()) {
        return in_order(&values, a, rows);
    }
    let total = rows[0] + rows[1];
    let all = |share: f64| quantile(values.iter(), total, share);
    let logarithmic = needs_logarithms(low, all(0.5), high);
    let position = |x: f64| if logarithmic { libm::log(x) } else { x };
    // Of each secret by itself: secrets far apart have a wide range together, however narrow each is.
    let quartiles = [0, 1].map(|side| {
        let at = |share| quantile(own(&values, a, side), rows[side], share).clamp(low, high);
        position(at(0.75)) - position(at(0.25))
    });
    let bins = bins(
        quartiles[0].min(quartiles[1]),
        position(high) - position(low),
        rows[0].min(rows[1]),
    );
    let edges: Vec<f64> = (0..=bins)
        .map(|edge| edge as f64 / bins as f64)
        .map(|share| match logarithmic {
            true => low * libm::pow(high / low, share),
            false => low + (high - low) * share,
        })
        .collect();
    let mut counts = [vec![0u64; bins], vec![0u64; bins]];
    let mut outside = [[0u64; 2]; 2];
    for (value, cell) in &values {
        let side = usize::from(cell.secret != a);
        if (low..=high).contains(value) {
            let share = (position(*value) - position(low)) / (position(high) - position(low));
            counts[side][((share * bins as f64) as usize).min(bins - 1)] += cell.count;
        } else {
            outside[side][usize::from(*value > high)] += cell.count;
        }
    }
    let beyond: u64 = outside.iter().flatten().sum();
    Shape::Numbers {
        edges,
        logarithmic,
        shares: shares(counts, rows),
        outside: [0, 1].map(|side| outside[side].map(|count| count as f64 / rows[side] as f64)),
        beyond: beyond as f64 / total as f64,
    }
}

/// The values of one of the two secrets.
fn own(values: &[(f64, Cell)], a: u32, side: usize) -> impl Iterator<Item = &(f64, Cell)> {
    let is_own = move |(_, cell): &&(f64, Cell)| usize::from(cell.secret != a) == side;
    values.iter().filter(is_own)
}

/// The value with a share of so many rows before it, of values in increasing order.
fn quantile<'v>(values: impl Iterator<Item = &'v (f64, Cell)>, rows: u64, share: f64) -> f64 {
    let rank = (share * rows.saturating_sub(1) as f64).round() as u64;
    let mut seen = 0;
    for (value, cell) in values {
        seen += cell.count;
        if seen > rank {
            return *value;
        }
    }
    0.0
}

/// The ends of a histogram: those between which nearly all rows of both secrets lie, unless a few of them would squash
/// all others. Each secret counts for itself, so that a secret with few rows stays in the picture.
fn range(values: &[(f64, Cell)], a: u32, rows: [u64; 2]) -> (f64, f64) {
    let ends = |tail: f64| {
        let end = |side: usize, share: f64| quantile(own(values, a, side), rows[side], share);
        (
            end(0, tail).min(end(1, tail)),
            end(0, 1.0 - tail).max(end(1, 1.0 - tail)),
        )
    };
    let widest = TAILS[TAILS.len() - 1];
    let (low, high) = ends(widest);
    let (least, most) = ends(TAILS[0]);
    if needs_logarithms(least, quantile(values.iter(), rows[0] + rows[1], 0.5), most) {
        return (least, most);
    }
    let found = TAILS.iter().map(|tail| ends(*tail));
    found
        .into_iter()
        .find(|(from, to)| to - from <= SQUASHED * (high - low))
        .unwrap_or((low, high))
}

/// Whether most of these positive numbers would stand at the left end of a linear axis, but not of a logarithmic one.
fn needs_logarithms(low: f64, median: f64, high: f64) -> bool {
    if !(low > 0.0 && high / low >= DECADES_APART) {
        return false;
    }
    let place = (median - low) / (high - low);
    let place_of_logarithm = libm::log(median / low) / libm::log(high / low);
    place < 0.1 && (0.2..=0.8).contains(&place_of_logarithm)
}

/// Freedman and Diaconis 1981, between 8 and 60.
fn bins(quartiles: f64, width: f64, rows: u64) -> usize {
    let bin = 2.0 * quartiles / (rows as f64).cbrt();
    let bins = (width / bin).ceil();
    if bins.is_finite() {
        (bins as usize).clamp(8, MOST_BINS)
    } else {
        MOST_BINS
    }
}

/// Few distinct numbers, or nothing to bin: bars from small to large, the likeliest of them.
fn in_order(values: &[(f64, Cell)], a: u32, rows: [u64; 2]) -> Shape {
    let named = values.iter().map(|(value, cell)| (*value, *cell));
    by_label(
        named.map(|(value, cell)| (value.to_string(), cell)),
        a,
        rows,
    )
}

/// The likeliest labels; from small to large if all are numbers, else the likeliest first.
fn by_label(cells: impl Iterator<Item = (String, Cell)>, a: u32, rows: [u64; 2]) -> Shape {
    let mut found: std::collections::BTreeMap<String, [u64; 2]> = Default::default();
    for (label, cell) in cells {
        found.entry(label).or_default()[usize::from(cell.secret != a)] += cell.count;
    }
    let mut bars: Vec<(String, [u64; 2])> = found.into_iter().collect();
    let weight =
        |counts: &[u64; 2]| counts[0] as f64 / rows[0] as f64 + counts[1] as f64 / rows[1] as f64;
    bars.sort_by(|x, y| weight(&y.1).total_cmp(&weight(&x.1)));
    if bars.len() > MOST_LABELS {
        let rest = bars.split_off(MOST_LABELS - 1);
        let sum = |side: usize| rest.iter().map(|bar| bar.1[side]).sum();
        bars.push((String::new(), [sum(0), sum(1)]));
    }
    // What stands for all others comes last.
    let number = |label: &str| match label {
        "" => Some(f64::INFINITY),
        label => label.parse().ok().filter(|x: &f64| x.is_finite()),
    };
    if bars.iter().all(|bar| number(&bar.0).is_some()) {
        let key = |bar: &(String, [u64; 2])| number(&bar.0).unwrap_or(f64::INFINITY);
        bars.sort_by(|x, y| key(x).total_cmp(&key(y)));
    }
    let side = |side: usize| bars.iter().map(|bar| bar.1[side]).collect();
    Shape::Labels {
        shares: shares([side(0), side(1)], rows),
        labels: bars.into_iter().map(|bar| bar.0).collect(),
    }
}

fn shares(counts: [Vec<u64>; 2], rows: [u64; 2]) -> [Vec<f64>; 2] {
    let share = |side: usize| {
        counts[side]
            .iter()
            .map(|&count| count as f64 / rows[side] as f64)
            .collect()
    };
    [share(0), share(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(values: &[(f64, u32)]) -> Vec<(f64, Cell)> {
        let mut cells: Vec<(f64, Cell)> = values
            .iter()
            .enumerate()
            .map(|(at, &(value, secret))| {
                let cell = Cell {
                    symbol: at as u32,
                    secret,
                    count: 1,
                };
                (value, cell)
            })
            .collect();
        cells.sort_by(|x, y| x.0.total_cmp(&y.0));
        cells
    }

    /// One row in a hundred is 600,000; all others lie between 10 and 23.
    #[test]
    fn outliers_do_not_squash_a_histogram() {
        let values: Vec<(f64, u32)> = (0..2000)
            .map(|row| match row % 100 {
                99 => (600_000.0, row % 2),
                _ => (10.0 + 0.01 * f64::from((row * 7919) % 1300), row % 2),
            })
            .collect();
        let cells = rows_of(&values);
        let (low, high) = range(&cells, 0, [1000, 1000]);
        assert!(low >= 10.0 && high < 23.1, "{low} {high}");
    }

    #[test]
    fn a_secret_far_from_the_other_stays_in_the_picture() {
        let values: Vec<(f64, u32)> = (0..1010)
            .map(|row| match row {
                0..1000 => (f64::from(row % 50), 0),
                _ => (5000.0 + f64::from(row % 5), 1),
            })
            .collect();
        let (low, high) = range(&rows_of(&values), 0, [1000, 10]);
        assert!(low <= 5.0 && high >= 5003.0, "{low} {high}");
    }

    #[test]
    fn numbers_over_decades_have_a_logarithmic_axis_and_outliers_do_not() {
        assert!(needs_logarithms(0.003, 1.0, 300.0));
        assert!(!needs_logarithms(10.0, 16.0, 600_000.0));
        assert!(!needs_logarithms(-1.0, 1.0, 300.0));
        assert!(!needs_logarithms(10.0, 15.0, 23.0));
    }

    #[test]
    fn labels_that_are_numbers_stand_in_their_order() {
        let labels = ["1000010", "1000000", "1000010", "1000020", "1000010"];
        let cells = labels.iter().enumerate().map(|(at, label)| {
            let cell = Cell {
                symbol: at as u32,
                secret: at as u32 % 2,
                count: 1,
            };
            ((*label).to_owned(), cell)
        });
        let Shape::Labels { labels, .. } = by_label(cells, 0, [3, 2]) else {
            panic!("not bars");
        };
        assert_eq!(labels, ["1000000", "1000010", "1000020"]);
    }
}
