//! The leakage family from a log: several guesses, guesswork, maximal and pointwise maximal leakage, and measures with
//! an order.
//!
//! What is limited is settled before the certification rows are looked at: guesses are made in the order of the
//! attack's scores, the event for pointwise leakage is chosen on the rows before them, and how errors are limited
//! follows from numbers of rows. Limits from above are for discrete logs of independent rows: the best guesses at every
//! observation are one fixed rule of nature, and the plug-in figure is at least that rule's own (see
//! [`leakgauge_stats::event_upper`]).

pub(crate) mod figure;
pub(crate) mod judge;

use crate::estimate::Estimate;

/// The leakage family at the prior; nats.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LeakageFamily {
    /// ln Σ_o max C\[s,o\] over the secrets of positive probability.
    pub maximal_leakage: Estimate,
    /// The largest pointwise maximal leakage of all observations.
    pub largest_pointwise_leakage: Estimate,
    /// The event that its lower limit rests on; `None` where there is none.
    pub telling_event: Option<TellingEvent>,
    /// The expected number of guesses until the secret is found, without an observation.
    pub prior_guesswork: f64,
    /// The same with the observation.
    pub guesswork: Estimate,
    /// For each number of guesses, whether one of them is right.
    pub tries: Vec<FamilyTries>,
    /// One entry for each order.
    pub orders: Vec<FamilyOrder>,
}

/// Observations that are likelier with one secret than on the whole, chosen on other rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TellingEvent {
    /// The label of the secret.
    pub secret: String,
    /// The observations, the most telling first; at most 20.
    pub observations: Vec<String>,
    /// How many observations there are besides.
    pub left_out: usize,
}

/// Several guesses.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FamilyTries {
    /// The number of guesses k.
    pub tries: u64,
    /// The probability that one of them is right, without an observation.
    pub prior_vulnerability: f64,
    /// The same with the observation.
    pub vulnerability: Estimate,
}

/// Leakage of one order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FamilyOrder {
    /// α, which may be infinite.
    pub order: f64,
    /// Sibson's information of this order at the prior.
    pub sibson_information: Estimate,
    /// Maximal α-leakage; `None` for orders below 1.
    pub maximal_alpha_leakage: Option<Estimate>,
}
