//! The decoy distribution that asymptotically minimizes the information about the target's message.

use super::basic::check;
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result};

/// The decoy distribution that minimizes the 1/n term of I(Y₁; Z), and that term.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDecoys {
    /// q ∝ √(p(1 − p)), in the order of the target's messages.
    pub decoys: Vec<f64>,
    /// The coefficient c of I(Y₁; Z) ≈ c/2n: (Σ √(p(1 − p)))².
    pub coefficient: f64,
    /// The same coefficient for decoys with the target's own distribution: its number of messages minus 1.
    pub coefficient_of_target: f64,
}

/// The asymptotically optimal decoys for hiding the target's message.
///
/// To hide its *position*, the target's own distribution is optimal: then the information is 0.
///
/// # Formula
/// q ∝ √(p(1 − p)) minimizes Σ p(1 − p)/q (Cauchy and Schwarz). For a target with one certain
/// message the result is its own distribution.
///
/// # Errors
/// The target is not a probability distribution.
///
/// # References
/// Mutual Information Bounds in the Shuffle Model, Theorem 6 and Corollary 1.
pub fn optimal_decoys(target: &[f64]) -> Result<OptimalDecoys> {
    check("target distribution", target)?;
    let whole: f64 = target.iter().sum();
    let root = |p: &f64| {
        let p = p / whole;
        (p * (1.0 - p)).at_least(0.0).sqrt()
    };
    let roots: Vec<f64> = target.iter().map(root).collect();
    let sum: f64 = roots.iter().sum();
    let messages = target.iter().filter(|p| **p > 0.0).count();
    let decoys = if messages < 2 {
        target.iter().map(|p| p / whole).collect()
    } else {
        roots.iter().map(|r| r / sum).collect()
    };
    Ok(OptimalDecoys {
        decoys,
        coefficient: sum * sum,
        coefficient_of_target: messages.saturating_sub(1) as f64,
    })
}

/// The coefficient c of I(Y₁; Z) ≈ c/2n: Σ p(1 − p)/q. Infinite if the target has a message that no decoy sends.
///
/// # Errors
/// An argument is not a probability distribution, or the lengths differ.
pub fn message_coefficient(target: &[f64], decoys: &[f64]) -> Result<f64> {
    check("target distribution", target)?;
    check("decoy distribution", decoys)?;
    if target.len() != decoys.len() {
        return Err(Error::parameter(
            "decoy distribution",
            "has a different number of messages from the target",
        ));
    }
    let each = |(p, q): (&f64, &f64)| {
        if *p == 0.0 {
            0.0
        } else if *q == 0.0 {
            f64::INFINITY
        } else {
            p * (1.0 - p) / q
        }
    };
    Ok(target.iter().zip(decoys).map(each).sum())
}
