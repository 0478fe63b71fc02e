//! What an audit finds: indices, enums and numbers. The texts in it are the user's own: labels of secrets,
//! names of columns and files. How findings are written and which keys they have in JSON is the matter of
//! [`report`](crate::report).

use std::fmt;

use serde::Serialize;

use crate::audit::assumptions::Assumption;
use crate::audit::claim_reason::ClaimReason;
use crate::audit::conclusion::Conclusion;
use crate::audit::detection::Detection;
use crate::audit::differences::Differences;
use crate::audit::distributions::Distributions;
use crate::audit::family::LeakageFamily;
use crate::audit::goodness::Fit;
use crate::audit::no_leak::NoLeak;
use crate::audit::options::{PriorChoice, SplitChoice};
use crate::audit::pair::{Labels, Pair};
use crate::audit::reconstruction::Reconstruction;
use crate::audit::tallies::Tallies;
use crate::audit::trade_off::TradeOff;
use crate::audit::warning::Warning;
use crate::audit::witness::Witness;
use crate::estimate::{Estimate, Reason};
use leakgauge_attack::scorer::{Origin, Parameters};
use leakgauge_attack::tuning::{Budget, Tried};
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::Claim;
use leakgauge_log::observations::{Column, ObservationKind};
use leakgauge_log::{InputFacts, SampledFrom};

/// All findings about a log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Findings {
    /// Seed of every random choice.
    pub seed: u64,
    /// Level of every limit.
    pub confidence: f64,
    /// What was read.
    pub input: Input,
    /// What the reader should know before believing.
    pub warnings: Vec<Warning>,
    /// How it was done.
    pub method: MethodUsed,
    /// What the limits rest on.
    pub assumptions: Vec<Assumption>,
    /// The pair that is easiest to tell apart.
    pub worst_pair: WorstPair,
    /// What privacy needs at least: ε at δ = 0, then what claims of privacy are judged by.
    pub privacy: Vec<PrivacyLimit>,
    /// The success of a reconstruction, where it was asked for.
    pub reconstruction: Vec<Reconstruction>,
    /// The leakage family, where it was asked for.
    pub leakage_family: Option<LeakageFamily>,
    /// Every pair.
    pub pairs: Vec<PairFigures>,
    /// How the figures of `pairs` hold together.
    pub multiplicity: Multiplicity,
    /// Differences in the unit of the measurements, where they come in blocks.
    pub differences: Option<Differences>,
    /// The pairs that claims of privacy are about, if not all.
    pub neighbors: Option<Vec<Pair>>,
    /// Evidence that the log leaks anything at all; `None` where rows may depend on those nearby, and where only
    /// limits were asked for.
    pub no_leak: Option<NoLeak>,
    /// Figures of the whole log.
    pub overall: Overall,
    /// The numbers of the secrets in an order that puts those hard to tell apart side by side; `None`
    /// with more than 200.
    pub secrets_by_likeness: Option<Vec<u32>>,
    /// Whether more rows would help; `None` where there are too few to tell.
    pub convergence: Option<Convergence>,
    /// One entry a claim.
    pub claims: Vec<ClaimReport>,
    /// Whether a log of this size could have shown leaks of given sizes, where that was asked for
    /// ([`crate::power::detection`]).
    pub detections: Vec<Detection>,
    /// The counts behind points and limits, for figures of several logs.
    pub tallies: Tallies,
}

impl Findings {
    /// A pair with all estimates of its total variation.
    #[must_use]
    pub fn with_points(&self, pair: &PairFigures) -> PairFigures {
        let mut pair = pair.clone();
        let points = self.tallies.points(pair.secrets.secrets());
        pair.total_variation_points = points.map(Box::new);
        pair
    }
}

