//! From a log to a report: split, choose on the tune rows, judge on the certify rows, and say what
//! follows.

mod convergence;
mod cross_fit;
mod distributions;
mod facts;
mod figures;
mod given;
mod goodness;
mod mechanism_claim;
mod model;
mod options;
mod order;
mod overall;
mod parts;
mod plan;
mod points;
mod privacy;
mod reasons;
mod rows_needed;
mod tallies;
mod targets;
mod trade_off;
mod verdict;
mod warning;
mod warnings;

pub(crate) use order::of_order;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use leakgauge_attack::pairwise::{
    Advantage, EffectiveRows, Judgement, ScoredRows, effective_rows, judge, judge_and_keep,
};
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::{self, Goals, Tuned};
use leakgauge_base::Tool;
use leakgauge_base::error::Result;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_log::{Log, SampledFrom};

use cross_fit::CrossFit;
pub use distributions::{Distributions, Shape};
use facts::{assumptions, input, method};
pub use given::check_scores;
pub use model::*;
pub use options::{AuditOptions, PriorChoice, SplitChoice};
use options::{check, prior};
use parts::{by_choice, refuse_uncertifiable};
use plan::Plan;
pub use tallies::{EffectiveSampleSize, PlugIn, Tallies};
use targets::Targets;
pub use trade_off::*;
pub use warning::Warning;

/// Everything an audit works with, once the certify rows have been looked at.
pub(crate) struct Evidence<'a> {
    options: &'a AuditOptions,
    secrets: &'a [String],
    observations: &'a Observations,
    /// All rows of the log that is judged.
    counts: &'a Counts,
    /// What the rows are a sample of, if they are one.
    sampled: Option<&'a SampledFrom>,
    /// The certify rows.
    certify: &'a Counts,
    /// Whether pairs were chosen on another log, so that all rows of this one are fresh.
    fresh: bool,
    tuned: &'a Tuned,
    plan: &'a Plan,
    judgement: &'a Judgement,
    /// The certify rows of the worst pair by their scores.
    scored: Option<&'a ScoredRows>,
    /// What the certify rows say about the advantage at every pair.
    advantages: Vec<Advantage>,
    /// What the certify rows are worth, in a split by time.
    effective: Option<EffectiveRows>,
    /// Plug-in total variation of every pair over all rows; discrete logs only, and not in a split by
    /// time, whose rows are not taken to be independent.
    plug_in: Option<Vec<f64>>,
    /// Points from all rows, where they can be had.
    cross_fit: Option<CrossFit>,
}

impl Evidence<'_> {
    fn names(&self, pair: usize) -> [String; 2] {
        let rule = self.tuned.choices[pair].rule;
        [rule.a, rule.b].map(|secret| self.secrets[secret as usize].clone())
    }

    fn pair_count(&self) -> usize {
        self.tuned.choices.len()
    }

    /// The errors of a rule that is judged, by its position, each rate limited separately.
    fn errors(&self, position: usize) -> Advantage {
        let effective = self.effective.as_ref().map(|rows| rows.rules[position]);
        Advantage::separate(self.judgement.tallies[position], effective)
    }

    fn is_discrete(&self) -> bool {
        self.plug_in.is_some()
    }
}

