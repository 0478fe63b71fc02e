//! The kinds of attackers.

use std::sync::Arc;

use crate::observations::Counts;
use crate::scorer::{Frequentist, Linear};
use crate::tuning::ScorerChoice;
use crate::tuning::neighbors::NeighborFamily;
use crate::tuning::race::{Race, Task};

/// A kind of attacker: one or more attackers that are fitted together.
pub(super) trait Family {
    /// Its name in the report, should it not even be fitted.
    fn name(&self) -> &'static str;

    /// Whether it takes part in what the user asked for.
    fn is_asked(&self, choice: ScorerChoice) -> bool;

    /// Whether it can say anything about such a log.
    fn applies(&self, task: &Task) -> bool;

    /// What it costs to learn from so many rows, choose on the tune rows and judge on the certify rows,
    /// in nominal seconds on two cores. A count of operations: never a measurement, so that every run
    /// decides alike.
    fn cost(&self, task: &Task, fit_rows: u64) -> f64;

    /// Learns from rows and enters its attackers by [`Race::enter`] or [`Race::enter_scored`].
    ///
    /// # Errors
    /// Why it cannot learn, for the report.
    fn enter(&self, race: &mut Race, fit: &Counts) -> Result<(), String>;
}

/// All kinds, in the order in which they are tried: the first of equals wins.
pub(super) fn all() -> Vec<Box<dyn Family>> {
    vec![
        Box::new(FrequentistFamily),
        Box::new(LinearFamily),
        Box::new(NeighborFamily),
    ]
}

struct FrequentistFamily;

impl Family for FrequentistFamily {
    fn name(&self) -> &'static str {
        "frequentist"
    }

    fn is_asked(&self, choice: ScorerChoice) -> bool {
        matches!(choice, ScorerChoice::Auto | ScorerChoice::Frequentist)
    }

    fn applies(&self, _: &Task) -> bool {
        true
    }

    fn cost(&self, task: &Task, _: u64) -> f64 {
        5e-9 * (task.fit().cells().len() as f64 + task.scored() * task.secrets() as f64)
    }

    fn enter(&self, race: &mut Race, fit: &Counts) -> Result<(), String> {
        race.enter(Arc::new(Frequentist::fit(race.task().observations, fit)));
        Ok(())
    }
}

struct LinearFamily;

impl Family for LinearFamily {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn is_asked(&self, choice: ScorerChoice) -> bool {
        matches!(choice, ScorerChoice::Auto | ScorerChoice::Linear)
    }

    /// One column is left to neighbours unless the user asks.
    fn applies(&self, task: &Task) -> bool {
        task.dimensions() > usize::from(!task.is_patient())
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let weights = (task.dimensions() * task.secrets()) as f64;
        weights * (6e-7 * fit_rows as f64 + 1e-9 * task.scored())
    }

    fn enter(&self, race: &mut Race, fit: &Counts) -> Result<(), String> {
        let task = race.task();
        let linear = Linear::fit(task.observations, fit, task.is_patient())?;
        race.enter(Arc::new(linear));
        Ok(())
    }
}
