//! Learning from the past the attack that judges the rows to come.

use std::sync::Arc;

use leakgauge_attack::cross_fit::PairScores;
use leakgauge_attack::pairwise::Target;
use leakgauge_attack::scorer::Scorer;
use leakgauge_attack::split::{Split, folds};
use leakgauge_attack::tuning::{Goals, ScorerChoice, tune};
use leakgauge_base::error::Result;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::random::{Randomness, Stream};

use super::FollowOptions;

/// Parts of the past, each scored by an attack that learned from the others.
const FOLDS: usize = 3;

/// The past as counts over a table.
pub(super) struct PastRows<'a> {
    pub table: &'a Observations,
    pub counts: &'a Counts,
}

/// The attack of which bets promise most, with its scores of the past.
///
/// The one that tells secrets apart best, the one that limits ε best and the linear one are compared. The linear attack
/// keeps the order of tails, where few rows decide about ε, and which does so better is seen on all of the past, not on
/// the tuning rows alone.
///
/// # Errors
/// Those of [`tune`].
pub(super) fn learn(
    past: &PastRows,
    options: &FollowOptions,
    deltas: &[f64],
    promise: impl Fn(&PairScores) -> f64,
) -> Result<(Arc<dyn Scorer>, PairScores)> {
    let mut rng = Randomness::new(options.seed, past.counts.digest()).rng(Stream::Follow);
    let none = Counts::new(past.counts.secrets(), Vec::new());
    let split = Split::across(past.counts, none, &mut rng);
    let alpha = 1.0 - options.confidence;
    let parameters = deltas
        .iter()
        .map(|&delta| Target::All(PrivacyParameter::Epsilon { delta }));
    let parameters: Vec<Target> = parameters.collect();
    let claimed: Vec<usize> = (0..parameters.len()).collect();
    let tuned = tune(
        past.table,
        &split,
        &options.attacks,
        options.budget,
        Goals {
            alpha,
            targets: &parameters,
            claimed: &claimed,
            average: None,
            priors: &[],
        },
    )?;
    let mut attacks = vec![tuned.scorer];
    attacks.extend(tuned.for_privacy.map(|private| private.scorer));
    attacks.extend(linear(past.table, &split, options, alpha));
    let folds = folds(past.counts, FOLDS, &mut rng);
    let mut best: Option<(f64, Arc<dyn Scorer>, PairScores)> = None;
    for attack in attacks {
        let scores = PairScores::cross_fitted(past.table, &folds, &*attack);
        let promised = promise(&scores);
        if best.as_ref().is_none_or(|best| promised > best.0) {
            best = Some((promised, attack, scores));
        }
    }
    let (_, attack, scores) = best.expect("one attack at least");
    Ok((attack, scores))
}

/// The linear attack, beside the one that `auto` chose.
fn linear(
    table: &Observations,
    split: &Split,
    options: &FollowOptions,
    alpha: f64,
) -> Option<Arc<dyn Scorer>> {
    if !options.attacks.are_auto() {
        return None;
    }
    let attacks = ScorerChoice::Linear.into();
    let tuned = tune(
        table,
        split,
        &attacks,
        options.budget,
        Goals::advantage(alpha),
    );
    // Without numbers there is none.
    tuned.ok().map(|tuned| tuned.scorer)
}