/// What was read. The labels of the secrets stand here and nowhere else.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Input {
    /// What was found while reading.
    pub facts: InputFacts,
    /// The labels of the secrets, by index.
    pub secrets: Labels,
    /// Rows of every secret.
    pub rows_of_secrets: Vec<u64>,
    /// Discrete, numeric or mixed.
    pub kind: ObservationKind,
    /// The columns that an observer sees.
    pub columns: Vec<Column>,
    /// Distinct observations.
    pub distinct: usize,
    /// The units that limits count, where they do not count rows.
    pub units: Option<CountedUnits>,
}

/// The units that limits count.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CountedUnits {
    /// The column that names them.
    pub column: String,
    /// How many there are.
    pub units: u64,
    /// How many have rows of each secret.
    pub of_secrets: Vec<u64>,
    /// How many are in each part; `None` before the log is split.
    pub parts: Option<PartRows>,
}

impl Input {
    /// What the rows used are a sample of, if they are one.
    pub fn sampled(&self) -> Option<Sample> {
        self.sample(self.facts.sampled.as_ref())
    }

    /// The same of the rows that were learned from, if they are in another log.
    pub fn fit_sampled(&self) -> Option<Sample> {
        self.sample(self.facts.fit_sampled.as_ref())
    }

    fn sample(&self, from: Option<&SampledFrom>) -> Option<Sample> {
        from.map(|from| Sample {
            secrets: self.secrets.clone(),
            from: from.clone(),
        })
    }
}

/// What a sample of rows was drawn from, with the labels of the secrets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sample {
    /// The labels of the secrets, by index.
    pub secrets: Labels,
    /// Rows and limits.
    pub from: SampledFrom,
}

/// How it was done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MethodUsed {
    /// The attacker.
    pub scorer: String,
    /// Where its scores come from.
    pub origin: Origin,
    /// What was chosen for it.
    pub parameters: Parameters,
    /// The same as the attacker describes it.
    pub description: String,
    /// How neighbors were found.
    pub index: Option<&'static str>,
    /// How rows were split.
    pub split: SplitChoice,
    /// How rows were used.
    pub rows: PartRows,
    /// Nominal seconds that trying and judging may take.
    pub budget: Budget,
    /// In a split by time, for each secret: how many independent rows its certification rows are worth, for
    /// the pair where that is least.
    pub effective_rows: Option<Vec<u64>>,
    /// Everything that was tried on the tuning rows.
    pub tried: Vec<Tried>,
}

/// Rows, or units, of the three parts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartRows {
    /// Learned from.
    pub fit: u64,
    /// Chosen on.
    pub tune: u64,
    /// Judged on.
    pub certify: u64,
}

/// The pair that is easiest to tell apart; its limits hold on their own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorstPair {
    /// The two secrets.
    pub secrets: Pair,
    /// 1 − total variation.
    pub bayes_security: Estimate,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
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
    pub trade_off_reason: Option<Reason>,
    /// The rows of both secrets, in the column in which they differ most.
    pub distributions: Option<Distributions>,
}

/// Points of the total variation of a pair of a discrete log; for the worst pair plug-in and minimax are
/// from rows that did not choose it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TotalVariationPoints {
    /// Of the empirical frequencies: biased upward, by much where observations are many and rows few.
    pub plug_in: f64,
    /// See [`leakgauge_attack::measure::minimax_tv`]; `None` with fewer than 16 rows.
    pub minimax: Option<f64>,
    /// The attack on the certification rows.
    pub held_out_attack: Option<f64>,
    /// Attacks on all rows, raised to what is certified.
    pub cross_fitted_attack: Option<f64>,
    /// Distinct observations of the pair in the rows of plug-in and minimax.
    pub distinct: u64,
    /// Harmonic mean of the two secrets' numbers of these rows.
    pub effective_rows: f64,
    /// Share of rows whose observation was seen once.
    pub seen_once: f64,
}

/// A lower limit of ε.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EpsilonLimit {
    /// The pair it was found at, which may be another than the worst for total variation.
    pub secrets: Pair,
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
    /// The estimate from the bare error rates; `None` if it is infinite.
    pub point: Option<f64>,
    /// The limit.
    pub lower: Option<f64>,
    /// What proves it, where it proves anything.
    pub witness: Option<Witness>,
}

