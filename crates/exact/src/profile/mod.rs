//! What a pair of secrets allows beyond δ(ε): Rényi divergences, the success of a reconstruction, and the smallest ρ of
//! zero-concentrated and μ of Gaussian differential privacy.
//!
//! ```
//! use leakgauge_exact::profile::Pair;
//!
//! let pair = Pair::Gaussian { mu: 0.5 };
//! assert_eq!(pair.renyi_divergence(2.0), Some(0.25));
//! // An event of probability 0.1 without the record has at most this one with it.
//! assert!((pair.reconstruction(0.1).unwrap() - 0.217_239_1).abs() < 1e-7);
//! ```

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{erf, erfc, exp, expm1, log, log1p, sqrt};

use crate::extreme::Extreme;
use crate::hockey_stick;
use leakgauge_stats::special::normal_quantile;

mod cells;
mod discrete;
mod fixed_size;
mod lattice;
mod planar;
mod replaced;
mod rho;
mod search;

pub use cells::Cell;
pub(crate) use cells::Cells;
pub use planar::PlanarPair;
pub(crate) use planar::within;
pub(crate) use replaced::Noise;
pub use replaced::ReplacedPair;
pub(crate) use search::integral_between;
use search::{integral, largest, smallest};

/// The two distributions P and Q of an ordered pair of secrets, as far as figures of their likelihood ratio need them.
#[derive(Debug, Clone)]
pub enum Pair {
    /// Finitely many likelihood ratios.
    Cells(Vec<Cell>),
    /// N(μ, 1) and N(0, 1).
    Gaussian {
        /// μ, at least 0.
        mu: f64,
    },
    /// Laplace noise of scale 1 around t and around 0.
    Laplace {
        /// t, at least 0.
        distance: f64,
    },
    /// Discrete Gaussian noise around Δ and around 0.
    DiscreteGaussian {
        /// σ.
        sigma: f64,
        /// Δ, a whole number.
        distance: f64,
    },
    /// Planar Laplace noise around two points.
    PlanarLaplace(PlanarPair),
    /// (1 − r)·Q + r·P and Q.
    Subsampled {
        /// P and Q, whose order does not matter unless they are cells.
        base: Box<Pair>,
        /// r.
        rate: f64,
        /// Whether the order is reversed: Q and (1 − r)·Q + r·P.
        reversed: bool,
    },
    /// The pair that is alike in both orders and has, at every ε ≥ 0, the δ of (1 − r)·Q + r·P against Q.
    FixedSize {
        /// P and Q, whose order does not matter.
        base: Box<Pair>,
        /// r.
        rate: f64,
    },
    /// Gaussian noise in several steps, of which one uses the record.
    Allocated {
        /// μ of a step that uses it.
        mu: f64,
    },
    /// Noise on a record that is used with a probability, against that on another in its place.
    Replaced(ReplacedPair),
    /// (1 − r)·R₀ + r·R_Δ and (1 − r)·R₀ + r·R₋Δ, R_x discrete Gaussian noise around x.
    DiscreteReplaced {
        /// σ.
        sigma: f64,
        /// Δ, a whole number above 0.
        distance: f64,
        /// r.
        rate: f64,
    },
}

/// A half of the integral of a Rényi divergence over δ(ε), see [`Pair::by_delta`].
#[derive(Debug, Clone, Copy)]
struct Half {
    power: f64,
    sign: f64,
}

/// Beyond this loss of the noise, μ of the noise itself bounds that of a mixture: probabilities would underflow.
const DEEPEST_LOSS: f64 = 650.0;

