//! The bound from the blanket of a randomizer.

use crate::extreme::Extreme;
use std::cmp::Ordering;

use super::noise::{Cell, Cells};
use crate::accountant::mean_excess;
use crate::hockey_stick::Level;
use leakgauge_base::parallel;

/// Messages whose likelihood ratio to the least likely input is above this are counted as if they revealed the input:
/// the smallest bound of these is taken. All of them hold; the last is the δ of a single report.
const TOLD: [f64; 6] = [f64::INFINITY, 1e6, 1e4, 1e2, 10.0, 0.0];

impl Cells {
    /// 1/(γn)·E\[(Σ L_i)⁺\] for the worst ordered pair of inputs, plus the excess of the messages that the blanket lacks.
    ///
    /// # Formula
    /// The excess over e^ε is subadditive: it is at most that of the messages outside of a set, plus that of the
    /// messages inside, to which the blanket applies. It is the mean of a convex function of independent terms L, and
    /// grows if every term moves to the ends of its cell, keeping its mean there.
    pub(super) fn blanket(&self, pairs: &[(usize, usize)], n: u64, epsilon: f64) -> f64 {
        let level = Level::new(epsilon);
        // Of a randomizer that treats inputs alike, most pairs have the same terms.
        let mut different: Vec<Vec<Term>> = Vec::new();
        for &pair in pairs {
            let cells = self.cells.iter();
            let mut terms: Vec<Term> = cells.map(|cell| self.term(cell, pair, level)).collect();
            terms.sort_by(Term::order);
            let same = |other: &Vec<Term>| {
                let mut both = terms.iter().zip(other);
                both.all(|(x, y)| x.order(y) == Ordering::Equal)
            };
            if !different.iter().any(same) {
                different.push(terms);
            }
        }
        let each = parallel::map(different.len(), |at| self.of_terms(&different[at], n));
        each.into_iter().fold(0.0, f64::at_least)
    }

    fn of_terms(&self, terms: &[Term], n: u64) -> f64 {
        let bounded = terms
            .iter()
            .map(|term| term.ratio)
            .filter(|x| x.is_finite());
        let steepest = bounded.fold(0.0, f64::at_least);
        let mut best = 1.0f64;
        for (at, told) in TOLD.into_iter().enumerate() {
            if at == 0 || told < steepest {
                best = self.with_told(terms, n, told, best);
            }
        }
        best
    }

    /// The bound with a set of messages counted as telling, if it is smaller than another one.
    fn with_told(&self, terms: &[Term], n: u64, told: f64, other: f64) -> f64 {
        let mut law = Vec::with_capacity(2 * terms.len() + 1);
        let (mut gamma, mut revealed) = (0.0, self.beyond);
        for term in terms {
            if !(term.least > f64::MIN_POSITIVE && term.ratio <= told && term.ratio < f64::INFINITY)
            {
                revealed += term.excess;
                continue;
            }
            gamma += term.least;
            // With γ·ω(y) = least, L is gain/ω(y) = γ·gain/least. The factor γ cancels against that of the bound.
            let mean = term.gain / term.least;
            let (low, high) = match term.range {
                Some([low, high]) => (low.at_most(mean), high.at_least(mean)),
                None => (mean, mean),
            };
            if high - low <= 1e-14 * high.abs() {
                law.push((mean, term.least));
            } else {
                let share = (mean - low) / (high - low);
                law.extend([
                    (low, term.least * (1.0 - share)),
                    (high, term.least * share),
                ]);
            }
        }
        if gamma == 0.0 || revealed >= other {
            return revealed.at_most(other);
        }
        law.push((0.0, (1.0 - gamma).at_least(0.0)));
        other.at_most(revealed + mean_excess(&law, n) / n as f64)
    }

    fn term(&self, cell: &Cell, (a, b): (usize, usize), level: Level) -> Term {
        let gain = level.excess(cell.masses[a], cell.masses[b]);
        let least = cell.masses[cell.least];
        let Some(smooth) = &self.smooth else {
            return Term {
                least,
                gain,
                excess: gain.at_least(0.0),
                range: None,
                ratio: cell.masses[a] / least,
            };
        };
        let [own, other] = [a, b].map(|x| cell.ratios(smooth, x));
        let range = [
            level.excess(own[0], other[1]),
            level.excess(own[1], other[0]),
        ];
        Term {
            least,
            gain,
            // Where the sign changes in the cell, no more than the mass of the input.
            excess: match range {
                [low, _] if low >= 0.0 => gain.at_least(0.0),
                [_, high] if high <= 0.0 => 0.0,
                _ => cell.masses[a],
            },
            range: Some(range),
            ratio: own[1].at_least(if other[1].is_finite() {
                0.0
            } else {
                f64::INFINITY
            }),
        }
    }
}

/// A cell for a pair of inputs.
struct Term {
    /// The mass of the least likely input.
    least: f64,
    /// The mass of the one input less e^ε times that of the other.
    gain: f64,
    /// An upper bound on the part of it where it is positive.
    excess: f64,
    /// Between which numbers the same of the densities lies, divided by that of the least likely input; `None` where it is
    /// the same everywhere.
    range: Option<[f64; 2]>,
    /// The largest ratio of the densities; infinite where one of the ends is.
    ratio: f64,
}

impl Term {
    fn order(&self, other: &Term) -> Ordering {
        let all = |term: &Term| {
            let [low, high] = term.range.unwrap_or([f64::NAN; 2]);
            [term.least, term.gain, term.excess, term.ratio, low, high]
        };
        let both = all(self).into_iter().zip(all(other));
        let each = both.map(|(x, y)| x.total_cmp(&y));
        each.fold(Ordering::Equal, Ordering::then)
    }
}
