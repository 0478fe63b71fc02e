//! Upper limits of both errors of a score at many thresholds together.

use super::{CurvePoint, ScoredRows};
use crate::pairwise::ErrorRates;
use leakgauge_stats::binomial::clopper_pearson_upper;
use leakgauge_stats::concentration::dkw_one_sided_radius;
use leakgauge_stats::multiplicity::bonferroni;

/// The thresholds of a score of which both errors are limited, with what rows say of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    rows: (u64, u64),
    /// The corners of the lower convex hull of the curve: of what two laws are told apart by, no other threshold can have a larger
    /// value.
    corners: Vec<CurvePoint>,
    /// In either tail, the rows of one secret beyond a threshold less one, and those of the other that it misses; whether the
    /// former are rows of a.
    tails: Vec<Tail>,
}

/// A threshold at an order statistic of one secret's scores.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail {
    of_a: bool,
    false_alarms: u64,
    missed: u64,
}

impl Thresholds {
    pub(super) fn new(scored: &ScoredRows) -> Self {
        let (a_rows, b_rows) = scored.rows();
        if a_rows == 0 || b_rows == 0 {
            return Thresholds {
                rows: (a_rows, b_rows),
                corners: Vec::new(),
                tails: Vec::new(),
            };
        }
        let corners = scored.corners().into_iter();
        let mut tails = tails(scored, false);
        tails.extend(self::tails(&scored.exchanged(), true));
        Thresholds {
            rows: (a_rows, b_rows),
            corners: corners.map(|cut| scored.errors(cut)).collect(),
            tails,
        }
    }

    /// Upper limits of both errors, all valid together at level 1 − `alpha`: at every threshold by a band, and at some in
    /// either tail, where the band is wide, by order statistics, half of `alpha` each. Empty without rows of both secrets.
    ///
    /// # Formula
    /// The one-sided Dvoretzky–Kiefer–Wolfowitz–Massart radius at all thresholds, at α/4 for each secret. Where few of b's
    /// rows are taken for a, as for [`detection`](ScoredRows::detection): P(s > s₍ⱼ₎ | b) ≤ U₍ⱼ₎, whose upper limit is that of
    /// Clopper and Pearson for j − 1 of n; and theirs for the rows of a that do not exceed s₍ⱼ₎. The j are fixed by the
    /// numbers of rows; all of them have α/2 together (Bonferroni). The same with the secrets exchanged.
    ///
    /// # Conditions
    /// Score and pair fixed before the rows were seen; rows independent.
    ///
    /// # References
    /// Massart (1990), Corollary 1, doi:10.1214/aop/1176990746.
    pub fn errors_at_most(&self, alpha: f64) -> Vec<ErrorRates> {
        let (a_rows, b_rows) = self.rows;
        let share = if self.tails.is_empty() { 1.0 } else { 0.5 };
        let radius_a = dkw_one_sided_radius(a_rows, share * alpha / 2.0);
        let radius_b = dkw_one_sided_radius(b_rows, share * alpha / 2.0);
        let corners = self.corners.iter().map(|errors| ErrorRates {
            missed: errors.type_2 + radius_a,
            false_alarm: errors.type_1 + radius_b,
        });
        let each = bonferroni(0.5 * alpha, self.tails.len() as u64);
        let tails = self.tails.iter().map(|tail| {
            let (own, other) = if tail.of_a {
                (a_rows, b_rows)
            } else {
                (b_rows, a_rows)
            };
            ErrorRates {
                missed: clopper_pearson_upper(tail.missed, other, each / 2.0),
                false_alarm: clopper_pearson_upper(tail.false_alarms, own, each / 2.0),
            }
        });
        corners.chain(tails).collect()
    }
}

/// Thresholds at order statistics of b's scores.
fn tails(scored: &ScoredRows, of_a: bool) -> Vec<Tail> {
    let (a_rows, b_rows) = scored.rows();
    let tails = tail_rows(b_rows).map(|j| Tail {
        of_a,
        false_alarms: j - 1,
        missed: a_rows - scored.taken[scored.above_row_of_b(j)].0,
    });
    tails.collect()
}

/// Which of the n largest scores of a secret are thresholds in its tail: those at some rates that are at
/// least four rows.
pub(super) fn tail_rows(n: u64) -> impl Iterator<Item = u64> {
    const RATES: [f64; 9] = [0.1, 0.03, 0.01, 0.003, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5];
    const FEWEST: f64 = 4.0;
    let rows = RATES.into_iter().map(move |rate| n as f64 * rate);
    rows.filter(|&rows| rows >= FEWEST)
        .map(|rows| rows.round() as u64)
}
