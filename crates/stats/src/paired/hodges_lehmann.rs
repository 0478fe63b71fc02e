//! The median of all pairwise means.

use super::{Located, Sample};

/// Limits for the median of (D + D′)/2, D and D′ independent of one law: the center of a symmetric law, and its
/// shift if one class is the other shifted.
///
/// # Formula
/// The pairwise means (d_i + d_j)/2, i ≤ j, are N = n(n + 1)/2. The estimate is their median; the limits are those
/// of rank N/2 ∓ z·n(n + 1)·s/√n, where s is the standard deviation over i of the share of j with
/// d_i + d_j > 2θ̂, and at least that of a symmetric continuous law, 1/√12. With 1/√12 it inverts the signed-rank
/// test of Wilcoxon.
///
/// Ranks are found without the N means, by bisection over the floating-point numbers: O(n log n) of work.
///
/// # Conditions
/// Values of one law; asymptotic. Symmetry is not needed, because the law of the ranks is estimated. Where blocks
/// depend on each other, z is the quantile of Student's law by the effective number of these ranks, times the square
/// root of what is lost.
///
/// # References
/// Hodges and Lehmann (1963), 10.1214/aoms/1177704172; Hoeffding (1948), 10.1214/aoms/1177730196, for the variance
/// without symmetry.
///
/// # Panics
/// Without values, or if one is not finite.
pub fn hodges_lehmann(sample: &Sample, alpha: f64) -> Located {
    let sorted = sample.sorted();
    let n = sorted.len() as f64;
    let all = 0.5 * n * (n + 1.0);
    let point = 0.5 * ranked(sorted, (0.5 * all).ceil() as u64);
    let spread = share_spread(sorted, 2.0 * point).max(1.0 / 12f64.sqrt());
    let reach = sample.reach(alpha, f64::INFINITY, |d| {
        sorted.partition_point(|x| x + d <= 2.0 * point) as f64
    });
    let radius = reach * n * (n + 1.0) * spread / n.sqrt();
    let rank = (0.5 * all - radius - 0.5).floor();
    if rank < 1.0 {
        return Located {
            point,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        };
    }
    Located {
        point,
        lower: 0.5 * ranked(sorted, rank as u64),
        upper: 0.5 * ranked(sorted, (all - rank + 1.0) as u64),
    }
}

/// The sum d_i + d_j, i ≤ j, of rank `rank`, from 1.
fn ranked(sorted: &[f64], rank: u64) -> f64 {
    let (mut low, mut high) = (
        ordered(2.0 * sorted[0]),
        ordered(2.0 * sorted[sorted.len() - 1]),
    );
    while low < high {
        let middle = low + ((i128::from(high) - i128::from(low)) / 2) as i64;
        if sums_up_to(sorted, number(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    number(low)
}

/// How many sums d_i + d_j, i ≤ j, are at most `most`.
fn sums_up_to(sorted: &[f64], most: f64) -> u64 {
    let (mut count, mut below) = (0u64, sorted.len());
    for (at, value) in sorted.iter().enumerate() {
        while below > 0 && value + sorted[below - 1] > most {
            below -= 1;
        }
        if below <= at {
            break;
        }
        count += (below - at) as u64;
    }
    count
}

/// The standard deviation over i of the share of j with d_i + d_j > `sum`; ties count half.
fn share_spread(sorted: &[f64], sum: f64) -> f64 {
    let n = sorted.len();
    let (mut at_most, mut below) = (n, n);
    let (mut total, mut squares) = (0.0, 0.0);
    for value in sorted {
        while at_most > 0 && value + sorted[at_most - 1] > sum {
            at_most -= 1;
        }
        while below > 0 && value + sorted[below - 1] >= sum {
            below -= 1;
        }
        let share = (2 * n - at_most - below) as f64 / (2 * n) as f64;
        total += share;
        squares += share * share;
    }
    let mean = total / n as f64;
    (squares / n as f64 - mean * mean).max(0.0).sqrt()
}

/// Whole numbers in the order of the floating-point numbers.
pub(crate) fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The number at a place in this order.
pub(crate) fn number(ordered: i64) -> f64 {
    f64::from_bits((ordered ^ (((ordered >> 63) as u64) >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_those_of_all_sums(mut values in prop::collection::vec(-50i32..50, 1..30)) {
            values.sort_unstable();
            let sorted: Vec<f64> = values.iter().map(|&x| f64::from(x) / 4.0).collect();
            let mut sums: Vec<f64> = Vec::new();
            for (i, x) in sorted.iter().enumerate() {
                sums.extend(sorted[i..].iter().map(|y| x + y));
            }
            sums.sort_by(f64::total_cmp);
            for (at, &sum) in sums.iter().enumerate() {
                prop_assert_eq!(ranked(&sorted, at as u64 + 1), sum);
            }
        }
    }

    #[test]
    fn numbers_and_their_order_agree() {
        let all = [-f64::MAX, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0];
        for pair in all.windows(2) {
            assert!(ordered(pair[0]) < ordered(pair[1]));
        }
        assert!(all.iter().all(|&x| number(ordered(x)) == x));
    }
}
