//! Confidence limits for a binomial parameter.
//!
//! The Clopper–Pearson limits are solved in the log-odds θ. There ln P(X ≥ k) is concave, so that
//! Newton's method comes from the left only and its every iterate is a valid lower limit: what is
//! left of its error is on the safe side.

use super::saddlepoint::{deviance, ln_binomial_constant};
use super::special::normal_quantile;

/// Outward rounding of a limit, relative: far above the error of the tail probability's evaluation.
const MARGIN: f64 = 1e-12;

/// The one-sided Clopper–Pearson lower limit at level 1 − `alpha`; 0 without successes or trials.
///
/// Relative accuracy 1e-11, rounded downward.
///
/// # Formula
/// The p with P(Bin(trials, p) ≥ successes) = alpha.
///
/// # Conditions
/// Independent rows with one success probability p; then P(limit ≤ p) ≥ 1 − alpha at any size.
///
/// # References
/// Clopper and Pearson (1934), 10.1093/biomet/26.4.404.
///
/// # Panics
/// If there are more successes than trials or `alpha` is not strictly between 0 and 1.
pub fn clopper_pearson_lower(successes: u64, trials: u64, alpha: f64) -> f64 {
    check(successes, trials, alpha);
    let n = trials as f64;
    let limit = if successes == 0 {
        return 0.0;
    } else if successes == trials {
        (alpha.ln() / n).exp()
    } else if successes == 1 {
        -((-alpha).ln_1p() / n).exp_m1()
    } else {
        logistic(lower_log_odds(successes, trials, alpha))
    };
    limit * (1.0 - MARGIN)
}

/// The variance of a rate, estimated; for standard errors, not for limits.
///
/// # Formula
/// p(1 − p)/worth with p = (successes + 1/2)/(trials + 1), so that it is never 0; `worth` is the number
/// of independent trials that these are worth. Infinite without trials.
pub fn variance(successes: u64, trials: u64, worth: u64) -> f64 {
    if trials == 0 || worth == 0 {
        return f64::INFINITY;
    }
    let p = (successes as f64 + 0.5) / (trials as f64 + 1.0);
    p * (1.0 - p) / worth as f64
}

/// The one-sided Clopper–Pearson upper limit at level 1 − `alpha`; 1 without failures or trials.
///
/// Relative accuracy 1e-11, rounded upward.
///
/// # Formula
/// The p with P(Bin(trials, p) ≤ successes) = alpha.
///
/// # Conditions
/// Independent rows with one success probability p; then P(p ≤ limit) ≥ 1 − alpha at any size.
///
/// # References
/// Clopper and Pearson (1934), 10.1093/biomet/26.4.404.
///
/// # Panics
/// If there are more successes than trials or `alpha` is not strictly between 0 and 1.
pub fn clopper_pearson_upper(successes: u64, trials: u64, alpha: f64) -> f64 {
    check(successes, trials, alpha);
    let n = trials as f64;
    let failures = trials - successes;
    let limit = if failures == 0 {
        return 1.0;
    } else if successes == 0 {
        -(alpha.ln() / n).exp_m1()
    } else if failures == 1 {
        ((-alpha).ln_1p() / n).exp()
    } else {
        logistic(-lower_log_odds(failures, trials, alpha))
    };
    (limit * (1.0 + MARGIN)).min(1.0)
}

/// That a limit can be asked for.
pub(super) fn check(successes: u64, trials: u64, alpha: f64) {
    assert!(successes <= trials, "{successes} successes in {trials}");
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
}

/// 1/(1+e^−θ), accurate at both ends.
fn logistic(theta: f64) -> f64 {
    1.0 / (1.0 + (-theta).exp())
}

/// The log-odds θ with P(Bin(n, p(θ)) ≥ k) = alpha, from the left, for 1 ≤ k ≤ n − 1 (k ≥ 2 if
/// `alpha` ≤ ½).
fn lower_log_odds(k: u64, n: u64, alpha: f64) -> f64 {
    if alpha > 0.5 {
        // P(X ≥ k) = alpha where P(n − X ≥ n − k + 1) = 1 − alpha: the tail that is small.
        return -solve(n - k + 1, n, 1.0 - alpha);
    }
    solve(k, n, alpha)
}

