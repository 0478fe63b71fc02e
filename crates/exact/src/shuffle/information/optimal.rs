//! The decoys that, with ever more of them, tell least of the target's message.

use super::basic::check;
use leakgauge_base::error::{Error, Result};

/// The decoy law that makes the 1/n term of I(Y₁; Z) smallest, and that term.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDecoys {
    /// q ∝ √(p(1 − p)), in the order of the target's messages.
    pub decoys: Vec<f64>,
    /// (Σ √(p(1 − p)))²: I(Y₁; Z) ≈ this/2n.
    pub coefficient: f64,
    /// The same constant for decoys of the target's own law: the number of its messages less one.
    pub coefficient_of_target: f64,
}

/// The asymptotically best decoys against a guess of the target's message.
///
/// Against a guess of its *position* the target's own law is best: that tells nothing.
///
/// # Formula
/// q ∝ √(p(1 − p)) minimizes Σ p(1 − p)/q (Cauchy and Schwarz). A target with one certain message has
/// nothing to hide; its decoys are its own law.
///
/// # Errors
/// No probability distribution.
///
/// # References
/// Mutual Information Bounds in the Shuffle Model, Theorem 6 and Corollary 1.
pub fn optimal_decoys(target: &[f64]) -> Result<OptimalDecoys> {
    check("target distribution", target)?;
    let whole: f64 = target.iter().sum();
    let root = |p: &f64| {
        let p = p / whole;
        (p * (1.0 - p)).max(0.0).sqrt()
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

/// Σ p(1 − p)/q: I(Y₁; Z) ≈ this/2n; infinite if some message of the target is no decoy's.
///
/// # Errors
/// No probability distributions, or of different lengths.
pub fn message_coefficient(target: &[f64], decoys: &[f64]) -> Result<f64> {
    check("target distribution", target)?;
    check("decoy distribution", decoys)?;
    if target.len() != decoys.len() {
        return Err(Error::parameter(
            "decoy distribution",
            "has another number of messages than the target",
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
