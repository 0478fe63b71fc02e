//! The figures of a channel that depend on a prior.

use std::f64::consts::LN_2;

use serde::Serialize;

use crate::channel::{Channel, Prior};
use leakgauge_base::error::Result;

/// Figures at a prior.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriorFigures {
    /// G(π).
    pub guessing_error: f64,
    /// R*(π, C).
    pub bayes_risk: f64,
    /// β(π, C) = R*/G; null if G is 0.
    pub risk_leakage: Option<f64>,
    /// V(π, C).
    pub vulnerability: f64,
    /// L× = V / max π.
    pub multiplicative_leakage: f64,
    /// L⁺ = V − max π.
    pub additive_leakage: f64,
    /// ln L×.
    pub min_entropy_leakage: f64,
    /// log₂ L×.
    pub min_entropy_leakage_bits: f64,
    /// I(π, C).
    pub mutual_information: f64,
    /// The same in bits.
    pub mutual_information_bits: f64,
}

/// All figures of a channel at a prior.
///
/// # Errors
/// A prior over another number of secrets.
pub(super) fn prior_figures(channel: &Channel, prior: &Prior) -> Result<PriorFigures> {
    let multiplicative_leakage = channel.multiplicative_leakage(prior)?;
    let mutual_information = channel.mutual_information(prior)?;
    let min_entropy_leakage = channel.min_entropy_leakage(prior)?;
    Ok(PriorFigures {
        guessing_error: prior.guessing_error(),
        bayes_risk: channel.bayes_risk(prior)?,
        risk_leakage: channel.risk_leakage(prior)?,
        vulnerability: channel.vulnerability(prior)?,
        multiplicative_leakage,
        additive_leakage: channel.additive_leakage(prior)?,
        min_entropy_leakage,
        min_entropy_leakage_bits: min_entropy_leakage / LN_2,
        mutual_information,
        mutual_information_bits: mutual_information / LN_2,
    })
}

impl PriorFigures {
    /// The same with another V and R* = 1 − V, given both so that neither loses its digits.
    pub(super) fn set_vulnerability(&mut self, vulnerability: f64, risk: f64) {
        let largest = 1.0 - self.guessing_error;
        self.vulnerability = vulnerability;
        self.bayes_risk = risk;
        self.risk_leakage = self.risk_leakage.map(|_| risk / self.guessing_error);
        self.multiplicative_leakage = vulnerability / largest;
        self.additive_leakage = vulnerability - largest;
        self.min_entropy_leakage = self.multiplicative_leakage.ln();
        self.min_entropy_leakage_bits = self.min_entropy_leakage / LN_2;
    }
}
