//! The whole report of an audit.

use leakgauge_base::Tool;
use serde::Serialize;

use super::input::Input;
use super::method::Method;
use super::with_keys;
use crate::audit::{
    Asymptotic, ClaimReport, Convergence, ConvergencePoint, Correction, Extrapolated, Findings,
    Multiplicity, Overall, PairFigures, PrivacyLimit, WorstPair,
};
use crate::audit::{PriorChoice, Warning};
use crate::estimate::Estimate;
use crate::report::sentences::assumptions::assumption;
use crate::report::sentences::learning;

/// The keys of the report.
#[derive(Serialize)]
pub struct Audit<'a> {
    schema_version: u32,
    tool: Tool,
    seed: u64,
    confidence: f64,
    input: Input<'a>,
    warnings: &'a [Warning],
    method: Method<'a>,
    assumptions: Vec<String>,
    worst_pair: &'a WorstPair,
    privacy: &'a [PrivacyLimit],
    pairs: &'a [PairFigures],
    multiplicity: &'a Multiplicity,
    overall: &'a Overall,
    secrets_by_likeness: &'a Option<Vec<u32>>,
    convergence: &'a Option<Convergence>,
    claims: &'a [ClaimReport],
}

impl<'a> Audit<'a> {
    pub fn of(found: &'a Findings) -> Self {
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
            pairs: &found.pairs,
            multiplicity: &found.multiplicity,
            overall: &found.overall,
            secrets_by_likeness: &found.secrets_by_likeness,
            convergence: &found.convergence,
            claims: &found.claims,
        }
    }
}

#[derive(Serialize)]
#[serde(remote = "Multiplicity")]
struct MultiplicityKeys {
    pairs: usize,
    correction: Correction,
    limits_read_by_claims: usize,
}

#[derive(Serialize)]
#[serde(remote = "Overall")]
struct OverallKeys {
    bayes_security: Estimate,
    prior: PriorChoice,
    guessing_error: f64,
    bayes_risk: Estimate,
    risk_leakage: Estimate,
    multiplicative_leakage: Estimate,
    additive_leakage: Estimate,
    min_entropy_leakage: Estimate,
    min_entropy_leakage_bits: Estimate,
    capacity: Estimate,
}

impl Serialize for PriorChoice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Serialize)]
struct ConvergenceKeys<'a> {
    points: &'a [ConvergencePoint],
    judged_rows: u64,
    bayes_risk: Option<Extrapolated>,
    total_variation: Option<Extrapolated>,
    cover_hart: Option<Asymptotic>,
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

#[derive(Serialize)]
#[serde(remote = "ConvergencePoint")]
struct ConvergencePointKeys {
    rows: u64,
    bayes_risk: f64,
    total_variation: f64,
}

#[derive(Serialize)]
#[serde(remote = "Extrapolated")]
struct ExtrapolatedKeys {
    limit: f64,
    standard_error: f64,
}

#[derive(Serialize)]
#[serde(remote = "Asymptotic")]
struct AsymptoticKeys {
    bayes_risk: [f64; 2],
    nearest_neighbor_error: f64,
    rows: u64,
}

with_keys!(
    Multiplicity => MultiplicityKeys,
    Overall => OverallKeys,
    ConvergencePoint => ConvergencePointKeys,
    Extrapolated => ExtrapolatedKeys,
    Asymptotic => AsymptoticKeys,
);
