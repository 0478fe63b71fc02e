//! What the two secrets of the worst pair look like: the column in which they differ most.
//!
//! For looking at: all rows of the log, and nothing follows from them.

use crate::audit::evidence::Evidence;
use leakgauge_log::observations::{Cell, NUMBER, Part};

/// Bins of a histogram at most.
const MOST_BINS: usize = 60;
/// Labels that are told apart; the rest are one.
const MOST_LABELS: usize = 24;
/// Share of rows left out at either end of a histogram.
const TAIL: f64 = 0.002;

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
    /// Of a number: shares of each secret's rows between the edges; what lies beyond is left out.
    Numbers {
        /// Ends of the bins, one more than there are bins.
        edges: Vec<f64>,
        /// For each secret, a share a bin.
        shares: [Vec<f64>; 2],
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
        0.5 * pairs.map(|(a, b)| (a - b).abs()).sum::<f64>()
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
    let total = rows[0] + rows[1];
    let quantile = |share: f64| {
        let rank = (share * (total - 1) as f64).round() as u64;
        let mut seen = 0;
        let found = values.iter().find(|(_, cell)| {
            seen += cell.count;
            seen > rank
        });
        found.map_or(0.0, |(value, _)| *value)
    };
    let (low, high) = (quantile(TAIL), quantile(1.0 - TAIL));
    let bins = bins(
        quantile(0.75) - quantile(0.25),
        high - low,
        rows[0].min(rows[1]),
    );
    if !(high > low && (high - low).is_finite()) {
        return in_order(&values, a, rows);
    }
    let edges: Vec<f64> = (0..=bins)
        .map(|edge| low + (high - low) * edge as f64 / bins as f64)
        .collect();
    let mut counts = [vec![0u64; bins], vec![0u64; bins]];
    let mut beyond = 0;
    for (value, cell) in &values {
        if (low..=high).contains(value) {
            let bin = ((value - low) / (high - low) * bins as f64) as usize;
            counts[usize::from(cell.secret != a)][bin.min(bins - 1)] += cell.count;
        } else {
            beyond += cell.count;
        }
    }
    Shape::Numbers {
        edges,
        shares: shares(counts, rows),
        beyond: beyond as f64 / total as f64,
    }
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
    let Shape::Labels { labels, shares } = by_label(
        named.map(|(value, cell)| (value.to_string(), cell)),
        a,
        rows,
    ) else {
        unreachable!("bars have labels")
    };
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let key = |at: &usize| labels[*at].parse().unwrap_or(f64::INFINITY);
    order.sort_by(|x, y| key(x).total_cmp(&key(y)));
    let pick = |from: &[f64]| order.iter().map(|&at| from[at]).collect();
    Shape::Labels {
        shares: [pick(&shares[0]), pick(&shares[1])],
        labels: order.iter().map(|&at| labels[at].clone()).collect(),
    }
}

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
