//! Figures of pairs of secrets.

use serde::{Serialize, Serializer};

use super::witness::WitnessKeys;
use super::{described_by, with_keys};
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

described_by!(Pair => [String; 2]);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "WorstPair")]
struct WorstPairKeys {
    /// The two secrets.
    secrets: Pair,
    /// 1 − total variation.
    bayes_security: Estimate,
    /// Total variation.
    total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_variation_points: Option<TotalVariationPoints>,
    /// Of the optimal adversary.
    advantage: Estimate,
    /// Of the best attack found.
    attack_advantage: Estimate,
    /// What differential privacy needs at least.
    epsilon: EpsilonLimit,
    /// What the attack's score achieves at every threshold.
    trade_off: Option<TradeOff>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    trade_off_reason: Option<Reason>,
    /// The rows of both secrets, in the column in which they differ most.
    distributions: Option<Distributions>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "PairFigures")]
struct PairFiguresKeys {
    /// The two secrets.
    secrets: Pair,
    /// 1 − total variation.
    #[serde(getter = "PairFigures::bayes_security")]
    bayes_security: Estimate,
    /// Total variation.
    total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_variation_points: Option<Box<TotalVariationPoints>>,
    /// Of the optimal adversary.
    #[serde(getter = "PairFigures::advantage")]
    advantage: Estimate,
    /// Of an observer who is asked which of two measurements of a block is which; only where there are blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    paired_advantage: Option<Box<Estimate>>,
    /// p-value of "no leak between these two", all pairs together (Holm); null where it was not computed.
    no_leak_p_value: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "TotalVariationPoints", rename_all = "kebab-case")]
struct TotalVariationPointsKeys {
    /// Of the empirical frequencies: biased upward, by much where observations are many and rows few.
    plug_in: f64,
    /// See [`leakgauge_attack::measure::minimax_tv`]; `None` with fewer than 16 rows.
    minimax: Option<f64>,
    /// The attack on the certification rows.
    held_out_attack: Option<f64>,
    /// Attacks on all rows, raised to what is certified.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_fitted_attack: Option<f64>,
    /// Distinct observations of the pair in the rows of plug-in and minimax.
    distinct: u64,
    /// Harmonic mean of the two secrets' numbers of these rows.
    effective_rows: f64,
    /// Share of rows whose observation was seen once.
    seen_once: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "EpsilonLimit")]
struct EpsilonLimitKeys {
    /// The pair it was found at, which may be another than the worst for total variation; where the limit is about some
    /// pair, the one that was looked at first.
    secrets: Pair,
    /// Whether the limit is about some pair, which what proves it does not name.
    is_of_some_pair: bool,
    /// The estimate from the bare error rates; `None` if one is 0.
    point: Option<f64>,
    /// The limit.
    lower: Option<f64>,
    /// The δ it is for.
    delta: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PrivacyLimitKeys<'a> {
    /// ε for a δ, μ of Gaussian, ρ of zero-concentrated or a divergence of Rényi differential privacy.
    quantity: PrivacyParameter,
    /// The δ that an ε is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    /// The order of a Rényi divergence.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<f64>,
    /// The pair it was found at, chosen on the tuning rows; null where it is about some pair.
    secrets: Option<&'a Pair>,
    /// The estimate from the bare error rates; `None` if it is infinite.
    point: Option<f64>,
    /// The limit.
    lower: Option<f64>,
    /// What proves the limit; only where it is above 0 and the log was split.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessKeys<'a>>,
}

impl Serialize for PrivacyLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = PrivacyLimitKeys {
            quantity: self.quantity,
            delta: self.quantity.delta(),
            order: self.quantity.order(),
            secrets: (!self.is_of_some_pair).then_some(&self.secrets),
            point: self.point,
            lower: self.lower,
            witness: self.witness.as_ref().map(WitnessKeys::of),
        };
        keys.serialize(serializer)
    }
}

described_by!(PrivacyLimit => PrivacyLimitKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Distributions")]
struct DistributionsKeys {
    /// The column.
    column: String,
    /// Out of so many columns, the one with the largest difference in these pictures.
    columns: usize,
    /// The picture.
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Shape", tag = "kind", rename_all = "lowercase")]
enum ShapeKeys {
    /// Of a number: shares of each secret's rows between the edges and beyond them.
    Numbers {
        /// Ends of the bins, one more than there are bins.
        edges: Vec<f64>,
        /// Whether bins are equally wide on a logarithmic axis.
        logarithmic: bool,
        /// For each secret, a share a bin.
        shares: [Vec<f64>; 2],
        /// For each secret, the shares of its rows before the first and after the last edge.
        outside: [[f64; 2]; 2],
        /// Share of the rows of both that lie beyond the first and the last edge.
        beyond: f64,
    },
    /// Of labels, or of few numbers.
    Labels {
        /// The likeliest; an empty label stands for all others.
        labels: Vec<String>,
        /// For each secret, a share a bin.
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
