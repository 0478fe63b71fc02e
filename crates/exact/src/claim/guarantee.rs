//! What a promise of privacy says of two secrets.

use crate::extreme::Extreme;
use std::f64::consts::LN_2;

use libm::{erf, erfc, exp, exp2, expm1, log, log1p, log2, pow, tanh};

use crate::hockey_stick;

/// A bound on how well two secrets can be told apart, in one of the forms of differential privacy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// (ε, δ)-differential privacy.
    Dp {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// μ-Gaussian differential privacy: no test tells the secrets apart better than one that tells
    /// N(0, 1) from N(μ, 1).
    Gaussian {
        /// μ.
        mu: f64,
    },
    /// ρ-zero-concentrated differential privacy: D_α(P ‖ Q) ≤ ρα for every α > 1, both ways.
    Concentrated {
        /// ρ.
        rho: f64,
    },
    /// (α, ε)-Rényi differential privacy: D_α(P ‖ Q) ≤ ε, both ways.
    Renyi {
        /// α, above 1.
        order: f64,
        /// ε.
        epsilon: f64,
    },
}

impl Guarantee {
    /// What the guarantee for neighbors leaves to secrets that are `steps` steps apart.
    ///
    /// # Formula
    /// (kε, δ(e^kε − 1)/(e^ε − 1)), kμ, k²ρ. With δ = 0 any k ≥ 0 will do: that is metric privacy. (α, ε)-Rényi
    /// privacy leaves (α/2^c, 3^c ε) at up to 2^c steps if α ≥ 2^(c+1), and nothing beyond.
    ///
    /// # References
    /// S. Vadhan, *The complexity of differential privacy*, Lemma 2.2,
    /// doi:10.1007/978-3-319-57048-8_7. J. Dong, A. Roth, W. J. Su, *Gaussian differential privacy*,
    /// Theorem 2.14 and below it, doi:10.1111/rssb.12454. M. Bun, T. Steinke, *Concentrated
    /// differential privacy*, Proposition 1.9, doi:10.1007/978-3-662-53641-4_24. I. Mironov, *Rényi differential
    /// privacy*, Proposition 2, doi:10.1109/CSF.2017.11.
    #[must_use]
    pub fn group(self, steps: f64) -> Guarantee {
        match self {
            Guarantee::Dp { epsilon, delta } => Guarantee::Dp {
                epsilon: steps * epsilon,
                delta: group_delta(epsilon, delta, steps),
            },
            Guarantee::Gaussian { mu } => Guarantee::Gaussian { mu: steps * mu },
            Guarantee::Concentrated { rho } => Guarantee::Concentrated {
                rho: steps * (steps * rho),
            },
            Guarantee::Renyi { order, epsilon } => group_renyi(order, epsilon, steps),
        }
    }

    /// ε, μ or ρ, or the ε of a Rényi divergence.
    pub fn parameter(self) -> f64 {
        match self {
            Guarantee::Dp { epsilon, .. } => epsilon,
            Guarantee::Gaussian { mu } => mu,
            Guarantee::Concentrated { rho } => rho,
            Guarantee::Renyi { epsilon, .. } => epsilon,
        }
    }

    /// The largest total variation that it leaves possible; there are secrets that have it.
    ///
    /// # Formula
    /// (e^ε − 1 + 2δ)/(e^ε + 1), computed through e^−ε; 2Φ(μ/2) − 1; tanh(ε/2) for the ε at which
    /// ε tanh(ε/2) = ρ; tanh(e/2) for the e at which randomized response has the Rényi divergence.
    ///
    /// The third is that of randomized response: its D_α/α = ln(cosh((α − ½)ε)/cosh(ε/2))/(α(α − 1)) is
    /// a difference quotient of ln cosh(ε√y) at y = ¼ and y = (α − ½)², which is concave in y, so it
    /// falls from ε tanh(ε/2) at α → 1. No other secrets have more. Total variation t is p − q for
    /// some event, and by data processing the event's two Bernoulli laws satisfy the promise; so do
    /// those of the complement with the secrets exchanged, (1 − q, 1 − p), and, D_α being
    /// quasi-convex in both laws, the mean of the two, which is randomized response with the same t.
    /// It is below Pinsker's √(ρ/2) for every ρ. The argument serves for one order as for all of them.
    pub fn largest_total_variation(self) -> f64 {
        match self {
            Guarantee::Dp { epsilon, delta } => {
                let inverse = exp(-epsilon);
                ((-expm1(-epsilon) + 2.0 * delta * inverse) / (1.0 + inverse)).at_most(1.0)
            }
            Guarantee::Gaussian { mu } => erf(mu / 8f64.sqrt()),
            Guarantee::Concentrated { rho } => tanh(0.5 * randomized_response_epsilon(rho)),
            Guarantee::Renyi { order, epsilon } => tanh(0.5 * renyi_epsilon(order, epsilon)),
        }
    }

