//! Two secrets of the planar Laplace mechanism.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, PI};
use std::sync::OnceLock;

use libm::{acos, asin, asinh, cos, cosh, exp, expm1, log, sin, sinh, sqrt, tanh};

use super::cells::{Cell, Cells};
use super::search::{crossing, integral_between, largest, nodes_between};
use crate::extreme::Extreme;
use leakgauge_stats::special::normal_quantile;

/// Two points with planar Laplace noise around them.
///
/// # Formula
/// With u = Δ/2λ and distances (Δ/2)(cosh ξ ∓ cos η) from the two points, the privacy loss is 2u·cos η. Integration
/// over ξ leaves the densities (u²/π)·(K₀(u) sin²η + K₁(u)/u)·e^(±u cos η) over η from 0 to π.
#[derive(Debug, Clone)]
pub struct PlanarPair {
    u: f64,
    /// K₀(u)·e^u and K₁(u)·e^u, once they are needed.
    bessel: OnceLock<(f64, f64)>,
}

/// From here on both points are told apart for certain, as far as numbers go.
const LARGEST: f64 = 1e300;

/// Below, u²·K₀(u) vanishes beside u·K₁(u).
const NEAR_ZERO: f64 = 1e-150;

/// What is this far below the largest exponent does not count.
const DEPTH: f64 = 50.0;

impl PlanarPair {
    /// Of u = Δ/2λ, at least 0.
    pub fn new(u: f64) -> PlanarPair {
        PlanarPair {
            u: u.at_most(LARGEST),
            bessel: OnceLock::new(),
        }
    }

    /// The largest privacy loss, Δ/λ.
    pub fn epsilon(&self) -> f64 {
        if self.u == LARGEST {
            return f64::INFINITY;
        }
        2.0 * self.u
    }

    /// Bayes security.
    pub fn bayes_security(&self) -> f64 {
        let u = self.u;
        if u == 0.0 {
            return 1.0;
        }
        let integral = against_cosh(u, |t| 1.0 / cosh(t) + u);
        // e^−u in two factors, so that it does not vanish too early.
        let half = exp(-0.5 * u);
        (FRAC_2_PI * integral * half * half).at_most(1.0)
    }

    /// Total variation.
    pub fn total_variation(&self) -> f64 {
        let u = self.u;
        if u == 0.0 {
            return 0.0;
        }
        // The integrand peaks where u·cosh t is about 1, and falls as 1/cosh t beyond.
        let end = (LN_2 - log(u)).at_least(0.0) + 45.0;
        (FRAC_2_PI * trapezoid(end, STEPS, |t| within(u * cosh(t)) / cosh(t))).at_most(1.0)
    }

    /// The factor of both densities, times e^u.
    fn common(&self, eta: f64) -> f64 {
        let u = self.u;
        // u·K₁(u) is 1 to all digits, and 1/u may be infinite.
        if u < NEAR_ZERO {
            return PI.recip();
        }
        let (k0, k1) = *self
            .bessel
            .get_or_init(|| (against_cosh(u, |_| 1.0), against_cosh(u, cosh)));
        u / PI * (u * k0 * sin(eta) * sin(eta) + k1)
    }

