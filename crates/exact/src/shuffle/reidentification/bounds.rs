//! Bounds that need little: a privacy parameter, total variation, hockey-stick divergences.

use libm::exp;
use serde::Serialize;

use super::game::{Game, Success};
use leakgauge_base::error::{Error, Result};

/// What total variation says of the success of one guess.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TotalVariationBounds {
    /// 1/n + Δ/n for n ≥ 2, and 1 for n = 1.
    pub lower: f64,
    /// 1/n + Δ.
    pub upper: f64,
}

/// Bounds of β_n(P, Q) by the total variation Δ of P and Q.
///
/// # Formula
/// Δ/n ≤ Adv⁺ ≤ Δ (Theorem 5). The lower bound is false as printed for n = 1, where Adv⁺ is 0.
///
/// # Errors
/// A Δ that is not in \[0, 1\].
pub fn total_variation_bounds(total_variation: f64, messages: u64) -> Result<TotalVariationBounds> {
    if !(0.0..=1.0).contains(&total_variation) {
        return Err(Error::parameter(
            format!("total variation = {total_variation}"),
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
    let blind = game.blind();
    Ok(TotalVariationBounds {
        lower: (blind + total_variation * blind).min(1.0),
        upper: (blind + total_variation).min(1.0),
    })
}

/// An upper bound of β_n^k by the hockey-stick divergence E_λ(P‖Q) = Σ max(P − λQ, 0), for any λ ≥ 0.
///
/// # Formula
/// E_λ + λk/n. With t the likelihood ratio along the ROC curve and S = Pr\[Bin(n − 1, h) ≤ k − 1\]:
/// f(∞) + ∫ t S ≤ f(∞) + ∫ (t − λ)⁺ + λ∫ S, and ∫ S = k/n. At λ = 1 this is the upper bound of
/// Theorem 5, for k guesses.
pub fn hockey_stick_bound(lambda: f64, divergence: f64, game: &Game) -> f64 {
    (divergence + lambda * game.blind()).min(1.0)
}

/// The bound of any ε-differentially private local randomizer by the clone decomposition.
///
/// # Formula
/// ψ = \[1 − (1 − γ)ⁿ\]/(γn) with γ = e^−ε, below e^ε/n (Theorem 8); for k guesses
/// E min(k, N)/N with N = 1 + Bin(n − 1, γ), below k e^ε/n.
///
/// # Errors
/// An ε that is negative or not a number. An infinite one bounds nothing: 1.
pub fn clone_bound(epsilon: f64, game: &Game) -> Result<f64> {
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(Error::parameter(
            format!("epsilon = {epsilon}"),
            "must be 0 or more",
        ));
    }
    Ok(game.thinned(exp(-epsilon))?.equal_laws().min(1.0))
}

impl Success {
    /// A probability of success of a game, with its advantages.
    pub fn of(game: &Game, success: f64) -> Success {
        Success::from_additive(game, success - game.blind())
    }
}
