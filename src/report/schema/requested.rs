//! Figures that are reported on request.

use serde::{Serialize, Serializer};

use super::{described_by, with_keys};
use crate::audit::{
    FamilyOrder, FamilyTries, GLeakage, LeakageFamily, Pair, Reconstruction, TellingEvent,
};
use crate::estimate::Estimate;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Reconstruction")]
struct ReconstructionKeys {
    /// κ, the success without the observation.
    without: f64,
    /// The secret that the event finds, then the other: the pair of the estimate and of the lower limit.
    secrets: Pair,
    /// sup P(E) with Q(E) ≤ κ over all ordered pairs of secrets.
    success: Estimate,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "GLeakage")]
struct GLeakageKeys {
    /// Whether the function is a loss, which an attacker makes small.
    is_loss: bool,
    /// The expected gain or loss without an observation.
    without: f64,
    /// The same with it.
    with: Estimate,
    /// How much the observation changes it in the attacker's favor.
    additive: Estimate,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "LeakageFamily")]
struct LeakageFamilyKeys {
    /// ln Σ_o max C\[s,o\] over the secrets of positive probability.
    maximal_leakage: Estimate,
    /// The largest pointwise maximal leakage of all observations.
    largest_pointwise_leakage: Estimate,
    /// The observations that its lower limit rests on; null where there is none.
    telling_event: Option<TellingEvent>,
    /// The expected number of guesses until the secret is found, without an observation.
    prior_guesswork: f64,
    /// The same with the observation.
    guesswork: Estimate,
    /// For each number of guesses, whether one of them is right.
    tries: Vec<FamilyTries>,
    /// One entry for each order.
    orders: Vec<FamilyOrder>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "TellingEvent")]
struct TellingEventKeys {
    /// The label of the secret.
    secret: String,
    /// The observations, the most telling first; at most 20.
    observations: Vec<String>,
    /// How many observations there are besides.
    left_out: usize,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "FamilyTries")]
struct FamilyTriesKeys {
    /// The number of guesses k.
    tries: u64,
    /// The probability that one of them is right, without an observation.
    prior_vulnerability: f64,
    /// The same with the observation.
    vulnerability: Estimate,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FamilyOrderKeys<'a> {
    /// α; null if infinite.
    order: Option<f64>,
    /// Sibson's information of this order at the prior.
    sibson_information: &'a Estimate,
    /// Maximal α-leakage; null for orders below 1.
    maximal_alpha_leakage: &'a Option<Estimate>,
}

impl Serialize for FamilyOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = FamilyOrderKeys {
            order: Some(self.order).filter(|order| order.is_finite()),
            sibson_information: &self.sibson_information,
            maximal_alpha_leakage: &self.maximal_alpha_leakage,
        };
        keys.serialize(serializer)
    }
}

described_by!(FamilyOrder => FamilyOrderKeys<'static>);

with_keys!(
    Reconstruction => ReconstructionKeys,
    GLeakage => GLeakageKeys,
    LeakageFamily => LeakageFamilyKeys,
    TellingEvent => TellingEventKeys,
    FamilyTries => FamilyTriesKeys,
);
