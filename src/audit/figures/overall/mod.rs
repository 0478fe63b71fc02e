//! Figures of the whole log: Bayes risk at a prior and what it amounts to.

pub(crate) mod figure;
pub(crate) mod risk;

use crate::audit::options::PriorChoice;
use crate::estimate::Estimate;

/// Figures of the whole log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Overall {
    /// β* = 1 − the largest total variation of all pairs.
    pub bayes_security: Estimate,
    /// The prior of the figures below.
    pub prior: PriorChoice,
    /// 1 − max π.
    pub guessing_error: f64,
    /// R*.
    pub bayes_risk: Estimate,
    /// β(π, C) = R*/G.
    pub risk_leakage: Estimate,
    /// L×.
    pub multiplicative_leakage: Estimate,
    /// L⁺.
    pub additive_leakage: Estimate,
    /// ln L×, nats.
    pub min_entropy_leakage: Estimate,
    /// log₂ L×, bits.
    pub min_entropy_leakage_bits: Estimate,
    /// ML×: the largest L× over all priors.
    pub capacity: Estimate,
}
