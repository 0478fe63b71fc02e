//! Black-box leakage estimation: how much a deployed mechanism tells about its secrets, from nothing
//! but a log of (secret, observation) rows, with confidence limits that hold.
//!
//! # The one idea
//!
//! A *scorer* learned on one part of the log gives every row of another part **one score per secret**.
//! Every leakage measure is a function of that score table.
//!
//! ```text
//! log ──read──▶ counts ──split──▶ fit │ tune │ certify
//!                                  │     │      │
//!                      Scorer::fit ┘     │      │
//!                                        └ scorer, k, thresholds, worst pair
//!                                               │
//!                        score table (observations × secrets) ──▶ points and limits ──▶ report
//! ```
//!
//! One table answers all pairs of secrets, any prior and any threshold; nothing is refitted per pair.
//! And validity does not depend on the scorer: whatever produced the scores, as long as it never saw
//! the certify rows, the limits hold. A better scorer makes them tighter, never less true.
//!
//! # Example
//!
//! ```
//! use leakgauge::audit::{AuditOptions, Verdict, audit};
//! use leakgauge::claim::Claim;
//! use leakgauge::log::{ReadOptions, read_from};
//!
//! // A mechanism that always tells its secret, and claims not to.
//! let csv = "secret,seen\n".to_owned() + &"yes,1\nno,0\n".repeat(100);
//! let log = read_from("example", std::io::Cursor::new(csv), &ReadOptions::default())?;
//! let options = AuditOptions {
//!     claims: vec![Claim::parse("advantage(0.1)")?],
//!     ..AuditOptions::default()
//! };
//! let found = audit(&log, &options)?;
//! assert!(found.worst_pair.total_variation.lower.unwrap() > 0.8);
//! assert_eq!(found.claims[0].verdict, Verdict::Violated);
//! # Ok::<(), leakgauge::error::Error>(())
//! ```
//!
//! # Words
//!
//! | term | symbol | meaning |
//! | --- | --- | --- |
//! | secret, observation, channel | s, o, C | C\[s,o\] = P(o given s) |
//! | prior, uniform prior | π, υ | |
//! | Bayes risk; guessing error | R*(π,C); G(π) = 1 − max π | risk of the optimal adversary; of guessing blind |
//! | Bayes vulnerability | V = 1 − R* | |
//! | multiplicative risk leakage | β(π,C) = R*/G | |
//! | Bayes security | β*(C) = 1 − max TV | the least β over all priors, reached on two secrets |
//! | total variation | TV(a,b) | between the observations of two secrets |
//! | advantage | TPR − FPR | of an attacker; of the optimal one: TV |
//! | multiplicative leakage, capacity | L× = V/max π, ML× | |
//!
//! Chatzikokolakis, Cherubin, Palamidessi, Troncoso, *Bayes Security: A Not So Average Metric*,
//! doi:10.1109/CSF57540.2023.00011.
//!
//! # Rooms
//!
//! [`log`] reads; [`observations`] holds what was read; [`split`] parts it; [`scorer`] attacks;
//! [`tuning`] chooses; [`pairwise`] decides between two secrets; [`measure`] and [`stats`] are pure
//! formulas; [`mechanism`] and [`claim`] know what a log is compared with; [`audit`] puts it together;
//! [`compare`] sets several logs side by side; [`channel`] and [`bounds`] give the exact figures of what
//! is known; [`shuffle`] is about messages that have been shuffled, [`permute`] shuffles within groups; [`report`] writes it all,
//! [`plot`] draws; [`reproduce`] recomputes figures of papers.

pub mod audit;
pub mod compare;
pub mod estimate;
pub mod follow;
pub mod input;
mod read;
pub mod report;

pub use leakgauge_attack::{attack, linfa, measure, pairwise, scorer, scores, split, tuning};
pub use leakgauge_base::{error, files, grammar, naming, quantity, rounding, suggest};
pub use leakgauge_exact::{
    bounds, channel, claim, leakage, mallows, mechanism, permutation, shuffle, simulate,
};
pub use leakgauge_log::observations;
pub use leakgauge_permute as permute;
pub use leakgauge_plot as plot;
#[cfg(feature = "reproduce")]
pub use leakgauge_reproduce as reproduce;
pub use leakgauge_stats as stats;

/// Reading logs: text, columns in binary, a query engine; or building them in memory.
pub mod log {
    pub use crate::read::{COLUMNAR, read};
    #[cfg(feature = "parquet")]
    pub use leakgauge_columnar::from_batches;
    pub use leakgauge_log::*;
}
