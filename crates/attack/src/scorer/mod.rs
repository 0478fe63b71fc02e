//! Attackers: whatever gives an observation one score per secret.
//!
//! A pairwise decision between secrets a and b is `score_a − score_b > threshold`, a guess among all
//! is the largest `score + ln prior`. Scores are therefore best thought of as log-likelihoods, but
//! nothing that is certified later depends on their being any good.

mod additive;
mod blend;
mod features;
mod forest;
mod frequentist;
mod gaussian;
mod given;
mod kind;
pub(crate) mod linear;
pub mod neighbors;
mod ranking;
pub mod recurring;
mod scaling;
#[cfg(test)]
mod tests;
mod thinning;
mod threshold;
pub mod transform;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use leakgauge_base::parallel;
use leakgauge_base::progress::Work;
use serde::Serialize;

use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};

pub use additive::{Additive, View, lowest_bit};
pub use blend::{Blend, Member};
pub use forest::{Forest, Growth};
pub use frequentist::Frequentist;
pub use gaussian::{Columns, Covariance, Gaussian};
pub use given::Given;
pub use kind::Kind;
pub use linear::Linear;
pub use neighbors::{KNearest, Metric, Neighbors, Rank, Vote};
pub use thinning::{Thinned, thinned};
pub use threshold::Threshold;
pub use transform::TransformKind;

/// A parameter of an attacker, for the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Parameter {
    /// A number of things.
    Count(u64),
    /// Any other number.
    Real(f64),
    /// One of some words.
    Word(Cow<'static, str>),
}

/// The parameters of an attacker by name.
pub type Parameters = BTreeMap<String, Parameter>;

/// Parameters from names and values.
pub fn parameters<const N: usize>(all: [(&str, Parameter); N]) -> Parameters {
    BTreeMap::from(all.map(|(name, value)| (name.to_owned(), value)))
}

/// Where the scores of an attacker come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// It was fitted on rows of the log, and can be fitted on others.
    #[default]
    Learned,
    /// They are columns of the log, computed elsewhere.
    Given,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Count(count) => write!(f, "{count}"),
            Parameter::Real(value) => write!(f, "{value:.3}"),
            Parameter::Word(word) => write!(f, "{word}"),
        }
    }
}

/// An attacker that was fitted.
pub trait Scorer: Send + Sync {
    /// The name in reports; that of a built-in attack is also its name on the command line.
    fn name(&self) -> &str;

    /// Where its scores come from.
    fn origin(&self) -> Origin {
        Origin::Learned
    }

    /// What was chosen, for the report.
    fn parameters(&self) -> Parameters;

    /// What was chosen, in words that a reader understands.
    fn description(&self) -> String {
        listed(&self.parameters())
    }

    /// The kinds to be tried where this attack is to be chosen anew.
    fn kinds(&self) -> Vec<Kind> {
        vec![Kind::named(self.name().to_owned())]
    }

    /// How it finds neighbors, if it does.
    fn index(&self) -> Option<&'static str> {
        None
    }

    /// Whether it tells the rows that it learned from apart better than others, by more than a number or two that
    /// it learned can explain.
    fn memorizes(&self) -> bool {
        true
    }

    /// How many numbers it learned for a secret, those by which it tells secrets apart: with few rows for each, it
    /// tells the rows that it learned from apart better than others too. Of an attack that [memorizes](Self::memorizes)
    /// it is not asked.
    fn freedom(&self) -> f64 {
        0.0
    }

    /// Whether it scores the observations of any table of the same columns as they are, for it remembers values and labels
    /// and not their numbers in the table that it was fitted with.
    fn is_portable(&self) -> bool {
        false
    }

    /// Writes one score per secret for each of some distinct observations, which are in ascending
    /// order: `scores` is row-major, `ids.len() × secrets`. Every score is finite.
    ///
    /// # Conditions
    /// `observations` is the table that it was fitted with, unless it [is portable](Self::is_portable). For another table of
    /// the same columns, where observations have other numbers and labels may be new, it is learned from the same rows again by
    /// [`refit`](Self::refit), which gives the same scores: what else is in a table makes no difference.
    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]);

    /// The same attacker, everything that was chosen for it kept, learned from other rows or from another
    /// table of the same columns.
    ///
    /// # Errors
    /// Why it cannot learn from these rows.
    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String>;
}

/// Parameters as a list: `k 3, distance Hamming`.
pub(crate) fn listed(parameters: &Parameters) -> String {
    let words = parameters
        .iter()
        .map(|(name, value)| format!("{name} {value}"));
    words.collect::<Vec<_>>().join(", ")
}

/// The score table of some observations, in parallel blocks; the same for any number of threads.
pub fn score_table(
    scorer: &dyn Scorer,
    observations: &Observations,
    ids: Vec<u32>,
    secrets: usize,
) -> ScoreTable {
    const BLOCK: usize = 4096;
    let mut values = vec![0.0; ids.len() * secrets];
    parallel::for_each_row(&mut values, BLOCK * secrets, &|block, scores| {
        let from = block * BLOCK;
        scorer.score(
            observations,
            &ids[from..ids.len().min(from + BLOCK)],
            scores,
        );
    });
    Work::ObservationsScored.advance(ids.len() as u64);
    ScoreTable::new(ids, secrets, values)
}
