//! What is told of an attacker that was tried.

use std::fmt;

use crate::scorer::{Kind, Parameters, Scorer};
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

/// Parts of the rows, each of which may be judged by an attack learned from the others.
pub const PARTS: usize = 5;
/// Nominal seconds that learning part by part may take beyond what the attackers took that were compared.
const MORE_SECONDS: f64 = 2.0;

/// The kinds that took part, each with its nominal seconds.
pub fn costs(tried: &[Tried]) -> Vec<(Kind, f64)> {
    let mut kinds: Vec<(Kind, f64)> = Vec::new();
    for tried in tried.iter().filter(|tried| tried.quality.is_ok()) {
        match kinds.iter_mut().find(|(kind, _)| *kind == tried.kind) {
            Some((_, cost)) => *cost += tried.cost,
            None => kinds.push((tried.kind.clone(), tried.cost)),
        }
    }
    kinds
}

/// Nominal seconds that learning part by part may take, of the kinds that took part.
pub fn seconds_part_by_part(kinds: &[(Kind, f64)]) -> f64 {
    kinds.iter().map(|(_, cost)| cost).sum::<f64>() + MORE_SECONDS
}

/// Whether learning an attack part by part takes no longer than comparing attackers did and two seconds more.
pub fn can_be_learned_part_by_part(scorer: &dyn Scorer, tried: &[Tried]) -> bool {
    let (kinds, wanted) = (costs(tried), scorer.kinds());
    let chosen = kinds.iter().filter(|(kind, _)| wanted.contains(kind));
    let chosen: f64 = chosen.map(|(_, cost)| cost).sum();
    PARTS as f64 * chosen <= seconds_part_by_part(&kinds)
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
