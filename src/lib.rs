//! Black-box leakage estimation: how much a deployed mechanism tells about its secrets, from nothing
//! but a log of (secret, observation) rows, with valid confidence limits.
//!
//! # An audit in ten lines
//!
//! ```
//! use leakgauge::{AuditOptions, Claim, LogBuilder, Verdict, audit};
//!
//! // A mechanism that leaks one bit into its response time, and claims not to.
//! let secrets: Vec<&str> = (0..400).map(|row| if row % 2 == 0 { "even" } else { "odd" }).collect();
//! let times: Vec<f64> = (0..400).map(|row| f64::from(row % 7) + 5.0 * f64::from(row % 2)).collect();
//! let log = LogBuilder::new().secrets(&secrets).numbers("time", &times).build()?;
//! let options = AuditOptions { claims: vec![Claim::parse("advantage(0.1)")?], ..AuditOptions::default() };
//! let found = audit(&log, &options)?;
//! assert_eq!(found.claims[0].verdict, Verdict::Violated);
//! assert!(found.worst_pair.total_variation.lower.unwrap() > 0.3);
//! # Ok::<(), leakgauge::Error>(())
//! ```
//!
//! A log can also come from files ([`log::read`]), from a reader ([`log::read_from`]), from a dataset of the
//! linfa ecosystem ([`linfa::log_from_dataset`]) or, with the feature `parquet`, from Arrow record batches. An attack
//! can be your own: implement [`Attack`], or wrap a classifier in [`linfa::LinfaAttack`]. [`report`] writes findings
//! as text, JSON, markdown or a page.
//!
//! # The one idea
//!
//! An *attack* learned on one part of the log gives every row of another part **one score per secret**.
//! Every leakage measure is a function of that table of scores.
//!
//! ```text
//! log ──read──▶ counts ──split──▶ training │ tuning │ certification
//!                                     │       │         │
//!                        Attack::fit ─┘       │         │
//!                                             └─ attack, thresholds, worst pair
//!                                                       │
//!                     scores (rows × secrets) ──▶ estimates and limits ──▶ findings ──▶ report
//! ```
//!
//! One table answers all pairs of secrets, any prior and any threshold; nothing is refitted per pair.
//! Validity does not depend on the attack: as long as it never saw the certification rows, the limits hold. A better
//! attack makes them tighter.
//!
//! # Where to find what
//!
//! | module | content |
//! | --- | --- |
//! | [`log`](mod@log) | logs from files and from memory |
//! | [`mod@audit`] | one log: findings and verdicts |
//! | [`compare`], [`follow`] | several logs side by side; a log as it grows |
//! | [`mod@explain`] | what a claim means for an attacker |
//! | [`power`] | how many rows an audit needs, before there is a log |
//! | [`demo`] | logs to try the program on |
//! | [`report`] | findings as text, JSON, markdown, HTML and pictures |
//! | [`claim`] | what a log is held to |
//! | [`attack`], [`linfa`] | built-in attacks, model selection; attacks and logs of the linfa ecosystem |
//! | [`exact`] | channels, mechanisms, the shuffle model, permutation models: no log needed |
//! | [`query`] | a mechanism that can be asked for samples, audited while it answers |
//! | [`permute`] | d_σ-private shuffling of rows |
//! | [`input`] | matrices, distributions and pairs of neighbors from files |
//! | [`reproduce`] | the figures of the papers |
//!
//! What is documented here keeps its names and meanings through all releases of a major version. The modules `base`, `plot`
//! and `stats`, and what the others hold beyond their documentation, serve the command line and change in any release.
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

/// The example of the book, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Book;

// The command line uses this library as any other program does.
extern crate self as leakgauge;

pub mod audit;
#[cfg(feature = "reproduce")]
mod black_box;
#[doc(hidden)]
pub mod cli;
pub mod compare;
pub mod demo;
pub mod estimate;
pub mod explain;
pub mod follow;
pub mod input;
pub mod membership;
pub mod power;
pub mod probe;
mod read;
pub mod report;

pub use audit::{AuditOptions, Findings, Verdict, audit, audit_owned};
pub use estimate::Estimate;
pub use leakgauge_attack::{Attack, Attacks};
pub use leakgauge_base::error::{Error, Result};
pub use leakgauge_exact::claim::Claim;
pub use leakgauge_log::{Log, LogBuilder, ReadOptions};

pub use leakgauge_attack::linfa;
pub use leakgauge_exact::claim;

/// Attacks on observations: the built-in ones, and those of a caller.
pub mod attack {
    #[doc(hidden)]
    pub use leakgauge_attack::*;
    pub use leakgauge_attack::{Attack, AttackError, Attacks, FittedAttack, ScorerChoice, linfa};
}

/// What is computed and not estimated: bounds of mechanisms, channels, shuffled reports, simulation.
pub mod exact {
    #[doc(hidden)]
    pub use leakgauge_exact::*;
    pub use leakgauge_exact::{bounds, channel, mechanism, shuffle, simulate};
}

/// Shuffling that keeps order within groups (d_σ-privacy).
pub mod permute {
    #[doc(hidden)]
    pub use leakgauge_permute::*;
    pub use leakgauge_permute::{Grouping, Release, ReleaseOptions, Report, TableOptions, release};
}

/// Audits of functions that are called as often as is needed.
pub mod query {
    #[doc(hidden)]
    pub use leakgauge_query::*;
    pub use leakgauge_query::{Auditor, QueryOptions, Standing, Stop, Verdict};
}

// For the command line, the Python package, benches and tests. None of this is promised: it changes in any release.
#[doc(hidden)]
pub use leakgauge_base as base;
#[doc(hidden)]
pub use leakgauge_plot as plot;
#[doc(hidden)]
pub use leakgauge_stats as stats;

/// Logs: read from text, from columns in binary or through a query engine, or built from values in memory.
pub mod log {
    pub use crate::read::{COLUMNAR, OBJECTS, expand, read};
    #[cfg(feature = "parquet")]
    pub use leakgauge_columnar::{from_batches, from_batches_fit_on};
    #[doc(hidden)]
    pub use leakgauge_log::*;
    pub use leakgauge_log::{
        Form, Format, InputFacts, Log, LogBuilder, ReadMeter, ReadOptions, SecretRules, Value,
    };
}

/// Figures and tables of the papers, recomputed.
#[cfg(feature = "reproduce")]
pub mod reproduce {
    pub use crate::black_box::options;
    pub use leakgauge_reproduce::*;
}
