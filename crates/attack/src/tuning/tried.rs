//! What is told of an attacker that was tried.

use std::fmt;

use crate::scorer::{Kind, Parameters};
use crate::tuning::quality::Quality;

/// An attacker that was tried on the tune rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub scorer: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// What was chosen for it, in words.
    pub description: String,
    /// How well it did on the tune rows, or why it did not take part.
    pub quality: std::result::Result<Quality, Failure>,
    /// What it costs, in nominal seconds: an estimate from the size of the log, never a measurement.
    pub cost: f64,
    /// Rows it learned from.
    pub rows: u64,
}

/// Why an attacker did not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It cannot learn from these rows.
    Unfit(String),
    /// It is not in the budget.
    Skipped(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Unfit(reason) | Failure::Skipped(reason)) = self;
        f.write_str(reason)
    }
}