/// The same for `alpha` ≤ ½, 1 ≤ k ≤ n.
fn solve(k: u64, n: u64, alpha: f64) -> f64 {
    if k == n {
        let ln_p = alpha.ln() / n as f64;
        return ln_p - (-ln_p.exp_m1()).ln();
    }
    let tail = Tail::new(k as f64, n as f64);
    let target = alpha.ln();
    let mut theta = tail.start(alpha);
    for _ in 0..100 {
        let Slope { value, slope, bend } = tail.at(theta);
        let excess = target - value;
        let newton = excess / slope;
        if excess.abs() < 1e-6 {
            return theta + newton;
        }
        // Halley's step, kept between half of Newton's and twice it.
        theta += newton / (1.0 - 0.5 * newton * bend).clamp(0.5, 2.0);
        theta = theta.min(tail.ceiling);
    }
    // Newton's iterates stay left of the root: a last one is a valid limit even here.
    let last = tail.at(theta);
    theta + (target - last.value) / last.slope
}

/// ln P(X ≥ k) as a function of the log-odds.
struct Tail {
    k: f64,
    n: f64,
    constant: f64,
    /// The log-odds of (k+½)/(n+1): right of every root for alpha ≤ ½, which has p below about
    /// (k−⅓)/(n+⅓), and left of (k+1)/(n+1), where the continued fraction loses its sign.
    ceiling: f64,
}

/// A value with its derivative and the ratio of its second to its first derivative.
struct Slope {
    value: f64,
    slope: f64,
    bend: f64,
}

impl Tail {
    fn new(k: f64, n: f64) -> Self {
        Tail {
            k,
            n,
            constant: ln_binomial_constant(k, n),
            ceiling: ((k + 0.5) / (n - k + 0.5)).ln(),
        }
    }

    /// Where to begin: the cube-root approximation of the F law (Abramowitz and Stegun 26.5.22).
    fn start(&self, alpha: f64) -> f64 {
        let (a, b) = (self.k, self.n - self.k + 1.0);
        let z = -normal_quantile(alpha);
        let (u, v) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
        let h = 2.0 / (u + v);
        let lambda = (z * z - 3.0) / 6.0;
        let w = z * (h + lambda).sqrt() / h - (v - u) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
        ((a / b).ln() - 2.0 * w).min(self.ceiling)
    }

    /// The tail at a log-odds. With f = ln P(X ≥ k): f′ = kq·P(X = k)/P(X ≥ k), which is the
    /// continued fraction itself, and f″/f′ = k − np − p − f′.
    fn at(&self, theta: f64) -> Slope {
        let (p, q) = (logistic(theta), logistic(-theta));
        let slope = self.fraction(p, q);
        let point =
            self.constant - deviance(self.k, self.n * p) - deviance(self.n - self.k, self.n * q);
        Slope {
            value: point + (self.k * q / slope).ln(),
            slope,
            bend: self.k - self.n * p - p - slope,
        }
    }

