//! The leakage family: measures with an order, of single observations, and of several guesses.

mod figures;

pub use figures::{LeakageFamily, OrderFigures, TriesFigures, family_figures};

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::{Channel, Prior};
use crate::powers::power_excess;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;

/// The gap between the limits of a capacity at which the iteration stops, in nats.
const GAP: f64 = 1e-11;
/// The largest number of matrix entries visited by one iteration.
const MAX_VISITS: f64 = 5e7;
/// The same relative to the capacity.
const RELATIVE_GAP: f64 = 1e-9;
/// What rounding may change, relative to the sum of the absolute values of what is added.
const ROUNDING: f64 = 1e-14;
/// Logarithms of powers above this may overflow once they are summed.
const OVERFLOW: f64 = 300.0;

/// Maximal α-leakage between two certified limits, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlphaLeakage {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
}

impl Channel {
    /// Sibson's mutual information of order α at a prior, in nats. Order 1 is Shannon's mutual information, order ∞
    /// maximal leakage.
    ///
    /// # Formula
    /// I_α = α/(α − 1)·ln Σ_o (Σ_s π_s C\[s,o\]^α)^(1/α). With q = πC and d = C/q − 1 the sum is
    /// 1 + Σ_o q_o·((1 + M_o)^(1/α) − 1), M_o = Σ_s π_s ((1 + d)^α − 1 − αd): small leakage keeps its digits.
    ///
    /// # Errors
    /// The order is not above 0, or the prior has another number of secrets.
    ///
    /// # References
    /// R. Sibson 1969, doi:10.1007/BF00537520; S. Verdú, *α-mutual information*, doi:10.1109/ITA.2015.7308959.
    pub fn sibson_information(&self, prior: &Prior, order: f64) -> Result<f64> {
        check_order(order)?;
        if order == 1.0 {
            return self.mutual_information(prior);
        }
        let law = self.push_forward(prior)?;
        if order == f64::INFINITY {
            return self.maximal_leakage(prior);
        }
        let means = self.mean_deviations(prior.weights());
        let term = |o: usize| self.order_term(prior.weights(), law[o], order, o, means[o]);
        let terms: Vec<f64> = (0..law.len()).map(term).collect();
        let sum = terms
            .iter()
            .zip(&law)
            .map(|(log, q)| q * log.exp_m1())
            .sum::<f64>();
        let log = if sum > -0.5 {
            sum.ln_1p()
        } else {
            // Of a small order: the terms may underflow.
            let logs = || terms.iter().zip(&law).map(|(log, q)| log + q.ln());
            let most = logs().fold(f64::NEG_INFINITY, f64::at_least);
            most + logs().map(|log| (log - most).exp()).sum::<f64>().ln()
        };
        Ok((order / (order - 1.0) * log).at_least(0.0))
    }

    /// ln(1 + M)/α of one observation.
    fn order_term(&self, weights: &[f64], q: f64, order: f64, o: usize, mean: f64) -> f64 {
        if q == 0.0 {
            return 0.0;
        }
        let possible = || weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let most = possible()
            .map(|(s, _)| self.row(s)[o] / q)
            .fold(0.0, f64::at_least);
        if order * most.ln() > OVERFLOW {
            // Powers of the ratio would overflow: relative to the largest.
            let shares = possible().map(|(s, w)| w * (self.row(s)[o] / q / most).powf(order));
            return most.ln() + shares.sum::<f64>().ln() / order;
        }
        let above: f64 = possible()
            .map(|(s, w)| {
                w * power_excess((self.known(s, o) - mean) / q, self.row(s)[o] / q, order)
            })
            .sum();
        above.ln_1p() / order
    }

    /// The entry as it is known best: a probability, or one less that of a row that all secrets share.
    fn known(&self, s: usize, o: usize) -> f64 {
        let known = self.deviations.as_ref().unwrap_or(&self.values);
        known[s * self.observations.len() + o]
    }

