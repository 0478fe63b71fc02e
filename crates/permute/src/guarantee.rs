//! Consequences of d_σ-privacy: bounds on subset attacks, other groups, composition.

use libm::{exp, log};
use serde::Serialize;

use leakgauge_base::error::{Error, Result};

/// How well an attacker can locate the values of a subset of a group in the output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubsetBound {
    /// The number of rows of the subset.
    pub subset: u64,
    /// The number of rows of the group.
    pub group: u64,
    /// A lower bound on P(attacker loses)/P(attacker wins).
    pub odds_of_losing: f64,
    /// A lower bound on the probability that the attacker loses.
    pub losing: f64,
    /// An upper bound on the probability that the attacker wins.
    pub winning: f64,
}

/// Theorem 4.2: an attacker names k entries of the output as the values of a given subset of k rows of a group,
/// and wins if more than half of them are right.
///
/// # Formula
/// P(loses) ≥ ⌊(r − k)/k⌋ e^(−(2kε + α)) P(wins).
///
/// # Conditions
/// Values randomized with ε-local differential privacy, then shuffled with (α, G)-d_σ privacy; k < r/2.
/// Without randomization ε is infinite and the bound is trivial.
///
/// # Errors
/// The subset is empty, or has half the rows of the group or more.
pub fn subset_bound(group: u64, subset: u64, epsilon: f64, alpha: f64) -> Result<SubsetBound> {
    if subset == 0 || subset.saturating_mul(2) >= group {
        return Err(Error::parameter(
            format!("a subset of {subset} of {group} rows"),
            "must have at least one row and fewer than half of the rows",
        ));
    }
    let others = ((group - subset) / subset) as f64;
    let exponent = log(others) - (2.0 * subset as f64 * epsilon + alpha);
    let odds = exp(exponent);
    Ok(SubsetBound {
        subset,
        group,
        odds_of_losing: odds,
        // Both are computed from e^−|x|, so that neither overflows.
        losing: if exponent < 0.0 {
            odds / (1.0 + odds)
        } else {
            1.0 / (1.0 + exp(-exponent))
        },
        winning: if exponent < 0.0 {
            1.0 / (1.0 + odds)
        } else {
            exp(-exponent) / (1.0 + exp(-exponent))
        },
    })
}

/// Theorem 4.4: the α′ = α Δ′/Δ that a shuffle for groups of sensitivity Δ guarantees for other groups, of
/// sensitivity Δ′.
pub fn for_other_groups(alpha: f64, sensitivity: u64, of_others: u64) -> f64 {
    // α = 0 hides all orders of all rows.
    if of_others == 0 || alpha == 0.0 {
        return 0.0;
    }
    alpha * (of_others as f64 / sensitivity as f64)
}

/// Theorem A.2: the α of independent releases of the same values add up.
pub fn composed(alphas: &[f64]) -> f64 {
    alphas.iter().sum()
}
