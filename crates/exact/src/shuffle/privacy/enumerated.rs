//! Lower limits of δ by listing histograms.

use super::noise::Cells;
use crate::extreme::Extreme;
use crate::histogram::HistogramLaw;
use crate::hockey_stick::Level;

/// The most histograms of messages that are put together.
const MAX_HISTOGRAMS: f64 = 2e6;
/// The most kinds of messages that are put together.
const MAX_KINDS: usize = 8;
/// The most messages that are listed one by one.
const MAX_LISTED: usize = 64;

impl Cells {
    /// The exact δ of one ordered pair of inputs if all others have the same input, the worst one. Where there are too
    /// many histograms, messages with similar likelihood ratios are not told apart, which gives a lower limit.
    pub(super) fn enumerated(&self, pair: (usize, usize), n: u64, epsilon: f64) -> Option<f64> {
        let rows = self.rows(|cell| cell, self.cells.len());
        if rows[0].len() <= MAX_LISTED
            && let Some(delta) = largest(&rows, pair, n, epsilon)
        {
            return Some(delta);
        }
        let inputs = self.inputs() as f64;
        let each = MAX_HISTOGRAMS / (inputs * inputs * (inputs - 1.0)).at_least(1.0);
        let kinds = (2..=MAX_KINDS)
            .rev()
            .find(|&kinds| (n as f64 + 1.0).powi(kinds as i32 - 1) <= each)
            .or((n as f64 <= 100.0 * each).then_some(2))?;
        let kind = self.kinds(pair, kinds);
        largest(&self.rows(|cell| kind[cell], kinds), pair, n, epsilon)
    }

    /// The probabilities of kinds of messages under every input.
    fn rows(&self, kind: impl Fn(usize) -> usize, kinds: usize) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; kinds]; self.inputs()];
        for (at, cell) in self.cells.iter().enumerate() {
            for (row, mass) in rows.iter_mut().zip(&cell.masses) {
                row[kind(at)] += mass;
            }
        }
        rows
    }

    /// Kinds of messages by their likelihood ratio, all of which tell the two inputs apart about as well.
    fn kinds(&self, (a, b): (usize, usize), kinds: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        let odds = |at: &usize| {
            let masses = &self.cells[*at].masses;
            masses[a] / (masses[a] + masses[b]).at_least(f64::MIN_POSITIVE)
        };
        order.sort_by(|x, y| odds(x).total_cmp(&odds(y)));
        let gap = |at: usize| {
            let masses = &self.cells[at].masses;
            (masses[a] - masses[b]).abs()
        };
        let whole: f64 = order.iter().map(|&at| gap(at)).sum();
        let mut kind = vec![0; order.len()];
        let mut sum = 0.0;
        for at in order {
            let middle = sum + 0.5 * gap(at);
            sum += gap(at);
            kind[at] = ((middle / whole.at_least(f64::MIN_POSITIVE) * kinds as f64) as usize)
                .min(kinds - 1);
        }
        kind
    }
}

/// Binomial laws leave out less than this at their ends, where it would count as a difference.
const LEFT_OUT: f64 = 1e-25;

/// Probabilities have at least this many digits: what is less may be rounding.
const ROUNDING: f64 = 1e-12;

/// The largest δ of a pair over the inputs of the others; `None` if there are too many histograms.
fn largest(rows: &[Vec<f64>], (a, b): (usize, usize), n: u64, epsilon: f64) -> Option<f64> {
    let level = Level::new(epsilon);
    let mut largest = 0.0f64;
    for row in rows {
        let law = HistogramLaw::new(&[(row, n - 1)], row.len()).ok()?;
        let mut delta = 0.0;
        law.for_each_extended(|_, before| {
            let of = |x: usize| -> f64 { rows[x].iter().zip(before).map(|(r, m)| r * m).sum() };
            let own = of(a);
            delta += (level.excess(own, of(b)) - ROUNDING * own).at_least(0.0);
        });
        largest = largest.at_least(delta - law.error() - LEFT_OUT);
    }
    Some(largest.at_least(0.0))
}
