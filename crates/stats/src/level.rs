//! The strength of evidence: the smallest level at which a verdict would still be the same.

use crate::bisection::bisect;

/// Bisections of ln α: relative precision 1e-9 over the whole range.
const STEPS: u32 = 64;
/// The smallest level looked at; smaller ones count as this.
pub const SMALLEST: f64 = 1e-300;
/// The largest level looked at. Limits are proved for levels up to a quarter at least.
pub const LARGEST: f64 = 0.25;

/// The smallest level at which `violated` holds, rounded upward: the p-value of a claim, if `violated(α)`
/// says whether the claim would be refuted had the log's level been α. `None` if it is not even at
/// [`LARGEST`]: p exceeds a quarter.
///
/// # Formula
/// inf{α : violated(α)}, by bisection in ln α.
///
/// # Conditions
/// `violated` is monotone: true at a level, then at all above. That holds for every limit here, also
/// where several limits share α in fixed proportions, and for their maximum. If each has level α then
/// P(p ≤ α) ≤ α. Everything that depends on α in choosing (rules, pairs, methods) must be kept as it was
/// chosen.
///
/// # References
/// Lehmann and Romano 2005, *Testing Statistical Hypotheses*, §3.3 (p-values from nested tests).
pub fn smallest(violated: impl Fn(f64) -> bool) -> Option<f64> {
    smallest_up_to(LARGEST, violated)
}

/// [`smallest`] among levels up to `largest`, for tests that are proved for such levels.
pub fn smallest_up_to(largest: f64, violated: impl Fn(f64) -> bool) -> Option<f64> {
    if !violated(largest) {
        return None;
    }
    if violated(SMALLEST) {
        return Some(SMALLEST);
    }
    let levels = (SMALLEST.ln(), largest.ln());
    let (_, found) = bisect(levels, STEPS, |level| !violated(level.exp()));
    Some(found.exp() * (1.0 + 1e-12))
}

/// The p-value of a claim that was tested in several ways, each with a fixed share of α.
///
/// # Formula
/// min_i p_i/share_i, at most 1: weighted Bonferroni.
///
/// # Conditions
/// Shares were fixed beforehand and sum to at most 1; none on dependence.
///
/// # References
/// Genovese, Roeder and Wasserman 2006, doi:10.1093/biomet/93.3.509.
pub fn shared(p_values: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let tested = p_values.into_iter().filter(|&(_, share)| share > 0.0);
    tested.map(|(p, share)| p / share).fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial::clopper_pearson_lower;
    use crate::binomial_tail::at_most;
    use crate::poisson_binomial::poisson_binomial_upper;

    /// Against the binomial tail itself: P(Bin(100, 0.5) ≥ 65).
    #[test]
    fn the_smallest_level_of_clopper_and_pearson_is_the_tail() {
        let p = smallest(|alpha| clopper_pearson_lower(65, 100, alpha) > 0.5).unwrap();
        assert!((p / at_most(35, 100, 0.5) - 1.0).abs() < 1e-8, "{p}");
        assert_eq!(
            smallest(|alpha| clopper_pearson_lower(50, 100, alpha) > 0.5),
            None
        );
    }

    #[test]
    fn pooled_limits_are_inverted_alike() {
        let claim = |alpha: f64| 1.0 - 2.0 * poisson_binomial_upper(400, 1000, alpha) > 0.1;
        let p = smallest(claim).unwrap();
        assert!(claim(p * 1.0001) && !claim(p * 0.9999));
        assert!((p / at_most(400, 1000, 0.45) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn shares_are_paid() {
        assert!((shared([(0.004, 0.1), (0.03, 0.9)]) - 0.03 / 0.9).abs() < 1e-15);
        assert_eq!(shared([(0.9, 0.5), (0.5, 0.0)]), 1.0);
    }
}
