//! Hockey-stick divergences δ(ε) = Σ max(p − e^ε q, 0) without overflow of e^ε and without cancellation.

use crate::extreme::Extreme;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{erf, erfc, exp, expm1, log, sqrt};

/// An ε with what its terms need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    epsilon: f64,
    less_one: f64,
}

/// From here on terms go through logarithms: e^ε·q could overflow, or q be rounded.
const LARGE: f64 = 600.0;

impl Level {
    pub(crate) fn new(epsilon: f64) -> Self {
        Level {
            epsilon,
            less_one: expm1(epsilon),
        }
    }

    /// p − e^ε q, which may be negative; p if q is 0.
    pub(crate) fn excess(&self, p: f64, q: f64) -> f64 {
        self.excess_of(p, q, p - q)
    }

    /// The same where p − q is known with more digits than p and q have.
    pub(crate) fn excess_of(&self, p: f64, q: f64, difference: f64) -> f64 {
        if q == 0.0 {
            p
        } else if self.epsilon < LARGE {
            difference - self.less_one * q
        } else if p == 0.0 {
            f64::NEG_INFINITY
        } else {
            -p * expm1(self.epsilon + (log(q) - log(p)))
        }
    }
}

/// δ(ε) of N(0, 1) against N(μ, 1).
///
/// # Formula
/// E\[(1 − e^(ε − L))⁺\] where the privacy loss L is normal with mean μ²/2 and variance μ². With c = ε/μ − μ/2 it is
/// e^(−c²/2)/√2π · ∫₀^∞ e^(−cz − z²/2)·(1 − e^(−μz)) dz: no term is negative. In ln z the integrand is analytic in a
/// strip of half width π/4 for c ≥ −1, and the trapezoidal rule with step 1/8 has a relative error below e^−39. For
/// c < −1 it is Φ(−c) − e^(−c²/2)·erfcx((c + μ)/√2)/2, where δ exceeds ½.
///
/// # References
/// B. Balle, Y.-X. Wang, *Improving the Gaussian mechanism for differential privacy*, theorem 8, arXiv:1805.06530.
pub(crate) fn gaussian(mu: f64, epsilon: f64) -> f64 {
    const STEP: f64 = 0.125;
    if mu == 0.0 || epsilon == f64::INFINITY {
        return 0.0;
    }
    if epsilon == 0.0 {
        return erf(0.5 * mu * FRAC_1_SQRT_2);
    }
    if mu == f64::INFINITY {
        return 1.0;
    }
    let c = epsilon / mu - 0.5 * mu;
    if c < -1.0 {
        let far = 0.5 * exp(-0.5 * c * c) * scaled_erfc((c + mu) * FRAC_1_SQRT_2);
        return (0.5 * erfc(c * FRAC_1_SQRT_2) - far).clamp(0.0, 1.0);
    }
    let scale = exp(-0.5 * c * c);
    if scale == 0.0 {
        return 0.0;
    }
    let last = log(sqrt(c * c + 110.0) - c);
    let depth = if mu < 1.0 { 21.0 } else { 40.0 };
    let first = -depth - log(1.0 + c.abs());
    let nodes = ((last - first) / STEP) as u32;
    let value = |k: u32| {
        let z = exp(first + STEP * f64::from(k));
        -z * exp(-z * (c + 0.5 * z)) * expm1(-mu * z)
    };
    let integral: f64 = (0..=nodes).map(value).sum();
    (scale / sqrt(2.0 * PI) * STEP * integral).at_most(1.0)
}