    /// δ(ε): the integral of the densities' difference over cos η > ε/2u.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let u = self.u;
        if epsilon >= 2.0 * u {
            return 0.0;
        }
        if epsilon == 0.0 {
            return self.total_variation();
        }
        let last = acos(epsilon / (2.0 * u));
        // 1 − cos η = 2 sin²(η/2): beyond, e^(u cos η) is e^−50 times its value at 0.
        let end = last.at_most(2.0 * asin(sqrt(0.5 * DEPTH / u).at_most(1.0)));
        let value = |eta: f64| {
            let half = sin(0.5 * eta);
            let fall = exp(-2.0 * u * half * half);
            let told = -expm1(epsilon - 2.0 * u * cos(eta));
            self.common(eta) * fall * told
        };
        double_exponential(end, value).clamp(0.0, 1.0)
    }

    /// The masses of both between two values of η.
    fn masses(&self, from: f64, to: f64) -> (f64, f64) {
        (self.mass(from, to), self.mass(PI - to, PI - from))
    }

    /// The mass of the first between two values of η, with a small relative error.
    fn mass(&self, from: f64, to: f64) -> f64 {
        let u = self.u;
        if from >= to {
            return 0.0;
        }
        if u == 0.0 {
            return (to - from) / PI;
        }
        // cos η − cos η′ = 2 sin((η + η′)/2)·sin((η′ − η)/2).
        let fall = |end: f64| 2.0 * u * sin(0.5 * (from + end)) * sin(0.5 * (end - from));
        let mut end = to;
        if fall(to) > DEPTH {
            let deep = cos(from) - DEPTH / u;
            end = if deep > -1.0 {
                acos(deep).at_most(to)
            } else {
                to
            };
        }
        let panels = (fall(end) / 3.0).at_least((end - from) / 0.4).ceil();
        let value = |eta: f64| {
            let half = sin(0.5 * eta);
            self.common(eta) * exp(-2.0 * u * half * half)
        };
        integral_between((from, end), panels.at_least(1.0) as u32, value)
    }

    /// The masses of both where the privacy loss is between two numbers.
    pub(crate) fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let eta = |loss: f64| acos((loss / (2.0 * self.u)).clamp(-1.0, 1.0));
        self.masses(eta(to), eta(from))
    }

    /// Rényi divergence of order α ≥ 1: the integral of e^((2α − 1)u cos η), by quadrature on panels that get narrow
    /// where it is large.
    pub(super) fn renyi_divergence(&self, order: f64) -> f64 {
        const PARTS: u32 = 16;
        if self.u == 0.0 {
            return 0.0;
        }
        let finest = 0.1 / (1.0 + sqrt(order * self.u));
        let mut cells = Vec::new();
        let mut end = PI;
        while end > 0.0 {
            let start = if end > finest { 0.5 * end } else { 0.0 };
            let nodes = nodes_between((start, end), PARTS);
            cells.extend(nodes.map(|(eta, width)| {
                let loss = 2.0 * self.u * cos(eta);
                let [near, far] = [sin(0.5 * eta), cos(0.5 * eta)]
                    .map(|half| width * self.common(eta) * exp(-2.0 * self.u * half * half));
                Cell::with_loss(near, far, loss)
            }));
            end = start;
        }
        Cells(&cells).renyi_divergence(order)
    }

    /// The largest probability of an event whose probability under the other point is κ: the loss falls with η, so that
    /// the best events are η below some number.
    pub(super) fn reconstruction(&self, kappa: f64) -> f64 {
        let other = |share: f64| self.mass(PI - share * PI, PI);
        self.mass(0.0, PI * crossing(kappa, other))
            .clamp(kappa, 1.0)
    }

    /// The largest difference of the normal quantiles of both probabilities of such events.
    pub(super) fn gaussian_mu(&self) -> f64 {
        if self.u == 0.0 {
            return 0.0;
        }
        let apart = |eta: f64| {
            let (p, q) = self.masses(0.0, eta);
            let (above, beyond) = self.masses(eta, PI);
            let quantile = |below: f64, above: f64| {
                if below < above {
                    normal_quantile(below)
                } else {
                    -normal_quantile(above)
                }
            };
            quantile(p, above) - quantile(q, beyond)
        };
        largest((1e-6 * PI, (1.0 - 1e-6) * PI), apart)
    }
}

/// ∫₀^∞ of an even analytic function that is negligible beyond `end`, by the trapezoidal rule.
fn trapezoid(end: f64, steps: f64, f: impl Fn(f64) -> f64) -> f64 {
    let inner: f64 = (1..=(end * steps) as u32)
        .map(|i| f(f64::from(i) / steps))
        .sum();
    (0.5 * f(0.0) + inner) / steps
}

/// Steps per unit where integrands vary as 1/cosh t or more slowly.
const STEPS: f64 = 8.0;

