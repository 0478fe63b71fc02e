//! The JSON report of an audit of a mechanism that was asked for samples.

use serde::Serialize;

use crate::report::sentences;
use leakgauge_base::error::shorten;
use leakgauge_query::{Doubt, PairStanding, Standing, Stop, Verdict};

/// The report.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryReport {
    /// Version of this layout.
    pub schema_version: u32,
    /// Outputs drawn, of all inputs together.
    pub samples: u64,
    /// The largest number of outputs.
    pub max_samples: u64,
    /// Why the audit ended: violated, holds, samples, futile, time or interrupted; null while it goes on.
    pub stop: Option<&'static str>,
    /// The claims.
    pub claims: Vec<ClaimKeys>,
    /// The pair that looks worst.
    pub worst_pair: Option<PairKeys>,
    /// All pairs that the claims are about.
    pub pairs: Vec<PairKeys>,
    /// Epsilon at delta = 0: the estimate is of the worst pair, the lower limit of the largest of all pairs.
    pub epsilon: LimitKeys,
    /// Total variation, likewise.
    pub total_variation: LimitKeys,
    /// The level of the verdicts on all claims together.
    pub confidence: f64,
    /// The level of each lower limit, which also counts the claim's own bets.
    pub confidence_of_limits: f64,
    /// The seed.
    pub seed: u64,
    /// Who tried to tell the inputs apart.
    pub attackers: Vec<String>,
    /// What it rests on.
    pub assumptions: Vec<String>,
    /// What gives reason to doubt.
    pub warnings: Vec<WarningKeys>,
}

/// A claim.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimKeys {
    /// As it was written.
    pub claim: String,
    /// holds, violated or inconclusive.
    pub verdict: &'static str,
    /// The smallest error probability, shared by all claims, at which it would be violated by now.
    pub p_value: f64,
    /// Why.
    pub reason: String,
}

/// A pair of inputs. Its figures are estimates.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairKeys {
    /// The inputs.
    pub inputs: [String; 2],
    /// Outputs of both that bets were placed on.
    pub judged: u64,
    /// ln of how often an output was attributed to the right input for once that it was not.
    pub epsilon: Option<f64>,
    /// The advantage of these attributions.
    pub advantage: Option<f64>,
    /// The attacker that made them.
    pub attacker: Option<String>,
}

/// A figure with its lower limit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitKeys {
    /// The estimate.
    pub point: Option<f64>,
    /// The lower limit; null if no claim is about it.
    pub lower: Option<f64>,
}

/// A warning.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarningKeys {
    /// A stable code.
    pub code: &'static str,
    /// A sentence or two.
    pub message: String,
}

impl QueryReport {
    /// The report of what is known, of inputs with these labels.
    pub fn new(found: &Standing, labels: &[String], options: QuerySetting) -> QueryReport {
        let pair = |pair: &PairStanding| pair_keys(pair, found, labels);
        let worst = found.worst.map(|at| &found.pairs[at]);
        QueryReport {
            schema_version: 1,
            samples: found.samples,
            max_samples: options.max_samples,
            stop: found.stop.map(stop_name),
            claims: claims(found),
            worst_pair: worst.map(pair),
            pairs: found.pairs.iter().map(pair).collect(),
            epsilon: LimitKeys {
                point: worst.and_then(|pair| pair.epsilon),
                lower: found.epsilon_lower,
            },
            total_variation: LimitKeys {
                point: worst.and_then(|pair| pair.advantage),
                lower: found.total_variation_lower,
            },
            confidence: 1.0 - options.alpha,
            confidence_of_limits: found.confidence,
            seed: options.seed,
            attackers: found
                .attackers
                .iter()
                .map(|&kind| sentences::query::attacker(kind, found.learned.as_deref()))
                .collect(),
            assumptions: sentences::query::assumptions(found),
            warnings: found.doubts.iter().map(|&doubt| warning(doubt)).collect(),
        }
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub struct QuerySetting {
    /// The error probability.
    pub alpha: f64,
    /// Outputs at most.
    pub max_samples: u64,
    /// The seed.
    pub seed: u64,
}

fn claims(found: &Standing) -> Vec<ClaimKeys> {
    let keys = found.claims.iter().map(|claim| ClaimKeys {
        claim: claim.claim.text.clone(),
        verdict: match claim.verdict {
            Verdict::Violated => "violated",
            Verdict::Holds => "holds",
            Verdict::Inconclusive => "inconclusive",
        },
        p_value: claim.p_value,
        reason: sentences::query::reason(claim, found),
    });
    keys.collect()
}

fn pair_keys(pair: &PairStanding, found: &Standing, labels: &[String]) -> PairKeys {
    let label = |input: usize| shorten(&labels[input]).to_string();
    PairKeys {
        inputs: [label(pair.inputs.0), label(pair.inputs.1)],
        judged: pair.judged,
        epsilon: pair.epsilon,
        advantage: pair.advantage,
        attacker: pair
            .attacker
            .map(|kind| sentences::query::attacker(kind, found.learned.as_deref())),
    }
}

fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Violated => "violated",
        Stop::Holds => "holds",
        Stop::Samples => "samples",
        Stop::Futile => "futile",
        Stop::Time => "time",
        Stop::Interrupted => "interrupted",
    }
}

fn warning(doubt: Doubt) -> WarningKeys {
    let code = match doubt {
        Doubt::AllEqual => "all-equal",
        Doubt::Constant => "constant-outputs",
        Doubt::SameStart => "seeded-afresh",
    };
    WarningKeys {
        code,
        message: sentences::query::doubt(doubt).to_owned(),
    }
}
