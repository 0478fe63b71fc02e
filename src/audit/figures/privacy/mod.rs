//! Lower limits of what differential privacy needs.

pub(crate) mod plan;
pub(crate) mod witness;

use crate::audit::figures::privacy::witness::Witness;
use crate::audit::pair::Pair;
use leakgauge_base::quantity::PrivacyParameter;

/// A lower limit of ε.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EpsilonLimit {
    /// The pair it was found at, which may be another than the worst for total variation.
    pub secrets: Pair,
    /// Whether it is about some pair, which what proves it does not name.
    pub is_of_some_pair: bool,
    /// The estimate from the bare error rates; `None` if one is 0.
    pub point: Option<f64>,
    /// The limit.
    pub lower: Option<f64>,
    /// The δ it is for.
    pub delta: f64,
}

/// A lower limit of what privacy needs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PrivacyLimit {
    /// ε for a δ, μ of Gaussian, ρ of zero-concentrated or a divergence of Rényi differential privacy.
    pub quantity: PrivacyParameter,
    /// The pair it was found at, chosen on the tuning rows.
    pub secrets: Pair,
    /// Whether it is about some pair, which what proves it does not name.
    pub is_of_some_pair: bool,
    /// The estimate from the bare error rates; `None` if it is infinite.
    pub point: Option<f64>,
    /// The limit.
    pub lower: Option<f64>,
    /// What proves it, where it proves anything.
    pub witness: Option<Witness>,
}