/// ∫₀^∞ f(t) e^(−u(cosh t − 1)) dt.
///
/// # Formula
/// The trapezoidal rule with steps of at most 0.6/√u, as the integrand is nearly a normal density of variance 1/u.
fn against_cosh(u: f64, f: impl Fn(f64) -> f64) -> f64 {
    // cosh t − 1 = 2 sinh²(t/2): no cancellation; it ends where the exponent is −50. 1/u may be too large for a number.
    let end = 2.0 * asinh(5.0 / sqrt(u));
    let steps = STEPS.at_least(sqrt(u) / 0.6);
    trapezoid(end, steps, |t| {
        let half = sinh(0.5 * t);
        f(t) * exp(-2.0 * u * half * half)
    })
}

/// ∫₀^end of an analytic function, by the double exponential rule.
fn double_exponential(end: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    let node = |k: i32| {
        let t = STEP * f64::from(k);
        let inner = FRAC_PI_2 * sinh(t);
        let beside = cosh(inner);
        f(0.5 * end * (1.0 + tanh(inner))) * FRAC_PI_2 * cosh(t) / (beside * beside)
    };
    0.5 * end * STEP * (-52..=52).map(node).sum::<f64>()
}

/// 1 − (1 + z)e^−z, without cancellation near 0.
pub(crate) fn within(z: f64) -> f64 {
    if z > 800.0 {
        return 1.0;
    }
    if z > 0.5 {
        return -expm1(-z) - z * exp(-z);
    }
    // Σ (−1)^k z^k (k − 1)/k!, k from 2.
    let (mut power, mut sum) = (-z, 0.0);
    for k in 2..20 {
        let k = f64::from(k);
        power *= -z / k;
        sum += power * (k - 1.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where 1/u is no number any more, integrals still end: four billion steps took minutes.
    #[test]
    fn the_smallest_distances_are_soon_computed() {
        for u in [5e-324, 2.9e-309, 1e-300, 1e-100] {
            let pair = PlanarPair::new(u);
            assert_eq!(pair.bayes_security(), 1.0, "{u}");
            // A total variation of u at most, since the divergence is 2u.
            let variation = pair.total_variation();
            assert!((0.0..=2.0 * u).contains(&variation), "{u}: {variation}");
        }
    }

    /// The densities sum to 1, and differences of masses are the δ of the closed form.
    #[test]
    fn masses_agree_with_delta() {
        for u in [1e-6, 0.3, 2.0, 40.0, 300.0] {
            let pair = PlanarPair::new(u);
            let (p, q) = pair.masses(0.0, PI);
            assert!(
                (p - 1.0).abs() < 1e-13 && (q - 1.0).abs() < 1e-13,
                "{u}: {p} {q}"
            );
            for share in [0.0, 0.2, 0.7, 0.95] {
                let epsilon = 2.0 * share * u;
                let (p, q) = pair.between(epsilon, 2.0 * u);
                let level = crate::hockey_stick::Level::new(epsilon);
                let expected = pair.delta(epsilon);
                let gap = level.excess(p, q) - expected;
                assert!(gap.abs() <= 1e-12 * p, "{u} {share}: {gap} of {expected}");
            }
        }
    }

    /// Divergences from quadrature are those of the integral over δ(ε), here with many narrow cells.
    #[test]
    fn divergences_and_events_agree_with_narrow_cells() {
        for u in [0.01, 0.5, 3.0] {
            let pair = PlanarPair::new(u);
            let count = 20_000;
            let place = |at: u32| PI * f64::from(at) / f64::from(count);
            let cells: Vec<Cell> = (0..count)
                .map(|at| {
                    let (p, q) = pair.masses(place(at), place(at + 1));
                    Cell::new(p, q)
                })
                .collect();
            let cells = Cells(&cells);
            for order in [1.0, 1.5, 2.0, 10.0] {
                let ratio = pair.renyi_divergence(order) / cells.renyi_divergence(order);
                assert!((ratio - 1.0).abs() < 1e-6, "{u} {order}: {ratio}");
            }
            for kappa in [1e-6, 0.1, 0.5, 0.99] {
                let ratio = pair.reconstruction(kappa) / cells.reconstruction(kappa);
                assert!((ratio - 1.0).abs() < 1e-7, "{u} {kappa}: {ratio}");
            }
            let ratio = pair.gaussian_mu() / cells.gaussian_mu();
            assert!((ratio - 1.0).abs() < 1e-5, "{u}: {ratio}");
        }
    }
}
