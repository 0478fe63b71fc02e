//! Channels with known probabilities: exact leakage, composition, and the worst pair of secrets.
//!
//! A [`Channel`] is a stochastic matrix with one row per secret and one column per observation. This module
//! computes exactly what other crates estimate from samples.
//!
//! ```
//! use leakgauge_exact::channel::{Channel, Prior, SearchMethod, diameter};
//!
//! let channel = Channel::from_rows(&[vec![0.4, 0.6], vec![0.0, 1.0]])?;
//! let worst = diameter(&channel, SearchMethod::Auto)?;
//! assert_eq!((worst.pair, worst.bayes_security), ((0, 1), 0.6));
//! let twice = channel.parallel(&channel)?;
//! assert!((diameter(&twice, SearchMethod::Auto)?.bayes_security - 0.36).abs() < 1e-15);
//! let prior = Prior::uniform(2);
//! assert!((channel.bayes_risk(&prior)? - 0.3).abs() < 1e-15);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```
//!
//! # References
//! K. Chatzikokolakis, G. Cherubin, C. Palamidessi, C. Troncoso, *Bayes Security: A Not So Average
//! Metric*, CSF 2023, doi:10.1109/CSF57540.2023.00011.

use crate::extreme::Extreme;
use std::collections::HashSet;
use std::fmt;

use leakgauge_base::error::{Error, Result};

mod additive_capacity;
mod analysis;
mod at_prior;
mod bounds;
mod branch;
mod cells;
mod composed;
mod composition;
mod correlated;
mod diameter;
mod enclosed;
mod family;
mod gain;
mod hyper;
mod information;
mod layout;
mod measures;
mod merged;
mod of_mechanism;
mod optimal;
mod pairs;
mod prior;
mod privacy;
mod refinement;
mod repeat;
mod witness;

pub use additive_capacity::AdditiveCapacity;
pub use analysis::{
    Analysis, AnalysisOptions, AtLeast, CapacityBracket, DeltaAt, PairAnalysis, RiskBounds,
    SecurityBounds, WorstPair, analyze,
};
pub use at_prior::PriorFigures;
pub use bounds::{CenterBound, center_bound, l2_bound, mean_row};
pub use composed::{Composition, CompositionKind, compose};
pub use correlated::{Correlated, CorrelatedFigures, Correlation};
pub use diameter::{Diameter, Search, SearchMethod, diameter};
pub use enclosed::Enclosed;
pub use family::{
    AlphaLeakage, LeakageFamily, OrderFigures, TriesFigures, prior_guesswork,
    prior_tries_vulnerability,
};
pub use gain::{GainFigures, LossFigures, Payoff, PayoffTable};
pub use hyper::Inner;
pub use information::Capacity;
pub use layout::{MatrixForm, MatrixLayout};
pub use optimal::{Optimal, Wanted};
pub use pairs::{ChannelProfile, ReconstructionAt};
pub use prior::Prior;
pub use privacy::{TradeOff, TradeOffPoint};
pub use refinement::{REFINEMENT_TOLERANCE, Refinement};
pub use witness::Witness;

/// The largest difference from 1 that the sum of a row or of a prior may have.
pub const SUM_TOLERANCE: f64 = 1e-9;

/// The largest number of entries of a matrix built by composition (2 GiB).
pub const MAX_ENTRIES: usize = 1 << 28;

/// A stochastic matrix C with C\[s, o\] = P(o given s). Owns its labels and its probabilities, row-major: one row
/// per secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    secrets: Vec<String>,
    observations: Vec<String>,
    values: Vec<f64>,
    /// ε where it is known better than the rounded values tell.
    epsilon: Option<f64>,
    /// The probabilities less those of a row that all secrets share, row-major, where they are known better than the
    /// rounded values tell.
    deviations: Option<Vec<f64>>,
}

