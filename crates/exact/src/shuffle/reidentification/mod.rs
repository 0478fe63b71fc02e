//! Re-identification: finding one user's message among n shuffled messages.
//!
//! One message is drawn from P, n − 1 from Q, and all are shuffled. The optimal adversary guesses
//! the messages with the largest likelihood ratio P/Q; with k guesses it finds the message of P with probability
//!
//! ```text
//! β_n^k(P, Q) = f(∞) + ∫₀¹ t(h) · Pr[Bin(n − 1, h) ≤ k − 1] dh
//! ```
//!
//! where f(∞) is the mass of P outside the support of Q and t(h) the likelihood ratio that a share h
//! of Q exceeds: the slope of the ROC curve of P against Q. An atom of the likelihood ratio is an
//! interval of h on which t is constant: random tie-breaking spreads the message uniformly over that interval. For
//! k = 1 the integral over an atom is (t/n)·(Gⁿ(t) − Gⁿ(t⁻)) (Theorem 4), for all k a difference of
//! regularized incomplete beta functions. A decomposition R(x) = γQ + (1 − γ)LO(x)
//! thins the decoys: Pr[Bin(n − 1, γh) ≤ k − 1] takes the place of the binomial tail and the integral is
//! ψ (Theorem 7).
//!
//! ```
//! use leakgauge_exact::shuffle::reidentification::{Game, RatioLaw};
//!
//! let law = RatioLaw::from_probabilities(&[0.5, 0.3, 0.2], &[1.0 / 3.0; 3])?;
//! let found = law.success(&Game::new(2, 1)?);
//! assert!((found.success - 0.6).abs() < 1e-15);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```
//!
//! | item | content |
//! | --- | --- |
//! | [`RatioLaw`] | the distribution of the likelihood ratio: of masses, or of densities by [`Segment`]s |
//! | [`Game`], [`Success`] | n, guesses, thinning; the probability of success and both advantages |
//! | [`clone_bound`], [`Randomizer`] | bounds for shuffled local randomizers |
//! | [`Source`], [`pair`] | P and Q as users give them |
//! | [`Question`] | which figures answer which options about a randomizer |
//! | [`Reidentification`] | the report |
//! | [`samples`] | estimates and limits from samples of P and Q |
//! | [`honeyword`] | the success-number graph |
//!
//! # References
//! P. Su, H. Cheng, P. Wang, *Bayesian Advantage of Re-Identification Attack in the Shuffle Model*.

mod analysis;
mod bounds;
mod density;
mod game;
mod given;
pub mod honeyword;
mod law;
mod panel;
mod planar;
pub(super) mod quadrature;
mod question;
mod randomizer;
mod real;
pub mod samples;
mod source;
#[cfg(test)]
mod tests;
mod u_statistic;

pub use analysis::{
    Estimated, EstimatedRow, Exact, ExactRow, Figures, InputBounds, MessagesNeeded, Method,
    Reidentification, Shuffled,
};
pub use bounds::{TotalVariationBounds, clone_bound, hockey_stick_bound, total_variation_bounds};
pub use density::Density;
pub use game::{Game, MAX_MESSAGES, Success};
pub use given::{Given, GivenRow, given_inputs};
pub use law::RatioLaw;
pub use question::{Asked, Question};
pub use randomizer::{InputLaw, Randomizer, ShuffleBounds};
pub(super) use randomizer::{distribution, mass_between};
pub use real::Segment;
pub use source::{Form, Pair, Source, pair};