/// The figures of a pair; the limits of all pairs hold together. A log of thousands of secrets has millions of pairs:
/// what follows from another figure is not kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairFigures {
    /// The two secrets.
    pub secrets: Pair,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation, where they were asked for ([`Findings::with_points`]); discrete logs only.
    pub total_variation_points: Option<Box<TotalVariationPoints>>,
    /// Of an observer who is asked which of two measurements of a block is which, where there are blocks.
    pub paired_advantage: Option<Box<Estimate>>,
    /// p-value of "no leak between these two", corrected so that all pairs hold together (Holm); `None` where it
    /// was not computed.
    pub no_leak_p_value: Option<f64>,
}

impl PairFigures {
    /// 1 − total variation.
    pub fn bayes_security(&self) -> Estimate {
        self.total_variation.decreasing(|tv| 1.0 - tv)
    }

    /// Of the optimal adversary: the total variation.
    pub fn advantage(&self) -> Estimate {
        self.total_variation.clone()
    }
}

/// How the limits of all pairs hold together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Multiplicity {
    /// The number of pairs.
    pub pairs: usize,
    /// The correction.
    pub correction: Correction,
    /// How many limits that a claim reads share the error probability.
    pub limits_read_by_claims: usize,
}

/// How limits of several pairs are made to hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// There is one pair only.
    None,
    /// Each at a part of the level, settled before the rows that judge were looked at.
    Bonferroni,
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Correction::None => "none",
            Correction::Bonferroni => "bonferroni",
        })
    }
}

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

/// Whether more rows would help.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Convergence {
    /// The attack learned from ever more rows, tried on the same rows.
    pub points: Vec<ConvergencePoint>,
    /// Rows it was tried on, certification rows all of them.
    pub judged_rows: u64,
    /// Where the Bayes risk of this kind of attack seems to end; `None` with fewer than three points.
    pub bayes_risk: Option<Extrapolated>,
    /// Where the advantage at the worst pair seems to end.
    pub total_variation: Option<Extrapolated>,
    /// What the nearest neighbor would say of the true Bayes risk if it had seen infinitely many rows.
    pub cover_hart: Option<Asymptotic>,
    /// Whether more rows would help.
    pub conclusion: Conclusion,
}

/// The attack learned from so many rows. Points, not limits.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConvergencePoint {
    /// Rows it learned from.
    pub rows: u64,
    /// Its risk at the prior.
    pub bayes_risk: f64,
    /// Its advantage at the worst pair.
    pub total_variation: f64,
}

/// Where a curve seems to end. Not a limit: nothing bounds how far an extrapolation may be off.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Extrapolated {
    /// The value that the curve approaches.
    pub limit: f64,
    /// Its standard error, approximately.
    pub standard_error: f64,
}

/// A bracket that holds for infinitely many rows only: no limit of this log.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Asymptotic {
    /// The true Bayes risk, were the error below that of infinitely many rows; secrets as frequent as in
    /// the log (Cover and Hart 1967).
    pub bayes_risk: [f64; 2],
    /// Error of the nearest neighbor.
    pub nearest_neighbor_error: f64,
    /// Rows it learned from.
    pub rows: u64,
}

/// The answer to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaimReport {
    /// The claim; in JSON as it was written.
    pub claim: Claim,
    /// Which quantity decides.
    pub quantity: Quantity,
    /// What the claim says of it.
    pub analytic: f64,
    /// The pair that decides.
    pub pair: Pair,
    /// What the log says of it.
    pub estimate: Estimate,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: ClaimReason,
    /// Rows at which the same rates would decide, if any number would.
    pub rows_needed: Option<u64>,
    /// The smallest α at which the claim would be violated, other claims judged along with it; 1 where that is
    /// more than a quarter and not computed; `None` if nothing was judged.
    pub p_value: Option<f64>,
    /// How well the log fits a claimed mechanism.
    pub fit: Option<Fit>,
}
