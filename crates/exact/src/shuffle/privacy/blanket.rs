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
/// The steps of a coarse grid are so many times as wide.
const COARSE: f64 = 32.0;
/// Sets whose coarse bound is so many times the smallest may have the smallest fine one.
const NEAR: f64 = 2.0;
/// Lists that are looked at together.
const AT_ONCE: usize = 4;

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
        self.largest(&different, n)
    }

    /// The largest bound of several lists of terms. Bounds from a coarse grid hold too and cost a thirtieth; those that are no
    /// larger than a fine one need not be computed again.
    fn largest(&self, lists: &[Vec<Term>], n: u64) -> f64 {
        let fine = |terms: &[Term], told: &[f64]| self.of_terms(terms, n, told, 1.0).0;
        if lists.len() == 1 {
            return fine(&lists[0], &TOLD);
        }
        let mut bounds: Vec<(f64, Vec<f64>, &Vec<Term>)> = parallel::map(lists.len(), |at| {
            let (bound, each) = self.of_terms(&lists[at], n, &TOLD, COARSE);
            let near = each.into_iter().filter(|(_, by)| *by <= NEAR * bound);
            (bound, near.map(|(told, _)| told).collect(), &lists[at])
        });
        bounds.sort_by(|x, y| y.0.total_cmp(&x.0));
        let mut largest = 0.0f64;
        // Groups of one size, so that results do not depend on the number of threads.
        for group in bounds.chunks(AT_ONCE) {
            if group[0].0 <= largest {
                break;
            }
            let each = parallel::map(group.len(), |at| fine(group[at].2, &group[at].1));
            largest = each.into_iter().fold(largest, f64::at_least);
        }
        largest
    }

    /// The smallest bound over sets of telling messages, on a grid that is so much coarser; the bound of each set.
    fn of_terms(
        &self,
        terms: &[Term],
        n: u64,
        sets: &[f64],
        coarseness: f64,
    ) -> (f64, Vec<(f64, f64)>) {
        let bounded = terms
            .iter()
            .map(|term| term.ratio)
            .filter(|x| x.is_finite());
        let steepest = bounded.fold(0.0, f64::at_least);
        let (mut best, mut each) = (1.0f64, Vec::new());
        for &told in sets {
            // Beyond the steepest one all sets are the first.
            if told.is_infinite() || told < steepest {
                let bound = self.with_told(terms, n, told, best, coarseness);
                best = best.at_most(bound);
                each.push((told, bound));
            }
        }
        (best, each)
    }

    /// The bound with a set of messages counted as telling; a part of it that is no smaller than another one is enough.
    fn with_told(&self, terms: &[Term], n: u64, told: f64, other: f64, coarseness: f64) -> f64 {
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
            return revealed;
        }
        law.push((0.0, (1.0 - gamma).at_least(0.0)));
        revealed + mean_excess(&law, n, coarseness) / n as f64
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