    /// Σ_s π_s times the entries as they are known best.
    fn mean_deviations(&self, weights: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.observations.len()];
        for (s, weight) in weights.iter().enumerate() {
            let observations = means.iter_mut().enumerate();
            observations.for_each(|(o, mean)| *mean += weight * self.known(s, o));
        }
        means
    }

    /// Maximal leakage in nats: ln of the largest gain of guessing any function of the secret. It depends on the prior
    /// through its support only; if no secret is excluded, it is the min-entropy capacity.
    ///
    /// # Formula
    /// ln Σ_o max C\[s,o\] over the secrets of positive probability.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    ///
    /// # References
    /// I. Issa, A. B. Wagner, S. Kamath, *An operational approach to information leakage*, theorem 1,
    /// doi:10.1109/TIT.2019.2962804.
    pub fn maximal_leakage(&self, prior: &Prior) -> Result<f64> {
        prior.check_over(self.secrets.len())?;
        let weights = prior.weights().iter().enumerate();
        let support: Vec<usize> = weights.filter(|(_, w)| **w > 0.0).map(|(s, _)| s).collect();
        let above = |o| {
            let differences = support.iter().map(|&s| self.difference(s, support[0], o));
            differences.fold(0.0, f64::at_least)
        };
        Ok((0..self.observations.len()).map(above).sum::<f64>().ln_1p())
    }

    /// Maximal α-leakage: the largest α-leakage about any function of the secret. Order 1 is mutual information; for
    /// larger orders it depends on the prior through its support only.
    ///
    /// # Formula
    /// For α > 1 the largest I_α over the priors on the support. F = Σ_o (Σ_s π_s C\[s,o\]^α)^(1/α) is concave in π:
    /// π_s ← π_s g_s^(tα/(α−1)) with g_s = α·(∂F/∂π_s)/F does not decrease it for t = 1, and every π certifies
    /// F(π) ≤ max F ≤ F(π)·(1 + (max_s g_s − 1)/α). It stops when the limits differ by 1e-11 nats and 1e-9 of the
    /// leakage, or after a fixed amount of work.
    ///
    /// # Errors
    /// The order is below 1, or the prior has another number of secrets.
    ///
    /// # References
    /// J. Liao, O. Kosut, L. Sankar, F. du Pin Calmon, *Tunable measures for information leakage and applications to
    /// privacy-utility tradeoffs*, theorem 2, doi:10.1109/TIT.2019.2935768. Iteration: S. Arimoto 1977, *Information
    /// measures and capacity of order α for discrete memoryless channels*.
    pub fn maximal_alpha_leakage(&self, prior: &Prior, order: f64) -> Result<AlphaLeakage> {
        check_order(order)?;
        if order < 1.0 {
            return Err(Error::parameter(
                setting("at_order", order),
                "must be at least 1 for maximal alpha-leakage",
            ));
        }
        if order == 1.0 || order == f64::INFINITY {
            let exact = self.sibson_information(prior, order)?;
            return Ok(AlphaLeakage {
                lower: exact,
                upper: exact,
            });
        }
        self.largest_over_priors(prior, order)
    }

    /// The iteration of [`Channel::maximal_alpha_leakage`] for orders between 1 and ∞.
    fn largest_over_priors(&self, prior: &Prior, order: f64) -> Result<AlphaLeakage> {
        let support = prior.weights().iter().filter(|w| **w > 0.0).count() as f64;
        let start = prior.weights().iter();
        let mut weights: Vec<f64> = start
            .map(|w| if *w > 0.0 { 1.0 / support } else { 0.0 })
            .collect();
        let mut best = AlphaLeakage {
            lower: 0.0,
            upper: f64::INFINITY,
        };
        let (factor, mut step, mut last) = (order / (order - 1.0), 1.0f64, f64::INFINITY);
        let most = (MAX_VISITS / self.values.len() as f64).clamp(20.0, 20_000.0) as u64;
        for _ in 0..most {
            let found = self.sibson_information(&Prior::new(weights.clone())?, order)?;
            let gains = self.order_gains(&weights, order);
            let largest = gains
                .iter()
                .map(|gain| gain.excess + gain.rounding)
                .fold(0.0, f64::at_least);
            let gap = factor * (largest / order).ln_1p();
            best.lower = best.lower.at_least(found * (1.0 - ROUNDING));
            best.upper = best.upper.at_most(found * (1.0 + ROUNDING) + gap);
            if best.upper - best.lower <= GAP.at_most(RELATIVE_GAP * best.lower) {
                break;
            }
            // Longer steps, as long as they shrink the gap.
            step = if gap > last {
                (step / 2.0).at_least(1.0)
            } else {
                step * 1.25
            };
            last = gap;
            multiply(&mut weights, &gains, step * factor);
        }
        best.upper = best.upper.at_least(best.lower);
        Ok(best)
    }

    /// g_s − 1 of [`Channel::maximal_alpha_leakage`], −1 for secrets of probability 0.
    ///
    /// # Formula
    /// With the terms of [`Channel::sibson_information`], r = C/q = 1 + d and e = r^α − 1 − αd, it is
    /// Σ_o q_o·(αd·((1 + M_o)^(1/α − 1) − 1) + (1 + M_o)^(1/α − 1)·(e − M_o))/F, because Σ_o q_o d = 0.
    fn order_gains(&self, weights: &[f64], order: f64) -> Vec<Gain> {
        let secrets: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] > 0.0).collect();
        let law: Vec<f64> = (0..self.observations.len())
            .map(|o| secrets.iter().map(|&s| weights[s] * self.row(s)[o]).sum())
            .collect();
        let ratio = |s: usize, o: usize| self.row(s)[o] / law[o];
        let observed = || (0..law.len()).filter(|&o| law[o] > 0.0);
        let overflows = |o| secrets.iter().any(|&s| order * ratio(s, o).ln() > OVERFLOW);
        if observed().any(overflows) {
            return self.large_order_gains(weights, order);
        }
        let means = self.mean_deviations(weights);
        let mut gains = vec![Gain::NONE; weights.len()];
        secrets.iter().for_each(|&s| gains[s].excess = 0.0);
        let mut whole = 1.0;
        for o in observed() {
            let distance = |s: usize| (self.known(s, o) - means[o]) / law[o];
            let excess = |s: usize| power_excess(distance(s), ratio(s, o), order);
            let mean: f64 = secrets.iter().map(|&s| weights[s] * excess(s)).sum();
            whole += law[o] * (mean.ln_1p() / order).exp_m1();
            let below = (mean.ln_1p() * (1.0 / order - 1.0)).exp_m1();
            for &s in &secrets {
                let terms = [
                    order * distance(s) * below,
                    (1.0 + below) * excess(s),
                    -(1.0 + below) * mean,
                ];
                gains[s].excess += law[o] * terms.iter().sum::<f64>();
                gains[s].rounding += law[o] * terms.iter().map(|x| x.abs()).sum::<f64>();
            }
        }
        for gain in &mut gains {
            gain.excess = (gain.excess / whole).at_least(-1.0);
            gain.rounding *= ROUNDING / whole;
        }
        gains
    }

    /// The same where powers of the ratios overflow: relative to the largest entry of each column.
    fn large_order_gains(&self, weights: &[f64], order: f64) -> Vec<Gain> {
        let secrets = || (0..weights.len()).filter(|&s| weights[s] > 0.0);
        let (mut gains, mut whole) = (vec![0.0; weights.len()], 0.0);
        for o in 0..self.observations.len() {
            let most = secrets().map(|s| self.row(s)[o]).fold(0.0, f64::at_least);
            if most == 0.0 {
                continue;
            }
            let power = |s: usize| (self.row(s)[o] / most).powf(order);
            let mean: f64 = secrets().map(|s| weights[s] * power(s)).sum();
            let value = most * mean.powf(1.0 / order);
            whole += value;
            secrets().for_each(|s| gains[s] += value / mean * power(s));
        }
        let relative = |gain: f64| Gain {
            excess: gain / whole - 1.0,
            rounding: ROUNDING * (1.0 + order * f64::EPSILON / ROUNDING) * gain / whole,
        };
        gains.into_iter().map(relative).collect()
    }

    /// Pointwise maximal leakage of every observation, in nats: ln of the largest gain, through this observation, of
    /// guessing any function of the secret. −∞ for an observation that does not occur.
    ///
    /// # Formula
    /// ℓ(o) = ln max_s C\[s,o\]/(πC)_o over the secrets of positive probability. Σ_o (πC)_o·e^ℓ(o) = e^(maximal
    /// leakage).
    ///
    /// # Errors
    /// A prior over another number of secrets.
    ///
    /// # References
    /// S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, *Pointwise maximal leakage*, theorem 1,
    /// doi:10.1109/TIT.2023.3304378.
    pub fn pointwise_maximal_leakage(&self, prior: &Prior) -> Result<Vec<f64>> {
        let law = self.push_forward(prior)?;
        let means = self.mean_deviations(prior.weights());
        let weights = prior.weights().iter().enumerate();
        let support: Vec<usize> = weights.filter(|(_, w)| **w > 0.0).map(|(s, _)| s).collect();
        let leakage = |o: usize| {
            let known = support.iter().map(|&s| self.known(s, o));
            let above = known.fold(f64::NEG_INFINITY, f64::at_least) - means[o];
            if law[o] > 0.0 {
                (above / law[o]).at_least(0.0).ln_1p()
            } else {
                f64::NEG_INFINITY
            }
        };
        Ok((0..law.len()).map(leakage).collect())
    }

    /// The expected number of guesses until the secret is found, in the best order after the observation.
    ///
    /// # Formula
    /// Σ_o Σ_i i·p_(i)(o), p_(1) ≥ p_(2) ≥ … the sorted π_s C\[s,o\].
    ///
    /// # Errors
    /// A prior over another number of secrets.
    ///
    /// # References
    /// J. L. Massey, *Guessing and entropy*, doi:10.1109/ISIT.1994.394764; E. Arikan, doi:10.1109/18.481781.
    pub fn guesswork(&self, prior: &Prior) -> Result<f64> {
        self.sum_over_columns(prior, |_, column| expected_guesses(column))
    }

    /// The probability that one of k guesses is right, in the best order after the observation.
    ///
    /// # Formula
    /// V_k = Σ_o Σ_{i ≤ k} p_(i)(o); V_1 is the vulnerability.
    ///
    /// # Errors
    /// k is 0, or a prior over another number of secrets.
    ///
    /// # References
    /// M. S. Alvim et al., *The Science of Quantitative Information Flow*, section 3.2.5,
    /// doi:10.1007/978-3-319-96131-6; Issa, Wagner, Kamath, definition 3.
    pub fn tries_vulnerability(&self, prior: &Prior, tries: u64) -> Result<f64> {
        check_tries(tries)?;
        Ok(self
            .sum_over_columns(prior, |_, column| best_of(column, tries))?
            .at_most(1.0))
    }
}

