//! The leakage family of a channel as part of its report.

use serde::Serialize;

use super::{AlphaLeakage, prior_guesswork, prior_tries_vulnerability};
use crate::channel::{Channel, Prior};
use leakgauge_base::error::Result;

/// Figures of the leakage family at the prior, in nats.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakageFamily {
    /// ln Σ_o max C\[s,o\] over the secrets of positive probability.
    pub maximal_leakage: f64,
    /// The largest pointwise maximal leakage ln(max_s C\[s,o\]/(πC)_o) of all observations.
    pub largest_pointwise_leakage: f64,
    /// The observation that has it.
    pub most_leaking_observation: String,
    /// The expected number of guesses until the secret is found, without an observation.
    pub prior_guesswork: f64,
    /// The same with the observation.
    pub guesswork: f64,
    /// For each number of guesses, whether one of them is right.
    pub tries: Vec<TriesFigures>,
    /// One entry for each order in the options.
    pub orders: Vec<OrderFigures>,
}

/// Several guesses.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriesFigures {
    /// The number of guesses k.
    pub tries: u64,
    /// The probability that one of them is right, without an observation.
    pub prior_vulnerability: f64,
    /// The same with the observation.
    pub vulnerability: f64,
}

/// Leakage of one order, in nats.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderFigures {
    /// α; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub order: f64,
    /// Sibson's information of this order at the prior.
    pub sibson_information: f64,
    /// Maximal α-leakage between certified limits; null for orders below 1.
    pub maximal_alpha_leakage: Option<AlphaLeakage>,
    /// The largest Rényi divergence between two secrets; null for orders below 1 and if infinite.
    pub renyi_divergence: Option<f64>,
}

/// Computes the figures at a prior, for the given orders and numbers of guesses.
///
/// # Errors
/// A prior over another number of secrets, an order that is not above 0, or 0 guesses.
pub fn family_figures(
    channel: &Channel,
    prior: &Prior,
    orders: &[f64],
    tries: &[u64],
) -> Result<LeakageFamily> {
    let pointwise = channel.pointwise_maximal_leakage(prior)?;
    let mut worst = 0;
    for (o, leakage) in pointwise.iter().enumerate() {
        if *leakage > pointwise[worst] {
            worst = o;
        }
    }
    let tries = tries.iter().map(|&tries| {
        Ok(TriesFigures {
            tries,
            prior_vulnerability: prior_tries_vulnerability(prior, tries)?,
            vulnerability: channel.tries_vulnerability(prior, tries)?,
        })
    });
    let orders = orders.iter().map(|&order| {
        let at_least_one = order >= 1.0;
        Ok(OrderFigures {
            order,
            sibson_information: channel.sibson_information(prior, order)?,
            maximal_alpha_leakage: at_least_one
                .then(|| channel.maximal_alpha_leakage(prior, order))
                .transpose()?,
            renyi_divergence: at_least_one
                .then(|| channel.renyi_divergence(order))
                .transpose()?
                .filter(|divergence| divergence.is_finite()),
        })
    });
    Ok(LeakageFamily {
        maximal_leakage: channel.maximal_leakage(prior)?,
        largest_pointwise_leakage: pointwise[worst],
        most_leaking_observation: channel.observations()[worst].clone(),
        prior_guesswork: prior_guesswork(prior),
        guesswork: channel.guesswork(prior)?,
        tries: tries.collect::<Result<_>>()?,
        orders: orders.collect::<Result<_>>()?,
    })
}
