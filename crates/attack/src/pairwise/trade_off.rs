//! What a score says about two secrets at every threshold: true positives at few false ones, the
//! trade-off curve of the two errors, and what both mean for differential privacy.
//!
//! Nothing here depends on a threshold that was chosen: the limits at a false positive rate take order
//! statistics of one secret's rows, and the band holds at all thresholds together. What must have been
//! fixed before the rows were seen is the score itself and the pair.

mod thresholds;

pub use thresholds::Thresholds;

use leakgauge_stats::area;
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use leakgauge_stats::concentration::dkw_radius;
use leakgauge_stats::special::normal_quantile;

/// Rows of two secrets a and b, ordered by a score that is large for a. A *cut* takes the rows with the
/// k largest distinct scores for a; there is one more cut than distinct scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoredRows {
    /// For each cut, the rows of a and of b that it takes for a.
    taken: Vec<(u64, u64)>,
}

/// How many of a's rows are found at a false positive rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The share of a's rows that exceed the smallest threshold with so few false positives in these
    /// rows; `None` where the rate is less than one row.
    pub point: Option<f64>,
    /// Lower limit; `None` where b has too few rows.
    pub lower: Option<f64>,
    /// Upper limit, for thresholds on this score only; `None` where b has too few rows.
    pub upper: Option<f64>,
}

/// Both errors at a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Share of b's rows taken for a.
    pub type_1: f64,
    /// Share of a's rows taken for b.
    pub type_2: f64,
}

impl ScoredRows {
    /// Orders scores, as [`total_cmp`](f64::total_cmp) does, with the rows of a and of b that have them;
    /// equal scores may come in parts.
    pub fn new(mut scores: Vec<(f64, u64, u64)>) -> Self {
        scores.sort_unstable_by(|x, y| y.0.total_cmp(&x.0));
        let equal = scores.chunk_by(|x, y| x.0 == y.0);
        let steps = equal.map(|step| {
            let add = |(a, b), score: &(f64, u64, u64)| (a + score.1, b + score.2);
            step.iter().fold((0, 0), add)
        });
        Self::from_steps(steps)
    }

    /// From the rows of a and of b at each distinct score, the largest score first.
    fn from_steps(steps: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut taken = vec![(0, 0)];
        let (mut a, mut b) = (0, 0);
        for (more_a, more_b) in steps.filter(|&step| step != (0, 0)) {
            (a, b) = (a + more_a, b + more_b);
            taken.push((a, b));
        }
        ScoredRows { taken }
    }

    /// The same rows with the parts of the secrets exchanged: the score is large for b.
    #[must_use]
    pub fn exchanged(&self) -> Self {
        let steps = self.taken.windows(2).rev();
        Self::from_steps(steps.map(|cuts| (cuts[1].1 - cuts[0].1, cuts[1].0 - cuts[0].0)))
    }

    /// Rows of a and of b.
    pub fn rows(&self) -> (u64, u64) {
        *self
            .taken
            .last()
            .expect("the cut that takes nothing is always there")
    }

    /// The number of thresholds that differ.
    pub fn cuts(&self) -> usize {
        self.taken.len()
    }

    /// The cut just above the j-th largest score of b's rows, 1 ≤ j ≤ rows of b.
    fn above_row_of_b(&self, j: u64) -> usize {
        self.taken.partition_point(|&(_, b)| b < j) - 1
    }