impl Pair {
    /// Rényi divergence of order α ≥ 1 of P from Q, infinite where Q excludes something that P allows. Order 1 is the
    /// Kullback–Leibler divergence, order ∞ the largest log-likelihood ratio. `None` if it is not known.
    ///
    /// # Formula
    /// D_α = ln(1 + S)/(α − 1) with S = E_Q\[r^α − 1 − α(r − 1)\], r = P/Q, where no term is negative. Gaussian: αμ²/2.
    /// Laplace: S = (α·g((α − 1)t) + (α − 1)·g(−αt))/(2α − 1), g(x) = e^x − 1 − x. Discrete Gaussian:
    /// αΔ²/2σ² + ln(Σ_z e^(−(z − (1 − α)Δ)²/2σ²)/Σ_z e^(−z²/2σ²))/(α − 1). Else, from δ(ε) of both orders of the pair,
    /// S = ∫₀^∞ f″(e^ε)·e^ε·δ(ε) + f″(e^−ε)·e^−2ε·δ(ε) dε for the convex f of the mean f(r).
    ///
    /// # References
    /// I. Mironov, *Rényi differential privacy*, doi:10.1109/CSF.2017.11; C. Canonne, G. Kamath, T. Steinke, *The discrete
    /// Gaussian for differential privacy*, arXiv:2004.00010; I. Sason, S. Verdú, *f-divergence inequalities*,
    /// doi:10.1109/TIT.2016.2603151 (the integral).
    pub fn renyi_divergence(&self, order: f64) -> Option<f64> {
        if order == f64::INFINITY {
            return self.largest_loss();
        }
        match self {
            Pair::Cells(cells) => Some(Cells(cells).renyi_divergence(order)),
            Pair::Gaussian { mu } => Some(0.5 * order * mu * mu),
            Pair::Laplace { distance } => Some(laplace_divergence(*distance, order)),
            Pair::DiscreteGaussian { sigma, distance } => {
                Some(discrete::divergence(*sigma, *distance, order))
            }
            Pair::PlanarLaplace(pair) => Some(pair.renyi_divergence(order)),
            Pair::Replaced(pair) => Some(pair.renyi_divergence(order)),
            Pair::DiscreteReplaced { .. } => {
                self.lattice().map(|mixed| mixed.divergence(order, false))
            }
            Pair::FixedSize { base, rate } => fixed_size::renyi_divergence(base, *rate, order),
            Pair::Allocated { .. } => None,
            Pair::Subsampled {
                base,
                rate,
                reversed,
            } => match &**base {
                Pair::Cells(_) => self
                    .cells()
                    .map(|cells| Cells(&cells).renyi_divergence(order)),
                Pair::DiscreteGaussian { .. } => self
                    .lattice()
                    .map(|mixed| mixed.divergence(order, *reversed)),
                // No order exceeds the largest loss, which at very large orders the integral may.
                base => {
                    let most = self.largest_loss()?;
                    // f″ is α(α − 1)r²·(1 − r + r·x)^power.
                    let power = if *reversed { -order - 1.0 } else { order - 2.0 };
                    let halves = [Half { power, sign: 1.0 }, Half { power, sign: -1.0 }];
                    base.by_delta(order, *rate, halves)
                        .map(|found| found.at_most(most))
                }
            },
        }
    }

    /// The largest log-likelihood ratio ln P/Q.
    pub(crate) fn largest_loss(&self) -> Option<f64> {
        let unbounded = |distance: f64| if distance > 0.0 { f64::INFINITY } else { 0.0 };
        Some(match self {
            Pair::Cells(cells) => Cells(cells).largest_loss(),
            Pair::Gaussian { mu } => unbounded(*mu),
            Pair::Laplace { distance } => *distance,
            Pair::DiscreteGaussian { distance, .. } => unbounded(*distance),
            Pair::PlanarLaplace(pair) => pair.epsilon(),
            Pair::Replaced(pair) => pair.epsilon(),
            Pair::DiscreteReplaced { distance, .. } => unbounded(*distance),
            Pair::FixedSize { base, rate } => fixed_size::mixed(base, *rate).largest_loss()?,
            Pair::Allocated { mu } => unbounded(*mu),
            Pair::Subsampled {
                base,
                rate,
                reversed,
            } => match (base.largest_loss()?, reversed) {
                (most, false) if most > 700.0 => most + log(*rate),
                (most, false) => log1p(rate * expm1(most)),
                // The base is alike in both orders: ln 1/(1 − r + r·e^−most).
                (most, true) => -log1p(rate * expm1(-most)),
            },
        })
    }

