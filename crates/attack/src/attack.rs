//! Attacks from outside: how code that is not part of this crate becomes an attacker.
//!
//! An [`Attack`] learns from the training rows of a log and returns a [`FittedAttack`], which gives any observation
//! one score per secret. Everything else is done here: the attack is compared with others on the tuning rows, judged on
//! the certification rows, fitted again on parts of the log, and named in the report. Confidence limits hold
//! for any scores, because the rows that judge an attack are never shown to it.
//!
//! ```
//! use leakgauge_attack::{Attack, AttackError, FittedAttack};
//! use leakgauge_log::observations::{Counts, Observations};
//!
//! /// Guesses the secret whose mean is nearest, looking at the first numeric column.
//! struct NearestMean;
//!
//! impl Attack for NearestMean {
//!     fn name(&self) -> &str {
//!         "nearest mean"
//!     }
//!
//!     fn fit(&self, observations: &Observations, fit: &Counts) -> Result<Box<dyn FittedAttack>, AttackError> {
//!         if observations.dimensions() == 0 {
//!             return Err("there is no numeric column".into());
//!         }
//!         let mut means = vec![0.0; fit.secrets()];
//!         for cell in fit.cells() {
//!             let rows = fit.rows()[cell.secret as usize] as f64;
//!             means[cell.secret as usize] += cell.count as f64 * observations.numbers(cell.symbol)[0] / rows;
//!         }
//!         Ok(Box::new(move |observations: &Observations, ids: &[u32], scores: &mut [f64]| {
//!             for (&id, row) in ids.iter().zip(scores.chunks_mut(means.len())) {
//!                 for (score, mean) in row.iter_mut().zip(&means) {
//!                     *score = -(observations.numbers(id)[0] - mean).abs();
//!                 }
//!             }
//!         }))
//!     }
//! }
//! ```

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::scorer::{Parameters, Scorer, listed};
use leakgauge_log::observations::{Counts, Observations};

/// Why an attack cannot learn from some rows. Any error or text becomes one: `Err("no numbers".into())`.
pub type AttackError = Box<dyn Error + Send + Sync>;

/// An attack that learns from rows.
///
/// # Conditions
/// Fitting is deterministic: the same rows give the same scores. Otherwise reports of the same log differ.
pub trait Attack: Send + Sync {
    /// The name in reports. No two attacks of an audit, built-in ones included, have the same.
    fn name(&self) -> &str;

    /// The parameters in reports.
    fn parameters(&self) -> Parameters {
        Parameters::new()
    }

    /// One line for reports; by default the parameters.
    fn description(&self) -> String {
        listed(&self.parameters())
    }

    /// The most training rows worth learning from. With more, an evenly thinned part of them is given to
    /// [`fit`](Self::fit).
    fn max_rows(&self) -> u64 {
        u64::MAX
    }

    /// Nominal seconds of learning from so many training rows and scoring so many observations, on two cores: an
    /// estimate from the numbers, never a measurement, so that a report does not depend on the machine. By default
    /// 0, so that the attack is never left out for the sake of the budget.
    fn nominal_seconds(&self, _fit_rows: u64, _scored: u64) -> f64 {
        0.0
    }

    /// Learns from training rows: `fit` has the number of rows of each secret and observation, `observations` what the
    /// observations are.
    ///
    /// # Errors
    /// Why it cannot learn from these rows. The report says so, and other attacks compete without it.
    fn fit(
        &self,
        observations: &Observations,
        fit: &Counts,
    ) -> Result<Box<dyn FittedAttack>, AttackError>;
}

/// What an [`Attack`] has learned. A closure with the arguments of [`score`](Self::score) is one.
pub trait FittedAttack: Send + Sync {
    /// Writes one score per secret for each of some observations; a larger score means a likelier secret. `ids` are
    /// numbers of observations in ascending order; `scores` is row-major, `ids.len() × secrets`.
    ///
    /// Two secrets a and b are told apart by score_a − score_b > t with a threshold t from the tuning rows, and all
    /// secrets by the largest score + ln prior. Logarithms of likelihoods are therefore the best scores.
    /// Infinite scores count as ±[`f64::MAX`]/4, and NaN as the smallest of these.
    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]);
}

impl<F> FittedAttack for F
where
    F: Fn(&Observations, &[u32], &mut [f64]) + Send + Sync,
{
    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        self(observations, ids, scores);
    }
}

impl fmt::Debug for dyn Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attack").field(&self.name()).finish()
    }
}

/// A fitted attack from outside, as the rest of the crate sees it.
pub(crate) struct Fitted {
    attack: Arc<dyn Attack>,
    fitted: Box<dyn FittedAttack>,
}

impl Fitted {
    /// Fits an attack.
    ///
    /// # Errors
    /// What the attack says.
    pub fn fit(
        attack: &Arc<dyn Attack>,
        observations: &Observations,
        fit: &Counts,
    ) -> Result<Self, String> {
        let fitted = attack
            .fit(observations, fit)
            .map_err(|error| error.to_string())?;
        Ok(Fitted {
            attack: attack.clone(),
            fitted,
        })
    }
}

/// Differences of two such numbers are finite.
const LARGEST: f64 = f64::MAX / 4.0;

impl Scorer for Fitted {
    fn name(&self) -> &str {
        self.attack.name()
    }

    fn parameters(&self) -> Parameters {
        self.attack.parameters()
    }

    fn description(&self) -> String {
        self.attack.description()
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        self.fitted.score(observations, ids, scores);
        for score in scores {
            *score = if score.is_nan() {
                -LARGEST
            } else {
                score.clamp(-LARGEST, LARGEST)
            };
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Fitted::fit(&self.attack, observations, fit)?))
    }
}
