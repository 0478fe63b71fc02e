//! Figures of pairs of secrets.

use serde::{Serialize, Serializer};

use super::with_keys;
use crate::audit::{
    Distributions, EpsilonLimit, Pair, PairFigures, PrivacyLimit, Shape, TotalVariationPoints,
    TradeOff, WorstPair,
};
use crate::estimate::{Estimate, Reason};
use leakgauge_base::quantity::PrivacyParameter;

/// The two labels.
impl Serialize for Pair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.labels().serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(remote = "WorstPair")]
struct WorstPairKeys {
    secrets: Pair,
    bayes_security: Estimate,
    total_variation: Estimate,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_variation_points: Option<TotalVariationPoints>,
    advantage: Estimate,
    attack_advantage: Estimate,
    epsilon: EpsilonLimit,
    trade_off: Option<TradeOff>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trade_off_reason: Option<Reason>,
    distributions: Option<Distributions>,
}

#[derive(Serialize)]
#[serde(remote = "PairFigures")]
struct PairFiguresKeys {
    secrets: Pair,
    bayes_security: Estimate,
    total_variation: Estimate,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_variation_points: Option<TotalVariationPoints>,
    advantage: Estimate,
}

#[derive(Serialize)]
#[serde(remote = "TotalVariationPoints", rename_all = "kebab-case")]
struct TotalVariationPointsKeys {
    plug_in: f64,
    minimax: Option<f64>,
    held_out_attack: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_fitted_attack: Option<f64>,
    distinct: u64,
    effective_rows: f64,
    seen_once: f64,
}

#[derive(Serialize)]
#[serde(remote = "EpsilonLimit")]
struct EpsilonLimitKeys {
    secrets: Pair,
    point: Option<f64>,
    lower: Option<f64>,
    delta: f64,
}

#[derive(Serialize)]
struct PrivacyLimitKeys<'a> {
    quantity: PrivacyParameter,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    secrets: &'a Pair,
    point: Option<f64>,
    lower: Option<f64>,
}

impl Serialize for PrivacyLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = PrivacyLimitKeys {
            quantity: self.quantity,
            delta: self.quantity.delta(),
            secrets: &self.secrets,
            point: self.point,
            lower: self.lower,
        };
        keys.serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(remote = "Distributions")]
struct DistributionsKeys {
    column: String,
    columns: usize,
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Serialize)]
#[serde(remote = "Shape", tag = "kind", rename_all = "lowercase")]
enum ShapeKeys {
    Numbers {
        edges: Vec<f64>,
        shares: [Vec<f64>; 2],
        beyond: f64,
    },
    Labels {
        labels: Vec<String>,
        shares: [Vec<f64>; 2],
    },
}

with_keys!(
    WorstPair => WorstPairKeys,
    PairFigures => PairFiguresKeys,
    TotalVariationPoints => TotalVariationPointsKeys,
    EpsilonLimit => EpsilonLimitKeys,
    Distributions => DistributionsKeys,
    Shape => ShapeKeys,
);
