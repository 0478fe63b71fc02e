//! Mutual information at a prior, and the Shannon capacity between certified bounds.

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::{Channel, Prior};
use leakgauge_base::error::Result;
use leakgauge_base::parallel;

/// The gap between the certified bounds at which the iteration stops, in nats.
const GAP: f64 = 1e-11;
/// The largest number of matrix entries visited in total; takes some seconds.
const MAX_VISITS: f64 = 5e8;
/// The largest number of iterations.
const MAX_ITERATIONS: u64 = 100_000;
/// The longest step, as a multiple of the Blahut–Arimoto step.
const MAX_STEP: f64 = 64.0;

/// The Shannon capacity, between two certified bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// A lower bound: the mutual information at `prior`, in nats.
    pub lower: f64,
    /// An upper bound, in nats.
    pub upper: f64,
    /// The number of steps.
    pub iterations: u64,
    /// The prior that attains `lower`.
    #[serde(skip)]
    pub prior: Vec<f64>,
}

impl Channel {
    /// Shannon mutual information I(π, C) between secret and observation, in nats.
    ///
    /// # Formula
    /// Σ_s π_s Σ_o q_o φ(C\[s,o\]/q_o) with q = πC and φ(r) = r ln r − r + 1 ≥ 0: no term cancels
    /// another, so that small leakage keeps its digits.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn mutual_information(&self, prior: &Prior) -> Result<f64> {
        let law = self.push_forward(prior)?;
        let weighted = self.divergences(&law, prior.weights());
        let sum = weighted.iter().zip(prior.weights());
        Ok(sum.filter(|(_, w)| **w > 0.0).map(|(d, w)| d * w).sum())
    }

    /// The Shannon capacity max_π I(π, C), in nats.
    ///
    /// The Blahut–Arimoto iteration π_s ← π_s exp(t·D(C_s ‖ πC)) / Z, where the step t grows while
    /// it helps and falls back to 1 where it does not. Every iterate certifies
    /// I(π, C) ≤ capacity ≤ max_s D(C_s ‖ πC); it stops when the two differ by at most 1e-11, or after a
    /// fixed amount of work. It returns the best lower and the best upper bound found.
    ///
    /// # References
    /// Blahut 1972, doi:10.1109/TIT.1972.1054855; Arimoto 1972, doi:10.1109/TIT.1972.1054753.
    pub fn shannon_capacity(&self) -> Capacity {
        let n = self.secrets.len();
        let visits = (MAX_VISITS / self.values.len() as f64) as u64;
        let most = visits.clamp(50, MAX_ITERATIONS);
        let mut state = Ascent::at(self, vec![1.0 / n as f64; n]);
        let mut best = Capacity {
            lower: state.information,
            upper: state.most,
            iterations: 0,
            prior: state.prior.clone(),
        };
        let mut step = 1.0;
        while best.upper - best.lower > GAP && best.iterations < most {
            best.iterations += 1;
            let next = Ascent::at(self, state.stepped(step));
            best.upper = best.upper.at_most(next.most);
            if next.information > best.lower {
                best.lower = next.information;
                best.prior.clone_from(&next.prior);
            }
            if next.improves_on(&state) {
                state = next;
                step = (step * 1.5f64).at_most(MAX_STEP);
            } else if step > 1.0 {
                step = (step / 4.0).at_least(1.0);
            } else {
                // A plain step that helps neither limit: rounding is all that is left.
                break;
            }
        }
        // Rounding may have crossed them.
        best.upper = best.upper.at_least(best.lower);
        best
    }

    /// D(C_s ‖ q) for every secret, where q is the law of the observations under the prior; infinite where q misses an
    /// observation of s.
    fn divergences(&self, law: &[f64], prior: &[f64]) -> Vec<f64> {
        let mean = self.deviations.as_ref().map(|deviations| {
            let mut mean = vec![0.0; law.len()];
            for (row, weight) in deviations.chunks_exact(law.len()).zip(prior) {
                mean.iter_mut().zip(row).for_each(|(m, d)| *m += weight * d);
            }
            (deviations, mean)
        });
        parallel::map(self.secrets.len(), |s| {
            let row = self.row(s).iter().zip(law).enumerate();
            row.map(|(o, (&p, &q))| {
                let difference = match &mean {
                    Some((deviations, mean)) => deviations[s * law.len() + o] - mean[o],
                    None => p - q,
                };
                divergence_term(p, q, difference, prior[s])
            })
            .sum()
        })
    }
}

/// One point of the iteration.
struct Ascent {
    prior: Vec<f64>,
    divergences: Vec<f64>,
    information: f64,
    most: f64,
}

impl Ascent {
    fn at(channel: &Channel, prior: Vec<f64>) -> Self {
        let mut law = vec![0.0; channel.observations().len()];
        for (row, weight) in channel.rows().zip(&prior) {
            law.iter_mut().zip(row).for_each(|(q, p)| *q += weight * p);
        }
        let divergences = channel.divergences(&law, &prior);
        let pairs = divergences.iter().zip(&prior);
        Ascent {
            information: pairs.filter(|(_, w)| **w > 0.0).map(|(d, w)| d * w).sum(),
            most: divergences.iter().copied().fold(0.0, f64::at_least),
            divergences,
            prior,
        }
    }

