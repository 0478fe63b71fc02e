//! How it was done.

use leakgauge_attack::scorer::Parameters;
use leakgauge_attack::tuning::{Failure, Tried};
use serde::Serialize;

use super::input::{SecretRows, secret_rows};
use super::with_keys;
use crate::audit::{Findings, PartRows, SplitChoice};

/// The keys of how it was done.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "MethodUsed"))]
pub struct Method<'a> {
    /// The attacker.
    scorer: &'a str,
    /// What was chosen for it.
    parameters: &'a Parameters,
    /// The attacker and what was chosen for it, in words.
    in_words: &'a str,
    /// How neighbors were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'static str>,
    /// How rows were split.
    split: &'static str,
    /// How rows were used.
    rows: PartRows,
    /// How units were used, where limits count units.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<PartRows>,
    /// Nominal seconds that trying and judging may take.
    budget: f64,
    /// In a split by time, for each secret: how many independent rows its certification rows are worth, for
    /// the pair where that is least.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_rows: Option<Vec<SecretRows<'a>>>,
    /// Everything that was tried on the tuning rows.
    tried: Vec<TriedScorer<'a>>,
}

impl<'a> Method<'a> {
    pub fn of(found: &'a Findings) -> Self {
        let method = &found.method;
        Method {
            scorer: &method.scorer,
            parameters: &method.parameters,
            in_words: &method.description,
            index: method.index,
            split: match method.split {
                SplitChoice::Random => "random",
                SplitChoice::Blocks => "blocks",
            },
            rows: method.rows.clone(),
            units: found
                .input
                .units
                .as_ref()
                .and_then(|units| units.parts.clone()),
            budget: method.budget.seconds(),
            effective_rows: method
                .effective_rows
                .as_ref()
                .map(|rows| secret_rows(&found.input.secrets, rows)),
            tried: method.tried.iter().map(TriedScorer::of).collect(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "PartRows")]
struct PartRowsKeys {
    /// Learned from.
    fit: u64,
    /// Chosen on.
    tune: u64,
    /// Judged on.
    certify: u64,
}

with_keys!(PartRows => PartRowsKeys);

/// An attacker that was tried. Attackers that were fitted together share `cost`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TriedScorer<'a> {
    /// Its name.
    scorer: &'a str,
    /// Its parameters.
    parameters: &'a Parameters,
    /// The same in words.
    #[serde(skip_serializing_if = "str::is_empty")]
    in_words: &'a str,
    /// The sum of the three advantages below, approximate lower limits on the tuning rows; null if it did not
    /// take part.
    quality: Option<f64>,
    /// Of the pair where it is largest.
    advantage: Option<f64>,
    /// The mean over pairs.
    mean_advantage: Option<f64>,
    /// Of naming the secret among all.
    naming_advantage: Option<f64>,
    /// What it costs, in nominal seconds: an estimate from the size of the log, never a measurement.
    cost: f64,
    /// Rows it learned from.
    rows: u64,
    /// Why it could not be fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
    /// Why it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
}

impl<'a> TriedScorer<'a> {
    fn of(tried: &'a Tried) -> Self {
        let quality = tried.quality.as_ref().ok();
        let (failed, skipped) = match &tried.quality {
            Err(Failure::Unfit(reason)) => (Some(reason.as_str()), None),
            Err(Failure::Skipped(reason)) => (None, Some(reason.as_str())),
            Ok(_) => (None, None),
        };
        TriedScorer {
            scorer: &tried.scorer,
            parameters: &tried.parameters,
            in_words: &tried.description,
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