    /// This as discrete Gaussian noise on a record that is used with a probability, if it is that.
    fn lattice(&self) -> Option<lattice::Mixed> {
        let (sigma, distance, rate, other) = match self {
            Pair::DiscreteReplaced {
                sigma,
                distance,
                rate,
            } => (sigma, distance, rate, lattice::Other::Opposite),
            Pair::Subsampled { base, rate, .. } => match &**base {
                Pair::DiscreteGaussian { sigma, distance } => {
                    (sigma, distance, rate, lattice::Other::None)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(lattice::Mixed {
            sigma: *sigma,
            distance: *distance,
            rate: *rate,
            other,
        })
    }

    /// Whether this is noise whose ρ every order, or large ones, attain.
    fn has_unbounded_loss(&self) -> bool {
        matches!(self, Pair::Gaussian { .. } | Pair::DiscreteGaussian { .. })
    }

    /// δ(ε) of a pair whose order does not matter.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        match self {
            Pair::Gaussian { mu } => Some(hockey_stick::gaussian(*mu, epsilon)),
            Pair::Laplace { distance } => Some(-expm1(0.5 * (epsilon - distance).at_most(0.0))),
            Pair::PlanarLaplace(pair) => Some(pair.delta(epsilon)),
            _ => None,
        }
    }

    /// Where δ(ε)·e^((order)ε) is negligible, and the length on which it changes.
    fn extent(&self, order: f64) -> Option<(f64, f64)> {
        match self {
            Pair::Gaussian { mu } => Some(((order + 1.0) * mu * mu + 40.0 * mu, 0.5 * mu)),
            Pair::Laplace { distance } => Some((*distance, distance.at_most(2.0 / order))),
            Pair::PlanarLaplace(pair) => {
                let epsilon = pair.epsilon();
                Some((epsilon, (0.25 * epsilon).at_most(2.0 / order)))
            }
            _ => None,
        }
    }

    /// The divergence of a mixture, or from it, as an integral over δ(ε): of (1 − r)·Q + r·P from Q both halves have the
    /// power α − 2, of Q from it −α − 1.
    fn by_delta(&self, order: f64, rate: f64, halves: [Half; 2]) -> Option<f64> {
        let (end, panel) = self.extent(order)?;
        if end == 0.0 {
            return Some(0.0);
        }
        let log_mixed = |x: f64| {
            if x > 700.0 {
                x + log(rate)
            } else {
                log1p(rate * expm1(x))
            }
        };
        let log_weights = |x: f64| {
            halves.map(|half| {
                let rise = if half.sign > 0.0 { x } else { -2.0 * x };
                half.power * log_mixed(half.sign * x) + rise
            })
        };
        let log_delta = |x: f64| self.delta(x).map_or(f64::NEG_INFINITY, f64::ln);
        // What the integrand is scaled by: about its largest value.
        let places = (0..=400).map(|k| end * f64::from(k) / 400.0);
        let most = places
            .map(|x| {
                let [one, other] = log_weights(x);
                one.at_least(other) + log_delta(x)
            })
            .fold(f64::NEG_INFINITY, f64::at_least);
        if most == f64::NEG_INFINITY {
            return Some(0.0);
        }
        let value = |x: f64| {
            let rest = log_delta(x) - most;
            let [one, other] = log_weights(x);
            exp(one + rest) + exp(other + rest)
        };
        let whole = if matches!(self, Pair::PlanarLaplace(_)) {
            // δ ends like a power of the root of what is left: ε = end·(1 − s²) makes it smooth.
            integral(1.0, 0.5 * panel / end, |s| {
                2.0 * end * s * value(end * (1.0 - s * s))
            })
        } else {
            integral(end, panel, value)
        };
        let scaled = order * rate * rate * whole;
        if order == 1.0 {
            return Some(scaled * exp(most));
        }
        let sum = (order - 1.0) * scaled;
        Some(if most < 600.0 {
            log1p(sum * exp(most)) / (order - 1.0)
        } else {
            (most + log(sum)) / (order - 1.0)
        })
    }

    /// P and Q as finitely many likelihood ratios, if they are; of discrete Gaussian noise up to 39σ.
    pub(crate) fn cells(&self) -> Option<Vec<Cell>> {
        match self {
            Pair::Cells(cells) => Some(cells.clone()),
            Pair::DiscreteReplaced { .. } => Some(self.lattice()?.cells()),
            Pair::DiscreteGaussian { sigma, distance } => Some(discrete::cells(*sigma, *distance)),
            Pair::FixedSize { base, rate } => {
                let cells = fixed_size::mixed(base, *rate).cells()?;
                Some(fixed_size::mirrored(cells))
            }
            Pair::Subsampled {
                base,
                rate,
                reversed,
            } => {
                let mixed = |cell: &Cell| {
                    let p = (1.0 - rate) * cell.q + rate * cell.p;
                    let loss = if cell.loss > 700.0 {
                        cell.loss + log(*rate)
                    } else {
                        log1p(rate * expm1(cell.loss))
                    };
                    let mixed = Cell {
                        p,
                        q: cell.q,
                        difference: rate * cell.difference,
                        loss,
                    };
                    if *reversed { mixed.swapped() } else { mixed }
                };
                Some(base.cells()?.iter().map(mixed).collect())
            }
            _ => None,
        }
    }

    /// sup P(E) over the events E with Q(E) ≤ κ: the largest success of an adversary who reconstructs a record and whose
    /// success without it is κ. An event may take an observation with a probability. `None` if it is not known.
    ///
    /// # Formula
    /// Cells in the order of their likelihood ratio. Gaussian: Φ(Φ⁻¹(κ) + μ). Laplace: κe^t up to κ = e^−t/2,
    /// 1 − e^−t/4κ up to ½, 1 − e^−t(1 − κ) beyond. Else the smallest δ(ε) + e^ε·κ and 1 − e^−ε(1 − κ − δ(ε)) of all
    /// ε ≥ 0. Subsampled: (1 − r)κ + r·B(κ), and the solution x of (1 − r)x + r(1 − B(1 − x)) = κ for the other order.
    ///
    /// # References
    /// B. Balle, G. Cherubin, J. Hayes, *Reconstructing training data with informed adversaries*, arXiv:2201.04845; J. Hayes,
    /// S. Mahloujifar, B. Balle, *Bounding training data reconstruction in DP-SGD*, theorem 2, arXiv:2302.07225.
    pub fn reconstruction(&self, kappa: f64) -> Option<f64> {
        if !(kappa > 0.0 && kappa < 1.0) {
            return (kappa == 1.0).then_some(1.0);
        }
        Some(match self {
            Pair::Cells(cells) => Cells(cells).reconstruction(kappa),
            Pair::Gaussian { mu } => 0.5 * erfc(-(normal_quantile(kappa) + mu) * FRAC_1_SQRT_2),
            Pair::Laplace { distance } => laplace_reconstruction(*distance, kappa),
            Pair::DiscreteGaussian { .. } | Pair::DiscreteReplaced { .. } => {
                Cells(&self.cells()?).reconstruction(kappa)
            }
            Pair::PlanarLaplace(pair) => pair.reconstruction(kappa),
            Pair::Replaced(pair) => pair.reconstruction(kappa),
            Pair::FixedSize { base, rate } => fixed_size::reconstruction(self, base, *rate, kappa)?,
            Pair::Allocated { .. } => return None,
            Pair::Subsampled {
                base,
                rate,
                reversed,
            } => match (self.cells(), reversed) {
                (Some(cells), _) => Cells(&cells).reconstruction(kappa),
                (None, false) => (1.0 - rate) * kappa + rate * base.reconstruction(kappa)?,
                (None, true) => {
                    let without = |x: f64| {
                        let rest = base.reconstruction(1.0 - x).unwrap_or(1.0);
                        (1.0 - rate) * x + rate * (1.0 - rest)
                    };
                    base.reconstruction(0.5)?;
                    search::crossing(kappa, without)
                }
            },
        })
    }

    /// The smallest ρ with D_α ≤ ρα for all α > 1; infinite if there is none. It may be too large by 1e-12 of it, and is
    /// never smaller than D_α/α of any order by more than the rounding of divergences.
    ///
    /// # Formula
    /// Of noise that is never far from Gaussian it is known. Else the supremum over all orders: no order exceeds the largest
    /// loss, so that D_α/α from an order α on is at most that over α. (1 − q)·R₀ + q·R₁ against (1 − q)·R₀ + q·R₋₁ with
    /// Gaussian noise of distance μ has no more than μ²/2 + ln(1/(1 − q))/α beyond the order α, because the second is at least
    /// (1 − q)·R₀ and R₁ against R₀ has αμ²/2, which mixing does not raise.
    ///
    /// # References
    /// M. Bun, T. Steinke, *Concentrated differential privacy*, arXiv:1605.02065.
    pub fn concentrated_rho(&self) -> Option<f64> {
        match self {
            Pair::Gaussian { mu } => Some(0.5 * mu * mu),
            // As below of subsampling: the record has a part of the distribution of one step.
            Pair::Allocated { mu } => Some(0.5 * mu * mu),
            // Whole numbers αΔ attain αΔ²/2σ², and no order exceeds it (Canonne, Kamath, Steinke, theorem 4).
            Pair::DiscreteGaussian { sigma, distance } => {
                let mu = distance / sigma;
                Some(0.5 * mu * mu)
            }
            // Mixing brings no order nearer to the other distribution, and at large orders only r·P counts: ln r/α vanishes.
            // This is the larger ρ of both orders of the pair.
            Pair::Subsampled { base, .. } | Pair::FixedSize { base, .. }
                if base.has_unbounded_loss() =>
            {
                base.concentrated_rho()
            }
            Pair::Replaced(pair) => Some(pair.concentrated_rho()),
            Pair::DiscreteReplaced { .. } => self.lattice()?.concentrated_rho(),
            _ => {
                self.renyi_divergence(2.0)?;
                let divergence = |order: f64| self.renyi_divergence(order).unwrap_or(f64::NAN);
                let most = self.largest_loss()?;
                Some(rho::supremum(divergence, |order| most / order))
            }
        }
    }

    /// The smallest μ of Gaussian differential privacy, sup Φ⁻¹(B(κ)) − Φ⁻¹(κ) over κ with B from
    /// [`Pair::reconstruction`]; infinite if there is none, `None` if it is not known.
    ///
    /// # Formula
    /// Laplace: −2Φ⁻¹(e^(−t/2)/2), the value in the middle of the curve, where P misses as often as Q hits. Up to
    /// κ = e^−t/2 the difference grows with κ, as κ/φ(Φ⁻¹(κ)) does; then P misses with probability e^−t/4κ, so that the sum
    /// of ln κ and its logarithm is fixed, and the sum of both quantiles is largest where they are equal, because ln Φ is
    /// concave. Of cells the corners of the curve decide, because Gaussian curves are concave. Subsampling leaves μ of Gaussian noise
    /// unchanged in the limit κ → 0, and raises no μ. Where B is κ times a number, at small κ, the difference grows with κ,
    /// and where 1 − B is 1 − κ times a number, near 1, it falls: the search is between.
    ///
    /// # References
    /// J. Dong, A. Roth, W. Su, *Gaussian differential privacy*, arXiv:1905.02383.
    pub fn gaussian_mu(&self) -> Option<f64> {
        match self {
            Pair::Cells(cells) => Some(Cells(cells).gaussian_mu()),
            Pair::Gaussian { mu } | Pair::Allocated { mu } => Some(*mu),
            Pair::Laplace { distance } => Some(laplace_mu(*distance)),
            Pair::PlanarLaplace(pair) => Some(pair.gaussian_mu()),
            Pair::Replaced(pair) => Some(pair.gaussian_mu()),
            Pair::DiscreteGaussian { sigma, distance } => {
                Some(discrete::gaussian_mu(*sigma, *distance))
            }
            Pair::Subsampled { base, .. } if matches!(**base, Pair::Gaussian { .. }) => {
                base.gaussian_mu()
            }
            Pair::DiscreteReplaced { .. } => self.lattice()?.gaussian_mu(),
            // Gaussian curves are alike in both orders.
            Pair::FixedSize { base, rate } => fixed_size::mixed(base, *rate).gaussian_mu(),
            Pair::Subsampled { base, .. } => match &**base {
                Pair::Cells(_) => Some(Cells(&self.cells()?).gaussian_mu()),
                Pair::DiscreteGaussian { .. } => self.lattice()?.gaussian_mu(),
                // A mixture of mixtures differs in both orders.
                base if base.cells().is_some() => None,
                _ => self.subsampled_mu(),
            },
        }
    }

    /// μ of a mixture whose base has a trade-off curve, by search along it.
    fn subsampled_mu(&self) -> Option<f64> {
        let Pair::Subsampled { base, rate, .. } = self else {
            return None;
        };
        base.reconstruction(0.5)?;
        let most = base.gaussian_mu()?;
        let loss = base.largest_loss()?;
        if loss > DEEPEST_LOSS {
            return Some(most);
        }
        // μ is that of both orders; here of the mixture against the base.
        let apart = |quantile: f64| {
            let kappa = 0.5 * erfc(-quantile * FRAC_1_SQRT_2);
            let rest = base
                .reconstruction(kappa)
                .map_or(0.0, |reached| 1.0 - reached);
            let missed = (1.0 - rate) * (1.0 - kappa) + rate * rest;
            let reached = (1.0 - rate) * kappa + rate * (1.0 - rest);
            let reached = if reached < missed {
                normal_quantile(reached)
            } else {
                -normal_quantile(missed)
            };
            reached - quantile
        };
        let first = normal_quantile(0.5 * exp(-loss));
        Some(largest((first, 6.0), apart).at_most(most))
    }
}

/// The smallest of δ(ε) + e^ε·κ and 1 − e^−ε(1 − κ − δ(ε)) over ε ≥ 0, for δ of both orders of a pair. The search may
/// end early: the result is never too small.
pub(crate) fn by_curve(kappa: f64, steps: u32, delta: impl Fn(f64) -> f64) -> f64 {
    let level = |x: f64| {
        if x >= 0.0 {
            delta(x) + kappa * exp(x)
        } else {
            1.0 - exp(x) * (1.0 - kappa - delta(-x))
        }
    };
    smallest((-700.0, -log(kappa)), steps, level).clamp(kappa, 1.0)
}

/// The least n·(e^ε + (n − 1)·δ(ε))/(e^ε + n − 1) over ε ≥ 0, at most n: a bound on the multiplicative capacity of n secrets
/// of which any two have this δ(ε). It falls, then rises in e^ε, as the quotient of a convex and a linear function does; the
/// search may end early: the result is never too small.
///
/// # Formula
/// Let m be the largest of all P(o | s), that of s*. For every t but s*, m ≤ e^ε·P(o | t) + (m − e^ε·P(o | t))⁺; for s*,
/// e^ε·m is e^ε·P(o | s*). The sum over t is (e^ε + n − 1)·m ≤ e^ε·Σ_t P(o | t) + Σ_t (m − e^ε·P(o | t))⁺, and summed over
/// o the last is at most Σ_t Σ_{s≠t} δ(ε). With δ = 0 it is the bound of pure ε, at ε = 0 it is 1 + (n − 1)·TV.
pub(crate) fn capacity_by_curve(n: f64, steps: u32, delta: impl Fn(f64) -> f64) -> f64 {
    let level = |epsilon: f64| {
        let ratio = exp(epsilon);
        (ratio + (n - 1.0) * delta(epsilon)) * (n / (ratio + n - 1.0))
    };
    smallest((0.0, log(n)), steps, level).at_most(n)
}

/// e^x − 1 − x.
fn exponential_excess(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return expm1(x) - x;
    }
    let (mut term, mut sum) = (0.5 * x * x, 0.0);
    for k in 3..24 {
        sum += term;
        term *= x / f64::from(k);
    }
    sum
}

