//! Histograms and bars of the column in which two secrets differ most.

use crate::audit::basis::Evidence;
use crate::audit::figures::distributions::{Distributions, Shape};
use leakgauge_base::parallel;
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
pub fn of_worst_pair(evidence: &Evidence) -> Option<Distributions> {
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
    let parts: Vec<(usize, Part)> = evidence.observations.parts().collect();
    let shapes = parallel::map(parts.len(), |place| {
        let label = |cell: &Cell, at: usize| evidence.observations.label_at(cell.symbol, at);
        Some(match parts[place].1 {
            Part::Label(at) => by_label(
                cells.iter().map(|cell| {
                    let side = usize::from(cell.secret != rule.a);
                    (label(cell, at).to_owned(), side, cell.count)
                }),
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
                        return None;
                    }
                    numbers(evidence, &cells, at, rule.a, rows)
                }
            },
        })
    });
    let mut best: Option<(f64, Distributions)> = None;
    for ((at, _), shape) in parts.into_iter().zip(shapes) {
        let Some(shape) = shape else { continue };
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
    let ranked = [0, 1].map(|side| {
        let own = cells
            .iter()
            .filter(|cell| usize::from(cell.secret != a) == side);
        let value = |cell: &Cell| evidence.observations.numbers(cell.symbol)[at];
        Ranked::new(own.map(|cell| (value(cell), cell.count)))
    });
    if are_few(&ranked) {
        return in_order(&ranked, rows);
    }
    let (low, high) = range(&ranked);
    if !(high > low && (high - low).is_finite()) {
        return in_order(&ranked, rows);
    }
    let total = rows[0] + rows[1];
    let logarithmic = needs_logarithms(low, median(&ranked), high);
    let position = |x: f64| if logarithmic { libm::log(x) } else { x };
    // Of each secret by itself: secrets far apart have a wide range together, however narrow each is.
    let quartiles = ranked.each_ref().map(|ranked| {
        let at = |share| position(ranked.quantile(share).clamp(low, high));
        at(0.75) - at(0.25)
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
    for (side, ranked) in ranked.iter().enumerate() {
        for (value, count) in ranked.values() {
            if (low..=high).contains(&value) {
                let share = (position(value) - position(low)) / (position(high) - position(low));
                counts[side][((share * bins as f64) as usize).min(bins - 1)] += count;
            } else {
                outside[side][usize::from(value > high)] += count;
            }
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

/// The values of one secret in increasing order, with the number of rows up to each.
struct Ranked {
    values: Vec<f64>,
    upto: Vec<u64>,
}

impl Ranked {
    fn new(values: impl Iterator<Item = (f64, u64)>) -> Ranked {
        // Integers in the order of the numbers are sorted faster. Equal ones count together, in whatever order they
        // stand.
        let mut keys: Vec<(u64, u64)> = values.map(|(x, count)| (key(x), count)).collect();
        keys.sort_unstable_by_key(|(key, _)| *key);
        let mut rows = 0;
        let upto = |(key, count)| {
            rows += count;
            (number(key), rows)
        };
        let (values, upto) = keys.into_iter().map(upto).unzip();
        Ranked { values, upto }
    }

    fn rows(&self) -> u64 {
        self.upto.last().copied().unwrap_or(0)
    }

    /// Each value with its own rows.
    fn values(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let mut before = 0;
        let own = move |(&value, &upto): (&f64, &u64)| {
            let count = upto - std::mem::replace(&mut before, upto);
            (value, count)
        };
        self.values.iter().zip(&self.upto).map(own)
    }

    /// The value with a share of the rows before it.
    fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.rows().saturating_sub(1) as f64).round() as u64;
        let at = self.upto.partition_point(|&upto| upto <= rank);
        self.values.get(at).copied().unwrap_or(0.0)
    }

    /// Rows with values that are no larger than this.
    fn rows_upto(&self, value: f64) -> u64 {
        let at = self
            .values
            .partition_point(|own| own.total_cmp(&value).is_le());
        at.checked_sub(1).map_or(0, |last| self.upto[last])
    }
}

const SIGN: u64 = 1 << 63;

/// An integer for each number, in the order of [`f64::total_cmp`].
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The number of a key.
fn number(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN })
}

/// Whether the two secrets have so few values together that each gets a bar.
fn are_few(secrets: &[Ranked; 2]) -> bool {
    let first = |ranked: &Ranked| -> Vec<f64> {
        let distinct = ranked.values.chunk_by(|x, y| x == y);
        distinct
            .map(|equal| equal[0])
            .take(MOST_LABELS + 1)
            .collect()
    };
    let mut all: Vec<f64> = secrets.iter().flat_map(first).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.chunk_by(|x, y| x == y).count() <= MOST_LABELS
}

/// The median of the rows of both.
fn median(secrets: &[Ranked; 2]) -> f64 {
    let rows = secrets[0].rows() + secrets[1].rows();
    let rank = (0.5 * rows.saturating_sub(1) as f64).round() as u64;
    // The least value of either secret that more rows do not exceed.
    let least = |ranked: &Ranked| {
        let upto = |value: &f64| secrets.iter().map(|of| of.rows_upto(*value)).sum::<u64>();
        let at = ranked.values.partition_point(|value| upto(value) <= rank);
        ranked.values.get(at).copied()
    };
    let found = secrets.iter().filter_map(least);
    found.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The ends of a histogram: those between which nearly all rows of both secrets lie, unless a few of them would squash
/// all others. Each secret counts for itself, so that a secret with few rows stays in the picture.
fn range(secrets: &[Ranked; 2]) -> (f64, f64) {
    let ends = |tail: f64| {
        let end = |side: usize, share: f64| secrets[side].quantile(share);
        (
            end(0, tail).min(end(1, tail)),
            end(0, 1.0 - tail).max(end(1, 1.0 - tail)),
        )
    };
    let widest = TAILS[TAILS.len() - 1];
    let (low, high) = ends(widest);
    let (least, most) = ends(TAILS[0]);
    if needs_logarithms(least, median(secrets), most) {
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
fn in_order(secrets: &[Ranked; 2], rows: [u64; 2]) -> Shape {
    let named = secrets.iter().enumerate().flat_map(|(side, ranked)| {
        let values = ranked.values();
        values.map(move |(value, count)| (value.to_string(), side, count))
    });
    by_label(named, rows)
}

/// The likeliest labels; from small to large if all are numbers, else the likeliest first.
fn by_label(cells: impl Iterator<Item = (String, usize, u64)>, rows: [u64; 2]) -> Shape {
    let mut found: std::collections::BTreeMap<String, [u64; 2]> = Default::default();
    for (label, side, count) in cells {
        found.entry(label).or_default()[side] += count;
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

    fn ranked(values: &[(f64, u32)]) -> [Ranked; 2] {
        [0, 1].map(|side| {
            let own = values.iter().filter(|(_, secret)| *secret == side);
            Ranked::new(own.map(|(value, _)| (*value, 1)))
        })
    }

    #[test]
    fn keys_stand_in_the_order_of_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            -2.5,
            -5e-324,
            -0.0,
            0.0,
            5e-324,
            1.0,
            f64::INFINITY,
        ];
        assert!(numbers.is_sorted_by(|x, y| key(*x) < key(*y)));
        for x in numbers {
            assert_eq!(number(key(x)).to_bits(), x.to_bits());
        }
    }

    #[test]
    fn quantiles_count_rows_of_equal_values() {
        let one = Ranked::new([(2.0, 3), (1.0, 1), (2.0, 1), (9.0, 5)].into_iter());
        let found = [0.0, 0.1, 0.2, 0.4, 0.5, 0.6, 1.0].map(|share| one.quantile(share));
        assert_eq!(found, [1.0, 2.0, 2.0, 2.0, 9.0, 9.0, 9.0]);
        let two = Ranked::new([(0.0, 2), (3.0, 2)].into_iter());
        // 0 0 1 2 2 2 2 3 3 9 9 9 9 9: the eighth of fourteen, as 6.5 is rounded up.
        assert_eq!(median(&[one, two]), 3.0);
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
        let (low, high) = range(&ranked(&values));
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
        let (low, high) = range(&ranked(&values));
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
        let rows = labels.iter().enumerate();
        let rows = rows.map(|(at, label)| ((*label).to_owned(), at % 2, 1));
        let Shape::Labels { labels, .. } = by_label(rows, [3, 2]) else {
            panic!("not bars");
        };
        assert_eq!(labels, ["1000000", "1000010", "1000020"]);
    }
}
