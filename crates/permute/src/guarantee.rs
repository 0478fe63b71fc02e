//! What the privacy of a shuffle means, and how it adds up.

use libm::{exp, log};
use serde::Serialize;

use leakgauge_base::error::{Error, Result};

/// How well a subset of a group can be picked out of the output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SubsetBound {
    /// Rows of the subset.
    pub subset: u64,
    /// Rows of the group.
    pub group: u64,
    /// The least of P(loses)/P(wins).
    pub odds_of_losing: f64,
    /// The least probability of losing.
    pub losing: f64,
    /// The largest probability of winning.
    pub winning: f64,
}

/// Theorem 4.2: who picks k entries of the output as those of a subset of k rows of a group wins if more
/// than half of them are.
///
/// # Formula
/// P(loses) ≥ ⌊(r − k)/k⌋ e^(−(2kε + α)) P(wins).
///
/// # Conditions
/// Values randomized with ε-local differential privacy, then shuffled with (α, G)-d_σ privacy; k < r/2.
/// Without randomization ε is infinite and nothing is promised.
///
/// # Errors
/// A subset of none, or of half the group or more.
pub fn subset_bound(group: u64, subset: u64, epsilon: f64, alpha: f64) -> Result<SubsetBound> {
    if subset == 0 || subset.saturating_mul(2) >= group {
        return Err(Error::parameter(
            format!("a subset of {subset} of {group} rows"),
            "must have at least one and fewer than half of the rows",
        ));
    }
    let others = ((group - subset) / subset) as f64;
    let exponent = log(others) - (2.0 * subset as f64 * epsilon + alpha);
    let odds = exp(exponent);
    Ok(SubsetBound {
        subset,
        group,
        odds_of_losing: odds,
        // Both from e^−|x|, so that neither overflows.
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

/// Theorem 4.4: the α′ of groups that the shuffle was not made for, α Δ′/Δ.
pub fn for_other_groups(alpha: f64, sensitivity: u64, of_others: u64) -> f64 {
    if of_others == 0 {
        return 0.0;
    }
    alpha * (of_others as f64 / sensitivity as f64)
}

/// Theorem A.2: independent releases of the same values add up.
pub fn composed(alphas: &[f64]) -> f64 {
    alphas.iter().sum()
}
