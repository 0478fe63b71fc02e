//! How it was done.

use leakgauge_attack::scorer::Parameters;
use leakgauge_attack::tuning::{Failure, Tried};
use serde::Serialize;

use super::input::{SecretRows, secret_rows};
use super::with_keys;
use crate::audit::{Findings, PartRows, SplitChoice};

/// The keys of how it was done.
#[derive(Serialize)]
pub struct Method<'a> {
    scorer: &'a str,
    parameters: &'a Parameters,
    in_words: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'static str>,
    split: &'static str,
    rows: PartRows,
    budget: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_rows: Option<Vec<SecretRows<'a>>>,
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
#[serde(remote = "PartRows")]
struct PartRowsKeys {
    fit: u64,
    tune: u64,
    certify: u64,
}

with_keys!(PartRows => PartRowsKeys);

/// An attacker that was tried. `quality` is the sum of the three advantages, approximate lower limits on
/// the tuning rows; attackers that were fitted together share `cost`.
#[derive(Serialize)]
struct TriedScorer<'a> {
    scorer: &'a str,
    parameters: &'a Parameters,
    #[serde(skip_serializing_if = "str::is_empty")]
    in_words: &'a str,
    quality: Option<f64>,
    advantage: Option<f64>,
    mean_advantage: Option<f64>,
    naming_advantage: Option<f64>,
    cost: f64,
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
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