/// A defect of a row of probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowProblem {
    /// An entry below zero.
    Negative {
        /// The position of the entry, from 0.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// An entry that is infinite or not a number.
    NotFinite {
        /// The position of the entry, from 0.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// Entries that do not sum to 1.
    Sum(f64),
}

impl RowProblem {
    /// The first defect of a row of probabilities, if there is one.
    pub fn find(row: &[f64]) -> Option<RowProblem> {
        Self::find_entry(row).or_else(|| {
            let sum: f64 = row.iter().sum();
            ((sum - 1.0).abs() > SUM_TOLERANCE).then_some(RowProblem::Sum(sum))
        })
    }

    /// The first entry that is negative or not finite, if there is one; the sum is not checked.
    pub fn find_entry(row: &[f64]) -> Option<RowProblem> {
        row.iter().enumerate().find_map(|(column, &value)| {
            if !value.is_finite() {
                Some(RowProblem::NotFinite { column, value })
            } else if value < 0.0 {
                Some(RowProblem::Negative { column, value })
            } else {
                None
            }
        })
    }
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowProblem::Negative { column, value } => {
                write!(
                    f,
                    "entry {} is {value}: a probability cannot be negative",
                    column + 1
                )
            }
            RowProblem::NotFinite { column, value } => {
                write!(f, "entry {} is {value}, not a probability", column + 1)
            }
            RowProblem::Sum(sum) => write!(f, "the probabilities sum to {sum}, not 1"),
        }
    }
}

impl Channel {
    /// A channel from the labels of its secrets (rows), the labels of its observations (columns) and its
    /// probabilities, row-major.
    ///
    /// # Conditions
    /// At least two secrets and one observation; entries finite and not negative; every row sums to 1
    /// within [`SUM_TOLERANCE`].
    ///
    /// # Errors
    /// A condition is not met (the message names the row and its sum or entry), or labels repeat or do not match
    /// in number.
    pub fn new(
        secrets: Vec<String>,
        observations: Vec<String>,
        values: Vec<f64>,
    ) -> Result<Channel> {
        if secrets.len() < 2 {
            return Err(Error::parameter(
                "channel",
                format!(
                    "has {} secret(s); leakage needs at least two",
                    secrets.len()
                ),
            ));
        }
        if observations.is_empty() || values.len() != secrets.len() * observations.len() {
            return Err(Error::parameter(
                "channel",
                format!(
                    "has {} entries, which is not {} secrets times {} observations",
                    values.len(),
                    secrets.len(),
                    observations.len()
                ),
            ));
        }
        check_distinct("secret", &secrets)?;
        let channel = Channel {
            secrets,
            observations,
            values,
            epsilon: None,
            deviations: None,
        };
        for (label, row) in channel.secrets.iter().zip(channel.rows()) {
            if let Some(problem) = RowProblem::find(row) {
                return Err(Error::parameter(
                    format!("channel, row of secret {label}"),
                    problem.to_string(),
                ));
            }
        }
        Ok(channel)
    }

