//! Lower limits of δ by listing histograms.

use super::noise::Cells;
use super::ordered_pairs;
use crate::extreme::Extreme;
use crate::histogram::HistogramLaw;
use crate::hockey_stick::Level;
use leakgauge_base::parallel;

/// The most histograms of messages that are put together.
const MAX_HISTOGRAMS: f64 = 2e6;
/// The most kinds of messages that are put together.
const MAX_KINDS: usize = 8;
/// The most messages that are listed one by one.
const MAX_LISTED: usize = 64;

impl Cells {
    /// The exact δ of the worst ordered pair of inputs if all others have the same input, the worst one. Where there are
    /// too many histograms, messages with similar likelihood ratios are not told apart, which gives a lower limit.
    pub(super) fn enumerated(&self, n: u64, epsilon: f64) -> Option<f64> {
        let pairs = ordered_pairs(self.inputs());
        let rows = self.rows(|cell| cell, self.cells.len());
        if rows[0].len() <= MAX_LISTED
            && let Some(delta) = largest(&rows, &pairs, n, epsilon)
        {
            return Some(delta);
        }
        let each = parallel::map(pairs.len(), |at| self.with_kinds(pairs[at], n, epsilon));
        let each: Option<Vec<f64>> = each.into_iter().collect();
        Some(each?.into_iter().fold(0.0, f64::at_least))
    }

    /// The same of one pair, with as many kinds of messages as can be listed.
    fn with_kinds(&self, pair: (usize, usize), n: u64, epsilon: f64) -> Option<f64> {
        let inputs = self.inputs() as f64;
        let each = MAX_HISTOGRAMS / (inputs * inputs * (inputs - 1.0)).at_least(1.0);
        let kinds = (2..=MAX_KINDS)
            .rev()
            .find(|&kinds| (n as f64 + 1.0).powi(kinds as i32 - 1) <= each)
            .or((n as f64 <= 100.0 * each).then_some(2))?;
        let kind = self.kinds(pair, kinds);
        largest(&self.rows(|cell| kind[cell], kinds), &[pair], n, epsilon)
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

/// The largest δ of pairs over the inputs of the others; `None` if there are too many histograms. What all others send
/// is the same for every pair, so its law is listed once.
fn largest(rows: &[Vec<f64>], pairs: &[(usize, usize)], n: u64, epsilon: f64) -> Option<f64> {
    let level = Level::new(epsilon);
    let of_others = |row: &Vec<f64>| -> Option<f64> {
        let law = HistogramLaw::new(&[(row, n - 1)], row.len()).ok()?;
        let mut deltas = vec![0.0; pairs.len()];
        let mut own = vec![0.0; rows.len()];
        law.for_each_extended(|_, before| {
            for (own, row) in own.iter_mut().zip(rows) {
                *own = row.iter().zip(before).map(|(r, m)| r * m).sum();
            }
            for (delta, &(a, b)) in deltas.iter_mut().zip(pairs) {
                let excess = level.excess(own[a], own[b]) - ROUNDING * own[a];
                *delta += excess.at_least(0.0);
            }
        });
        let delta = deltas.into_iter().fold(0.0, f64::at_least);
        Some(delta - law.error() - LEFT_OUT)
    };
    let of_rows: Option<Vec<f64>> = rows.iter().map(of_others).collect();
    Some(of_rows?.into_iter().fold(0.0, f64::at_least))
}
