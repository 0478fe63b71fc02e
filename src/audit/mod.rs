//! From a log to a report: split, choose on the tune rows, judge on the certify rows, and say what
//! follows.

mod convergence;
mod cross_fit;
mod distributions;
mod figures;
mod given;
mod goodness;
mod mechanism_claim;
mod model;
mod order;
mod overall;
mod plan;
mod points;
mod privacy;
mod reasons;
mod rows_needed;
mod targets;
mod trade_off;
mod verdict;
mod warnings;

pub(crate) use order::of_order;

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::claim::{BoundPromise, Claim, ClaimKind, Promise};
use crate::error::{Error, Result, shorten};
use crate::log::Log;
use crate::mechanism::BoundMechanism;
use crate::observations::{Counts, Observations};
use crate::pairwise::{
    Advantage, EffectiveRows, Judgement, ScoredRows, effective_rows, judge, judge_and_keep,
};
use crate::split::Split;
use crate::tuning::{self, Budget, Goals, ScorerChoice, Tuned};

use cross_fit::CrossFit;
pub use distributions::{Distributions, Shape};
pub use given::check_scores;
pub use model::*;
use plan::Plan;
use targets::Targets;
pub use trade_off::*;

/// The prior of the figures that depend on one.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PriorChoice {
    /// All secrets equally likely.
    #[default]
    Uniform,
    /// As often as in the log, taken as exact.
    Empirical,
    /// Given by label.
    Given(BTreeMap<String, f64>),
}

/// How the rows of a log are split into those to learn from, to choose with and to judge on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitChoice {
    /// At random, secret by secret: for rows that are exchangeable.
    #[default]
    Random,
    /// Earlier rows to learn and choose, later ones to judge, with limits that allow for
    /// autocorrelation: for rows that are not.
    Blocks,
}

/// How to audit.
#[derive(Debug)]
pub struct AuditOptions {
    /// Level of every limit, in (0, 1).
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// The attacker.
    pub scorer: ScorerChoice,
    /// How long attackers may be tried.
    pub budget: Budget,
    /// How rows are split.
    pub split: SplitChoice,
    /// The prior.
    pub prior: PriorChoice,
    /// How close to a mechanism's analytic value an upper limit must come to hold.
    pub margin: f64,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        AuditOptions {
            confidence: 0.95,
            seed: 0,
            scorer: ScorerChoice::Auto,
            budget: Budget::default(),
            split: SplitChoice::Random,
            prior: PriorChoice::Uniform,
            margin: 0.02,
            claims: Vec::new(),
        }
    }
}

/// Everything an audit works with, once the certify rows have been looked at.
pub(crate) struct Evidence<'a> {
    options: &'a AuditOptions,
    secrets: &'a [String],
    observations: &'a Observations,
    /// All rows of the log that is judged.
    counts: &'a Counts,
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

/// A claim with what it means for the secrets of a log.
pub(crate) struct BoundClaim<'a> {
    claim: &'a Claim,
    mechanism: Option<Box<dyn BoundMechanism>>,
    /// What a promise of privacy leaves to each pair of secrets.
    privacy: Option<BoundPromise>,
}

impl BoundClaim<'_> {
    fn promise(&self) -> Option<Promise> {
        match self.claim.kind {
            ClaimKind::Promise(promise) => Some(promise),
            ClaimKind::Mechanism(_) => None,
        }
    }
}

