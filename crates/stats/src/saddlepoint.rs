//! Loader's saddle-point form of the binomial and Poisson probabilities, which keeps its relative
//! accuracy for any number of trials where differences of log-gammas lose it.
//!
//! # References
//! C. Loader (2000), *Fast and accurate computation of binomial probabilities*.

use std::f64::consts::TAU;

/// ln(√2π), to double precision.
const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;

/// The error of Stirling's formula, ln Γ(x+1) − ((x+½) ln x − x + ln √2π), for x > 0.
///
/// Absolute error below 2e-14.
pub fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return libm::lgamma(x + 1.0) - (x + 0.5) * x.ln() + x - LN_SQRT_TAU;
    }
    let y = 1.0 / (x * x);
    let tail = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0 - y * (691.0 / 360_360.0)));
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * tail)) / x
}

/// x ln(x/m) + m − x for x ≥ 0 and m > 0: what one cell pays for a mean m at an observed x.
pub fn deviance(x: f64, m: f64) -> f64 {
    if x == 0.0 {
        return m;
    }
    let difference = x - m;
    if difference.abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = difference / (x + m);
    let (mut sum, mut term, mut odd) = (difference * v, 2.0 * x * v, 1.0);
    loop {
        term *= v * v;
        odd += 2.0;
        let next = sum + term / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// The part of the logarithm of a binomial probability that does not depend on the parameter.
/// Needs 0 < k < n.
pub(super) fn ln_binomial_constant(k: f64, n: f64) -> f64 {
    let rest = n - k;
    stirling_error(n) - stirling_error(k) - stirling_error(rest) + 0.5 * (n / (TAU * k * rest)).ln()
}

/// ln P(Bin(n, p) = k) for 0 < k < n and p + q = 1, both given.
pub(super) fn ln_binomial(k: f64, n: f64, p: f64, q: f64) -> f64 {
    ln_binomial_constant(k, n) - deviance(k, n * p) - deviance(n - k, n * q)
}

/// e^−x x^a / Γ(a+1), a > 0, x > 0: the Poisson probability, at real arguments too.
pub(super) fn poisson(a: f64, x: f64) -> f64 {
    (-stirling_error(a) - deviance(a, x)).exp() / (TAU * a).sqrt()
}
