//! (ε, δ)-differential privacy of shuffled reports: upper bounds for any inputs of the other users, and lower limits by
//! enumeration.
//!
//! ```
//! use leakgauge_exact::channel::Channel;
//! use leakgauge_exact::shuffle::privacy::shuffle_delta;
//!
//! let mechanism = leakgauge_exact::mechanism::parse("randomized-response(epsilon=2, secrets=2)")?;
//! let channel = Channel::of_mechanism(&*mechanism)?;
//! let delta = shuffle_delta(&channel, 1000, 0.1)?;
//! assert!((delta.clone.unwrap() - 1.7668e-2).abs() < 1e-6);
//! assert!((delta.best - 8.4417e-3).abs() < 1e-7);
//! assert!((delta.least.unwrap() - 3.6604e-3).abs() < 1e-7);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

use serde::Serialize;

use crate::accountant::mean_excess;
use crate::channel::Channel;
use crate::histogram::HistogramLaw;
use crate::hockey_stick::Level;
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::parallel;
use leakgauge_stats::binomial_tail::{at_most, mass};

/// δ of shuffled reports for one ε and one number of users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShuffleDelta {
    /// The number n of users.
    pub n: u64,
    /// ε.
    pub epsilon: f64,
    /// For any ε₀-private randomizer: the clone bound; null if ε₀ is infinite.
    pub clone: Option<f64>,
    /// For any ε₀-private randomizer: the stronger clone bound; null if ε₀ is infinite.
    pub stronger_clone: Option<f64>,
    /// For ε₀ and the largest total variation of the randomizer; null if ε₀ is infinite.
    pub variation_ratio: Option<f64>,
    /// Of the blanket of the randomizer.
    pub blanket: f64,
    /// A lower limit: the exact δ if all other users have the same input, the worst one; null if there are too many
    /// histograms.
    pub least: Option<f64>,
    /// The smallest of the upper bounds.
    pub best: f64,
}

/// The report about a randomizer before a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The version of this layout, 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The randomizer.
    pub randomizer: String,
    /// Its ε₀ of local differential privacy; null if infinite.
    pub epsilon: Option<f64>,
    /// One entry per number of users and ε.
    pub rows: Vec<ShuffleDelta>,
}

/// Computes the report for numbers of users and values of ε.
///
/// # Errors
/// As [`shuffle_delta`].
pub fn survey(name: &str, randomizer: &Channel, sizes: &[u64], epsilons: &[f64]) -> Result<Survey> {
    let points = sizes
        .iter()
        .flat_map(|&n| epsilons.iter().map(move |&epsilon| (n, epsilon)));
    Ok(Survey {
        schema_version: 1,
        tool: Tool::default(),
        randomizer: name.to_owned(),
        epsilon: randomizer.epsilon(),
        rows: points
            .map(|(n, epsilon)| shuffle_delta(randomizer, n, epsilon))
            .collect::<Result<_>>()?,
    })
}

/// The largest number of pairs of inputs times messages.
const MAX_WORK: usize = 10_000_000;

