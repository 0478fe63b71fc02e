//! The second stage: an attack is learned on the training rows and chosen on the tuning rows.

use crate::audit::given;
use crate::audit::prepare::Prepared;
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::{self, Budget, Goals, Tuned};
use leakgauge_base::error::Result;

/// The attack and its rules. No certification row is looked at.
pub(super) fn attack(prepared: &Prepared) -> Result<Tuned> {
    learn(prepared, &prepared.split, prepared.options.budget)
}

/// The same from the fitting and tuning rows of any split.
pub(super) fn learn(prepared: &Prepared, split: &Split, budget: Budget) -> Result<Tuned> {
    let (log, options) = (prepared.log, prepared.options);
    let targets = &prepared.targets;
    // One attack for all, where limits rest on the order of its errors.
    let claimed = if prepared.is_serial() {
        Vec::new()
    } else {
        targets.claimed()
    };
    let mut tuned = if options.attacks.are_given() {
        given::tune(log, split, options, &targets.list)?
    } else {
        let goals = Goals {
            alpha: prepared.alpha,
            targets: &targets.list,
            claimed: &claimed,
        };
        tuning::tune(&log.observations, split, &options.attacks, budget, goals)?
    };
    // Once everything is chosen, the attack learns from the tuning rows too. An attack that cannot stays
    // as it was.
    let learn = split.fit.plus(&split.tune);
    if let Ok(scorer) = tuned.scorer.refit(&log.observations, &learn) {
        tuned.scorer = scorer;
    }
    Ok(tuned)
}
