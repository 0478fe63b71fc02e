//! What an audit says, as a serialisable model with the keys of the JSON report. Renderers read this
//! and compute nothing.

use std::fmt;

use serde::Serialize;

use crate::audit::distributions::Distributions;
use crate::audit::tallies::Tallies;
use crate::audit::trade_off::TradeOff;
use crate::audit::warning::Warning;
use crate::estimate::Estimate;
use leakgauge_attack::scorer::{Origin, Parameters};
use leakgauge_attack::tuning::{Failure, Tried};
use leakgauge_base::Tool;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::Claim;
use leakgauge_log::Format;
use leakgauge_log::observations::{Column, ObservationKind};

/// The whole report.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    /// Version of this layout.
    pub schema_version: u32,
    /// Program and version.
    pub tool: Tool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Level of every limit.
    pub confidence: f64,
    /// What was read.
    pub input: Input,
    /// What the reader should know before believing.
    pub warnings: Vec<Warning>,
    /// How it was done.
    pub method: MethodSection,
    /// What the limits rest on.
    pub assumptions: Vec<String>,
    /// The pair that is easiest to tell apart.
    pub worst_pair: WorstPair,
    /// What privacy needs at least: ε at δ = 0, then what claims of privacy are judged by.
    pub privacy: Vec<PrivacyLimit>,
    /// Every pair.
    pub pairs: Vec<PairFigures>,
    /// How the figures of `pairs` hold together.
    pub multiplicity: Multiplicity,
    /// Figures of the whole log.
    pub overall: Overall,
    /// The numbers of the secrets in an order that puts those hard to tell apart side by side; `None`
    /// with more than 200.
    pub secrets_by_likeness: Option<Vec<u32>>,
    /// Whether more rows would help; `None` where there are too few to tell.
    pub convergence: Option<Convergence>,
    /// One entry a claim.
    pub claims: Vec<ClaimReport>,
    /// The counts behind points and limits, for figures of several logs.
    #[serde(skip)]
    pub tallies: Tallies,
}

/// What was read.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// The files of the log.
    pub files: Vec<String>,
    /// The log that was learned from, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit_on: Option<String>,
    /// Rows of the files.
    pub rows: u64,
    /// Rows used.
    pub rows_used: u64,
    /// What the rows used are a sample of, if they are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// The same of the rows that were learned from, if in another log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit_on_sampled: Option<Sampled>,
    /// Whether the rows were aggregated, with their counts in a column.
    pub aggregated: bool,
    /// Whether row 1 was a header.
    pub header: bool,
    /// Whether that was found out rather than said.
    pub header_detected: bool,
    /// How the rows are written down.
    pub format: Format,
    /// What separates fields; null where nothing does.
    pub delimiter: Option<char>,
    /// Whether every column was a secret, and every cell an observation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// What was made of the log beyond reading it: files put together, lists taken apart, units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The column of the secret.
    pub secret_column: String,
    /// The secrets and their rows.
    pub secrets: Vec<SecretRows>,
    /// The observation.
    pub observation: Observation,
}

/// What a sample of rows was drawn from.
#[derive(Debug, Clone, Serialize)]
pub struct Sampled {
    /// The limit: distinct pairs of a secret and an observation beyond it are sampled, to so many rows.
    pub max_rows: u64,
    /// Rows kept of a secret at most.
    pub cap: u64,
    /// Rows in the sample.
    pub rows_used: u64,
    /// Rows that it was drawn from.
    pub rows: u64,
    /// The secrets and how many of these rows they have.
    pub secrets: Vec<SecretRows>,
}

/// A secret and its rows.
#[derive(Debug, Clone, Serialize)]
pub struct SecretRows {
    /// Its label.
    pub label: String,
    /// Its rows.
    pub rows: u64,
}

/// What an observer sees.
#[derive(Debug, Clone, Serialize)]
pub struct Observation {
    /// Discrete, numeric or mixed.
    pub kind: ObservationKind,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Distinct observations.
    pub distinct: usize,
}

