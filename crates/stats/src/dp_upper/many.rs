//! Limits between many secrets at many ε and one level: what they share is computed once, and most ordered pairs are
//! told by a bound to have a smaller limit than the one that is looked for.
//!
//! **The bound.** Sorted by their likelihood ratio, which no ε changes, observations are put into groups. Every event
//! has at most as many rows of a, and at least as many of b, as some *corner*: all groups up to one, with those of b
//! before it. L grows in x and falls in y, so the largest L(x, y) of the corners bounds that of all events. On a cell
//! of φ it is p − e^ε q, with p and q that do not depend on ε. The limit by the difference is at most Hoeffding's.

use std::sync::OnceLock;

use super::both::{Both, Levels, Rates};
use super::{factor, radius, sort_by_ratio};
use crate::event_upper::likelier_in_a;
use crate::two_binomials::{difference_upper, difference_upper_reaches, difference_upper_rough};

/// Groups of observations for the bound.
const GROUPS: usize = 64;
/// Ordered pairs up to which bounds are kept: each is up to 4 kB.
const MOST_BOUNDS: usize = 10_000;
/// Rows up to which Clopper–Pearson limits are kept.
const MOST_ROWS: u64 = 1 << 19;
/// More than rounding changes a limit by.
const ROUNDING: f64 = 1e-9;

/// The limits of hockey-stick divergences between all secrets of two logs, at one level: the first chooses between
/// [`hockey_stick_upper_by_both`](super::hockey_stick_upper_by_both) and
/// [`hockey_stick_upper_by_difference`](super::hockey_stick_upper_by_difference), the second is judged.
#[derive(Debug)]
pub struct Divergences {
    alpha: f64,
    levels: Levels,
    choosing: Vec<Rates>,
    judging: Vec<Rates>,
    /// For each ordered pair the limits p and q of its corners; nothing if they are not kept.
    corners: Vec<OnceLock<Vec<(f64, f64)>>>,
}

/// The rows of a and of b with each observation, of the log that chooses or of the one that is judged.
pub trait PairCells {
    /// Of the log that chooses the method.
    fn choosing(&self, pair: [u32; 2]) -> Vec<(u64, u64)>;
    /// Of the log that is judged.
    fn judging(&self, pair: [u32; 2]) -> Vec<(u64, u64)>;
}