    /// kq·P(X = k)/P(X ≥ k): the continued fraction of DiDonato and Morris (1992,
    /// 10.1145/131766.131776, BFRAC) by Lentz's method; its terms are positive left of the ceiling.
    fn fraction(&self, p: f64, q: f64) -> f64 {
        let (a, b) = (self.k, self.n - self.k + 1.0);
        let gap = a * q - b * p + 1.0;
        let mut denominator = 1.0 / (a + 1.0);
        let mut value = (a * gap * denominator).max(f64::MIN_POSITIVE);
        let (mut c, mut d, mut m) = (value, 0.0, 0.0);
        for _ in 0..1_000_000 {
            m += 1.0;
            let x = m * (b - m) * p * denominator;
            let numerator = x * p * (a + m - 1.0) * (a + b + m - 1.0) * denominator;
            denominator = 1.0 / (a + 2.0 * m + 1.0);
            let partial = m + x + (a + m) * (gap + m * (1.0 + q)) * denominator;
            d = 1.0 / (partial + numerator * d);
            c = partial + numerator / c;
            let factor = c * d;
            value *= factor;
            if (factor - 1.0).abs() < 1e-15 {
                break;
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::golden;
    use proptest::prelude::*;

    #[test]
    fn clopper_pearson_agrees_with_mpmath_outward() {
        for [k, n, alpha, lower, upper] in
            golden(include_str!("../../../tests/golden/stats_binomial.json"))
        {
            let (k, n) = (k as u64, n as u64);
            let actual = clopper_pearson_lower(k, n, alpha);
            assert!(
                actual <= lower,
                "not outward: {k} of {n} at {alpha}: {actual:e}"
            );
            assert!(
                lower - actual <= 1e-11 * lower,
                "{k} of {n} at {alpha}: {actual:e}"
            );
            let actual = clopper_pearson_upper(k, n, alpha);
            assert!(
                actual >= upper,
                "not outward: {k} of {n} at {alpha}: {actual:e}"
            );
            assert!(
                actual - upper <= 1e-11 * upper,
                "{k} of {n} at {alpha}: {actual:e}"
            );
        }
    }

    #[test]
    fn nothing_seen_nothing_said() {
        assert_eq!(clopper_pearson_lower(0, 0, 0.05), 0.0);
        assert_eq!(clopper_pearson_upper(0, 0, 0.05), 1.0);
    }

    // Reference: the formula in mpmath at 30 digits.

    #[test]
    #[should_panic(expected = "3 successes in 2")]
    fn more_successes_than_trials() {
        clopper_pearson_lower(3, 2, 0.05);
    }

    fn case() -> impl Strategy<Value = (u64, u64, f64)> {
        (1..20_000_u64, 0.0..=1.0_f64, -9.0..-0.05_f64)
            .prop_map(|(n, share, exponent)| ((n as f64 * share) as u64, n, 10_f64.powf(exponent)))
    }

    proptest! {
        #[test]
        fn limits_are_around_the_estimate_and_mirror((k, n, alpha) in case()) {
            let (lower, upper) =
                (clopper_pearson_lower(k, n, alpha), clopper_pearson_upper(k, n, alpha));
            let share = k as f64 / n as f64;
            prop_assert!((0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper));
            if alpha < 0.25 {
                // P(X ≥ k) and P(X ≤ k) exceed 1/4 at p = k/n.
                prop_assert!(lower <= share && share <= upper);
            }
            let mirror = 1.0 - clopper_pearson_upper(n - k, n, alpha);
            prop_assert!((mirror - lower).abs() < 1e-11);
        }

        #[test]
        fn limits_rise_with_successes_and_widen_with_the_level((k, n, alpha) in case()) {
            let upper = clopper_pearson_upper(k, n, alpha);
            prop_assert!(clopper_pearson_upper(k, n, alpha / 2.0) >= upper);
            if k < n {
                prop_assert!(clopper_pearson_upper(k + 1, n, alpha) > upper);
                prop_assert!(
                    clopper_pearson_lower(k + 1, n, alpha) > clopper_pearson_lower(k, n, alpha)
                );
            }
        }

        /// The limit solves its equation: the binomial tail, summed in full, is alpha.
        #[test]
        fn limit_solves_its_equation(n in 1..120_u64, share in 0.0..0.7_f64, alpha in 1e-6..0.5_f64) {
            let k = (n as f64 * share) as u64;
            let p = clopper_pearson_upper(k, n, alpha);
            let mut term = (n as f64 * (-p).ln_1p()).exp();
            let mut tail = term;
            for j in 0..k {
                term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
                tail += term;
            }
            prop_assert!((tail / alpha - 1.0).abs() < 1e-8);
        }
    }
}
