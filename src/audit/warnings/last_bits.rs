//! Whether claims of privacy, or about the best attack, pass over what the last bits of numbers tell.

use crate::audit::prepare::Prepared;
use crate::audit::warnings::warning::Warning;
use leakgauge_attack::ScorerChoice;
use leakgauge_attack::measure::last_bits::last_bits;
use leakgauge_exact::claim::{BoundClaim, Terms};

/// A warning is wrong with at most about this probability.
const LEVEL: f64 = 1e-6;

/// Looks at the training and tuning rows, as all that helps to choose an attack. Without such a claim nobody is
/// told: an estimate is about the law that samples follow, up to rounding.
pub(crate) fn warning(prepared: &Prepared) -> Option<Warning> {
    let attacks = &prepared.options.attacks;
    let is_read = attacks.built_in() == Some(ScorerChoice::Bits) || attacks.are_given();
    let is_attack = |claim: &BoundClaim| matches!(claim.terms(), Terms::AttackAdvantage { .. });
    let is_claimed =
        !prepared.targets.claimed().is_empty() || prepared.claims.iter().any(is_attack);
    if is_read || !prepared.independence.is_of_rows() || !is_claimed {
        return None;
    }
    let observations = &prepared.log.observations;
    let rows = prepared.split.fit.plus(&prepared.split.tune);
    let found = last_bits(observations, &rows).filter(|found| found.p_value < LEVEL)?;
    Some(Warning::LastBits {
        column: observations.columns()[found.column].name.clone(),
        p_value: found.p_value,
    })
}