/// What an ordered pair is allowed: a divergence of at most δ at ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// The secrets a and b.
    pub pair: [u32; 2],
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl Divergences {
    /// Of secrets with so many rows that choose and so many that judge, at level 1 − `alpha`.
    ///
    /// # Panics
    /// If `alpha` is not strictly between 0 and 1.
    pub fn new(choosing: &[u64], judging: &[u64], alpha: f64) -> Self {
        let rates = |rows: &[u64]| {
            let keep = rows.iter().sum::<u64>() <= MOST_ROWS;
            let of_secret = |&rows: &u64| {
                if keep {
                    Rates::kept(rows)
                } else {
                    Rates::once(rows)
                }
            };
            rows.iter().map(of_secret).collect()
        };
        let secrets = judging.len();
        let ordered = secrets.saturating_mul(secrets);
        let kept = if ordered <= MOST_BOUNDS { ordered } else { 0 };
        Divergences {
            alpha,
            levels: Levels::new(radius(alpha)),
            choosing: rates(choosing),
            judging: rates(judging),
            corners: (0..kept).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The upper limit of the divergence of a after b at ε, in \[0, 1\]: by both counts if that was the narrower one
    /// on the rows that choose, else by the difference.
    ///
    /// # Conditions, Panics
    /// Those of [`hockey_stick_upper`](super::hockey_stick_upper).
    pub fn limit(&self, pair: [u32; 2], epsilon: f64, cells: &dyn PairCells) -> f64 {
        let weight = factor(epsilon);
        let choosing = cells.choosing(pair);
        let both = self.by_both(&self.choosing, pair, &choosing, weight);
        let [a, b] = likelier_in_a(&choosing, weight);
        let narrower = difference_upper_reaches(a, b, weight, self.alpha, both);
        let judging = cells.judging(pair);
        if narrower {
            return self.by_both(&self.judging, pair, &judging, weight);
        }
        let [a, b] = likelier_in_a(&judging, weight);
        difference_upper(a, b, weight, self.alpha)
    }

    /// The ordered pair whose limit exceeds what is allowed most, by its position in `pairs`, and its limit; the first
    /// of several. `None` without pairs.
    ///
    /// # Conditions, Panics
    /// Those of [`limit`](Self::limit).
    pub fn largest(&self, pairs: &[Allowed], cells: &dyn PairCells) -> Option<(usize, f64)> {
        let bound = |allowed: &Allowed| self.both_at_most(allowed, cells) - allowed.delta;
        let mut bounds: Vec<(f64, usize)> = pairs.iter().map(bound).zip(0..).collect();
        bounds.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut best: Option<(f64, usize, f64)> = None;
        for (bound, at) in bounds {
            let allowed = &pairs[at];
            if let Some((excess, ..)) = best
                && bound < excess
                && self.difference_at_most(allowed, excess, cells) < excess
            {
                continue;
            }
            let limit = self.limit(allowed.pair, allowed.epsilon, cells);
            let excess = limit - allowed.delta;
            if best.is_none_or(|(most, first, _)| excess > most || (excess == most && at < first)) {
                best = Some((excess, at, limit));
            }
        }
        best.map(|(_, at, limit)| (at, limit))
    }

    /// A bound of the limit by both counts.
    fn both_at_most(&self, allowed: &Allowed, cells: &dyn PairCells) -> f64 {
        let (pair, weight) = (allowed.pair, factor(allowed.epsilon));
        let at = pair[0] as usize * self.judging.len() + pair[1] as usize;
        let largest = |corners: &[(f64, f64)]| {
            let limits = corners.iter().map(|(p, q)| p - weight * q);
            limits.fold(0.0, f64::max) + ROUNDING * (1.0 + weight)
        };
        match self.corners.get(at) {
            Some(kept) => largest(kept.get_or_init(|| self.corners(pair, &cells.judging(pair)))),
            None => largest(&self.corners(pair, &cells.judging(pair))),
        }
    }

    /// A bound of the limit by the difference less what is allowed: Hoeffding's, or Chernoff's where that is not below
    /// `excess`.
    fn difference_at_most(&self, allowed: &Allowed, excess: f64, cells: &dyn PairCells) -> f64 {
        let weight = factor(allowed.epsilon);
        let [a, b] = likelier_in_a(&cells.judging(allowed.pair), weight);
        let (n_a, n_b) = (a.rows as f64, b.rows as f64);
        let variation = (1.0 / n_a + weight * weight / n_b) * -self.alpha.ln() / 2.0;
        let difference = a.inside as f64 / n_a - weight * (b.inside as f64 / n_b);
        let hoeffding = difference + variation.sqrt() + ROUNDING * (1.0 + weight) - allowed.delta;
        if hoeffding < excess {
            return hoeffding;
        }
        difference_upper_rough(a, b, weight, self.alpha) - allowed.delta
    }

    fn by_both(&self, of: &[Rates], [a, b]: [u32; 2], cells: &[(u64, u64)], weight: f64) -> f64 {
        let limits = Both {
            a: &of[a as usize],
            b: &of[b as usize],
            levels: &self.levels,
            weight,
        };
        limits.over(cells)
    }

    /// Corners, and on each coarse cell of φ the limits of their two probabilities.
    fn corners(&self, [a, b]: [u32; 2], cells: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let (a, b) = (&self.judging[a as usize], &self.judging[b as usize]);
        let mut sorted = cells.to_vec();
        sort_by_ratio(&mut sorted);
        let limits = Both {
            a,
            b,
            levels: &self.levels,
            weight: 1.0,
        };
        let (mut x, mut y) = (0, 0);
        let groups = sorted.chunks(sorted.len().div_ceil(GROUPS).max(1));
        let corners = groups.flat_map(|group| {
            let before = y;
            x += group.iter().map(|cell| cell.0).sum::<u64>();
            y += group.iter().map(|cell| cell.1).sum::<u64>();
            limits.coarse(x, before)
        });
        corners.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dp_upper::{
        hockey_stick_upper_by_both, hockey_stick_upper_by_difference, is_both_narrower_on,
    };

    /// Counts of three secrets, secret by secret.
    struct Log(Vec<Vec<u64>>, u64);

    impl Log {
        fn beside(&self, [a, b]: [u32; 2], part: u64) -> Vec<(u64, u64)> {
            let counts = |secret: u32| self.0[secret as usize].iter();
            counts(a)
                .zip(counts(b))
                .map(|(x, y)| (x / part, y / part))
                .collect()
        }
        fn rows(&self, part: u64) -> Vec<u64> {
            let rows = self
                .0
                .iter()
                .map(|counts| counts.iter().map(|x| x / part).sum());
            rows.collect()
        }
    }

    impl PairCells for Log {
        fn choosing(&self, pair: [u32; 2]) -> Vec<(u64, u64)> {
            self.beside(pair, self.1)
        }
        fn judging(&self, pair: [u32; 2]) -> Vec<(u64, u64)> {
            self.beside(pair, 1)
        }
    }

    fn logs() -> Vec<Log> {
        let geometric = |shift: usize, width: usize, rows: f64| {
            let decay = |at: usize| (-0.15 * (at.abs_diff(shift + width / 2)) as f64).exp();
            (0..width).map(|at| (rows * decay(at)) as u64).collect()
        };
        let few = vec![vec![40, 10, 0], vec![12, 30, 9], vec![0, 25, 30]];
        let many = [0, 3, 5].map(|shift| geometric(shift, 40, 60.0)).to_vec();
        let unequal = vec![
            geometric(0, 90, 20.0),
            geometric(2, 90, 80.0),
            geometric(8, 90, 5.0),
        ];
        vec![Log(few, 4), Log(many, 12), Log(unequal, 5)]
    }

    fn plain(log: &Log, pair: [u32; 2], epsilon: f64, alpha: f64) -> f64 {
        let (choosing, judging) = (log.choosing(pair), log.judging(pair));
        if is_both_narrower_on(&choosing, epsilon, alpha) {
            hockey_stick_upper_by_both(&judging, epsilon, alpha)
        } else {
            hockey_stick_upper_by_difference(&judging, epsilon, alpha)
        }
    }

    #[test]
    fn limits_are_those_of_a_pair_alone_and_the_largest_is_the_first_of_them() {
        let ordered = [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]];
        for (alpha, log) in [0.05, 0.01]
            .into_iter()
            .flat_map(|alpha| logs().into_iter().map(move |log| (alpha, log)))
        {
            let together = Divergences::new(&log.rows(log.1), &log.rows(1), alpha);
            for epsilon in [0.0, 0.8, 4.0] {
                let alone = ordered.map(|pair| plain(&log, pair, epsilon, alpha));
                let shared = ordered.map(|pair| together.limit(pair, epsilon, &log));
                assert_eq!(alone, shared, "{epsilon}");
                let allowed = [0.0, 0.0, 0.1, 0.0, 0.25, 0.0];
                let pairs: Vec<Allowed> = (ordered.iter().zip(allowed))
                    .map(|(&pair, delta)| Allowed {
                        pair,
                        epsilon,
                        delta,
                    })
                    .collect();
                let excess = |at: usize| alone[at] - allowed[at];
                let first = (1..6).fold(
                    0,
                    |best, at| if excess(at) > excess(best) { at } else { best },
                );
                assert_eq!(together.largest(&pairs, &log), Some((first, alone[first])));
            }
        }
    }

    #[test]
    fn bounds_are_not_below_limits() {
        for log in logs() {
            let together = Divergences::new(&log.rows(log.1), &log.rows(1), 0.05);
            for (pair, epsilon) in [([0, 1], 0.0), ([1, 2], 0.5), ([2, 0], 1.5), ([2, 1], 4.0)] {
                let allowed = Allowed {
                    pair,
                    epsilon,
                    delta: 0.0,
                };
                let judging = log.judging(pair);
                let both = hockey_stick_upper_by_both(&judging, epsilon, 0.05);
                assert!(together.both_at_most(&allowed, &log) >= both);
                let difference = hockey_stick_upper_by_difference(&judging, epsilon, 0.05);
                for excess in [0.0, 2.0] {
                    assert!(
                        together.difference_at_most(&allowed, excess, &log).min(1.0) >= difference
                    );
                }
            }
        }
    }
}
