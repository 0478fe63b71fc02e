//! What a claim means for an attacker.

use leakgauge_base::Tool;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::bounds::{Covered, Kind};
use serde::Serialize;

use crate::audit::{ClaimReport, Findings, Warning};
use crate::estimate::Estimate;
use crate::explain::{Explained, Figure, Row, Side};
use crate::report::explain::{notes, reason};

/// The keys of the report.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// The claim as it was written.
    claim: &'a str,
    /// Whether the figures are exact or bounds.
    kind: Kind,
    /// What the claim is about: `all-attacks`, `found-attacks`, `times` or `average`.
    covers: &'static str,
    /// How far apart the secrets are that the figures are about; null where distance plays no part.
    distance: Option<DistanceKeys>,
    /// The pair that is told apart best, of a mechanism whose secrets are not too many to list.
    worst_pair: &'a Option<[String; 2]>,
    /// What the figures are about, and why some are missing.
    notes: Vec<String>,
    /// The figures of an attacker who sees one observation.
    figures: Vec<FigureKeys<'a>>,
    /// The log beside it; null without one.
    log: Option<LogKeys<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DistanceKeys {
    /// Steps between neighbors at most.
    steps: f64,
    /// The largest distance of neighbors.
    unit: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FigureKeys<'a> {
    /// `advantage`, `guess`, `true-positives`, `posterior`, `naming`, `bayes-security`, `epsilon`, `mu` or `rho`.
    figure: &'static str,
    /// The prior probability of the less likely of two secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<f64>,
    /// How often one secret is taken for the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    false_positive_rate: Option<f64>,
    /// How many secrets are equally likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    secrets: Option<u64>,
    /// The δ that goes with an ε.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    /// The figure without an observation.
    without: f64,
    /// What the claim leaves possible; null where no number follows.
    claim: Option<f64>,
    /// On which side of the truth that is: `exact`, `at-most` or `at-least`.
    side: &'static str,
    /// Why no number follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What the log shows; null where it shows nothing of it, or there is none.
    log: &'a Option<Estimate>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LogKeys<'a> {
    /// Its files.
    files: &'a [String],
    /// Rows that were used.
    rows_used: u64,
    /// Seed of every random choice.
    seed: u64,
    /// Level of every limit.
    confidence: f64,
    /// The verdict on the claim.
    verdict: &'a [ClaimReport],
    /// What the reader should know before believing.
    warnings: &'a [Warning],
}

impl<'a> Explanation<'a> {
    /// The keys of an explanation.
    pub fn of(found: &'a Explained) -> Self {
        let explanation = &found.explanation;
        Explanation {
            schema_version: 1,
            tool: Tool::default(),
            claim: &found.claim.text,
            kind: explanation.kind,
            covers: match explanation.covered {
                Covered::AllAttacks => "all-attacks",
                Covered::FoundAttacks => "found-attacks",
                Covered::Times => "times",
                Covered::Average => "average",
            },
            distance: explanation
                .steps
                .map(|(steps, unit)| DistanceKeys { steps, unit }),
            worst_pair: &explanation.worst_pair,
            notes: notes(found),
            figures: found.rows.iter().map(figure).collect(),
            log: found.findings.as_ref().map(log),
        }
    }
}

fn figure(row: &Row) -> FigureKeys<'_> {
    let (mut prior, mut false_positive_rate, mut secrets, mut delta) = (None, None, None, None);
    let figure = match row.figure {
        Figure::Advantage => "advantage",
        Figure::BayesSecurity => "bayes-security",
        Figure::Guess { prior: of } => {
            prior = Some(of);
            "guess"
        }
        Figure::TruePositives {
            false_positive_rate: rate,
        } => {
            false_positive_rate = Some(rate);
            "true-positives"
        }
        Figure::Posterior {
            prior: of,
            false_positive_rate: rate,
        } => {
            (prior, false_positive_rate) = (Some(of), Some(rate));
            "posterior"
        }
        Figure::Naming { secrets: of } => {
            secrets = Some(of);
            "naming"
        }
        Figure::Privacy(parameter) => {
            if let PrivacyParameter::Epsilon { delta: of } = parameter {
                delta = Some(of);
            }
            parameter.key()
        }
    };
    FigureKeys {
        figure,
        prior,
        false_positive_rate,
        secrets,
        delta,
        without: row.without,
        claim: row.claim.ok(),
        side: match row.side {
            Side::Exact => "exact",
            Side::AtMost => "at-most",
            Side::AtLeast => "at-least",
        },
        reason: row.claim.err().map(reason),
        log: &row.log,
    }
}

fn log(findings: &Findings) -> LogKeys<'_> {
    LogKeys {
        files: &findings.input.facts.files,
        rows_used: findings.input.facts.rows_used,
        seed: findings.seed,
        confidence: findings.confidence,
        verdict: &findings.claims,
        warnings: &findings.warnings,
    }
}