fn laplace_divergence(t: f64, order: f64) -> f64 {
    if order == 1.0 {
        return exponential_excess(-t);
    }
    let (up, down) = ((order - 1.0) * t, -order * t);
    if up > 300.0 {
        let rest = (order - 1.0) / order * exp(down - up);
        return t + (log(order / (2.0 * order - 1.0)) + log1p(rest)) / (order - 1.0);
    }
    let sum = order * exponential_excess(up) + (order - 1.0) * exponential_excess(down);
    log1p(sum / (2.0 * order - 1.0)) / (order - 1.0)
}

fn laplace_reconstruction(t: f64, kappa: f64) -> f64 {
    let least = exp(-t);
    if kappa <= 0.5 * least {
        kappa * exp(t)
    } else if kappa <= 0.5 {
        1.0 - least / (4.0 * kappa)
    } else {
        1.0 - least * (1.0 - kappa)
    }
}

/// −2Φ⁻¹(e^(−t/2)/2), by Newton's method from erf for small t, from the logarithm of erfc for large.
fn laplace_mu(t: f64) -> f64 {
    if t == f64::INFINITY {
        return t;
    }
    let slope = sqrt(2.0 / PI);
    if t < 1.0 {
        let within = -expm1(-0.5 * t);
        let mut x = within / slope;
        for _ in 0..8 {
            let gap = erf(x * FRAC_1_SQRT_2) - within;
            x -= gap / (slope * exp(-0.5 * x * x));
        }
        return 2.0 * x;
    }
    let mut x = sqrt(t);
    for _ in 0..60 {
        let scaled = hockey_stick::scaled_erfc(x * FRAC_1_SQRT_2);
        let gap = 0.5 * (t - x * x) + log(scaled);
        let step = gap / (slope / scaled);
        x += step;
        if step.abs() <= 1e-16 * x {
            break;
        }
    }
    2.0 * x
}