    /// The share of a's rows found at a false positive rate among b's, with limits: each of them at
    /// level 1 − `alpha`, so that both hold together at 1 − 2`alpha`.
    ///
    /// # Formula
    /// Let T(x) be the largest P(s > t | a) over thresholds t with P(s > t | b) ≤ x, and s₍ⱼ₎ the j-th
    /// largest of the n scores of b. P(s > s₍ⱼ₎ | b) ≤ U₍ⱼ₎ ≤ P(s ≥ s₍ⱼ₎ | b), where U₍ⱼ₎ is Beta(j, n+1−j)
    /// if scores never tie, and ties only widen the gap. With the largest j that has
    /// P(U₍ⱼ₎ ≤ x) ≥ 1 − α/2, T(x) ≥ P(s > s₍ⱼ₎ | a); with the smallest j that has
    /// P(U₍ⱼ₎ > x) ≥ 1 − α/2, T(x) ≤ P(s ≥ s₍ⱼ₎ | a), tests that toss a coin at the threshold included.
    /// Each right side is a proportion of a's rows, which are independent of s₍ⱼ₎: Clopper–Pearson at α/2.
    ///
    /// # Conditions
    /// Score and pair fixed before the rows were seen; rows independent.
    ///
    /// # Panics
    /// If the rate or `alpha` is not strictly between 0 and 1.
    pub fn detection(&self, false_positive_rate: f64, alpha: f64) -> Detection {
        let x = false_positive_rate;
        assert!(x > 0.0 && x < 1.0, "a rate in (0, 1), not {x}");
        let (a_rows, b_rows) = self.rows();
        if a_rows == 0 || b_rows == 0 {
            return Detection {
                point: None,
                lower: None,
                upper: None,
            };
        }
        // The product may miss an integer by its rounding.
        let allowed = (x * b_rows as f64 * (1.0 + 1e-12)).floor() as u64;
        let found = |cut: usize| self.taken[cut].0;
        let point = (1..b_rows)
            .contains(&allowed)
            .then(|| found(self.above_row_of_b(allowed + 1)) as f64 / a_rows as f64);
        let below = last_row_below(x, b_rows, alpha / 2.0);
        let above = first_row_above(x, b_rows, alpha / 2.0);
        Detection {
            point,
            lower: below
                .map(|j| clopper_pearson_lower(found(self.above_row_of_b(j)), a_rows, alpha / 2.0)),
            upper: above.map(|j| {
                // The cut below all rows that tie with it.
                clopper_pearson_upper(found(self.above_row_of_b(j) + 1), a_rows, alpha / 2.0)
            }),
        }
    }

    /// The errors at a cut.
    fn errors(&self, cut: usize) -> CurvePoint {
        let (a_rows, b_rows) = self.rows();
        let (a, b) = self.taken[cut];
        CurvePoint {
            type_1: b as f64 / b_rows as f64,
            type_2: (a_rows - a) as f64 / a_rows as f64,
        }
    }

    /// The corners of the lower convex hull of the curve, by cut, both ends included.
    ///
    /// Of functions whose lower level sets have a convex complement, as μ and ε of the two errors, the
    /// largest value over all cuts is found at one of them, also if all errors are raised by constants.
    fn corners(&self) -> Vec<usize> {
        let a_rows = self.rows().0;
        let at = |cut: usize| {
            let (a, b) = self.taken[cut];
            (i128::from(b), i128::from(a_rows - a))
        };
        let mut corners: Vec<usize> = Vec::new();
        for cut in 0..self.taken.len() {
            while let [.., first, middle] = corners[..] {
                let ((x0, y0), (x1, y1), (x2, y2)) = (at(first), at(middle), at(cut));
                if (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0) > 0 {
                    break;
                }
                corners.pop();
            }
            corners.push(cut);
        }
        corners
    }

    /// The empirical trade-off curve, from "never a" to "always a"; empty without rows of both.
    ///
    /// At most `most` points, unless the convex hull alone has more: all of its corners (of the order of
    /// the cube root of the rows), and others spread evenly over the rows and over the logarithm of
    /// either error.
    pub fn curve(&self, most: usize) -> Vec<CurvePoint> {
        let (a_rows, b_rows) = self.rows();
        if a_rows == 0 || b_rows == 0 {
            return Vec::new();
        }
        let mut cuts: Vec<usize> = if self.taken.len() <= most {
            (0..self.taken.len()).collect()
        } else {
            self.corners()
        };
        let share = most.saturating_sub(cuts.len()) / 3;
        let along = |(a, b): (u64, u64)| a as f64 / a_rows as f64 + b as f64 / b_rows as f64;
        let few_b = |(_, b): (u64, u64)| (b as f64 + 1.0).ln();
        let few_a = |(a, _): (u64, u64)| -((a_rows - a) as f64 + 1.0).ln();
        let coordinates: [&dyn Fn((u64, u64)) -> f64; 3] = [&along, &few_b, &few_a];
        for coordinate in coordinates {
            let (from, to) = (coordinate((0, 0)), coordinate((a_rows, b_rows)));
            cuts.extend((1..=share).map(|step| {
                let target = from + (to - from) * step as f64 / (share + 1) as f64;
                let next = self
                    .taken
                    .partition_point(|&taken| coordinate(taken) < target);
                next.min(self.taken.len() - 1)
            }));
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts.into_iter().map(|cut| self.errors(cut)).collect()
    }

    /// How far type I and type II errors may be from the curve, at all thresholds and on both sides
    /// together at level 1 − `alpha`: half of it for each secret.
    ///
    /// # References
    /// Massart (1990), Corollary 1, 10.1214/aop/1176990746.
    pub fn band(&self, alpha: f64) -> CurvePoint {
        let (a_rows, b_rows) = self.rows();
        CurvePoint {
            type_1: dkw_radius(b_rows, alpha / 2.0),
            type_2: dkw_radius(a_rows, alpha / 2.0),
        }
    }

    /// What limits of both errors at many thresholds need.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds::new(self)
    }