/// How it was done.
#[derive(Debug, Clone, Serialize)]
pub struct MethodSection {
    /// The attacker.
    pub scorer: String,
    /// Where its scores come from.
    #[serde(skip)]
    pub origin: Origin,
    /// What was chosen for it.
    pub parameters: Parameters,
    /// The same in words.
    pub in_words: String,
    /// How neighbours were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<&'static str>,
    /// `random` or `blocks`.
    pub split: &'static str,
    /// How rows were used.
    pub rows: PartRows,
    /// Nominal seconds that trying and judging may take.
    pub budget: f64,
    /// In a split by time: how many independent rows the certify rows of each secret are worth, for the
    /// pair where that is least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_rows: Option<Vec<SecretRows>>,
    /// Everything that was tried on the tune rows.
    pub tried: Vec<TriedScorer>,
}

/// Rows of the three parts.
#[derive(Debug, Clone, Serialize)]
pub struct PartRows {
    /// Learned from.
    pub fit: u64,
    /// Chosen on.
    pub tune: u64,
    /// Judged on.
    pub certify: u64,
}

/// An attacker that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct TriedScorer {
    /// Its name.
    pub scorer: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// The same in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub in_words: String,
    /// The sum of the next three, approximate lower limits on the tune rows: what decides.
    pub quality: Option<f64>,
    /// The largest advantage of all pairs.
    pub advantage: Option<f64>,
    /// The mean advantage of all pairs.
    pub mean_advantage: Option<f64>,
    /// The advantage of naming one of all k secrets, equally likely: (success − 1/k)/(1 − 1/k).
    pub naming_advantage: Option<f64>,
    /// Nominal seconds, three significant digits. Attackers that were fitted together share them.
    pub cost: f64,
    /// Rows it learned from.
    pub rows: u64,
    /// Why it could not be fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

impl TriedScorer {
    pub(super) fn new(tried: &Tried) -> Self {
        let quality = tried.quality.as_ref().ok();
        let (failed, skipped) = match &tried.quality {
            Err(Failure::Unfit(reason)) => (Some(reason.clone()), None),
            Err(Failure::Skipped(reason)) => (None, Some(reason.clone())),
            Ok(_) => (None, None),
        };
        TriedScorer {
            scorer: tried.scorer.clone(),
            parameters: tried.parameters.clone(),
            in_words: tried.description.clone(),
            quality: quality.map(|quality| quality.total()),
            advantage: quality.map(|quality| quality.largest),
            mean_advantage: quality.map(|quality| quality.mean),
            naming_advantage: quality.map(|quality| quality.naming),
            cost: tried.cost,
            rows: tried.rows,
            failed,
            skipped,
        }
    }
}

/// The pair that is easiest to tell apart; its limits hold on their own.
#[derive(Debug, Clone, Serialize)]
pub struct WorstPair {
    /// The two secrets.
    pub secrets: [String; 2],
    /// 1 − total variation.
    pub bayes_security: Estimate,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_variation_points: Option<TotalVariationPoints>,
    /// Of the optimal adversary.
    pub advantage: Estimate,
    /// Of the best attack found.
    pub attack_advantage: Estimate,
    /// What differential privacy needs at least.
    pub epsilon: EpsilonLimit,
    /// What the attack's score achieves at every threshold.
    pub trade_off: Option<TradeOff>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off_reason: Option<&'static str>,
    /// The rows of both secrets, in the column in which they differ most.
    pub distributions: Option<Distributions>,
}

/// Points of the total variation of a pair of a discrete log; for the worst pair plug-in and minimax are
/// from rows that did not choose it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TotalVariationPoints {
    /// Of the empirical frequencies: biased upward, by much where observations are many and rows few.
    pub plug_in: f64,
    /// See [`leakgauge_attack::measure::minimax_tv`]; `None` with fewer than 16 rows.
    pub minimax: Option<f64>,
    /// The attack on the certify rows.
    pub held_out_attack: Option<f64>,
    /// Attacks on all rows, raised to what is certified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_fitted_attack: Option<f64>,
    /// Distinct observations of the pair in the rows of plug-in and minimax.
    pub distinct: u64,
    /// Harmonic mean of the two secrets' numbers of these rows.
    pub effective_rows: f64,
    /// Share of rows whose observation was seen once.
    pub seen_once: f64,
}

/// A lower limit of ε.
#[derive(Debug, Clone, Serialize)]
pub struct EpsilonLimit {
    /// The pair it was found at, which may be another than the worst for total variation.
    pub secrets: [String; 2],
    /// The estimate from the bare error rates; `None` if one is 0.
    pub point: Option<f64>,
    /// The limit.
    pub lower: Option<f64>,
    /// The δ it is for.
    pub delta: f64,
}

