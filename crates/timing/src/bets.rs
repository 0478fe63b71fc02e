//! Bets on signs: how many values must lie on one side of a bound before one may say that their median does.
//!
//! Under "given the past, a value lies above the bound with probability at most ½", a bet of even odds that values lie
//! above it gains nothing on average, so the capital reaches 1/α with probability at most α, at any time (Ville's
//! inequality).

/// The largest stake.
const LARGEST_STAKE: f64 = 0.99;
/// Stakes, each the square root of ½ of the one before: the least suits a probability that is off by 0.001.
const STAKES: usize = 20;

/// The logarithm of the capital of bets that values lie on one side, of which `right` do and `wrong` do not.
///
/// # Formula
/// ln of the mean of (1 + c)^right (1 − c)^wrong over the stakes c = 0.99·2^(−j/2), j = 0..19.
///
/// # Conditions
/// The capital is a supermartingale where each value, given those before it, is on this side with probability at most
/// ½.
///
/// # References
/// Ville's inequality; Robbins 1970, doi:10.1214/aoms/1177696786; Howard and Ramdas 2022, doi:10.3150/21-BEJ1388.
pub(crate) fn gain(right: usize, wrong: usize) -> f64 {
    let (right, wrong) = (right as f64, wrong as f64);
    let mut grown = [0.0; STAKES];
    let mut stake = LARGEST_STAKE;
    for grown in &mut grown {
        *grown = right * libm::log1p(stake) + wrong * libm::log1p(-stake);
        stake *= std::f64::consts::FRAC_1_SQRT_2;
    }
    let most = grown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = grown.iter().map(|ln| libm::exp(ln - most)).sum();
    most + libm::log(sum / STAKES as f64)
}

/// The least number of `n` values on one side that refutes, at level `alpha`, that values lie there with probability at
/// most ½; `None` if all `n` are too few.
pub(crate) fn needed(n: usize, alpha: f64) -> Option<usize> {
    let refutes = |right: usize| gain(right, n - right) >= -libm::log(alpha);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of the capital under even odds is 1, summed over all outcomes of 12 values: bets are fair.
    #[test]
    fn bets_are_fair() {
        let n = 12_usize;
        let mut mean = 0.0;
        let mut ways = 1.0;
        for right in 0..=n {
            mean += ways * libm::exp(gain(right, n - right)) / 4096.0;
            ways = ways * (n - right) as f64 / (right + 1) as f64;
        }
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn the_least_number_is_the_least() {
        for (n, alpha) in [(20, 0.05), (300, 1e-3), (50_000, 1e-6)] {
            let least = needed(n, alpha).expect("enough values");
            assert!(gain(least, n - least) >= -libm::log(alpha));
            assert!(gain(least - 1, n - least + 1) < -libm::log(alpha));
            assert!(least > n / 2);
        }
        assert_eq!(needed(3, 1e-3), None);
        assert_eq!(needed(0, 0.5), None);
    }

    /// The probability that the capital ever reaches 1/α in 400 values, computed exactly over all paths.
    #[test]
    fn whole_paths_keep_the_level() {
        let alpha = 0.05;
        // law[r]: the probability of `r` right values on paths that did not reach it yet.
        let mut law = vec![1.0];
        let mut reached = 0.0;
        for n in 1..=400_usize {
            let mut next = vec![0.0; n + 1];
            for (right, part) in law.iter().enumerate() {
                next[right] += 0.5 * part;
                next[right + 1] += 0.5 * part;
            }
            if let Some(least) = needed(n, alpha) {
                for part in &mut next[least..] {
                    reached += std::mem::take(part);
                }
            }
            law = next;
        }
        assert!(reached <= alpha && reached > 0.2 * alpha, "{reached}");
    }
}
