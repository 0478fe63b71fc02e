//! A certified statement about two secrets, and what it implies.
//!
//! # Formula
//! Each answer is the least value that any two laws P and Q have of which the statement is true, or a lower bound on it
//! where that is said. By data processing it is enough to look at *binary* laws, (p, q) = (P(A), Q(A)) of some event A:
//! every parameter here is at least that of (p, q), and the statement is about some (p, q).
//!
//! | certified | is about | hence |
//! |---|---|---|
//! | missed ≤ x, false alarms ≤ y | p ≥ 1 − x, q ≤ y | the corner (1 − x, y), for all parameters rise in p and fall in q where p > q |
//! | total variation ≥ τ | p − q ≥ τ | the corner ((1 + τ)/2, (1 − τ)/2), see below |
//! | ε(δ) ≥ E > 0 | p ≥ e^E q + δ, or the same of the secrets exchanged | the least along that line ([`binary`](crate::binary)); total variation ≥ δ |
//! | μ ≥ m | some (p, q) on the trade-off curve of m | ε(0) ≥ ln(Φ(m/2)/Φ(−m/2)) |
//! | D_α ≥ d (Rényi) | – | D_β ≥ d for β ≥ α; ρ ≥ d/α; μ ≥ √(2d/α); ε(0) ≥ the e at which randomized response has D_α = d |
//! | ρ ≥ r | – | μ ≥ √(2r); ε(0) ≥ the e at which e·tanh(e/2) = r |
//!
//! *Total variation.* Every parameter is the larger of both directions, so that (p, q) and (1 − q, 1 − p) have the same,
//! and its sublevel sets are convex. So on the segment p − q = τ it is least in the middle: of all laws with this total
//! variation, symmetric randomized response has the least of everything. That gives ε(δ) ≥
//! ln((1 + τ − 2δ)/(1 − τ)), which is 2 artanh τ for δ = 0; μ ≥ 2Φ⁻¹((1 + τ)/2); ρ ≥ KL ≥ 2τ artanh τ. The last exceeds
//! the least Kullback–Leibler divergence of *one* direction (Vajda 1970; in closed form Fedotov, Harremoës and Topsøe), and
//! Pinsker's 2τ².
//!
//! *A trade-off curve.* Some test has its errors on the curve of μ = m, or beyond. (1 − δ − x)/y and its mirror
//! image are least in the middle for δ = 0, x = y = Φ(−m/2). At its ends the curve allows all else to be 0.
//!
//! *Divergences.* If P and Q are never more than a factor of e^e apart then every divergence is at most that of randomized
//! response with this e: ratios between e^−e and e^e with mean 1 are spread no more than the two extremes. N(0, 1) and
//! N(μ, 1) have D_α = αμ²/2.
//!
//! # References
//! I. Vajda 1970, *Note on discrimination information and variation*, doi:10.1109/TIT.1970.1054557. A. A. Fedotov, P. Harremoës,
//! F. Topsøe 2003, *Refinements of Pinsker's inequality*, doi:10.1109/TIT.2003.811927. T. van Erven, P. Harremoës 2014,
//! *Rényi divergence and Kullback-Leibler divergence*, Theorems 3, 9 and 13, doi:10.1109/TIT.2014.2320500. P. Kairouz, S. Oh,
//! P. Viswanath 2015, *The composition theorem for differential privacy*, Theorem 2.1, doi:10.1109/TIT.2017.2685505.
//! J. Dong, A. Roth, W. J. Su 2022, *Gaussian differential privacy*, doi:10.1111/rssb.12454. M. Bun, T. Steinke 2016,
//! *Concentrated differential privacy*, Proposition 1.6, doi:10.1007/978-3-662-53641-4_24.

use crate::binary::{least_along_line, least_epsilon};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_stats::bisection::bisect;
use leakgauge_stats::error_rates::ErrorRates;
use leakgauge_stats::renyi;
use leakgauge_stats::special::normal_cdf;

/// By how much, relative, what follows is lowered: more than logarithms, quantiles and sums may be off by.
const ROUNDING: f64 = 1e-12;

/// A certified statement about two secrets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Certified {
    /// A test between the two secrets errs at most so often: upper limits of both rates, which hold together.
    Errors(ErrorRates),
    /// The total variation is at least this.
    TotalVariation(f64),
    /// A parameter of privacy is at least this.
    Parameter(PrivacyParameter, f64),
}

impl Certified {
    /// The total variation that follows.
    ///
    /// # Formula
    /// 1 − missed − false alarms; δ of an ε(δ) > 0; 0 of everything else, which an event of any small
    /// probability may have.
    pub fn total_variation(&self) -> f64 {
        match *self {
            Certified::Errors(rates) => rates.advantage().max(0.0),
            Certified::TotalVariation(least) => least.max(0.0),
            Certified::Parameter(PrivacyParameter::Epsilon { delta }, least) if least > 0.0 => {
                delta
            }
            Certified::Parameter(..) => 0.0,
        }
    }