/// The bounds for a randomizer that n users apply before their reports are shuffled.
///
/// # Formula
/// Clone and variation ratio: see [`Reduction`]. Blanket: 1/(γn)·E\[(Σ L_i)⁺\] over n users, each of which counts with
/// probability γ; then L = (R_x(W) − e^ε R_x′(W))/ω(W) for a message W from the blanket ω, the largest over pairs.
///
/// # Errors
/// ε is negative, n is 0 or above 10⁹, or the randomizer is too large.
///
/// # References
/// V. Feldman, A. McMillan, K. Talwar, *Hiding among the clones*, arXiv:2012.12803, and *Stronger privacy amplification
/// by shuffling*, arXiv:2208.04591. B. Balle, J. Bell, A. Gascón, K. Nissim, *The privacy blanket of the shuffle model*,
/// lemma 5.3, arXiv:1903.02837. S. Wang et al., *Privacy amplification via shuffling: unified, simplified, and
/// tightened*, doi:10.14778/3659437.3659444.
pub fn shuffle_delta(randomizer: &Channel, n: u64, epsilon: f64) -> Result<ShuffleDelta> {
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(Error::setting("at_epsilon", epsilon, "must be at least 0"));
    }
    if n == 0 || n > 1_000_000_000 {
        return Err(Error::setting("n", n, "must be between 1 and 10^9"));
    }
    let inputs = randomizer.secrets().len();
    if inputs * inputs * randomizer.observations().len() > MAX_WORK {
        let problem = "has too many inputs and messages to compare all pairs of inputs";
        return Err(Error::parameter("randomizer", problem));
    }
    let own = randomizer.epsilon();
    let pairs: Vec<(usize, usize)> = (0..inputs)
        .flat_map(|a| (0..inputs).filter(move |&b| b != a).map(move |b| (a, b)))
        .collect();
    let variation = pairs
        .iter()
        .map(|&(a, b)| randomizer.total_variation(a, b))
        .fold(0.0, f64::max);
    let reduced = |reduction: fn(f64, f64) -> Reduction| {
        own.map(|own| reduction(own, variation).delta(n, epsilon))
    };
    let blanket = parallel::map(pairs.len(), |at| blanket(randomizer, pairs[at], n, epsilon));
    let least: Option<Vec<f64>> = parallel::map(pairs.len(), |at| {
        enumerated(randomizer, pairs[at], n, epsilon)
    })
    .into_iter()
    .collect();
    let blanket = blanket.into_iter().fold(0.0, f64::max).min(1.0);
    let clone = reduced(|own, _| Reduction::clones(own));
    let stronger_clone = reduced(|own, _| Reduction::variation_ratio(own, (0.5 * own).tanh()));
    let variation_ratio = reduced(Reduction::variation_ratio);
    let others = [clone, stronger_clone, variation_ratio]
        .into_iter()
        .flatten();
    Ok(ShuffleDelta {
        n,
        epsilon,
        clone,
        stronger_clone,
        variation_ratio,
        blanket,
        best: others.fold(blanket, f64::min),
        least: least.map(|all| all.into_iter().fold(0.0, f64::max)),
    })
}

/// Shuffled reports reduced to two counts: with C binomial(n − 1, `shown`) and A binomial(C, ½), the pair (A, C − A) of
/// which the target raises the first count with probability `ahead`, the second with `behind`, or none; of the
/// neighboring input the two are exchanged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduction {
    ahead: f64,
    behind: f64,
    shown: f64,
}

impl Reduction {
    /// The clone reduction of any ε₀-private randomizer.
    pub fn clones(epsilon: f64) -> Reduction {
        let behind = 1.0 / (1.0 + epsilon.exp());
        Reduction {
            ahead: 1.0 - behind,
            behind,
            shown: (-epsilon).exp(),
        }
    }

    /// The variation-ratio reduction of an ε₀-private randomizer with total variation β between any two inputs:
    /// α = β/(e^ε₀ − 1), the target's counts with e^ε₀·α and α, the others' with 2α. With the largest β that ε₀ allows,
    /// (e^ε₀ − 1)/(e^ε₀ + 1), it is the stronger clone.
    pub fn variation_ratio(epsilon: f64, variation: f64) -> Reduction {
        let behind = if epsilon == 0.0 {
            0.0
        } else {
            variation / epsilon.exp_m1()
        };
        Reduction {
            ahead: (variation + behind).min(1.0),
            behind,
            shown: (2.0 * behind).min(1.0),
        }
    }

    /// The hockey-stick divergence at ε of the two laws.
    ///
    /// # Formula
    /// Given the sum s of both counts, the likelihood ratio rises with the first count a, so that δ is a sum over s of
    /// binomial tails from a threshold on.
    pub fn delta(&self, n: u64, epsilon: f64) -> f64 {
        let others = n - 1;
        let mean = others as f64 * self.shown;
        let reach = 12.0 * (mean * (1.0 - self.shown)).sqrt() + 45.0;
        let first = (mean - reach).max(0.0) as u64;
        let last = ((mean + reach) as u64 + 1).min(n);
        let all = parallel::map((last - first + 1) as usize, |at| {
            self.given_sum(first + at as u64, others, epsilon)
        });
        // What lies beyond the reach has a mass below e^−45.
        (all.iter().sum::<f64>() + 1e-19).min(1.0)
    }