    /// A channel from its rows; the labels of secrets and observations are numbers from 1.
    ///
    /// # Errors
    /// As [`Channel::new`], or the rows differ in length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Channel> {
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some(at) = rows.iter().position(|row| row.as_ref().len() != width) {
            return Err(Error::parameter(
                format!("channel, row {}", at + 1),
                format!(
                    "has {} entries where row 1 has {width}",
                    rows[at].as_ref().len()
                ),
            ));
        }
        let values = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
        Channel::new(numbered(rows.len()), numbered(width), values)
    }

    /// A channel from values that are stochastic by construction, without checks.
    pub fn trusted(secrets: Vec<String>, observations: Vec<String>, values: Vec<f64>) -> Channel {
        debug_assert_eq!(values.len(), secrets.len() * observations.len());
        Channel {
            secrets,
            observations,
            values,
            epsilon: None,
            deviations: None,
        }
    }

    /// The labels of the secrets, in the order of the rows.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// The labels of the observations, in the order of the columns.
    pub fn observations(&self) -> &[String] {
        &self.observations
    }

    /// The distribution of the observation under a secret (from 0).
    ///
    /// # Panics
    /// If `secret` is not below the number of secrets.
    pub fn row(&self, secret: usize) -> &[f64] {
        let width = self.observations.len();
        &self.values[secret * width..(secret + 1) * width]
    }

    /// All rows in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.observations.len())
    }

    /// C\[a, o\] − C\[b, o\] with all digits that are known.
    pub(crate) fn difference(&self, a: usize, b: usize, o: usize) -> f64 {
        let width = self.observations.len();
        let known = self.deviations.as_ref().unwrap_or(&self.values);
        known[a * width + o] - known[b * width + o]
    }

    /// C\[s, o\] − min over s′ of C\[s′, o\], row by row, with all digits that are known.
    pub(crate) fn above_least(&self) -> Vec<f64> {
        let known = self.deviations.as_ref().unwrap_or(&self.values);
        let width = self.observations.len();
        let mut least = known[..width].to_vec();
        for row in known.chunks_exact(width) {
            least
                .iter_mut()
                .zip(row)
                .for_each(|(m, x)| *m = m.at_most(*x));
        }
        let above = known.iter().enumerate();
        above.map(|(at, x)| x - least[at % width]).collect()
    }

    /// All probabilities row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The row (from 0) of the secret with a label.
    ///
    /// # Errors
    /// There is no such secret.
    pub fn secret_number(&self, label: &str) -> Result<usize> {
        let found = self.secrets.iter().position(|secret| secret == label);
        found.ok_or_else(|| {
            let error = Error::parameter(label, "is not a secret of the channel");
            let near =
                leakgauge_base::suggest::nearest(label, self.secrets.iter().map(String::as_str));
            match near {
                Some(near) => error.with_hint(format!("did you mean {near}?")),
                None => error.with_hint(format!("its secrets are {}", some(&self.secrets))),
            }
        })
    }
}

/// The labels 1, 2, … .
pub fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| number.to_string()).collect()
}

/// The first few labels of a list, for a message.
pub fn some(labels: &[String]) -> String {
    const LISTED: usize = 8;
    let mut text = labels[..labels.len().min(LISTED)].join(", ");
    if labels.len() > LISTED {
        text.push_str(", …");
    }
    leakgauge_base::error::shorten(&text)
}

fn check_distinct(what: &str, labels: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(labels.len());
    match labels.iter().find(|label| !seen.insert(label.as_str())) {
        None => Ok(()),
        Some(twice) => Err(Error::parameter(
            format!("channel, {what} {twice}"),
            "is the label of two rows",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(rows: &[Vec<f64>]) -> String {
        Channel::from_rows(rows).unwrap_err().to_string()
    }

    #[test]
    fn wrong_matrices_are_refused_with_the_row_and_its_sum_or_entry() {
        let fine = vec![0.5, 0.5];
        let sum = message(&[fine.clone(), vec![0.5, 0.4]]);
        assert!(sum.contains("secret 2") && sum.contains("0.9"), "{sum}");
        let negative = message(&[vec![1.5, -0.5], fine.clone()]);
        assert!(negative.contains("entry 2 is -0.5"), "{negative}");
        let nan = message(&[fine.clone(), vec![f64::NAN, 0.5]]);
        assert!(nan.contains("entry 1 is NaN"), "{nan}");
        let ragged = message(&[fine.clone(), vec![1.0]]);
        assert!(ragged.contains("row 2"), "{ragged}");
        assert!(message(&[fine]).contains("at least two"));
        assert!(Channel::from_rows::<Vec<f64>>(&[]).is_err());
    }

    #[test]
    fn labels_are_distinct_and_found_by_name() {
        let twice = vec!["a".to_owned(), "a".to_owned()];
        assert!(Channel::new(twice, numbered(1), vec![1.0, 1.0]).is_err());
        let names = vec!["alpha".to_owned(), "beta".to_owned()];
        let channel = Channel::new(names, numbered(1), vec![1.0, 1.0]).unwrap();
        assert_eq!(channel.secret_number("beta").unwrap(), 1);
        let error = channel.secret_number("bta").unwrap_err().to_string();
        assert!(error.contains("did you mean beta"), "{error}");
    }
}
