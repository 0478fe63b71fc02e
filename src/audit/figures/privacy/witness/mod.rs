//! The event behind a certified limit of privacy: which attack, which observations, how often under either secret.

pub(crate) mod find;

use crate::audit::pair::Pair;
use leakgauge_attack::pairwise::Event;

/// What stands for the attack's name where masked rows were guessed.
pub(crate) const MASKED: &str = "masked";

/// What proves a limit of ε, μ, ρ or a Rényi divergence, on the certification rows; an event beside the attack's, on
/// all rows but those that it got its share of the level by, or on nearly all where it was chosen without looking at
/// secrets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Witness {
    /// The attack whose scores the events are about; `groups` where they are groups of similar rows, which no attack
    /// formed; `masked` where rows were guessed by a regression that learned from all others.
    pub attack: String,
    /// The events; two where the limit rests on guesses at both ends of the scores, none where all scores were weighed.
    /// Attack and events were chosen on rows before these, or without looking at secrets.
    pub events: Vec<WitnessEvent>,
    /// The limit of another kind of privacy, where the same rows prove more by it.
    pub stronger: Option<Stronger>,
}

impl Witness {
    /// Whether guesses on masked rows prove the limit.
    pub(crate) fn is_of_masked_rows(&self) -> bool {
        self.attack == MASKED
    }
}

/// An event that is likelier under one secret than under the other.
#[derive(Debug, Clone, PartialEq)]
pub struct WitnessEvent {
    /// The secret under which it is likelier, then the other.
    pub secrets: Pair,
    /// What it is.
    pub event: Event,
    /// Rows of both that judge: neither attack nor event was chosen by their secrets.
    pub rows: [u64; 2],
    /// Those of them in the event.
    pub inside: [u64; 2],
}

/// A lower limit of μ-Gaussian privacy, where it means more than the limit of ε at a δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stronger {
    /// The lower limit of μ.
    pub mu: f64,
    /// The ε, at the same δ, of a Gaussian mechanism with this μ.
    pub epsilon: f64,
}