/// g_s − 1 of one secret, and what rounding may have changed.
#[derive(Debug, Clone, Copy)]
struct Gain {
    excess: f64,
    rounding: f64,
}

impl Gain {
    /// That of a secret of probability 0.
    const NONE: Gain = Gain {
        excess: -1.0,
        rounding: 0.0,
    };
}

/// Multiplies the weights by powers of the gains. No positive weight becomes 0, because it could never grow again.
fn multiply(weights: &mut [f64], gains: &[Gain], power: f64) {
    let excesses = gains.iter().map(|gain| gain.excess);
    let largest = excesses.fold(-1.0, f64::at_least).ln_1p();
    for (weight, gain) in weights.iter_mut().zip(gains) {
        if *weight > 0.0 {
            let log = gain.excess.ln_1p() - largest;
            *weight = (*weight * (power * log).exp()).at_least(1e-290);
        }
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
}

/// The expected number of guesses without an observation, Σ_i i·π_(i).
pub fn prior_guesswork(prior: &Prior) -> f64 {
    expected_guesses(prior.weights())
}

/// The probability that one of k guesses is right without an observation.
///
/// # Errors
/// k is 0.
pub fn prior_tries_vulnerability(prior: &Prior, tries: u64) -> Result<f64> {
    check_tries(tries)?;
    Ok(best_of(prior.weights(), tries).at_most(1.0))
}

fn check_tries(tries: u64) -> Result<()> {
    if tries > 0 {
        return Ok(());
    }
    Err(Error::parameter(
        setting("tries", tries),
        "must be at least 1",
    ))
}

/// Checks that an order is above 0; it may be infinite.
fn check_order(order: f64) -> Result<()> {
    if order > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(
        setting("at_order", order),
        "must be above 0",
    ))
}

fn descending(column: &[f64]) -> Vec<f64> {
    let mut sorted = column.to_vec();
    sorted.sort_unstable_by(|x, y| y.total_cmp(x));
    sorted
}

fn expected_guesses(column: &[f64]) -> f64 {
    let sorted = descending(column);
    let ranks = sorted.iter().zip(1u64..);
    ranks.map(|(p, rank)| p * rank as f64).sum()
}

fn best_of(column: &[f64], tries: u64) -> f64 {
    let tries = usize::try_from(tries).unwrap_or(usize::MAX);
    descending(column).iter().take(tries).sum()
}

#[cfg(test)]
mod tests;