/// e^(x²)·erfc(x) for x ≥ −1.
///
/// # Formula
/// From 5 on the continued fraction 1/(x + (1/2)/(x + (2/2)/(x + …)))/√π.
pub(crate) fn scaled_erfc(x: f64) -> f64 {
    if x < 5.0 {
        return exp(x * x) * erfc(x);
    }
    let inner = (1..=60)
        .rev()
        .fold(x, |rest, k| x + 0.5 * f64::from(k) / rest);
    1.0 / (inner * sqrt(PI))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), by mpmath with 60 digits.
    #[test]
    fn gaussian_delta_has_all_digits_from_tiny_to_huge_parameters() {
        let table: serde_json::Value = serde_json::from_str(include_str!(
            "../../../tests/golden/exact_hockey_stick.json"
        ))
        .unwrap();
        let rows = table["gaussian"].as_array().unwrap();
        assert!(rows.len() > 50);
        for row in rows {
            let number = |at: usize| row[at].as_f64().unwrap();
            let found = gaussian(number(0), number(1));
            // The exponent c²/2 is rounded.
            let c = number(1) / number(0) - 0.5 * number(0);
            let lost = 4e-16 * c.abs() * (number(1) / number(0) + number(0));
            let tolerance = 1e-13 + lost.at_most(1.0);
            let error = (found - number(2)).abs();
            assert!(error <= tolerance * number(2) + 1e-307, "{row}: {found:e}");
        }
    }

    /// The mechanism and the labels of a row.
    type Call<'a> = &'a dyn Fn(&[f64]) -> (String, [String; 2]);

    /// Values of mechanisms on lines and planes, by sums and integrals that share no formula with those of the program.
    #[test]
    fn mechanisms_give_the_delta_of_their_densities() {
        let table: serde_json::Value = serde_json::from_str(include_str!(
            "../../../tests/golden/exact_hockey_stick.json"
        ))
        .unwrap();
        let check = |name: &str, text: Call<'_>| {
            for row in table[name].as_array().unwrap() {
                let row: Vec<f64> = row
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|x| x.as_f64().unwrap())
                    .collect();
                let (mechanism, labels) = text(&row);
                let bound = crate::mechanism::parse(&mechanism)
                    .unwrap()
                    .bind(&labels)
                    .unwrap();
                let [.., epsilon, expected] = row[..] else {
                    unreachable!()
                };
                if name == "planar" {
                    assert!(
                        (bound.bayes_security(0, 1) / epsilon - 1.0).abs() < 1e-12,
                        "{row:?}"
                    );
                    assert!(
                        (bound.total_variation(0, 1) / expected - 1.0).abs() < 1e-12,
                        "{row:?}"
                    );
                } else {
                    let found = bound.delta(epsilon).unwrap();
                    assert!(
                        (found / expected - 1.0).abs() < 1e-11,
                        "{name} {row:?}: {found:e}"
                    );
                }
            }
        };
        let pair = |distance: f64| ["0".to_owned(), distance.to_string()];
        let points = |distance: f64| ["0;0".to_owned(), format!("0;{distance}")];
        let planar = |row: &[f64]| (format!("planar-laplace(scale={})", row[0]), points(row[1]));
        check("planar", &planar);
        check("planar_delta", &planar);
        check("discrete_gaussian", &|row| {
            (format!("discrete-gaussian(sigma={})", row[0]), pair(row[1]))
        });
        check("staircase", &|row| {
            let [epsilon, sensitivity, gamma] = [row[0], row[1], row[2]];
            let text =
                format!("staircase(epsilon={epsilon}, sensitivity={sensitivity}, gamma={gamma})");
            (text, pair(row[3]))
        });
    }

    #[test]
    fn terms_do_not_overflow() {
        let level = Level::new(1000.0);
        assert_eq!(level.excess(0.3, 0.0), 0.3);
        assert!(level.excess(0.3, 0.1) < 0.0);
        let excess = Level::new(700.0).excess(0.5, 1e-305);
        let expected = 0.5 - 1e-305f64 * f64::exp(350.0) * f64::exp(350.0);
        assert!((excess / expected - 1.0).abs() < 1e-12, "{excess}");
        let close = Level::new(1e-13).excess(0.5 + 1e-13, 0.5);
        assert!((close / 5e-14 - 1.0).abs() < 1e-2, "{close}");
    }
}
