//! The whole report of an audit.

use leakgauge_base::Tool;
use serde::Serialize;

use super::columns::{ColumnLimitsKeys, ColumnsKeys};
use super::differences::{BlockKeys, DifferenceKeys};
use super::input::Input;
use super::method::Method;
use super::{described_by, with_keys};
use crate::audit::{
    Asymptotic, ClaimReport, Convergence, ConvergencePoint, Correction, Detection, Extrapolated,
    Findings, LevelShare, LevelUse, Multiplicity, Overall, Pair, PairFigures, PrivacyLimit,
    SmallestLeak, WorstPair,
};
use crate::audit::{GLeakage, LeakageFamily, PriorChoice, Reconstruction, Warning};
use crate::estimate::Estimate;
use crate::report::pairs::{left_out, listed};
use crate::report::sentences::assumptions::assumption;
use crate::report::sentences::{learning, no_leak};

/// The keys of the report.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// Seed of every random choice.
    seed: u64,
    /// Level of every limit.
    confidence: f64,
    /// What was read.
    input: Input<'a>,
    /// What the reader should know before believing.
    warnings: &'a [Warning],
    /// How it was done.
    method: Method<'a>,
    /// What the limits rest on.
    assumptions: Vec<String>,
    /// The pair that is easiest to tell apart.
    worst_pair: &'a WorstPair,
    /// What privacy needs at least: ε at δ = 0, then what claims of privacy are judged by.
    privacy: &'a [PrivacyLimit],
    /// The success of a reconstruction at the given κ; only where it was asked for.
    #[serde(skip_serializing_if = "<[Reconstruction]>::is_empty")]
    reconstruction: &'a [Reconstruction],
    /// The leakage family at the prior, in nats; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    leakage_family: &'a Option<LeakageFamily>,
    /// The expected gain or loss of an attacker by a function of the user's; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    g_leakage: &'a Option<GLeakage>,
    /// The pairs: all in the order of their secrets, or of very many those with the largest lower limits, these first.
    pairs: Vec<PairFigures>,
    /// How many pairs are not listed in `pairs`; absent if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs_left_out: Option<usize>,
    /// How the figures of `pairs` hold together.
    multiplicity: &'a Multiplicity,
    /// How the error probability is shared: limits that claims read take their parts of it.
    level: Vec<LevelKeys<'a>>,
    /// What was measured in blocks; only of such logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<BlockKeys>,
    /// Differences of times between secrets, those that differ most first; only of logs of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<DifferenceKeys<'a>>>,
    /// The pairs that claims of privacy are about, if they were given; otherwise all pairs are.
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbors: &'a Option<Vec<Pair>>,
    /// Evidence that the log leaks anything at all; null where it was not computed.
    no_leak: Option<NoLeakKeys>,
    /// Which columns of numbers depend on the secret; null of one column, and where it was not computed.
    leaking_columns: Option<ColumnsKeys<'a>>,
    /// How well single columns tell two secrets apart, with limits; null of fewer than ten columns of numbers, and where
    /// limits count something else than rows.
    column_limits: Option<ColumnLimitsKeys<'a>>,
    /// Figures of the whole log.
    overall: &'a Overall,
    /// The numbers of the secrets in an order that puts those hard to tell apart side by side; `None`
    /// with more than 200.
    secrets_by_likeness: &'a Option<Vec<u32>>,
    /// Whether more rows would help; `None` where there are too few to tell.
    convergence: &'a Option<Convergence>,
    /// One entry a claim.
    claims: &'a [ClaimReport],
    /// Whether a log of this size could have shown the leaks of --must-detect; only where it was asked for.
    #[serde(skip_serializing_if = "<[Detection]>::is_empty")]
    must_detect: &'a [Detection],
    /// The smallest leak that a log of this size shows; only of logs with few labels that show none.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_leak: Option<SmallestLeak>,
}

