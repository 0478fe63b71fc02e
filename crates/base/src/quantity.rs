//! The quantities that claims bound and reports print. Code matches on these, never on their names.

use std::f64::consts::LN_2;
use std::fmt;

use serde::{Serialize, Serializer};

/// What a limit or a verdict is about.
///
/// ```
/// use leakgauge_base::quantity::{PrivacyParameter, Quantity};
///
/// assert_eq!(Quantity::BayesSecurity.key(), "bayes_security");
/// let epsilon = PrivacyParameter::Epsilon { delta: 1e-5 };
/// assert_eq!(Quantity::Privacy(epsilon).key(), "epsilon");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// 1 − the largest total variation of all pairs of secrets.
    BayesSecurity,
    /// Total variation between the observations of two secrets.
    TotalVariation,
    /// Advantage of the optimal adversary at two secrets; equal to their total variation.
    Advantage,
    /// Advantage of the best attack found at two secrets.
    AttackAdvantage,
    /// A figure of all secrets together, which no pair stands for.
    Overall(OverallFigure),
    /// The largest difference of times between two secrets, the median over blocks.
    TimeDifference,
    /// A parameter of differential privacy.
    Privacy(PrivacyParameter),
}

/// A figure of all secrets together, in bits, that a claim may bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverallFigure {
    /// The mutual information of secret and observation at the prior.
    MutualInformation,
    /// The maximal leakage: log₂ of how many times more often an observer guesses right, whatever the prior.
    MaximalLeakage,
}

/// A parameter of a form of differential privacy. The larger it is, the better two secrets can be told
/// apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PrivacyParameter {
    /// ε of (ε, δ)-differential privacy, for a fixed δ.
    Epsilon {
        /// δ.
        delta: f64,
    },
    /// μ of Gaussian differential privacy.
    Mu,
    /// ρ of zero-concentrated differential privacy.
    Rho,
    /// ε of (α, ε)-Rényi differential privacy, for a fixed α: the Rényi divergence of that order.
    Renyi {
        /// α, above 1.
        order: f64,
    },
}

impl Quantity {
    /// Its name in JSON: `bayes_security`.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::BayesSecurity => "bayes_security",
            Quantity::TotalVariation => "total_variation",
            Quantity::Advantage => "advantage",
            Quantity::AttackAdvantage => "attack_advantage",
            Quantity::Overall(figure) => figure.key(),
            Quantity::TimeDifference => "time_difference",
            Quantity::Privacy(parameter) => parameter.key(),
        }
    }

    /// Whether more of it means less leakage, so that a claim says *at least*.
    pub fn protects(self) -> bool {
        match self {
            Quantity::BayesSecurity => true,
            Quantity::TotalVariation
            | Quantity::Advantage
            | Quantity::AttackAdvantage
            | Quantity::Overall(_)
            | Quantity::TimeDifference
            | Quantity::Privacy(_) => false,
        }
    }
}

impl OverallFigure {
    /// All of them.
    pub const ALL: [OverallFigure; 2] = [
        OverallFigure::MutualInformation,
        OverallFigure::MaximalLeakage,
    ];

    /// The name of the claim that bounds it: `mutual-information`.
    pub fn name(self) -> &'static str {
        match self {
            OverallFigure::MutualInformation => "mutual-information",
            OverallFigure::MaximalLeakage => "maximal-leakage",
        }
    }

    /// Its name in JSON: `mutual_information_bits`.
    pub fn key(self) -> &'static str {
        match self {
            OverallFigure::MutualInformation => "mutual_information_bits",
            OverallFigure::MaximalLeakage => "maximal_leakage_bits",
        }
    }

    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            OverallFigure::MutualInformation => "mutual information (bits)",
            OverallFigure::MaximalLeakage => "maximal leakage (bits)",
        }
    }

    /// The largest total variation of two secrets where it is at most so many bits: 1 for mutual information, of which a
    /// pair of many secrets may have much more than all have on average; 2^b − 1 for b bits of maximal leakage, which two
    /// secrets alone attain.
    pub fn largest_total_variation(self, at_most: f64) -> f64 {
        match self {
            OverallFigure::MutualInformation => 1.0,
            OverallFigure::MaximalLeakage => libm::expm1(at_most * LN_2).min(1.0),
        }
    }

    /// Whether a bound on it limits all attacks on any two secrets.
    pub fn covers_all_attacks(self) -> bool {
        match self {
            OverallFigure::MutualInformation => false,
            OverallFigure::MaximalLeakage => true,
        }
    }
}

impl PrivacyParameter {
    /// Its name in JSON: `epsilon`.
    pub fn key(self) -> &'static str {
        match self {
            PrivacyParameter::Epsilon { .. } => "epsilon",
            PrivacyParameter::Mu => "mu",
            PrivacyParameter::Rho => "rho",
            PrivacyParameter::Renyi { .. } => "renyi_divergence",
        }
    }

    /// δ, of an ε.
    pub fn delta(self) -> Option<f64> {
        match self {
            PrivacyParameter::Epsilon { delta } => Some(delta),
            PrivacyParameter::Mu | PrivacyParameter::Rho | PrivacyParameter::Renyi { .. } => None,
        }
    }

    /// α, of a Rényi divergence.
    pub fn order(self) -> Option<f64> {
        match self {
            PrivacyParameter::Renyi { order } => Some(order),
            PrivacyParameter::Epsilon { .. } | PrivacyParameter::Mu | PrivacyParameter::Rho => None,
        }
    }

    /// By how much a limit exceeds what is allowed, on a scale that grows in proportion to the distance
    /// of secrets. ρ and Rényi divergences grow with the square of the distance, so their square roots are taken.
    pub fn excess(self, limit: f64, allowed: f64) -> f64 {
        match self {
            PrivacyParameter::Epsilon { .. } | PrivacyParameter::Mu => limit - allowed,
            PrivacyParameter::Rho | PrivacyParameter::Renyi { .. } => limit.sqrt() - allowed.sqrt(),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl fmt::Display for PrivacyParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl Serialize for PrivacyParameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{OverallFigure, PrivacyParameter, Quantity};

    const PRIVACY: [PrivacyParameter; 4] = [
        PrivacyParameter::Epsilon { delta: 0.0 },
        PrivacyParameter::Mu,
        PrivacyParameter::Rho,
        PrivacyParameter::Renyi { order: 2.0 },
    ];

    impl JsonSchema for PrivacyParameter {
        fn schema_name() -> Cow<'static, str> {
            "PrivacyParameter".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "string", "enum": PRIVACY.map(PrivacyParameter::key) })
        }
    }

    impl JsonSchema for Quantity {
        fn schema_name() -> Cow<'static, str> {
            "Quantity".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let others = [
                Quantity::BayesSecurity,
                Quantity::TotalVariation,
                Quantity::Advantage,
                Quantity::AttackAdvantage,
                Quantity::TimeDifference,
            ];
            let all = others.into_iter().chain(PRIVACY.map(Quantity::Privacy));
            let all = all.chain(OverallFigure::ALL.map(Quantity::Overall));
            let keys: Vec<&str> = all.map(Quantity::key).collect();
            json_schema!({ "type": "string", "enum": keys })
        }
    }
}
