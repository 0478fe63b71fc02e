//! The median, by order statistics.

use super::{Located, Sample, middle};
use crate::binomial_tail;
use crate::long_run::LongRun;

/// Limits for the median of the law that differences come from.
///
/// # Formula
/// The k-th smallest and the k-th largest value, for the largest k with P(Bin(n, ½) ≤ k − 1) ≤ α′, where α′ is the
/// [level](LongRun::level) that allows for how much the signs about the median vary in the long run.
///
/// # Conditions
/// Independent values of one law, continuous or not: valid at every n. Dependent values: those of [`LongRun`].
///
/// # References
/// Thompson (1936), 10.1214/aoms/1177732502.
///
/// # Panics
/// Without values.
pub fn median(sample: &Sample, alpha: f64) -> Located {
    of_sorted(sample.sorted(), alpha, sample.signs())
}

/// [`median`] of values that are sorted, and whose signs about the median vary so much in the long run.
///
/// # Panics
/// Without values.
pub fn of_sorted(sorted: &[f64], alpha: f64, signs: LongRun) -> Located {
    let center = middle(sorted);
    let level = signs.level(alpha);
    let k = level.map_or(0, |level| rank(sorted.len() as u64, level) as usize);
    let at = |place: Option<usize>, none: f64| place.map_or(none, |place| sorted[place]);
    Located {
        point: center,
        lower: at(k.checked_sub(1), f64::NEG_INFINITY),
        upper: at((k > 0).then(|| sorted.len() - k), f64::INFINITY),
    }
}

/// The p-value of "the median is at most `size`", by the sign test: of the smallest values, sorted, that each difference
/// can have.
///
/// # Formula
/// P(Bin(n, ½) ≥ k) with k of n differences above `size`, and the larger [p-value](LongRun::p_value) that allows for how
/// much signs vary in the long run.
///
/// # Conditions
/// Those of [`median`].
///
/// # References
/// As for [`median`].
pub fn median_above(least: &[f64], size: f64, signs: LongRun) -> f64 {
    let above = least.len() - least.partition_point(|&x| x <= size);
    more_than_half(above, least.len(), signs)
}

/// The p-value of "the median is at least −`size`", of the largest values; otherwise as [`median_above`].
pub fn median_below(most: &[f64], size: f64, signs: LongRun) -> f64 {
    let below = most.partition_point(|&x| x < -size);
    more_than_half(below, most.len(), signs)
}

/// P(Bin(n, ½) ≥ k) = P(Bin(n, ½) ≤ n − k).
fn more_than_half(k: usize, n: usize, signs: LongRun) -> f64 {
    signs.p_value(binomial_tail::at_most((n - k) as u64, n as u64, 0.5))
}

/// The p-value of "the median is at least −`size` and at most `size`", by the sign test of the side that most
/// differences are beyond: of the smallest and of the largest values, sorted, that each difference can have.
///
/// # Formula
/// P(Bin(n, ½) ≥ k) with k of n differences certainly beyond one of the two, and the larger
/// [p-value](LongRun::p_value) that allows for how much signs vary in the long run.
///
/// # Conditions
/// Those of [`median`]. It is a p-value of one side: double it where the side was not fixed beforehand.
///
/// # References
/// As for [`median`].
pub fn median_beyond([least, most]: [&[f64]; 2], size: f64, signs: LongRun) -> f64 {
    median_above(least, size, signs).min(median_below(most, size, signs))
}

/// The least number of differences that gives [`median`] limits.
///
/// # Formula
/// The least n with 2⁻ⁿ ≤ `alpha`.
///
/// ```
/// use leakgauge_stats::paired::least_blocks;
///
/// assert_eq!(least_blocks(0.025), 6);
/// ```
pub fn least_blocks(alpha: f64) -> u64 {
    (1..).find(|&n| rank(n, alpha) > 0).unwrap_or(u64::MAX)
}

/// The largest k with P(Bin(n, ½) ≤ k − 1) ≤ alpha; 0 if there is none.
fn rank(n: u64, alpha: f64) -> u64 {
    let fits = |k: u64| k == 0 || binomial_tail::at_most(k - 1, n, 0.5) <= alpha;
    let (mut good, mut bad) = (0, n / 2 + 1);
    while bad - good > 1 {
        let next = good + (bad - good) / 2;
        if fits(next) {
            good = next;
        } else {
            bad = next;
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    // P(Bin(20, ½) ≤ 5) = 0.0207 and P(Bin(20, ½) ≤ 6) = 0.0577; P(Bin(6, ½) ≤ 0) = 1/64.
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        assert_eq!(rank(20, 0.025), 6);
        assert_eq!(rank(6, 0.025), 1);
        assert_eq!(rank(5, 0.025), 0);
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let found = median(&Sample::new(&[0.0; 20], &values), 0.025);
        assert_eq!((found.point, found.lower, found.upper), (10.5, 6.0, 15.0));
        assert_eq!(
            median(&Sample::new(&[0.0], &[1.0]), 0.025).lower,
            f64::NEG_INFINITY
        );
    }
}