    /// The area under the ROC curve: P(score of a > score of b) + ½ P(equal), on these rows.
    pub fn area(&self) -> Option<f64> {
        let (a_rows, b_rows) = self.rows();
        if a_rows == 0 || b_rows == 0 {
            return None;
        }
        // Twice the pairs of rows in order: exact, whatever the counts.
        let twice: u128 = self
            .taken
            .windows(2)
            .map(|cuts| {
                let b_here = u128::from(cuts[1].1 - cuts[0].1);
                b_here * (u128::from(cuts[0].0) + u128::from(cuts[1].0))
            })
            .sum();
        Some(twice as f64 / (2.0 * a_rows as f64 * b_rows as f64))
    }

    /// Limits of the true area, each at level 1 − `alpha`, for any law of the scores; `None` without rows of both. See
    /// [`leakgauge_stats::area`].
    pub fn area_limits(&self, alpha: f64) -> Option<[f64; 2]> {
        let (a_rows, b_rows) = self.rows();
        Some(area::limits(self.area()?, [a_rows, b_rows], alpha))
    }

    /// DeLong's standard error of the area; `None` with fewer than two rows of a secret.
    pub fn area_standard_error(&self) -> Option<f64> {
        let steps = self.taken.windows(2);
        let steps: Vec<(u64, u64)> = steps
            .map(|cuts| (cuts[1].0 - cuts[0].0, cuts[1].1 - cuts[0].1))
            .collect();
        area::standard_error(&steps)
    }

    /// The μ of the Gaussian shift whose area under the ROC curve is that of these rows: √2 Φ⁻¹(area). A
    /// point, no limit; `None` where it is infinite. Negative if the score points the wrong way.
    pub fn mu_by_area(&self) -> Option<f64> {
        let mu = std::f64::consts::SQRT_2 * normal_quantile(self.area()?.clamp(0.0, 1.0));
        mu.is_finite().then_some(mu)
    }
}

/// The largest j with P(U₍ⱼ₎ ≤ x) ≥ 1 − alpha, U₍ⱼ₎ the j-th smallest of n uniforms.
///
/// P(U₍ⱼ₎ > x) = P(Bin(n, x) ≤ j − 1) ≤ alpha where x is at least the Clopper–Pearson upper limit of j − 1.
fn last_row_below(x: f64, n: u64, alpha: f64) -> Option<u64> {
    let fits = |j: u64| clopper_pearson_upper(j - 1, n, alpha) <= x;
    let beyond = first_where(n, |j| !fits(j)).unwrap_or(n + 1);
    (beyond > 1).then(|| beyond - 1)
}

/// The smallest j with P(U₍ⱼ₎ > x) ≥ 1 − alpha; see [`last_row_below`].
fn first_row_above(x: f64, n: u64, alpha: f64) -> Option<u64> {
    first_where(n, |j| clopper_pearson_lower(j, n, alpha) >= x)
}

/// The first of 1, …, n from which on a condition is met.
fn first_where(n: u64, met: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (1, n + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if met(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low <= n).then_some(low)
}

/// The fewest rows of b with which [`ScoredRows::detection`] has a lower limit.
///
/// # Formula
/// ⌈ln(α/2) / ln(1 − x)⌉: one of so many rows exceeds the threshold with probability 1 − α/2.
pub fn rows_for_detection(false_positive_rate: f64, alpha: f64) -> u64 {
    ((alpha / 2.0).ln() / (-false_positive_rate).ln_1p()).ceil() as u64
}

#[cfg(test)]
mod tests;
