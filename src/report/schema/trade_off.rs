//! What the attack's score achieves at every threshold.

use serde::{Serialize, Serializer};

use super::with_keys;
use crate::audit::{Band, BandEpsilon, Curve, GaussianFit, Levels, OperatingPoint, TradeOff};
use crate::estimate::{Estimate, Method};

#[derive(Serialize)]
#[serde(remote = "TradeOff")]
struct TradeOffKeys {
    operating_points: Vec<OperatingPoint>,
    operating_levels: Levels,
    curve: Curve,
    band: Band,
    mu: Estimate,
    gaussian_fit: GaussianFit,
    epsilon: Vec<BandEpsilon>,
}

#[derive(Serialize)]
struct OperatingPointKeys<'a> {
    detects: &'a str,
    against: &'a str,
    false_positive_rate: f64,
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

#[derive(Serialize)]
#[serde(remote = "Levels")]
struct LevelsKeys {
    each: f64,
    together: f64,
}

#[derive(Serialize)]
struct CurveKeys<'a> {
    detects: &'a str,
    against: &'a str,
    thresholds: usize,
    type_1: &'a [f64],
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

#[derive(Serialize)]
struct BandKeys {
    type_1_radius: f64,
    type_2_radius: f64,
    confidence: f64,
    method: Method,
    upper_side: &'static str,
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

#[derive(Serialize)]
#[serde(remote = "GaussianFit")]
struct GaussianFitKeys {
    mu: Option<f64>,
    method: Method,
}

#[derive(Serialize)]
#[serde(remote = "BandEpsilon")]
struct BandEpsilonKeys {
    delta: f64,
    lower: Option<f64>,
}

with_keys!(
    TradeOff => TradeOffKeys,
    Levels => LevelsKeys,
    GaussianFit => GaussianFitKeys,
    BandEpsilon => BandEpsilonKeys,
);
