//! What observed messages tell about the target: the posteriors of Theorem 1.

use crate::extreme::Extreme;
use std::collections::HashMap;

use serde::Serialize;

use leakgauge_base::error::{Error, Result};

/// The posterior of one observed message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Posterior {
    /// The message.
    pub label: String,
    /// How often it was observed.
    pub count: u64,
    /// The probability that the target sent it, P(Y₁ = y | Z = z).
    pub message: f64,
    /// The probability of each position that holds it, P(K = k | Z = z).
    pub position: f64,
}

/// The posteriors given observed messages, in the order in which they are given.
///
/// # Formula
/// P(K = k | z) = w(z_k)/Σ w(zᵢ) with w = P/Q; P(Y₁ = y | z) is the sum over the positions of y (Theorem 1). A message
/// that no decoy sends is the target's.
///
/// # Errors
/// A message is unknown, or no target among decoys can send these messages.
pub fn posteriors(
    labels: &[String],
    [target, decoys]: [&[f64]; 2],
    observed: &[(String, u64)],
) -> Result<Vec<Posterior>> {
    let places: HashMap<&str, usize> = labels.iter().map(String::as_str).zip(0..).collect();
    let cells = observed.iter().map(|(label, count)| {
        let at = places.get(label.as_str()).copied().ok_or_else(|| {
            Error::parameter(
                format!("the observed message {label}"),
                "is neither a message of the target nor of a decoy",
            )
        })?;
        Ok((label, *count, target[at], decoys[at]))
    });
    let cells: Vec<(&String, u64, f64, f64)> = cells.collect::<Result<_>>()?;
    let alone = |q: f64| q == 0.0;
    let own: u64 = cells
        .iter()
        .filter(|c| alone(c.3))
        .map(|c| c.1)
        .fold(0, u64::saturating_add);
    let weight = |&(_, _, p, q): &(&String, u64, f64, f64)| match (own, alone(q)) {
        (0, _) => p / q,
        (_, true) => p,
        (_, false) => 0.0,
    };
    let most = cells
        .iter()
        .filter(|c| c.1 > 0)
        .map(weight)
        .fold(0.0, f64::at_least);
    if own > 1 || most <= 0.0 {
        return Err(Error::parameter(
            "the observed messages",
            "cannot come from one target and decoys",
        )
        .with_hint("exactly one of them is the target's, all others must be possible decoys"));
    }
    // Relative to the largest, so that no sum overflows.
    let share = |cell: &(&String, u64, f64, f64)| weight(cell) / most;
    let whole: f64 = cells.iter().map(|cell| cell.1 as f64 * share(cell)).sum();
    let posterior = |cell: &(&String, u64, f64, f64)| {
        let position = if cell.1 == 0 {
            0.0
        } else {
            share(cell) / whole
        };
        Posterior {
            label: cell.0.clone(),
            count: cell.1,
            message: position * cell.1 as f64,
            position,
        }
    };
    Ok(cells.iter().map(posterior).collect())
}
