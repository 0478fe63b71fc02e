//! What there is to attack, and what of it costs time.

use crate::scorer::Kind;
use crate::split::Split;
use crate::tuning::attacks::Attacks;
use crate::tuning::budget::Budget;
use crate::tuning::goals::Goals;
use leakgauge_log::observations::{Counts, Observations};

/// Nominal seconds of comparing a score of a tune row with those of other secrets.
const COMPARING: f64 = 2e-9;

/// What there is to attack.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub observations: &'a Observations,
    pub split: &'a Split,
    pub attacks: &'a Attacks,
    pub budget: Budget,
    pub goals: Goals<'a>,
    /// Kinds to be tried, each with the seconds that it may take; all of them if there is no such list.
    pub restrict_to: Option<&'a [(Kind, f64)]>,
    /// Columns that recur among the fit rows.
    pub recurring: usize,
    /// See [`observations_to_score`].
    pub scored: f64,
}

impl<'a> Task<'a> {
    /// Whether the user asked for certain attacks, and is ready to wait for them.
    pub fn is_patient(&self) -> bool {
        !self.attacks.are_auto()
    }

    /// Seconds that a kind was granted beforehand.
    pub fn granted(&self, kind: &Kind) -> Option<f64> {
        let mut granted = self.restrict_to?.iter();
        granted
            .find(|(granted, _)| granted == kind)
            .map(|&(_, seconds)| seconds)
    }

    /// Whether a kind may be tried.
    pub fn is_wanted(&self, kind: &Kind) -> bool {
        self.restrict_to.is_none() || self.granted(kind).is_some()
    }

    /// The number of numeric columns.
    pub fn dimensions(&self) -> usize {
        self.observations.dimensions()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.observations.columns().len()
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.split.fit.secrets()
    }

    /// The rows there are to learn from.
    pub fn fit(&self) -> &'a Counts {
        &self.split.fit
    }

    /// Observations to be scored.
    pub fn scored(&self) -> f64 {
        self.scored
    }

    /// Comparing the scores of the tune rows pair by pair.
    pub fn comparing(&self) -> f64 {
        let cells = self.split.tune.cells().len() as f64;
        COMPARING * cells * self.secrets() as f64
    }
}

/// Distinct observations of the tune rows, and about those of the certify rows, of which only the number of rows is
/// looked at.
pub(super) fn observations_to_score(split: &Split) -> f64 {
    let size = |part: &Counts| (part.total() as f64, part.by_symbol().count() as f64);
    let (fit, tune) = (size(&split.fit), size(&split.tune));
    tune.1 + expected(fit, tune, split.certify.total() as f64)
}

/// How many distinct observations so many more rows have, from two parts' numbers of rows and of distinct observations:
/// their number grows with a power of the number of rows (Heaps' law), 0 where nothing new comes, 1 where all is new.
fn expected(mut few: (f64, f64), mut many: (f64, f64), rows: f64) -> f64 {
    if few.0 > many.0 {
        (few, many) = (many, few);
    }
    let power = if few.1 > 0.0 && many.0 > few.0 {
        ((many.1 / few.1).ln() / (many.0 / few.0).ln()).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let observations = many.1 * (rows / many.0.max(1.0)).powf(power);
    observations.min(rows)
}