    /// The largest δ(ε′) between two secrets that it leaves possible; for ρ a bound on it.
    ///
    /// # Formula
    /// δ + (1 − δ)·(1 − e^(ε′ − ε))/(1 + e^−ε) below ε, else δ: attained by randomized response that reveals the secret
    /// with probability δ. That of N(0, 1) against N(μ, 1). The least e^((α − 1)(αρ − ε′))·(1 − 1/α)^α/(α − 1) over
    /// α > 1, and that of total variation. With the ε of one order for αρ the same at that α.
    ///
    /// # References
    /// P. Kairouz, S. Oh, P. Viswanath, *The composition theorem for differential privacy*,
    /// doi:10.1109/TIT.2017.2685505. C. L. Canonne, G. Kamath, T. Steinke, *The discrete Gaussian for differential
    /// privacy*, proposition 12, arXiv:2004.00010.
    pub fn largest_delta(self, at: f64) -> f64 {
        match self {
            Guarantee::Dp { epsilon, delta } => {
                let beyond = -expm1((at - epsilon).at_most(0.0)) / (1.0 + exp(-epsilon));
                delta + (1.0 - delta) * beyond
            }
            Guarantee::Gaussian { mu } => hockey_stick::gaussian(mu, at),
            Guarantee::Concentrated { rho } => {
                concentrated_delta(rho, at).at_most(self.largest_total_variation())
            }
            Guarantee::Renyi { order, epsilon } => {
                renyi_delta(order, epsilon, at).at_most(self.largest_total_variation())
            }
        }
    }

    /// 1 − [`Guarantee::largest_total_variation`], computed without cancellation.
    ///
    /// # Formula
    /// 2(1 − δ)/(e^ε + 1); 2Φ(−μ/2); 2/(e^ε + 1) for the ε at which ε tanh(ε/2) = ρ.
    pub fn least_bayes_security(self) -> f64 {
        let of = |epsilon: f64, delta: f64| {
            let inverse = exp(-epsilon);
            (2.0 * (1.0 - delta) * inverse / (1.0 + inverse)).at_most(1.0)
        };
        match self {
            Guarantee::Dp { epsilon, delta } => of(epsilon, delta),
            Guarantee::Gaussian { mu } => erfc(mu / 8f64.sqrt()),
            Guarantee::Concentrated { rho } => of(randomized_response_epsilon(rho), 0.0),
            Guarantee::Renyi { order, epsilon } => of(renyi_epsilon(order, epsilon), 0.0),
        }
    }
}

/// The least e^((α − 1)(αρ − ε))·(1 − 1/α)^α/(α − 1) over α > 1, in ln(α − 1) by golden section: every value is a
/// bound.
fn concentrated_delta(rho: f64, epsilon: f64) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    let exponent = |t: f64| {
        let alpha = 1.0 + exp(t);
        ln_renyi_delta(t, alpha * rho, epsilon)
    };
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..120 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if exponent(left) < exponent(right) {
            high = right;
        } else {
            low = left;
        }
    }
    exp(exponent(0.5 * (low + high)))
}

/// ln of e^((α − 1)(r − ε))·(1 − 1/α)^α/(α − 1) for the Rényi divergence r of order α = 1 + e^t.
fn ln_renyi_delta(t: f64, divergence: f64, epsilon: f64) -> f64 {
    let less = exp(t);
    less * (divergence - epsilon) + (1.0 + less) * (t - log1p(less)) - t
}

fn renyi_delta(order: f64, divergence: f64, epsilon: f64) -> f64 {
    exp(ln_renyi_delta(log(order - 1.0), divergence, epsilon)).at_most(1.0)
}

