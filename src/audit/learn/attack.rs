//! The second stage: an attack is learned on the training rows and chosen on the tuning rows.

use crate::audit::evidence::average;
use crate::audit::learn::blocks::{begins, unit_begins};
use crate::audit::learn::cross_fit::CrossFit;
use crate::audit::learn::given;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::units::tally_units;
use leakgauge_attack::split::{Split, UnitParts};
use leakgauge_attack::tuning::{self, Budget, Goals, Naming, Tuned};
use leakgauge_base::error::Result;
use leakgauge_log::UnitRows;

/// The share of the budget in which attacks are tried; the rest is for reading, judging and what all audits do.
const TRYING: f64 = 0.7;
/// The same where they are cross-fitted afterwards, which takes as long again.
const TRYING_TWICE: f64 = 0.4;

/// The attack and its rules. No certification row is looked at.
pub(crate) fn attack(prepared: &Prepared) -> Result<Tuned> {
    let units = prepared.units.as_ref();
    learn(prepared, &prepared.split, units, for_trying(prepared))
}

/// The part of the budget in which attacks are tried.
pub(crate) fn for_trying(prepared: &Prepared) -> Budget {
    let alone = prepared.options.quick || !CrossFit::is_worth_while(prepared.log);
    let share = match begins(prepared).or_else(|| unit_begins(prepared)) {
        _ if !alone => TRYING_TWICE,
        // An attack on all rows before these and one on a part of them.
        Some(begins) => TRYING / (1.0 + begins.iter().sum::<f64>()),
        None => TRYING,
    };
    prepared.options.budget.part(share)
}

/// The same from the fitting and tuning rows of any split, which are those of these units where limits count units.
pub(crate) fn learn(
    prepared: &Prepared,
    split: &Split,
    units: Option<&UnitParts>,
    budget: Budget,
) -> Result<Tuned> {
    let (log, options) = (prepared.log, prepared.options);
    let targets = &prepared.targets;
    // One attack for all, where limits rest on the order of its errors or on units.
    let claimed = if !prepared.independence.is_of_rows() {
        Vec::new()
    } else {
        targets.claimed()
    };
    let goals = Goals {
        alpha: prepared.alpha,
        targets: &targets.list,
        claimed: &claimed,
        average: average::wanted(prepared),
        priors: &prepared.priors,
    };
    let mut tuned = if options.attacks.are_given() {
        given::tune(log, split, options, &targets.list, &prepared.priors)?
    } else {
        tuning::tune(&log.observations, split, &options.attacks, budget, goals)?
    };
    if let Some(units) = units {
        reconsider(&mut tuned, &units.tune, prepared.alpha);
    }
    if !prepared.independence.is_of_rows() {
        let priors = prepared.priors.iter();
        let by = |prior: &Vec<f64>| Naming::by(&tuned.scorer, &tuned.scores, prior, &split.tune);
        tuned.naming = priors.map(by).collect();
    }
    // Once everything is chosen, the attack learns from the tuning rows too. An attack that cannot stays
    // as it was.
    tuned.learn_again(&log.observations, &split.fit.plus(&split.tune), goals);
    Ok(tuned)
}

/// Takes the tuning units' word for how well each pair can be told apart: by rows, pairs whose units differ
/// would look best.
fn reconsider(tuned: &mut Tuned, tune: &UnitRows, alpha: f64) {
    let rules: Vec<_> = tuned.choices.iter().map(|choice| choice.rule).collect();
    let found = tally_units(&tuned.scores, tune, &rules, &[]);
    for (choice, tally) in tuned.choices.iter_mut().zip(&found.rules) {
        choice.lower = tally.advantage_about(alpha).unwrap_or(-1.0);
    }
}
