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
//! assert!((delta.variation_ratio.unwrap() - 8.4417e-3).abs() < 1e-7);
//! assert!((delta.exact.unwrap() - 3.6695e-3).abs() < 1e-7);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

use serde::Serialize;

mod binary;
mod blanket;
mod enumerated;
mod noise;
mod reduction;

pub use reduction::Reduction;

use crate::channel::Channel;
use crate::mechanism::{BoundMechanism, Mechanism};
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};

use crate::extreme::Extreme;
use binary::Binary;
use noise::Cells;

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
    /// Of the blanket of the randomizer; null if it has too many messages to list and does not add noise to a number.
    pub blanket: Option<f64>,
    /// A lower limit: the exact δ if all other users have the same input, the worst one, or a lower limit of it that
    /// does not tell all messages apart; null if there are too many histograms even so.
    pub least: Option<f64>,
    /// The δ itself, where two inputs have two messages and all numbers of other users with each input can be gone through;
    /// else null. Then `least` and `best` are this number, but for its rounding.
    pub exact: Option<f64>,
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

/// What every user sends.
#[derive(Debug)]
pub enum Reports {
    /// Messages that can be listed.
    Listed(Channel),
    /// Messages of a mechanism, which are too many to list.
    Mechanism(Box<dyn BoundMechanism>),
}

impl Reports {
    /// The reports of a mechanism over the secrets that its parameters declare.
    ///
    /// # Errors
    /// It declares no secrets.
    pub fn of(mechanism: &dyn Mechanism) -> Result<Reports> {
        let bound = mechanism.bind_declared()?;
        if bound.probabilities().is_some() {
            return Channel::of_mechanism(mechanism).map(Reports::Listed);
        }
        Ok(Reports::Mechanism(bound))
    }

    /// ε₀ of local differential privacy; `None` if infinite.
    fn epsilon(&self) -> Option<f64> {
        match self {
            Reports::Listed(channel) => channel.epsilon(),
            Reports::Mechanism(bound) => Some(bound.epsilon()).filter(|own| own.is_finite()),
        }
    }

    /// The largest total variation of two inputs.
    fn variation(&self) -> f64 {
        match self {
            Reports::Listed(channel) => ordered_pairs(channel.secrets().len())
                .into_iter()
                .map(|(a, b)| channel.total_variation(a, b))
                .fold(0.0, f64::at_least),
            Reports::Mechanism(bound) => bound
                .worst_pair()
                .map_or(0.0, |(a, b)| bound.total_variation(a, b)),
        }
    }
}

fn ordered_pairs(inputs: usize) -> Vec<(usize, usize)> {
    (0..inputs)
        .flat_map(|a| (0..inputs).filter(move |&b| b != a).map(move |b| (a, b)))
        .collect()
}

/// Computes the report for numbers of users and values of ε.
///
/// # Errors
/// ε is negative, n is 0 or above 10⁹, or a matrix is too large.
pub fn survey(name: &str, reports: &Reports, sizes: &[u64], epsilons: &[f64]) -> Result<Survey> {
    let messages = Messages::of(reports)?;
    let points = sizes
        .iter()
        .flat_map(|&n| epsilons.iter().map(move |&epsilon| (n, epsilon)));
    Ok(Survey {
        schema_version: 1,
        tool: Tool::default(),
        randomizer: name.to_owned(),
        epsilon: messages.epsilon,
        rows: points
            .map(|(n, epsilon)| messages.delta(n, epsilon))
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
/// by shuffling*, arXiv:2208.04591. B. Balle, J. Bell, A. Gascón, K. Nissim, *The privacy blanket of the shuffle
/// model*, lemma 5.3, arXiv:1903.02837. S. Wang et al., *Privacy amplification via shuffling: unified, simplified, and
/// tightened*, doi:10.14778/3659437.3659444.
pub fn shuffle_delta(randomizer: &Channel, n: u64, epsilon: f64) -> Result<ShuffleDelta> {
    Messages::of(&Reports::Listed(randomizer.clone()))?.delta(n, epsilon)
}

/// What the bounds need to know of a randomizer.
struct Messages {
    /// ε₀; `None` if infinite.
    epsilon: Option<f64>,
    variation: f64,
    /// The messages in cells, over all inputs; `None` where there is no list of them.
    cells: Option<Cells>,
    /// Two messages of two inputs.
    binary: Option<Binary>,
}

/// δ falls as ε grows: a bound at this ε is one at all larger ones, whose e^ε times 10^9 may be no number.
const LARGEST: f64 = 600.0;

impl Messages {
    fn of(reports: &Reports) -> Result<Messages> {
        let mut binary = None;
        let cells = match reports {
            Reports::Listed(channel) => {
                let rows: Vec<Vec<f64>> = channel.rows().take(3).map(<[f64]>::to_vec).collect();
                binary = Binary::new(&rows);
                let inputs = channel.secrets().len();
                if inputs * inputs * channel.observations().len() > MAX_WORK {
                    let problem = "has too many inputs and messages to compare all pairs of inputs";
                    return Err(Error::parameter("randomizer", problem));
                }
                Some(Cells::of_channel(channel))
            }
            Reports::Mechanism(bound) => Cells::of_noise(&**bound),
        };
        Ok(Messages {
            epsilon: reports.epsilon(),
            variation: reports.variation(),
            cells,
            binary,
        })
    }

    fn delta(&self, n: u64, epsilon: f64) -> Result<ShuffleDelta> {
        if epsilon.is_nan() || epsilon < 0.0 {
            return Err(Error::setting("at_epsilon", epsilon, "must be at least 0"));
        }
        if n == 0 || n > 1_000_000_000 {
            return Err(Error::setting("n", n, "must be between 1 and 10^9"));
        }
        let reduced = |reduction: fn(f64, f64) -> Reduction| {
            let own = self.epsilon?;
            Some(reduction(own, self.variation).delta(n, epsilon))
        };
        let clone = reduced(|own, _| Reduction::clones(own));
        let stronger_clone = reduced(|own, _| Reduction::variation_ratio(own, (0.5 * own).tanh()));
        let variation_ratio = reduced(Reduction::variation_ratio);
        let blanket = self.cells.as_ref().map(|cells| {
            let pairs = ordered_pairs(cells.inputs());
            cells
                .blanket(&pairs, n, epsilon.at_most(LARGEST))
                .at_most(1.0)
        });
        let cells = self.cells.as_ref();
        let least = cells.and_then(|cells| cells.enumerated(n, epsilon));
        let largest = self.binary.map(|binary| binary.largest(n, epsilon));
        let exact = largest
            .as_ref()
            .filter(|found| found.is_exact)
            .map(|found| found.delta);
        let at_most = exact.map(|delta| delta * (1.0 + binary::ROUNDING) + f64::MIN_POSITIVE);
        let at_least = largest.map(|found| found.delta * (1.0 - binary::ROUNDING));
        let upper = [clone, stronger_clone, variation_ratio, blanket, at_most];
        Ok(ShuffleDelta {
            n,
            epsilon,
            clone,
            stronger_clone,
            variation_ratio,
            blanket,
            exact,
            best: upper.into_iter().flatten().fold(1.0, f64::at_most),
            least: at_least.map_or(least, |found| Some(found.at_least(least.unwrap_or(0.0)))),
        })
    }
}

#[cfg(test)]
mod tests;
