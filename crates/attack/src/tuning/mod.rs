//! Choosing the attacker on the tune rows.
//!
//! Every kind of attacker is a `Family`; those that apply to a log enter a `ModelSelection`, from as many rows as a
//! `Contest` grants them, and it keeps the one that does best. To add a kind, see `families`; a kind from outside is an
//! [`Attack`](crate::attack::Attack).

mod attacks;
mod budget;
mod combination;
mod contest;
#[cfg(test)]
mod costs;
mod families;
mod family;
mod for_average;
mod goals;
mod model_selection;
mod naming;
mod neighbors;
mod own;
mod quality;
mod scorer_choice;
mod task;
#[cfg(test)]
mod tests;
mod tried;

use std::sync::Arc;

use crate::pairwise::{PairChoice, choose_rules};
use crate::past::{PastRows, overfits, past_scores};
use crate::scorer::recurring::recurring;
use crate::scorer::{Kind, Scorer};
use crate::scores::ScoreTable;
use crate::split::Split;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::observations::{Counts, Observations};

pub use attacks::Attacks;
pub use budget::Budget;
use contest::Contest;
use family::Family;
pub use for_average::ForAverage;
pub use goals::Goals;
use model_selection::Chosen;
pub use naming::{Attackers, Naming};
pub use quality::{Quality, quality};
pub use scorer_choice::ScorerChoice;
use task::{Task, observations_to_score};
pub use tried::{Failure, Tried};

/// The chosen attacker and the rules that it brings.
pub struct Tuned {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// A rule for every pair, in the order of [`crate::pairwise::pairs`].
    pub choices: Vec<PairChoice>,
    /// The attacker that the limits of privacy in `choices` are from, where it was chosen for that; else
    /// they are from `scorer`.
    pub for_privacy: Option<ForPrivacy>,
    /// For each prior of the goals, the guess among all secrets that did best at it; it may be by another
    /// attacker.
    pub naming: Vec<Naming>,
    /// The attacker for all pairs on the average, where one is wanted.
    pub average: Option<ForAverage>,
    /// The attacker's scores of the tune rows.
    pub scores: ScoreTable,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// How neighbors are found, if they are.
    pub index: Option<&'static str>,
}

impl Tuned {
    /// The attacker that limits of privacy rest on.
    pub fn privacy_attack(&self) -> &Arc<dyn Scorer> {
        let private = self.for_privacy.as_ref();
        private.map_or(&self.scorer, |private| &private.scorer)
    }

    /// Those that judge rows.
    pub fn attackers(&self) -> Attackers {
        Attackers {
            scorer: self.scorer.clone(),
            naming: self.naming.clone(),
        }
    }

    /// Everything that was chosen, learned from other rows: those that were chosen on too, say. It stays as it was
    /// if it cannot learn from them.
    pub fn learn_again(&mut self, observations: &Observations, learn: &Counts, goals: Goals) {
        if let Ok(learned) = self.attackers().learned_from(observations, learn) {
            self.scorer = learned.scorer;
            self.naming = learned.naming;
        }
        if let Some(average) = &mut self.average
            && let Ok(again) = average.scorer.refit(observations, learn)
        {
            average.scorer = again;
        }
        let private = self.for_privacy.as_ref();
        let private = private.and_then(|private| private.learned_again(observations, learn));
        if let Some((private, past)) = private {
            // Its scores are on another scale than those of an attack with fewer rows.
            let better = choose_rules(&past.scores, &past.rows, goals.alpha, goals.targets);
            for (choice, better) in self.choices.iter_mut().zip(better) {
                choice.privacy = better.privacy;
            }
            self.for_privacy = Some(private);
        }
    }
}

/// An attacker that was chosen for limits of privacy.
#[derive(Clone)]
pub struct ForPrivacy {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// The rows that its rules were chosen on, where it may not score them itself.
    pub past: Option<Arc<PastRows>>,
}

impl ForPrivacy {
    /// The same, learned from all past rows, with scores of them by which rules can be chosen. An attack with many rows
    /// for each number that it learned gains nothing by more of them.
    fn learned_again(
        &self,
        observations: &Observations,
        learn: &Counts,
    ) -> Option<(ForPrivacy, Arc<PastRows>)> {
        if self.scorer.memorizes() || !overfits(&*self.scorer, learn) {
            return None;
        }
        let scorer = self.scorer.refit(observations, learn).ok()?;
        let past = Arc::new(PastRows {
            scores: past_scores(&*scorer, observations, learn, learn)?,
            rows: learn.clone(),
        });
        let again = ForPrivacy {
            scorer,
            past: Some(past.clone()),
        };
        Some((again, past))
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
    let mut contest = Contest::new(task);
    for family in &families {
        contest.run(&**family);
    }
    contest.run_cheapest(&families);
    let Chosen {
        best,
        private,
        naming,
        average,
        tried,
    } = contest.into_selection().finish()?;
    let mut choices = choose_rules(&best.scores, &split.tune, goals.alpha, goals.targets);
    let for_privacy = private.map(|private| {
        for (choice, better) in choices.iter_mut().zip(private.choices) {
            choice.privacy = better.privacy;
        }
        ForPrivacy {
            scorer: private.scorer,
            past: None,
        }
    });
    Ok(Tuned {
        choices,
        for_privacy,
        naming,
        average,
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