/// The e at which randomized response at e has the Rényi divergence ε of order α, by bisection, from above.
///
/// # Formula
/// D_α = ln((e^(αe) + e^((1 − α)e))/(1 + e^e))/(α − 1), which grows from 0 and is at least e − ln 2·α/(α − 1), and
/// at most e.
fn renyi_epsilon(order: f64, epsilon: f64) -> f64 {
    let divergence = |e: f64| {
        // Divided by e^(αe), and 1 + e^e by e^e.
        let moment = log1p(exp((1.0 - 2.0 * order) * e)) - log1p(exp(-e));
        e + moment / (order - 1.0)
    };
    let (mut low, mut high) = (epsilon, epsilon + LN_2 * order / (order - 1.0));
    if !high.is_finite() {
        return f64::INFINITY;
    }
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return if epsilon == 0.0 { 0.0 } else { high };
        }
        if divergence(middle) < epsilon {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn group_renyi(order: f64, epsilon: f64, steps: f64) -> Guarantee {
    if steps <= 1.0 {
        let epsilon = if steps == 0.0 { 0.0 } else { epsilon };
        return Guarantee::Renyi { order, epsilon };
    }
    let doublings = log2(steps).ceil();
    if order < exp2(doublings + 1.0) {
        let epsilon = f64::INFINITY;
        return Guarantee::Renyi { order, epsilon };
    }
    Guarantee::Renyi {
        order: order / exp2(doublings),
        epsilon: epsilon * pow(3.0, doublings),
    }
}

/// The ε at which ε tanh(ε/2) = ρ, by bisection, from above.
fn randomized_response_epsilon(rho: f64) -> f64 {
    let root = (2.0 * rho).sqrt();
    // x/(1 + x) ≤ tanh x ≤ min(x, 1).
    let (mut low, mut high) = (root.at_least(rho), root + rho);
    if !high.is_finite() {
        return f64::INFINITY;
    }
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return high;
        }
        if middle * tanh(0.5 * middle) < rho {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn group_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    if delta == 0.0 || k == 0.0 {
        return 0.0;
    }
    let factor = if epsilon == 0.0 {
        k
    } else if epsilon > 700.0 {
        // e^((k − 1)ε) up to rounding; e^ε alone would not fit.
        exp((k - 1.0) * epsilon)
    } else {
        expm1(k * epsilon) / expm1(epsilon)
    };
    (delta * factor).at_most(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_stats::renyi::{concentrated_at_least, divergence_at_least};
    use leakgauge_stats::special::normal_cdf;

    #[test]
    fn group_privacy_is_the_promise_step_by_step() {
        // δ after k steps by the recursion δ ← e^ε δ + δ₁ that the lemma solves.
        for (epsilon, delta) in [(0.0, 1e-3), (0.1, 1e-5), (1.0, 1e-6)] {
            let mut by_steps = 0.0;
            for k in 1..10 {
                by_steps = f64::exp(epsilon) * by_steps + delta;
                let closed = group_delta(epsilon, delta, f64::from(k));
                assert!((closed / by_steps - 1.0).abs() < 1e-12);
            }
        }
        assert_eq!(group_delta(1e3, 0.1, 1.0), 0.1);
        assert_eq!(group_delta(1e3, 0.1, 2.0), 1.0);
        assert_eq!(group_delta(1e3, 0.0, 9.0), 0.0);
    }

    /// The Gaussian mechanism attains what μ allows at every distance.
    #[test]
    fn gaussian_total_variation_is_that_of_shifted_normals() {
        for mu in [0.0, 1e-3, 0.5, 1.0, 3.0, 20.0] {
            let guarantee = Guarantee::Gaussian { mu };
            let expected = normal_cdf(mu / 2.0) - normal_cdf(-mu / 2.0);
            assert!((guarantee.largest_total_variation() - expected).abs() < 1e-15);
            assert!((guarantee.least_bayes_security() - 2.0 * normal_cdf(-mu / 2.0)).abs() < 1e-15);
            let sum = guarantee.least_bayes_security() + guarantee.largest_total_variation();
            assert!((sum - 1.0).abs() < 1e-15);
        }
    }

    /// By search over all pairs of Bernoulli laws that are ρ-concentrated, both ways.
    #[test]
    fn concentrated_total_variation_is_the_largest_of_all_binary_tests() {
        for rho in [0.01, 0.1, 0.5, 2.0] {
            let bound = Guarantee::Concentrated { rho }.largest_total_variation();
            let mut largest = 0.0f64;
            for i in 1..200 {
                for j in 1..i {
                    let (p, q) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                    if p - q > largest && concentrated_at_least(1.0 - p, q) <= rho {
                        largest = p - q;
                    }
                }
            }
            assert!(
                largest <= bound && largest > bound - 0.02,
                "{rho}: {largest} {bound}"
            );
            assert!(bound < (0.5 * rho).sqrt());
            let error = 0.5 * (1.0 - bound);
            let attained = concentrated_at_least(error, error);
            assert!((attained / rho - 1.0).abs() < 1e-8, "{rho}: {attained}");
        }
    }

    /// By search over all pairs of Bernoulli laws that keep one order, both ways; and its group privacy.
    #[test]
    fn renyi_total_variation_is_the_largest_of_all_binary_tests() {
        for (order, epsilon) in [(2.0, 0.05), (1.5, 0.5), (8.0, 2.0), (40.0, 0.2)] {
            let bound = Guarantee::Renyi { order, epsilon }.largest_total_variation();
            let mut largest = 0.0f64;
            for i in 1..200 {
                for j in 1..i {
                    let (p, q) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                    if p - q > largest && divergence_at_least(1.0 - p, q, order) <= epsilon {
                        largest = p - q;
                    }
                }
            }
            assert!(
                largest <= bound && largest > bound - 0.02,
                "{order} {epsilon}: {largest} {bound}"
            );
            let error = 0.5 * (1.0 - bound);
            let attained = divergence_at_least(error, error, order);
            assert!(
                (attained / epsilon - 1.0).abs() < 1e-8,
                "{order}: {attained}"
            );
        }
        let guarantee = Guarantee::Renyi {
            order: 8.0,
            epsilon: 0.1,
        };
        let Guarantee::Renyi { order, epsilon } = guarantee.group(3.0) else {
            panic!("not Rényi")
        };
        assert_eq!(order, 2.0);
        assert!((epsilon - 0.9).abs() < 1e-15);
        assert_eq!(guarantee.group(5.0).parameter(), f64::INFINITY);
        assert_eq!(guarantee.group(1.0), guarantee);
    }

    /// Gaussian noise has D_α = αμ²/2, and its δ is below what one order leaves: exactly that of the numerical
    /// optimum where the order is the best of all.
    #[test]
    fn delta_of_one_order_bounds_that_of_gaussian_noise() {
        for (order, mu, epsilon) in [(2.0, 0.5, 1.0), (8.0, 1.0, 3.0), (3.0, 1.0, 2.0)] {
            let renyi = Guarantee::Renyi {
                order,
                epsilon: 0.5 * order * mu * mu,
            };
            let gaussian = Guarantee::Gaussian { mu }.largest_delta(epsilon);
            assert!(renyi.largest_delta(epsilon) >= gaussian);
            let concentrated = Guarantee::Concentrated { rho: 0.5 * mu * mu };
            let best = (1..20_000).map(|k| {
                let order = 1.0 + f64::from(k) * 1e-3;
                let epsilon_of_order = 0.5 * order * mu * mu;
                let renyi = Guarantee::Renyi {
                    order,
                    epsilon: epsilon_of_order,
                };
                renyi.largest_delta(epsilon)
            });
            let best = best.fold(f64::INFINITY, f64::at_most);
            assert!((best / concentrated.largest_delta(epsilon) - 1.0).abs() < 1e-4);
        }
    }

    /// δ(0) is total variation, and δ of ρ bounds that of Gaussian noise with ρ = μ²/2.
    #[test]
    fn delta_of_a_guarantee_is_what_its_extreme_mechanisms_have() {
        for epsilon in [0.1, 1.0, 5.0] {
            let guarantee = Guarantee::Dp {
                epsilon,
                delta: 0.01,
            };
            assert!(
                (guarantee.largest_delta(0.0) - guarantee.largest_total_variation()).abs() < 1e-15
            );
            assert!((guarantee.largest_delta(epsilon) - 0.01).abs() < 1e-15);
            for mu in [0.1, 1.0, 4.0] {
                let gaussian = Guarantee::Gaussian { mu }.largest_delta(epsilon);
                let concentrated = Guarantee::Concentrated { rho: 0.5 * mu * mu };
                let bound = concentrated.largest_delta(epsilon);
                assert!(bound >= gaussian, "{mu} {epsilon}");
                // The best α is within a grid of them.
                let least = (1..4000).map(|k| {
                    let alpha = 1.0 + f64::from(k) * 0.01;
                    let power = (alpha - 1.0) * (alpha * 0.5 * mu * mu - epsilon);
                    power.exp() * (1.0 - 1.0 / alpha).powf(alpha) / (alpha - 1.0)
                });
                let least = least.fold(concentrated.largest_total_variation(), f64::at_most);
                assert!(
                    bound <= least * (1.0 + 1e-9),
                    "{mu} {epsilon}: {bound:e} {least:e}"
                );
            }
        }
    }

    #[test]
    fn extreme_parameters_give_possible_figures() {
        for parameter in [0.0, 1e-300, 1e-9, 30.0, 1e6, f64::MAX] {
            for guarantee in [
                Guarantee::Gaussian { mu: parameter },
                Guarantee::Concentrated { rho: parameter },
                Guarantee::Dp {
                    epsilon: parameter,
                    delta: 1e-5,
                },
            ] {
                for steps in [0.0, 1.0, 7.0, f64::MAX] {
                    let reached = guarantee.group(steps);
                    let variation = reached.largest_total_variation();
                    let security = reached.least_bayes_security();
                    assert!((0.0..=1.0).contains(&variation), "{reached:?} {variation}");
                    assert!(
                        (variation + security - 1.0).abs() < 1e-12,
                        "{reached:?} {security}"
                    );
                }
            }
        }
    }
}
