//! Tail probabilities of the binomial law for any number of trials.

use libm::{exp, log1p};

use super::saddlepoint::ln_binomial;

/// P(Bin(trials, p) ≤ most).
///
/// Absolute error below 1e-13, relative error below 1e-12 left of the mean, up to 2⁵³ trials.
///
/// # Formula
/// The sum of the tail that does not hold the mean, from its largest term outward; the first term in
/// Loader's form.
///
/// # Panics
/// If p is no probability.
pub fn at_most(most: u64, trials: u64, p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a probability, not {p}");
    let (x, n, q) = (most as f64, trials as f64, 1.0 - p);
    if most >= trials || p == 0.0 {
        return 1.0;
    }
    if p == 1.0 {
        return 0.0;
    }
    if x < n * p {
        let step = |i: f64| (i * q / ((n - i + 1.0) * p), i - 1.0);
        series(mass(x, n, p), x, step, 0.0).min(1.0)
    } else {
        let step = |i: f64| ((n - i) * p / ((i + 1.0) * q), i + 1.0);
        (1.0 - series(mass(x + 1.0, n, p), x + 1.0, step, n)).max(0.0)
    }
}

/// P(Bin(n, p) = x), 0 < p < 1, x whole and at most n, in Loader's form.
pub fn mass(x: f64, n: f64, p: f64) -> f64 {
    if x == 0.0 {
        exp(n * log1p(-p))
    } else if x == n {
        exp(n * p.ln())
    } else {
        exp(ln_binomial(x, n, p, 1.0 - p))
    }
}

/// The sum of terms that fall, from the first at `i` to the last.
fn series(first: f64, mut i: f64, step: impl Fn(f64) -> (f64, f64), last: f64) -> f64 {
    let (mut term, mut sum) = (first, first);
    while i != last && term > sum * 1e-17 {
        let (ratio, next) = step(i);
        term *= ratio;
        sum += term;
        i = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::assert_close;

    #[test]
    fn small_tails_are_those_of_the_full_sum() {
        for trials in [1_u64, 2, 7, 30] {
            for p in [1e-9_f64, 0.1, 0.5, 0.93] {
                let mut sum = 0.0;
                let mut choose = 1.0;
                for x in 0..=trials {
                    sum += choose * p.powi(x as i32) * (1.0 - p).powi((trials - x) as i32);
                    choose *= (trials - x) as f64 / (x + 1) as f64;
                    assert_close(at_most(x, trials, p), sum, 1e-12);
                }
            }
        }
    }

    /// With p = λ/n and n → ∞ the law is Poisson's: the difference is of order λ²/n.
    #[test]
    fn a_trillion_trials_are_poisson() {
        let n = 1_000_000_000_000_u64;
        let poisson = (-3.0_f64).exp() * (1.0 + 3.0 + 4.5);
        assert_close(at_most(2, n, 3.0 / n as f64), poisson, 1e-11);
    }
}
