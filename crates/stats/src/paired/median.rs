//! The median, by order statistics.

use super::{Located, middle};
use crate::binomial_tail;

/// Limits for the median of the law that sorted values come from.
///
/// # Formula
/// The k-th smallest and the k-th largest value, for the largest k with P(Bin(n, ½) ≤ k − 1) ≤ `alpha`.
///
/// # Conditions
/// Independent values of one law, continuous or not. Valid at every n.
///
/// # References
/// Thompson (1936), 10.1214/aoms/1177732502.
///
/// # Panics
/// Without values.
pub fn median(sorted: &[f64], alpha: f64) -> Located {
    let k = rank(sorted.len() as u64, alpha) as usize;
    let at = |place: Option<usize>, none: f64| place.map_or(none, |place| sorted[place]);
    Located {
        point: middle(sorted),
        lower: at(k.checked_sub(1), f64::NEG_INFINITY),
        upper: at((k > 0).then(|| sorted.len() - k), f64::INFINITY),
    }
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
        let found = median(&values, 0.025);
        assert_eq!((found.point, found.lower, found.upper), (10.5, 6.0, 15.0));
        assert_eq!(median(&[1.0], 0.025).lower, f64::NEG_INFINITY);
    }
}