    /// Whether this point is better: by its information or, if that differs only by rounding, by its upper bound,
    /// which is more sensitive near convergence.
    fn improves_on(&self, other: &Ascent) -> bool {
        const ROUNDING: f64 = 1e-14;
        let gained = self.information - other.information;
        if gained.abs() > ROUNDING * other.most {
            gained > 0.0
        } else {
            self.most < other.most
        }
    }

    /// The prior after a step. No weight becomes 0, because it could never grow again.
    fn stepped(&self, step: f64) -> Vec<f64> {
        let weights = self.prior.iter().zip(&self.divergences);
        let mut next: Vec<f64> = weights
            .map(|(w, d)| (w * (step * (d - self.most)).exp()).at_least(1e-290))
            .collect();
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|w| *w /= sum);
        next
    }
}

/// q·φ(p/q) with φ(r) = r ln r − r + 1, which is positive. `difference` is p − q, `weight` the prior probability of the
/// secret.
fn divergence_term(p: f64, q: f64, difference: f64, weight: f64) -> f64 {
    if p == 0.0 {
        return q;
    }
    if q == 0.0 {
        // The law is at least weight·p, which underflowed: φ is at most this, and nothing but for a zero weight.
        return p * -weight.ln();
    }
    let d = difference / q;
    if d.abs() < 1e-3 {
        // Σ_{k≥2} (−1)^k d^k / (k(k−1)).
        let series = 1.0 / 12.0 - d * (1.0 / 20.0 - d * (1.0 / 30.0 - d / 42.0));
        q * d * d * (0.5 - d * (1.0 / 6.0 - d * series))
    } else if d.is_finite() {
        p * (p / q).ln() - (p - q)
    } else {
        p * (p.ln() - q.ln()) - (p - q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-11 * b.abs().at_least(1.0)
    }

    fn entropy(p: f64) -> f64 {
        -(p * p.ln() + (1.0 - p) * (1.0 - p).ln())
    }

    #[test]
    fn capacities_of_textbook_channels() {
        let rows = [vec![0.75, 0.25], vec![0.25, 0.75]];
        let symmetric = Channel::from_rows(&rows).unwrap().shannon_capacity();
        assert!(close(symmetric.lower, 2f64.ln() - entropy(0.25)));
        let rows = [vec![0.7, 0.0, 0.3], vec![0.0, 0.7, 0.3]];
        let erasure = Channel::from_rows(&rows).unwrap().shannon_capacity();
        assert!(close(erasure.upper, 0.7 * 2f64.ln()));
        // Z-channel: ln(1 + (1−e) e^(e/(1−e))) with e the probability that a 1 turns into a 0.
        let e: f64 = 0.3;
        let rows = [vec![1.0, 0.0], vec![e, 1.0 - e]];
        let z = Channel::from_rows(&rows).unwrap().shannon_capacity();
        let exact = (1.0 + (1.0 - e) * e.powf(e / (1.0 - e))).ln();
        assert!(
            close(z.lower, exact) && close(z.upper, exact),
            "{z:?} {exact}"
        );
        assert!(z.upper - z.lower <= GAP);
    }

    #[test]
    fn secrets_that_do_not_help_do_not_keep_the_iteration() {
        let rows = [
            vec![0.9, 0.1, 0.0],
            vec![0.5, 0.3, 0.2],
            vec![0.1, 0.2, 0.7],
            vec![0.3, 0.3, 0.4],
            vec![0.33, 0.33, 0.34],
        ];
        let capacity = Channel::from_rows(&rows).unwrap().shannon_capacity();
        assert!(capacity.upper - capacity.lower <= GAP, "{capacity:?}");
        assert!(capacity.iterations < 2000, "{}", capacity.iterations);
    }

    #[test]
    fn small_information_keeps_its_digits() {
        // I = ½[(1+d)ln(1+d) + (1−d)ln(1−d)] = d²/2 + d⁴/12 + … for rows (½±d/2).
        let d = 2f64.powi(-30);
        let rows = [
            vec![0.5 + d / 2.0, 0.5 - d / 2.0],
            vec![0.5 - d / 2.0, 0.5 + d / 2.0],
        ];
        let channel = Channel::from_rows(&rows).unwrap();
        let found = channel.mutual_information(&Prior::uniform(2)).unwrap();
        assert!((found / (d * d / 2.0) - 1.0).abs() < 1e-14, "{found:e}");
    }

    #[test]
    fn the_series_meets_the_formula() {
        for d in [9.9e-4f64, -9.9e-4] {
            let q: f64 = 0.25;
            let p = q * (1.0 + d);
            let exact = p * d.ln_1p() - (p - q);
            assert!((divergence_term(p, q, p - q, 0.5) / exact - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn subnormal_numbers_are_no_infinite_leak() {
        let rows = [vec![5e-324, 1.0], vec![0.0, 1.0]];
        let channel = Channel::from_rows(&rows).unwrap();
        let capacity = channel.shannon_capacity();
        assert!(capacity.upper < 1e-300, "{capacity:?}");
        assert!(channel.mutual_information(&Prior::uniform(2)).unwrap() < 1e-300);
        // The law of the first observation is subnormal; I is at most w ln(1/w), about 732 w.
        let rows = [vec![1e-3, 0.999], vec![0.0, 1.0]];
        let channel = Channel::from_rows(&rows).unwrap();
        let prior = Prior::new(vec![1e-318, 1.0]).unwrap();
        let found = channel.mutual_information(&prior).unwrap();
        assert!(found.is_finite() && found < 1e-315, "{found:e}");
    }
}