/// Audits a log.
///
/// # Errors
/// Options out of range, a claim that does not fit the log's secrets, a prior that is none, a log with
/// too few rows to certify anything.
pub fn audit(log: &Log, options: &AuditOptions) -> Result<Audit> {
    check(options)?;
    check_scores(&options.attacks, log.facts.scores.is_some())?;
    let claims = BoundClaim::bind_all(&options.claims, &log.secrets, &log.left_out)?;
    let prior = prior(log, &options.prior)?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let given = options.attacks.are_given();
    let (split, ordered) = by_choice(log, options.split, given, &mut rng)?;
    refuse_uncertifiable(log, &split)?;
    let alpha = 1.0 - options.confidence;
    let targets = Targets::new(&claims, log.secrets.len());
    // One attack for all, where limits rest on the order of its errors.
    let claimed = match ordered {
        None => targets.claimed(),
        Some(_) => Vec::new(),
    };
    let mut tuned = if given {
        given::tune(log, &split, options, &targets.list)?
    } else {
        tuning::tune(
            &log.observations,
            &split,
            &options.attacks,
            options.budget,
            Goals {
                alpha,
                targets: &targets.list,
                claimed: &claimed,
            },
        )?
    };
    learn_from_all(&mut tuned, log, &split);
    let serial = ordered.is_some();
    let plan = Plan::new(log, &split, &tuned, &claims, alpha, &targets, serial);
    let uniform = vec![1.0 / log.secrets.len() as f64; log.secrets.len()];
    let priors = [prior.clone(), uniform.clone()];
    let risk_methods = if serial {
        vec![overall::RiskMethod::EffectiveRows; priors.len()]
    } else {
        overall::choose_methods(&tuned, &split, &priors, alpha)
    };
    let worst = tuned.choices[plan.worst].rule;
    let (mut judgement, scored) = judge_and_keep(
        &*tuned.scorer,
        &log.observations,
        &split.certify,
        &plan.rules(&tuned),
        &priors,
        Some((worst.a, worst.b)),
    );
    if let Some(attack) = &tuned.for_privacy {
        // Its thresholds were chosen for what it had learned by then.
        let rules = &plan.rules(&tuned)[tuned.choices.len()..];
        let judged = judge(&**attack, &log.observations, &split.certify, rules, &[]);
        judgement.tallies.truncate(tuned.choices.len());
        judgement.tallies.extend(judged.tallies);
    }
    let effective = ordered.map(|rows| {
        let rules = plan.rules(&tuned);
        effective_rows(&*tuned.scorer, &log.observations, rows, &rules, &priors)
    });
    let evidence = Evidence {
        options,
        secrets: &log.secrets,
        observations: &log.observations,
        counts: &log.counts,
        sampled: log.facts.sampled.as_ref(),
        certify: &split.certify,
        fresh: log.fit_counts.is_some(),
        tuned: &tuned,
        plan: &plan,
        judgement: &judgement,
        // The order statistics of dependent rows have no such limits.
        scored: (!serial).then_some(&scored),
        advantages: advantages(&plan, &judgement, effective.as_ref(), options.seed),
        plug_in: figures::plug_in(log).filter(|_| !serial),
        effective,
        // Parts dealt at random would put neighbours in time on both sides.
        cross_fit: cross_fit::kinds(&tuned)
            .filter(|_| !serial && !options.quick)
            .and_then(|kinds| {
                CrossFit::run(log, &options.attacks, &kinds, alpha, options.seed, &priors)
            }),
    };
    let warnings = warnings::find(log, &split);
    let worst_pair = figures::worst_pair(&evidence);
    Ok(Audit {
        schema_version: 1,
        tool: Tool::default(),
        seed: options.seed,
        confidence: options.confidence,
        input: input(log),
        method: method(&tuned, &split, log, options, evidence.effective.as_ref()),
        assumptions: assumptions(log, options),
        pairs: figures::all_pairs(&evidence),
        multiplicity: Multiplicity {
            pairs: evidence.pair_count(),
            correction: if evidence.pair_count() > 1 {
                "bonferroni"
            } else {
                "none"
            },
            limits_read_by_claims: plan.reads(),
        },
        overall: overall::overall(&evidence, &worst_pair, &priors, &risk_methods, &mut rng),
        convergence: convergence::convergence(&evidence, &split, &worst_pair, &prior),
        secrets_by_likeness: figures::by_likeness(&evidence),
        claims: verdict::judge_claims(&evidence, log, &claims, &warnings),
        privacy: figures::privacy(&evidence),
        tallies: Tallies::of(&evidence, &prior),
        worst_pair,
        warnings,
    })
}

/// Once everything is chosen, the attack learns from the tune rows too. An attack that cannot stays as
/// it was.
fn learn_from_all(tuned: &mut Tuned, log: &Log, split: &Split) {
    let learn = split.fit.plus(&split.tune);
    if let Ok(scorer) = tuned.scorer.refit(&log.observations, &learn) {
        tuned.scorer = scorer;
    }
}

/// Every pair has random numbers of its own, whatever the other pairs need.
fn advantages(
    plan: &Plan,
    judgement: &Judgement,
    effective: Option<&EffectiveRows>,
    seed: u64,
) -> Vec<Advantage> {
    let pairs = plan.methods.iter().zip(&judgement.tallies);
    pairs
        .enumerate()
        .map(|(pair, (&method, &tally))| {
            if let Some(effective) = effective {
                return Advantage::separate(tally, Some(effective.rules[pair]));
            }
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(1 + pair as u64);
            Advantage::new(tally, method, &mut rng)
        })
        .collect()
}