    /// The value of a parameter that follows; what was certified of it itself is returned as it is.
    pub fn at_least(&self, asked: PrivacyParameter) -> f64 {
        match *self {
            Certified::Parameter(known, least) if known == asked => least,
            // A limit that is no number says nothing.
            _ => (self.implied(asked) * (1.0 - ROUNDING)).max(0.0),
        }
    }

    fn implied(&self, asked: PrivacyParameter) -> f64 {
        match *self {
            Certified::Errors(rates) => of_errors(rates, asked),
            Certified::TotalVariation(least) => of_total_variation(least, asked),
            Certified::Parameter(_, least) if least.is_nan() || least <= 0.0 => 0.0,
            Certified::Parameter(PrivacyParameter::Epsilon { delta }, least) => {
                of_epsilon(least, delta, asked)
            }
            Certified::Parameter(PrivacyParameter::Mu, least) => match asked {
                PrivacyParameter::Epsilon { delta: 0.0 } => {
                    (normal_cdf(0.5 * least) / normal_cdf(-0.5 * least)).ln()
                }
                _ => 0.0,
            },
            Certified::Parameter(PrivacyParameter::Rho, least) => match asked {
                PrivacyParameter::Epsilon { delta: 0.0 } => epsilon_of_rho(least),
                PrivacyParameter::Mu => (2.0 * least).sqrt(),
                _ => 0.0,
            },
            Certified::Parameter(PrivacyParameter::Renyi { order }, least) => match asked {
                PrivacyParameter::Epsilon { delta: 0.0 } => epsilon_of_renyi(order, least),
                PrivacyParameter::Mu => (2.0 * least / order).sqrt(),
                PrivacyParameter::Rho => least / order,
                PrivacyParameter::Renyi { order: larger } if larger >= order => least,
                _ => 0.0,
            },
        }
    }
}

fn of_errors(rates: ErrorRates, asked: PrivacyParameter) -> f64 {
    let better_than_guessing = rates.advantage() > 0.0;
    if better_than_guessing {
        rates.at_least(asked)
    } else {
        0.0
    }
}

fn of_total_variation(least: f64, asked: PrivacyParameter) -> f64 {
    if least.is_nan() || least <= 0.0 {
        return 0.0;
    }
    let least = least.min(1.0);
    if let PrivacyParameter::Epsilon { delta } = asked {
        // ln((1 + τ − 2δ)/(1 − τ)) without cancellation.
        return (2.0 * (least - delta).max(0.0) / (1.0 - least)).ln_1p();
    }
    let each = 0.5 * (1.0 - least);
    let rates = ErrorRates {
        missed: each,
        false_alarm: each,
    };
    of_errors(rates, asked)
}

fn of_epsilon(least: f64, delta: f64, asked: PrivacyParameter) -> f64 {
    match asked {
        PrivacyParameter::Epsilon { delta: other } if other >= delta => 0.0,
        // An event of any small probability may have these odds.
        _ if delta <= 0.0 => 0.0,
        PrivacyParameter::Epsilon { delta: other } if delta < 1.0 && least.is_finite() => {
            least_epsilon(least, delta, other)
        }
        _ => least_along_line(least, delta, &|rates| of_errors(rates, asked)),
    }
}

/// The largest e with e·tanh(e/2) ≤ ρ, from below.
fn epsilon_of_rho(rho: f64) -> f64 {
    let root = (2.0 * rho).sqrt();
    // x/(1 + x) ≤ tanh x ≤ min(x, 1).
    largest((root.max(rho), root + rho), |e| e * (0.5 * e).tanh() <= rho)
}

/// The largest e at which randomized response has a Rényi divergence of at most this, from below.
fn epsilon_of_renyi(order: f64, divergence: f64) -> f64 {
    let beyond = std::f64::consts::LN_2 * order / (order - 1.0);
    // D_α is at most e, and at least e − ln 2·α/(α − 1).
    largest((divergence, divergence + beyond), |e| {
        let error = (-e).exp() / (1.0 + (-e).exp());
        renyi::divergence_at_least(error, error, order) <= divergence
    })
}

/// The end of what holds, by bisection, on the side where it does.
fn largest((low, high): (f64, f64), holds: impl Fn(f64) -> bool) -> f64 {
    /// Down to rounding.
    const STEPS: u32 = 80;
    if !high.is_finite() {
        return low;
    }
    bisect((low, high), STEPS, holds).0
}

#[cfg(test)]
mod tests;
