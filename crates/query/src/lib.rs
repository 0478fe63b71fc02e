//! Audits of a mechanism that can be asked for samples: what to draw next, and what the draws prove.
//!
//! [`Auditor`] is a machine without input and output. It asks for outputs of some inputs, takes them, and stops once a
//! claim is violated, once all claims hold, or when what is left of the samples cannot decide.
//!
//! # What is certified
//!
//! *Violated.* Bets against the claim on pairs of outputs, one of each of two inputs
//! ([`leakgauge_sequential::product_bets`]). Which pair of inputs is drawn from, which outputs speak for which input and how
//! much is bet depend on past outputs only, so the capital is a nonnegative supermartingale if the claim is true, of
//! all pairs together. It ever reaches 1/α with probability at most α (Ville), whenever one stops and however often
//! one looks. Attackers bet side by side, each with a share of the capital; claims share α (Bonferroni).
//!
//! *Holds.* Where outputs repeat: upper limits of a divergence at every pair, on the first 500, 1,000, 2,000, … outputs
//! of every input, at α/(k(k + 1)) for the k-th look. Wrong *holds* and wrong *violated* are separate errors, each at
//! α.
//!
//! *Lower limits* of ε and of the total variation: the largest value such that all up to it are refuted, by the same
//! rules with bets against these values. They count the claim's own bets too, so their level is 1 − 2α.
//!
//! # What it rests on
//!
//! Draws are independent given their inputs: a mechanism with a memory, or one that drifts, breaks this. The inputs of
//! a pair are drawn in turns, in random order, in blocks of at most a 32nd of the outputs before (or one by one), and
//! rules are learned from whole blocks. That mixes both inputs over time, so that a drift which is slow against these
//! blocks tells little. It is no proof against drift: a change within a block, which all outputs of the block share,
//! can look like a leak.
//!
//! ```
//! use leakgauge_exact::claim::Claim;
//! use leakgauge_query::samples::Column;
//! use leakgauge_query::{Auditor, QueryOptions, Verdict};
//!
//! // Randomized response that lies one time in ten: ε = ln 9.
//! let claims = vec![Claim::parse("dp(epsilon=1)")?];
//! let options = QueryOptions { claims, max_samples: 10_000, ..QueryOptions::default() };
//! let mut audit = Auditor::new(&["no".to_owned(), "yes".to_owned()], options)?;
//! let mut calls = 0;
//! while let Some(draws) = audit.wanted() {
//!     let mut answers = Vec::new();
//!     for &(input, count) in draws {
//!         for _ in 0..count {
//!             calls += 1;
//!             let lies = calls * 7 % 10 == 0;
//!             answers.push((input as i64) ^ i64::from(lies));
//!         }
//!     }
//!     audit.push(vec![Column::Integers(answers)])?;
//! }
//! let found = audit.standing(true);
//! assert_eq!(found.claims[0].verdict, Verdict::Violated);
//! assert!(found.samples < 500 && found.epsilon_lower.unwrap() >= 1.0);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

mod allocation;
mod auditor;
mod claims;
mod kinds;
mod model;
mod options;
mod outcome;
mod power;
mod proof;
mod repeats;
pub mod samples;
mod shape;
mod simulate;
mod standing;
#[cfg(test)]
mod tests;

pub use auditor::Auditor;
pub use leakgauge_sequential::attackers;
pub use leakgauge_sequential::product_bets::{Allowed, Counts};
pub use options::QueryOptions;
pub use outcome::Stop;
pub use power::{Attacker, Power};
pub use standing::{ClaimStanding, Doubt, PairStanding, Standing, Verdict};