/// Audits a log.
///
/// # Errors
/// Options out of range, a claim that does not fit the log's secrets, a prior that is none, a log with
/// too few rows to certify anything.
pub fn audit(log: &Log, options: &AuditOptions) -> Result<Audit> {
    check(options)?;
    check_scores(options.scorer, log.facts.scores.is_some())?;
    let claims = bind(log, &options.claims)?;
    let prior = prior(log, &options.prior)?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let given = options.scorer == ScorerChoice::Given;
    let (split, ordered) = by_choice(log, options.split, given, &mut rng)?;
    refuse_uncertifiable(log, &split)?;
    let alpha = 1.0 - options.confidence;
    let targets = Targets::new(&claims, log.secrets.len());
    let mut tuned = if given {
        given::tune(log, &split, options, &targets.list)?
    } else {
        tuning::tune(
            &log.observations,
            &split,
            options.scorer,
            options.budget,
            Goals {
                alpha,
                targets: &targets.list,
                privacy: ordered.is_none() && claims.iter().any(|claim| claim.privacy.is_some()),
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
        cross_fit: cross_fit::kind(&*tuned.scorer)
            .filter(|_| !serial && cross_fit::is_affordable(&tuned, options.budget))
            .and_then(|kind| {
                let budget = match options.scorer {
                    ScorerChoice::Auto => options.budget.as_in_auto(),
                    _ => options.budget,
                };
                CrossFit::run(log, kind, budget, alpha, options.seed, &priors)
            }),
    };
    let warnings = warnings::find(log, &split);
    let worst_pair = figures::worst_pair(&evidence);
    Ok(Audit {
        schema_version: 1,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
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
        worst_pair,
        warnings,
    })
}

fn check(options: &AuditOptions) -> Result<()> {
    let confidence = options.confidence;
    if !(0.5..1.0).contains(&confidence) {
        return Err(Error::parameter(
            format!("--confidence {confidence}"),
            "the level of confidence must be at least 0.5 and below 1",
        )
        .with_hint("0.95 means that a limit is wrong in at most 5 of 100 logs"));
    }
    if !(0.0..=1.0).contains(&options.margin) {
        return Err(Error::parameter(
            format!("--margin {}", options.margin),
            "must be between 0 and 1",
        ));
    }
    Ok(())
}

/// Once everything is chosen, the attack learns from the tune rows too. An attack that cannot stays as
/// it was.
fn learn_from_all(tuned: &mut Tuned, log: &Log, split: &Split) {
    let learn = split.fit.plus(&split.tune);
    if let Ok(scorer) = tuned.scorer.refit(&log.observations, &learn) {
        tuned.scorer = scorer;
    }
}

fn bind<'a>(log: &Log, claims: &'a [Claim]) -> Result<Vec<BoundClaim<'a>>> {
    claims
        .iter()
        .map(|claim| {
            // A mechanism is what it is on all secrets of the log, whichever are looked at: what
            // --secrets leaves out is still part of its domain.
            let (mechanism, privacy) = match &claim.kind {
                ClaimKind::Mechanism(mechanism) => {
                    let all = log.secrets.iter().chain(&log.left_out).cloned();
                    (Some(mechanism.bind(&all.collect::<Vec<_>>())?), None)
                }
                ClaimKind::Promise(promise) => {
                    let bound = BoundPromise::bind(promise, &claim.text, &log.secrets)?;
                    (None, bound)
                }
            };
            Ok(BoundClaim {
                claim,
                mechanism,
                privacy,
            })
        })
        .collect()
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

fn prior(log: &Log, choice: &PriorChoice) -> Result<Vec<f64>> {
    let secrets = log.secrets.len();
    match choice {
        PriorChoice::Uniform => Ok(vec![1.0 / secrets as f64; secrets]),
        PriorChoice::Empirical => {
            let total = log.counts.total() as f64;
            Ok(log
                .counts
                .rows()
                .iter()
                .map(|&rows| rows as f64 / total)
                .collect())
        }
        PriorChoice::Given(given) => given_prior(log, given),
    }
}

fn given_prior(log: &Log, given: &BTreeMap<String, f64>) -> Result<Vec<f64>> {
    for (label, p) in given {
        if !log.secrets.contains(label) {
            return Err(Error::parameter(
                format!("--prior {}={p}", shorten(label)),
                "the log has no such secret",
            ));
        }
        if !(p.is_finite() && *p >= 0.0) {
            return Err(Error::parameter(
                format!("--prior {}={p}", shorten(label)),
                "is not a probability",
            ));
        }
    }
    let sum: f64 = given.values().sum();
    if (sum - 1.0).abs() > 1e-9 {
        return Err(
            Error::parameter("--prior", format!("the probabilities sum to {sum}, not 1"))
                .with_hint("secrets that are not named have probability 0"),
        );
    }
    Ok(log
        .secrets
        .iter()
        .map(|label| given.get(label).copied().unwrap_or(0.0) / sum)
        .collect())
}

/// Rows in the order of the log, each a secret and an observation.
type Sequence<'a> = &'a [(u32, u32)];

/// The split, and for a split by time the certify rows in their order.
fn by_choice<'a>(
    log: &'a Log,
    choice: SplitChoice,
    given: bool,
    rng: &mut ChaCha8Rng,
) -> Result<(Split, Option<Sequence<'a>>)> {
    let ordered = match choice {
        SplitChoice::Random => None,
        SplitChoice::Blocks => Some(log.sequence.as_deref().ok_or_else(|| {
            Error::parameter("--split blocks", "the log was read without its order")
                .with_hint("read it with ReadOptions::keep_order")
        })?),
    };
    let split = match (&log.fit_counts, ordered, given) {
        (Some(learn), _, false) => Split::across(learn, log.counts.clone(), rng),
        (Some(tune), _, true) => Split::across_without_fit(tune, log.counts.clone()),
        (None, None, false) => Split::stratified(&log.counts, rng),
        (None, None, true) => Split::without_fit(&log.counts, rng),
        (None, Some(rows), _) => {
            let (split, certify) = Split::blocks(rows, log.secrets.len());
            if split.in_every_part() < 2 {
                return Err(recorded_apart(log));
            }
            return Ok((
                if given { split.all_to_tune() } else { split },
                Some(certify),
            ));
        }
    };
    Ok((split, ordered))
}