/// A lower limit of what privacy needs.
#[derive(Debug, Clone, Serialize)]
pub struct PrivacyLimit {
    /// ε, μ of Gaussian or ρ of zero-concentrated differential privacy.
    pub quantity: PrivacyParameter,
    /// The δ that a limit of ε is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// The pair it was found at, chosen on the tune rows.
    pub secrets: [String; 2],
    /// The estimate from the bare error rates; `None` if it is infinite.
    pub point: Option<f64>,
    /// The limit.
    pub lower: Option<f64>,
}

/// The figures of a pair; the limits of all pairs hold together.
#[derive(Debug, Clone, Serialize)]
pub struct PairFigures {
    /// The two secrets.
    pub secrets: [String; 2],
    /// 1 − total variation.
    pub bayes_security: Estimate,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_variation_points: Option<TotalVariationPoints>,
    /// Of the optimal adversary.
    pub advantage: Estimate,
}

/// How the limits of all pairs hold together.
#[derive(Debug, Clone, Serialize)]
pub struct Multiplicity {
    /// The number of pairs.
    pub pairs: usize,
    /// The correction.
    pub correction: &'static str,
    /// How many limits that a claim reads share the error probability.
    pub limits_read_by_claims: usize,
}

/// Figures of the whole log.
#[derive(Debug, Clone, Serialize)]
pub struct Overall {
    /// β* = 1 − the largest total variation of all pairs.
    pub bayes_security: Estimate,
    /// The prior of the figures below.
    pub prior: String,
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

/// Whether more rows would help.
#[derive(Debug, Clone, Serialize)]
pub struct Convergence {
    /// The attack learned from ever more rows, tried on the same rows.
    pub points: Vec<ConvergencePoint>,
    /// Rows it was tried on, certify rows all of them.
    pub judged_rows: u64,
    /// Where the Bayes risk of this kind of attack seems to end; `None` with fewer than three points.
    pub bayes_risk: Option<Extrapolated>,
    /// Where the advantage at the worst pair seems to end.
    pub total_variation: Option<Extrapolated>,
    /// What the nearest neighbour would say of the true Bayes risk if it had seen infinitely many rows.
    pub cover_hart: Option<Asymptotic>,
    /// Whether more rows would help, in words.
    pub conclusion: String,
}

/// The attack learned from so many rows. Points, not limits.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ConvergencePoint {
    /// Rows it learned from.
    pub rows: u64,
    /// Its risk at the prior.
    pub bayes_risk: f64,
    /// Its advantage at the worst pair.
    pub total_variation: f64,
}

/// Where a curve seems to end. Not a limit: nothing bounds how far an extrapolation may be off.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Extrapolated {
    /// The value that the curve approaches.
    pub limit: f64,
    /// Its standard error, approximately.
    pub standard_error: f64,
}

/// A bracket that holds for infinitely many rows only: no limit of this log.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Asymptotic {
    /// The true Bayes risk, were the error below that of infinitely many rows; secrets as frequent as in
    /// the log (Cover and Hart 1967).
    pub bayes_risk: [f64; 2],
    /// Error of the nearest neighbour.
    pub nearest_neighbor_error: f64,
    /// Rows it learned from.
    pub rows: u64,
}

/// The answer to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A certified upper limit is within the claim for every pair.
    Holds,
    /// A certified lower limit exceeds what the claim allows.
    Violated,
    /// Neither.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimReport {
    /// The claim; in JSON as it was written.
    pub claim: Claim,
    /// Which quantity decides.
    pub quantity: Quantity,
    /// What the claim says of it.
    pub analytic: f64,
    /// The pair that decides.
    pub pair: [String; 2],
    /// What the log says of it.
    pub estimate: Estimate,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Rows at which the same rates would decide, if any number would.
    pub rows_needed: Option<u64>,
    /// How well the log fits a claimed mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// Goodness of fit of a log to a claimed mechanism. It never changes the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Smallest p-value over secrets, Holm-corrected; `None` if the law cannot be compared.
    pub p_value: Option<f64>,
    /// The test, or why there is none.
    pub test: String,
}