impl<'a> Audit<'a> {
    /// The report with at most so many pairs.
    pub fn of(found: &'a Findings, most_pairs: usize) -> Self {
        Audit {
            schema_version: 1,
            tool: Tool::default(),
            seed: found.seed,
            confidence: found.confidence,
            input: Input::of(&found.input),
            warnings: &found.warnings,
            method: Method::of(found),
            assumptions: found.assumptions.iter().map(assumption).collect(),
            worst_pair: &found.worst_pair,
            privacy: &found.privacy,
            reconstruction: &found.reconstruction,
            g_leakage: &found.g_leakage,
            leakage_family: &found.leakage_family,
            pairs: (listed(found, most_pairs).into_iter())
                .map(|pair| found.with_points(pair))
                .collect(),
            pairs_left_out: Some(left_out(found, most_pairs)).filter(|left_out| *left_out > 0),
            multiplicity: &found.multiplicity,
            level: found.level.iter().map(LevelKeys::of).collect(),
            blocks: found.differences.as_ref().and_then(BlockKeys::of),
            differences: found.differences.as_ref().map(DifferenceKeys::all),
            neighbors: &found.neighbors,
            no_leak: found.no_leak.as_ref().map(|found| NoLeakKeys {
                p_value: found.p_value,
                test: no_leak::test(found),
            }),
            leaking_columns: found.leaking_columns.as_ref().map(ColumnsKeys::of),
            column_limits: found.column_limits.as_ref().map(ColumnLimitsKeys::of),
            overall: &found.overall,
            secrets_by_likeness: &found.secrets_by_likeness,
            convergence: &found.convergence,
            claims: &found.claims,
            must_detect: &found.detections,
            smallest_leak: found.smallest_leak,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NoLeakKeys {
    /// p-value of "no leak at all".
    p_value: f64,
    /// The test.
    test: String,
}

/// A part of the error probability.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LevelKeys<'a> {
    /// What takes it.
    limit: LevelUse,
    /// The two secrets; null where it is about all pairs.
    secrets: Option<&'a Pair>,
    /// The part of the whole error probability, 1 − confidence.
    share: f64,
}

impl<'a> LevelKeys<'a> {
    fn of(share: &'a LevelShare) -> Self {
        LevelKeys {
            limit: share.limit,
            secrets: share.secrets.as_ref(),
            share: share.share,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Multiplicity")]
struct MultiplicityKeys {
    /// The number of pairs.
    pairs: usize,
    /// The correction.
    correction: Correction,
    /// How many limits that a claim reads share the error probability.
    limits_read_by_claims: usize,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Overall")]
struct OverallKeys {
    /// β* = 1 − the largest total variation of all pairs.
    bayes_security: Estimate,
    /// The prior of the figures below.
    prior: PriorChoice,
    /// 1 − max π.
    guessing_error: f64,
    /// R*.
    bayes_risk: Estimate,
    /// β(π, C) = R*/G.
    risk_leakage: Estimate,
    /// L×.
    multiplicative_leakage: Estimate,
    /// L⁺.
    additive_leakage: Estimate,
    /// ln L×, nats.
    min_entropy_leakage: Estimate,
    /// log₂ L×, bits.
    min_entropy_leakage_bits: Estimate,
    /// ML×: the largest L× over all priors.
    capacity: Estimate,
}

impl Serialize for PriorChoice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

described_by!(PriorChoice => String);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ConvergenceKeys<'a> {
    /// The attack learned from ever more rows, tried on the same rows.
    points: &'a [ConvergencePoint],
    /// Rows it was tried on, certification rows all of them.
    judged_rows: u64,
    /// Where the Bayes risk of this kind of attack seems to end; `None` with fewer than three points.
    bayes_risk: Option<Extrapolated>,
    /// Where the advantage at the worst pair seems to end.
    total_variation: Option<Extrapolated>,
    /// What the nearest neighbor would say of the true Bayes risk if it had seen infinitely many rows.
    cover_hart: Option<Asymptotic>,
    /// Whether more rows would help.
    conclusion: String,
}

impl Serialize for Convergence {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = ConvergenceKeys {
            points: &self.points,
            judged_rows: self.judged_rows,
            bayes_risk: self.bayes_risk,
            total_variation: self.total_variation,
            cover_hart: self.cover_hart,
            conclusion: learning::conclusion(&self.conclusion),
        };
        keys.serialize(serializer)
    }
}

described_by!(Convergence => ConvergenceKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ConvergencePoint")]
struct ConvergencePointKeys {
    /// Rows it learned from.
    rows: u64,
    /// Its risk at the prior.
    bayes_risk: f64,
    /// Its advantage at the worst pair.
    total_variation: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Extrapolated")]
struct ExtrapolatedKeys {
    /// The value that the curve approaches.
    limit: f64,
    /// Its standard error, approximately.
    standard_error: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Asymptotic")]
struct AsymptoticKeys {
    /// The true Bayes risk, were the error below that of infinitely many rows; secrets as frequent as in
    /// the log (Cover and Hart 1967).
    bayes_risk: [f64; 2],
    /// Error of the nearest neighbor.
    nearest_neighbor_error: f64,
    /// Rows it learned from.
    rows: u64,
}

with_keys!(
    Multiplicity => MultiplicityKeys,
    Overall => OverallKeys,
    ConvergencePoint => ConvergencePointKeys,
    Extrapolated => ExtrapolatedKeys,
    Asymptotic => AsymptoticKeys,
);
