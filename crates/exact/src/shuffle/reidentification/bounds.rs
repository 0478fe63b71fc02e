//! Bounds from a privacy parameter, total variation or a hockey-stick divergence.

use crate::extreme::Extreme;
use libm::exp;
use serde::Serialize;

use super::game::{Game, Success};
use leakgauge_base::error::{Error, Result};

/// Bounds on the success of one guess from the total variation Δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TotalVariationBounds {
    /// 1/n + Δ/n for n ≥ 2, and 1 for n = 1.
    pub lower: f64,
    /// 1/n + Δ.
    pub upper: f64,
}

/// Bounds on β_n(P, Q) from the total variation Δ of P and Q.
///
/// # Formula
/// Δ/n ≤ Adv⁺ ≤ Δ (Theorem 5). As printed, the lower bound is wrong for n = 1, where Adv⁺ is 0.
///
/// # Errors
/// Δ is not in \[0, 1\].
pub fn total_variation_bounds(total_variation: f64, messages: u64) -> Result<TotalVariationBounds> {
    if !(0.0..=1.0).contains(&total_variation) {
        return Err(Error::parameter(
            format!("total variation {total_variation}"),
            "is not between 0 and 1",
        ));
    }
    let game = Game::new(messages, 1)?;
    if game.is_won() {
        return Ok(TotalVariationBounds {
            lower: 1.0,
            upper: 1.0,
        });
    }
    let blind = game.blind_success();
    Ok(TotalVariationBounds {
        lower: (blind + total_variation * blind).at_most(1.0),
        upper: (blind + total_variation).at_most(1.0),
    })
}

/// An upper bound on β_n^k from the hockey-stick divergence E_λ(P‖Q) = Σ max(P − λQ, 0), for any λ ≥ 0.
///
/// # Formula
/// E_λ + λk/n. With t the likelihood ratio along the ROC curve and S = Pr\[Bin(n − 1, h) ≤ k − 1\]:
/// f(∞) + ∫ t S ≤ f(∞) + ∫ (t − λ)⁺ + λ∫ S, and ∫ S = k/n. At λ = 1 this is the upper bound of
/// Theorem 5, for k guesses.
pub fn hockey_stick_bound(lambda: f64, divergence: f64, game: &Game) -> f64 {
    (divergence + lambda * game.blind_success()).at_most(1.0)
}

/// The upper bound for any ε-differentially private local randomizer, from the clone decomposition.
///
/// # Formula
/// ψ = \[1 − (1 − γ)ⁿ\]/(γn) with γ = e^−ε, below e^ε/n (Theorem 8); for k guesses
/// E min(k, N)/N with N = 1 + Bin(n − 1, γ), below k e^ε/n.
///
/// # Errors
/// ε is negative or NaN. For infinite ε the bound is the trivial 1.
pub fn clone_bound(epsilon: f64, game: &Game) -> Result<f64> {
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(Error::parameter(
            format!("epsilon {epsilon}"),
            "must be at least 0",
        ));
    }
    Ok(game.thinned(exp(-epsilon))?.success_if_equal().at_most(1.0))
}

impl Success {
    /// The advantages for a given probability of success in a game.
    pub fn of(game: &Game, success: f64) -> Success {
        Success::from_additive(game, success - game.blind_success())
    }
}
