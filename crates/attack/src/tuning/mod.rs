//! Choosing the attacker on the tune rows.
//!
//! Every kind of attacker is a `Family`; those that apply to a log enter a `ModelSelection`, which keeps the one
//! that does best. To add a kind, see `families`; a kind from outside is an
//! [`Attack`](crate::attack::Attack).

mod attacks;
mod budget;
mod combination;
#[cfg(test)]
mod costs;
mod families;
mod model_selection;
mod naming;
mod neighbors;
mod own;
mod quality;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::pairwise::{PairChoice, Target, choose_rules};
use crate::scorer::recurring::recurring;
use crate::scorer::{Kind, Parameters, Scorer};
use crate::scores::ScoreTable;
use crate::split::Split;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::observations::{Counts, Observations};

pub use attacks::Attacks;
pub use budget::Budget;
use families::Family;
pub use families::ScorerChoice;
use model_selection::{ModelSelection, Task, observations_to_score};
pub use naming::{Attackers, Naming};
pub use quality::{Quality, quality};

/// An attacker that was tried on the tune rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub scorer: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// What was chosen for it, in words.
    pub description: String,
    /// How well it did on the tune rows, or why it did not take part.
    pub quality: std::result::Result<Quality, Failure>,
    /// What it costs, in nominal seconds: an estimate from the size of the log, never a measurement.
    pub cost: f64,
    /// Rows it learned from.
    pub rows: u64,
}

/// Why an attacker did not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It cannot learn from these rows.
    Unfit(String),
    /// It is not in the budget.
    Skipped(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Unfit(reason) | Failure::Skipped(reason)) = self;
        f.write_str(reason)
    }
}

/// The chosen attacker and the rules that it brings.
pub struct Tuned {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// A rule for every pair, in the order of [`crate::pairwise::pairs`].
    pub choices: Vec<PairChoice>,
    /// The attacker that the limits of privacy in `choices` are from, where it was chosen for that; else
    /// they are from `scorer`.
    pub for_privacy: Option<Arc<dyn Scorer>>,
    /// For each prior of the goals, the guess among all secrets that did best at it; it may be by another
    /// attacker.
    pub naming: Vec<Naming>,
    /// The attacker's scores of the tune rows.
    pub scores: ScoreTable,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// How neighbors are found, if they are.
    pub index: Option<&'static str>,
}

impl Tuned {
    /// Those that judge rows.
    pub fn attackers(&self) -> Attackers {
        Attackers {
            scorer: self.scorer.clone(),
            naming: self.naming.clone(),
        }
    }

    /// Everything that was chosen, learned from other rows: those that were chosen on too, say. It stays as it was
    /// if it cannot learn from them.
    pub fn learn_again(&mut self, observations: &Observations, learn: &Counts) {
        if let Ok(learned) = self.attackers().learned_from(observations, learn) {
            self.scorer = learned.scorer;
            self.naming = learned.naming;
        }
    }
}

/// What attackers are chosen for.
#[derive(Debug, Clone, Copy)]
pub struct Goals<'a> {
    /// Level of the approximate limits that attackers are compared by.
    pub alpha: f64,
    /// Quantities of privacy that a threshold is wanted for, at every pair.
    pub targets: &'a [Target],
    /// Positions of the targets that claims read: the attacker with the largest limits of these is wanted
    /// too, for few errors in the tail are not the same as few errors. Empty: none is.
    pub claimed: &'a [usize],
    /// Priors at which one of all secrets is to be named.
    pub priors: &'a [Vec<f64>],
}

impl Goals<'_> {
    /// The advantage alone.
    pub fn advantage(alpha: f64) -> Self {
        Goals {
            alpha,
            targets: &[],
            claimed: &[],
            priors: &[],
        }
    }
}

/// Fits the attackers asked for on the fit rows, keeps the one that does best on the tune rows, and
/// chooses its rules there.
///
/// # Errors
/// An attack on numbers and a log without numeric columns; an attack asked for that cannot be fitted or
/// is not in the budget.
pub fn tune(
    observations: &Observations,
    split: &Split,
    attacks: &Attacks,
    budget: Budget,
    goals: Goals,
) -> Result<Tuned> {
    run(Task {
        observations,
        split,
        attacks,
        budget,
        goals,
        restrict_to: None,
        recurring: recurring(observations, &split.fit).len(),
        scored: observations_to_score(split),
    })
}

/// [`tune`] among some kinds of attacks only, each of which may take so many seconds.
///
/// # Errors
/// None of them can be fitted.
pub fn tune_again(
    observations: &Observations,
    split: &Split,
    attacks: &Attacks,
    kinds: &[(Kind, f64)],
    goals: Goals,
) -> Result<Tuned> {
    run(Task {
        observations,
        split,
        attacks,
        budget: Budget::default(),
        goals,
        restrict_to: Some(kinds),
        recurring: recurring(observations, &split.fit).len(),
        scored: observations_to_score(split),
    })
}

fn run(task: Task) -> Result<Tuned> {
    task.attacks.check()?;
    let Task {
        split,
        attacks,
        goals,
        ..
    } = task;
    let families: Vec<Box<dyn Family>> = families::all(attacks.own())
        .into_iter()
        .filter(|family| task.is_wanted(&family.kind()))
        .filter(|family| family.is_asked(attacks) && family.applies(&task))
        .collect();
    if families.is_empty() {
        return Err(no_numbers());
    }
    let mut selection = ModelSelection::new(task);
    for family in &families {
        selection.run(&**family);
    }
    selection.run_cheapest(&families);
    let (best, private, naming, tried) = selection.finish()?;
    let mut choices = choose_rules(&best.scores, &split.tune, goals.alpha, goals.targets);
    let for_privacy = private.map(|private| {
        for (choice, better) in choices.iter_mut().zip(private.choices) {
            choice.privacy = better.privacy;
        }
        private.scorer
    });
    Ok(Tuned {
        choices,
        for_privacy,
        naming,
        scores: best.scores,
        index: best.scorer.index(),
        scorer: best.scorer,
        tried,
    })
}

fn no_numbers() -> Error {
    Error::parameter(
        option("attacks"),
        "this attack needs a numeric observation column, and the log has only labels",
    )
    .with_hint(format!(
        "use {}, or read a column as numbers with {}",
        setting("attacks", ScorerChoice::Frequentist),
        setting("numeric", "COLUMN")
    ))
}
