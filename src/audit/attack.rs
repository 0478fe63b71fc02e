//! The second stage: an attack is learned on the training rows and chosen on the tuning rows.

use crate::audit::given;
use crate::audit::prepare::Prepared;
use crate::audit::units;
use leakgauge_attack::tuning::{self, Goals, Tuned};
use leakgauge_base::error::Result;

/// The attack and its rules. No certification row is looked at.
pub(super) fn attack(prepared: &Prepared) -> Result<Tuned> {
    let (log, split, options) = (prepared.log, &prepared.split, prepared.options);
    let targets = &prepared.targets;
    // One attack for all, where limits rest on the order of its errors or on units.
    let claimed = if prepared.is_serial() || prepared.units.is_some() {
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
        tuning::tune(
            &log.observations,
            split,
            &options.attacks,
            options.budget,
            goals,
        )?
    };
    if let Some(units) = &prepared.units {
        units::reconsider(&mut tuned, &units.tune, prepared.alpha);
    }
    // Once everything is chosen, the attack learns from the tuning rows too. An attack that cannot stays
    // as it was.
    let learn = split.fit.plus(&split.tune);
    if let Ok(scorer) = tuned.scorer.refit(&log.observations, &learn) {
        tuned.scorer = scorer;
    }
    Ok(tuned)
}
