//! What the attack's score achieves at every threshold.

use serde::{Serialize, Serializer};

use super::{described_by, with_keys};
use crate::audit::{Band, BandEpsilon, Curve, GaussianFit, Levels, OperatingPoint, TradeOff};
use crate::estimate::{Estimate, Method};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "TradeOff")]
struct TradeOffKeys {
    /// True positives at a few false positive rates, in both directions.
    operating_points: Vec<OperatingPoint>,
    /// At which level these limits hold.
    operating_levels: Levels,
    /// The empirical trade-off curve.
    curve: Curve,
    /// What holds around the curve.
    band: Band,
    /// The area under the ROC curve; limits are about this attack, and hold for any law of its scores.
    area: Estimate,
    /// DeLong's standard error of it, an approximation; null with fewer than two rows of a secret.
    area_standard_error: Option<f64>,
    /// The mean of both shares of right answers at the threshold for the advantage, of this attack.
    balanced_accuracy: Estimate,
    /// μ of Gaussian differential privacy: the limit is about the mechanism, at the level of the report.
    mu: Estimate,
    /// The Gaussian curve that is most like the attack's; not a bound of anything.
    gaussian_fit: GaussianFit,
    /// Lower limits of ε for some δ; they hold for all δ, and with that of μ, together.
    epsilon: Vec<BandEpsilon>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OperatingPointKeys<'a> {
    /// The secret that the attack looks for.
    detects: &'a str,
    /// The other secret, whose rows raise false positives.
    against: &'a str,
    /// Share of these at most.
    false_positive_rate: f64,
    /// Share of the rows that are found, with the best threshold on this score.
    true_positive_rate: &'a Estimate,
}

impl Serialize for OperatingPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [detects, against] = self.secrets.labels();
        let keys = OperatingPointKeys {
            detects,
            against,
            false_positive_rate: self.false_positive_rate,
            true_positive_rate: &self.true_positive_rate,
        };
        keys.serialize(serializer)
    }
}

described_by!(OperatingPoint => OperatingPointKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Levels")]
struct LevelsKeys {
    /// Both limits of one operating point.
    each: f64,
    /// All limits of all operating points together, at least (Bonferroni).
    together: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CurveKeys<'a> {
    /// The secret that the attack looks for.
    detects: &'a str,
    /// The other secret, whose rows raise false positives.
    against: &'a str,
    /// How many thresholds differ; so many that only some are listed.
    thresholds: usize,
    /// Share of the second secret above the threshold.
    type_1: &'a [f64],
    /// Share of the first secret at or below it.
    type_2: &'a [f64],
}

impl Serialize for Curve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [detects, against] = self.secrets.labels();
        let keys = CurveKeys {
            detects,
            against,
            thresholds: self.thresholds,
            type_1: &self.type_1,
            type_2: &self.type_2,
        };
        keys.serialize(serializer)
    }
}

described_by!(Curve => CurveKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BandKeys {
    /// Of the type I error.
    type_1_radius: f64,
    /// Of the type II error.
    type_2_radius: f64,
    /// The level at which both hold at all thresholds.
    confidence: f64,
    /// How.
    method: Method,
    /// What the side of larger errors says.
    upper_side: &'static str,
    /// What the side of smaller errors says.
    lower_side: &'static str,
}

impl Serialize for Band {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = BandKeys {
            type_1_radius: self.type_1_radius,
            type_2_radius: self.type_2_radius,
            confidence: self.confidence,
            method: self.method,
            upper_side: "larger errors: the mechanism's trade-off function is nowhere above",
            lower_side: "smaller errors: for this attack's score only, another attack may do better",
        };
        keys.serialize(serializer)
    }
}

described_by!(Band => BandKeys);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "GaussianFit")]
struct GaussianFitKeys {
    /// Their distance; `None` where it is infinite.
    mu: Option<f64>,
    /// How it was fitted.
    method: Method,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "BandEpsilon")]
struct BandEpsilonKeys {
    /// The δ.
    delta: f64,
    /// The limit.
    lower: Option<f64>,
}

with_keys!(
    TradeOff => TradeOffKeys,
    Levels => LevelsKeys,
    GaussianFit => GaussianFitKeys,
    BandEpsilon => BandEpsilonKeys,
);