    fn given_sum(&self, sum: u64, others: u64, epsilon: f64) -> f64 {
        let mass = |count: u64| match self.shown {
            0.0 => f64::from(u8::from(count == 0)),
            1.0 => f64::from(u8::from(count == others)),
            shown => mass(count as f64, others as f64, shown),
        };
        let raised = if sum > 0 { mass(sum - 1) } else { 0.0 };
        let same = if sum <= others { mass(sum) } else { 0.0 };
        let rest = (1.0 - self.ahead - self.behind).max(0.0);
        let level = Level::new(epsilon);
        // P(Bin(count, ½) ≥ a), by symmetry from the other side.
        let tail = |a: u64, count: u64| {
            if a > count {
                0.0
            } else {
                at_most(count - a, count, 0.5)
            }
        };
        let gain = |a: u64| {
            let (up, down) = match sum {
                0 => (0.0, 0.0),
                _ => (tail(a.saturating_sub(1), sum - 1), tail(a, sum - 1)),
            };
            let none = rest * same * tail(a, sum);
            let p = raised * (self.ahead * up + self.behind * down) + none;
            let q = raised * (self.behind * up + self.ahead * down) + none;
            level.excess(p, q)
        };
        // Over Bin(s, ½) at a, the two laws are linear in a: so is their difference, times e^−ε.
        let inverse = (-epsilon).exp();
        let per_count = raised * 2.0 * (1.0 + inverse) * (self.ahead - self.behind);
        let fixed =
            raised * 2.0 * (self.behind * inverse - self.ahead) + rest * same * (inverse - 1.0);
        if per_count <= 0.0 {
            return 0.0;
        }
        let threshold = ((-fixed / per_count) * sum as f64).floor() + 1.0;
        gain((threshold.max(0.0) as u64).min(sum + 1)).max(0.0)
    }
}

/// 1/(γn)·E\[(Σ L_i)⁺\] for one ordered pair of inputs; 1 if the blanket lacks a message that tells the two apart.
fn blanket(randomizer: &Channel, (a, b): (usize, usize), n: u64, epsilon: f64) -> f64 {
    let level = Level::new(epsilon);
    let mut law = Vec::new();
    let mut gamma = 0.0;
    for y in 0..randomizer.observations().len() {
        let least = randomizer
            .rows()
            .map(|row| row[y])
            .fold(f64::INFINITY, f64::min);
        let gain = level.excess(randomizer.row(a)[y], randomizer.row(b)[y]);
        if least > 0.0 {
            // With γ·ω(y) = least, L is gain/ω(y) = γ·gain/least.
            law.push((gain / least, least));
            gamma += least;
        } else if gain > 0.0 {
            return 1.0;
        }
    }
    if gamma == 0.0 {
        return 1.0;
    }
    law.push((0.0, (1.0 - gamma).max(0.0)));
    // The factor γ of L cancels against that of the bound.
    (mean_excess(&law, n) / n as f64).min(1.0)
}

/// The exact δ of one ordered pair of inputs, if all others have the same input, the worst one.
fn enumerated(randomizer: &Channel, (a, b): (usize, usize), n: u64, epsilon: f64) -> Option<f64> {
    let level = Level::new(epsilon);
    let messages = randomizer.observations().len();
    let mut largest = 0.0f64;
    for row in randomizer.rows() {
        let law = HistogramLaw::new(&[(row, n - 1)], messages).ok()?;
        let mut delta = 0.0;
        law.for_each_extended(|_, before| {
            let of = |x: usize| -> f64 {
                randomizer
                    .row(x)
                    .iter()
                    .zip(before)
                    .map(|(r, m)| r * m)
                    .sum()
            };
            delta += level.excess(of(a), of(b)).max(0.0);
        });
        largest = largest.max(delta);
    }
    Some(largest)
}

#[cfg(test)]
mod tests;
