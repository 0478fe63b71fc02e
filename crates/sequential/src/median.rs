//! Limits of a median that hold at all times at once, however often they are looked at.
//!
//! Under "the median is at most m", a value lies above m with probability at most ½, given the values before it. So a
//! bet of even odds that values lie above m is fair at best. The limits are the bounds that these bets refute: they are
//! order statistics, valid for any distribution, with ties or without.
//!
//! Stakes are not learned here, as they are elsewhere in this crate: what a value above m is worth must not depend on when
//! it came, or the limits were no order statistics.

use leakgauge_stats::paired::Located;

use crate::capital::ln_sum;

/// The largest stake.
const LARGEST_STAKE: f64 = 0.99;
/// Stakes, each the square root of ½ of the one before: the least suits a probability that is off by 0.001.
const STAKES: i32 = 20;

/// The p-value, at this time, of "values lie on this side with probability at most ½", of which `right` lie there and
/// `wrong` do not. The smallest over all times looked at is a p-value too.
///
/// # Formula
/// 1/capital, at most 1; the capital is the mean of (1 + c)^right (1 − c)^wrong over the stakes c = 0.99·2^(−j/2),
/// j = 0..19.
///
/// # Conditions
/// Each value, given those before it, lies on this side with probability at most ½.
///
/// # References
/// Ville's inequality; Robbins 1970, doi:10.1214/aoms/1177696786 (mixtures); Howard and Ramdas 2022,
/// doi:10.3150/21-BEJ1388 (limits of quantiles at all times).
pub fn p_value(right: u64, wrong: u64) -> f64 {
    (-gain(right, wrong)).exp().min(1.0)
}

fn gain(right: u64, wrong: u64) -> f64 {
    let (right, wrong) = (right as f64, wrong as f64);
    let grown = (0..STAKES).map(|j| {
        let stake = LARGEST_STAKE * 0.5f64.powf(0.5 * f64::from(j));
        right * stake.ln_1p() + wrong * (-stake).ln_1p()
    });
    ln_sum(grown) - f64::from(STAKES).ln()
}

/// The least number of `n` values on one side that refutes, at level `alpha`, that values lie there with probability at
/// most ½; `None` if all `n` are too few.
fn needed(n: u64, alpha: f64) -> Option<u64> {
    let refutes = |right: u64| gain(right, n - right) >= -alpha.ln();
    if !refutes(n) {
        return None;
    }
    // Half of them never do.
    let (mut bad, mut good) = (n / 2, n);
    while good - bad > 1 {
        let next = bad + (good - bad) / 2;
        if refutes(next) {
            good = next;
        } else {
            bad = next;
        }
    }
    Some(good)
}

/// The median of values in any order, with limits at this time. The largest lower limit and the smallest upper limit of
/// all times looked at are limits too. Values are reordered.
///
/// # Formula
/// The (n − k + 1)-th and the k-th smallest value, k the least number of values on one side that refutes at `alpha`
/// that they are there with probability at most ½; infinite where n values are too few.
///
/// # Conditions
/// The median of each value, given those before it, is the same. Each limit is ever wrong with probability at most
/// `alpha`.
///
/// # References
/// As [`p_value`].
///
/// # Panics
/// Without values.
pub fn median(values: &mut [f64], alpha: f64) -> Located {
    let n = values.len();
    let k = needed(n as u64, alpha).map(|k| k as usize);
    let mut at = |place: usize| *values.select_nth_unstable_by(place, f64::total_cmp).1;
    Located {
        point: 0.5 * (at((n - 1) / 2) + at(n / 2)),
        lower: k.map_or(f64::NEG_INFINITY, |k| at(n - k)),
        upper: k.map_or(f64::INFINITY, |k| at(k - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    #[test]
    fn limits_are_the_bounds_that_the_bets_refute() {
        let alpha = 0.01;
        let mut values: Vec<f64> = (0..200).map(|at| f64::from(at * 37 % 200)).collect();
        let found = median(&mut values, alpha);
        assert_eq!(found.point, 99.5);
        let above = |bound: f64| values.iter().filter(|&&value| value > bound).count() as u64;
        // The median is not below the limit, and may be the limit.
        assert!(p_value(above(found.lower - 0.5), 200 - above(found.lower - 0.5)) <= alpha);
        assert!(p_value(above(found.lower), 200 - above(found.lower)) > alpha);
        assert_eq!(found.lower + found.upper, 199.0);
        let few = median(&mut [1.0, 2.0, 2.0], alpha);
        assert_eq!((few.point, few.lower), (2.0, f64::NEG_INFINITY));
        assert_eq!(few.upper, f64::INFINITY);
        assert!(p_value(0, 0) > 0.999);
    }

    /// Looked at after every value from the first to the last, either limit is ever wrong on at most α of the paths.
    fn wrong_paths(paths: u64, values: usize, alpha: f64) -> usize {
        let wrong = |seed: &u64| {
            let mut rng = rng(*seed);
            let mut all = Vec::new();
            (0..values).any(|_| {
                // Ties, and a law that is not symmetric about its least median, 2.
                let draw: f64 = rng.random();
                all.push(if draw < 0.5 {
                    (6.0 * draw).floor()
                } else {
                    10.0 * draw
                });
                median(&mut all, alpha).lower > 2.0
            })
        };
        (0..paths).filter(wrong).count()
    }

    #[test]
    fn whole_paths_keep_the_level() {
        let (paths, alpha) = (200, 0.1);
        let wrong = wrong_paths(paths, 200, alpha);
        assert!(
            wrong <= at_most(paths as usize, alpha),
            "{wrong} of {paths}"
        );
    }

    /// ```text
    /// cargo test --release -p leakgauge-sequential median -- --ignored --nocapture
    /// ```
    #[test]
    #[ignore = "long"]
    fn whole_paths_keep_the_level_over_many_values() {
        let (paths, alpha) = (1_000, 0.05);
        let wrong = wrong_paths(paths, 2_000, alpha);
        println!("{wrong} of {paths} paths are ever wrong at {alpha}");
        assert!(wrong <= at_most(paths as usize, alpha));
    }
}