fn recorded_apart(log: &Log) -> Error {
    Error::data(
        crate::error::Place::file(log.facts.files.join(", ")),
        "--split blocks needs two secrets that occur early, midway and late in the log",
    )
    .with_hint(
        "secrets that were recorded one after the other cannot be told from whatever else changed meanwhile, by no \
         split: record them in random order",
    )
}

fn refuse_uncertifiable(log: &Log, split: &Split) -> Result<()> {
    let usable = split
        .certify
        .rows()
        .iter()
        .filter(|&&rows| rows > 0)
        .count();
    if usable >= 2 {
        return Ok(());
    }
    Err(Error::data(
        crate::error::Place::file(log.facts.files.join(", ")),
        "too few rows: no two secrets have rows left to certify on",
    )
    .with_hint("two rows of a secret are the least that can say anything, hundreds are useful"))
}

fn input(log: &Log) -> Input {
    let facts = &log.facts;
    Input {
        files: facts.files.clone(),
        fit_on: facts.fit_on.clone(),
        rows: facts.rows,
        rows_used: facts.rows_used,
        aggregated: facts.aggregated,
        header: facts.header,
        header_detected: facts.header_detected,
        delimiter: facts.delimiter,
        secret_column: facts.secret_column.clone(),
        secrets: log
            .secrets
            .iter()
            .zip(log.counts.rows())
            .map(|(label, &rows)| SecretRows {
                label: label.clone(),
                rows,
            })
            .collect(),
        observation: Observation {
            kind: log.observations.kind(),
            columns: log.observations.columns().to_vec(),
            distinct: log.observations.len(),
        },
    }
}

fn method(
    tuned: &Tuned,
    split: &Split,
    log: &Log,
    options: &AuditOptions,
    effective: Option<&EffectiveRows>,
) -> MethodSection {
    let worth = |effective: &EffectiveRows| {
        let rows = effective.least(log.secrets.len()).into_iter();
        log.secrets
            .iter()
            .zip(rows)
            .map(|(label, rows)| SecretRows {
                label: label.clone(),
                rows,
            })
            .collect()
    };
    MethodSection {
        split: if effective.is_some() {
            "blocks"
        } else {
            "random"
        },
        effective_rows: effective.map(worth),
        scorer: tuned.scorer.name(),
        parameters: tuned.scorer.parameters(),
        in_words: tuned.scorer.in_words(),
        index: tuned.index,
        rows: PartRows {
            fit: split.fit.total(),
            tune: split.tune.total(),
            certify: split.certify.total(),
        },
        budget: options.budget.seconds(),
        tried: tuned.tried.iter().map(TriedScorer::new).collect(),
    }
}

fn assumptions(log: &Log, options: &AuditOptions) -> Vec<String> {
    let rows = match options.split {
        SplitChoice::Random => {
            "Rows are independent, and the rows of a secret all come from one distribution."
        }
        SplitChoice::Blocks => {
            "What the attack gets wrong depends on rows nearby only, far fewer than those that certify. Limits come from \
             an estimate of how many independent rows these are worth, and are approximate. They are about the time of \
             the certify rows."
        }
    };
    let mut assumptions = vec![
        rows.to_owned(),
        format!(
            "Seed {} was fixed beforehand: running with several seeds and keeping one spends confidence that was not \
             paid for.",
            options.seed
        ),
    ];
    if !options.claims.is_empty() {
        assumptions.push(
            "The claims and the margin were settled before this log was looked at.".to_owned(),
        );
    }
    if log.facts.decided.contains(&crate::log::Decision::Inferred) {
        assumptions.push(
            "Types of columns that were not said were inferred from how the first rows are written."
                .to_owned(),
        );
    }
    if let Some(scores) = &log.facts.scores {
        assumptions.extend(given::assumptions(scores));
    }
    if options.prior == PriorChoice::Empirical {
        assumptions
            .push("The prior is exactly how often each secret occurs in this log.".to_owned());
    }
    if log.facts.narrowed {
        assumptions.push(
            "The secrets given with --secrets were chosen before this log was taken: choosing them by looking at it \
             spends confidence that was not paid for."
                .to_owned(),
        );
    }
    if let Some(file) = &log.facts.fit_on {
        assumptions.push(format!(
            "The rows of {file} are not rows of the log that is judged."
        ));
    }
    for column in log.observations.columns() {
        if let Some(width) = column.resolution {
            assumptions.push(format!(
                "The observer sees column {} in bins of {width} only, a width settled beforehand: limits are for that \
                 observer.",
                shorten(&column.name)
            ));
        }
    }
    assumptions
}
