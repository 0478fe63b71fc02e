//! Learning from the past which rules will judge the rows to come.

use std::sync::Arc;

use leakgauge_stats::random::{Randomness, Stream};
use rayon::prelude::*;

use leakgauge_attack::cross_fit::PairScores;
use leakgauge_attack::pairwise::{Rule, Target, pairs};
use leakgauge_attack::scorer::Scorer;
use leakgauge_attack::split::{Split, folds};
use leakgauge_attack::tuning::{Goals, ScorerChoice, Tuned, tune};
use leakgauge_base::error::Result;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::tails::{Past, Tails};

use super::FollowOptions;
use super::privacy::GuessRule;

/// Parts of the past, each scored by an attack that learned from the others.
const FOLDS: usize = 3;
/// Standard errors of the past that a further pair's gain is held to before it is bet on too.
const DOUBT: f64 = 1.0;

/// The past as counts over a table.
pub(super) struct PastRows<'a> {
    pub table: &'a Observations,
    pub counts: &'a Counts,
}

/// What was learned.
pub(super) struct Lessons {
    /// The attack for the advantage with its best pair, if one could be judged.
    pub advantage: Option<(Arc<dyn Scorer>, Rule)>,
    /// The attack for ε.
    pub privacy: Arc<dyn Scorer>,
    /// For each target, the rules to bet on; no two of a target share a secret.
    pub rules: Vec<Vec<GuessRule>>,
}

/// What bets on guesses are against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BetTarget {
    /// The largest limit of ε at δ = 0 is wanted; further pairs are judged too if they exceed this ε.
    Pure(Option<f64>),
    /// One (ε, δ) is to be refuted.
    Approximate(f64, f64),
}

impl BetTarget {
    fn delta(self) -> f64 {
        match self {
            BetTarget::Pure(_) => 0.0,
            BetTarget::Approximate(_, delta) => delta,
        }
    }

    /// Tails at a pair with what they promise, and what a bet on them gains.
    fn tails(self, past: &Past, trials: u64, alpha: f64) -> Option<(Tails, f64, f64)> {
        match self {
            BetTarget::Pure(epsilon) => {
                let (tails, limit) = past.best_with_limit(trials, alpha)?;
                let gain = |epsilon| past.gain(&tails, epsilon, 0.0, DOUBT);
                Some((tails, limit, epsilon.map_or(f64::NEG_INFINITY, gain)))
            }
            BetTarget::Approximate(epsilon, delta) => {
                let (tails, gain) = past.best_against(epsilon, delta, DOUBT)?;
                Some((tails, gain, gain))
            }
        }
    }
}

/// Learns from the past of two secrets or more.
///
/// # Errors
/// Those of [`tune`].
pub(super) fn learn(
    past: &PastRows,
    options: &FollowOptions,
    targets: &[BetTarget],
) -> Result<Lessons> {
    let mut rng = Randomness::new(options.seed, past.counts.digest()).rng(Stream::Follow);
    let none = Counts::new(past.counts.secrets(), Vec::new());
    let split = Split::across(past.counts, none, &mut rng);
    let alpha = 1.0 - options.confidence;
    let parameters: Vec<Target> = targets
        .iter()
        .map(|target| {
            let delta = target.delta();
            Target::All(PrivacyParameter::Epsilon { delta })
        })
        .collect();
    let claimed: Vec<usize> = (0..targets.len()).collect();
    let tuned = tune(
        past.table,
        &split,
        &options.attacks,
        options.budget,
        Goals {
            alpha,
            targets: &parameters,
            claimed: &claimed,
            priors: &[],
        },
    )?;
    let advantage = best_pair(&tuned).map(|rule| (tuned.scorer.clone(), rule));
    let mut attacks = vec![tuned.for_privacy.unwrap_or(tuned.scorer)];
    attacks.extend(linear(past.table, &split, options, alpha));
    let folds = folds(past.counts, FOLDS, &mut rng);
    let candidates = attacks.into_iter().map(|attack| {
        let scores = PastScores(PairScores::cross_fitted(past.table, &folds, &*attack));
        let rules = scores.rules(targets, past.counts.total(), alpha);
        (attack, rules)
    });
    let best = candidates.reduce(|best, next| {
        if promise(&next.1) > promise(&best.1) {
            next
        } else {
            best
        }
    });
    let (privacy, rules) = best.expect("one attack at least");
    Ok(Lessons {
        advantage,
        privacy,
        rules: rules.into_iter().map(|(_, rules)| rules).collect(),
    })
}

/// What the rules of the first target promise.
fn promise(rules: &[(f64, Vec<GuessRule>)]) -> f64 {
    rules.first().map_or(f64::NEG_INFINITY, |first| first.0)
}

/// The linear attack beside the one that `auto` chose: it keeps the order of tails, where few rows decide about ε,
/// and which of the two does so better is seen on all of the past, not on the tuning rows alone.
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

/// The rule of the pair with the largest approximate limit of the advantage, of those that were tried.
fn best_pair(tuned: &Tuned) -> Option<Rule> {
    let judged = tuned
        .choices
        .iter()
        .filter(|choice| choice.tune.is_judged());
    let best = judged.reduce(|best, next| if next.lower > best.lower { next } else { best });
    best.map(|choice| choice.rule)
}

/// Rules by the scores of the past.
struct PastScores(PairScores);

impl PastScores {
    /// For each target, what its first rule promises, and its rules.
    fn rules(&self, targets: &[BetTarget], trials: u64, alpha: f64) -> Vec<(f64, Vec<GuessRule>)> {
        let targets = targets.iter();
        targets
            .map(|&target| self.of_target(target, trials, alpha))
            .collect()
    }

    /// Rules of pairs that share no secret: the one that promises most, then others that gain by the past.
    fn of_target(&self, target: BetTarget, trials: u64, alpha: f64) -> (f64, Vec<GuessRule>) {
        let all: Vec<(u32, u32)> = pairs(self.0.secrets()).collect();
        let mut found: Vec<(GuessRule, f64, f64)> = all
            .into_par_iter()
            .filter_map(|(a, b)| {
                let (tails, promise, gain) =
                    target.tails(&Past::new(&self.0.steps(a, b)), trials, alpha)?;
                Some((GuessRule { a, b, tails }, promise, gain))
            })
            .collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1));
        let most = found.first().map_or(f64::NEG_INFINITY, |first| first.1);
        let mut rules: Vec<GuessRule> = Vec::new();
        for (rule, _, gain) in found {
            let is_free = |secret: u32| {
                rules
                    .iter()
                    .all(|taken| ![taken.a, taken.b].contains(&secret))
            };
            if rules.is_empty() || (gain > 0.0 && is_free(rule.a) && is_free(rule.b)) {
                rules.push(rule);
            }
        }
        (most, rules)
    }
}
