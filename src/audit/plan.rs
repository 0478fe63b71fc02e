//! The third stage: what will be judged on the certification rows, settled before any of them is looked at.
//!
//! Exit code 1 must have probability at most α if all claims are true. So every distinct limit that a
//! claim reads to be refuted gets an equal share of α; claims that read the same limit share it free.
//! A limit that no claim reads is printed at α.

use crate::audit::overall::{RiskMethod, choose_methods};
use crate::audit::prepare::Prepared;
use crate::audit::targets::Targets;
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{AdvantageGuide, AdvantageMethod, Rule};
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_exact::mechanism::BoundMechanism;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::concentration;
use leakgauge_stats::multiplicity::bonferroni;

/// A limit that can refute a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CertifiedLimit {
    /// The error rates of a rule, limited together: ε follows from them, and the advantage too.
    Errors(Rule),
    /// The same for a rule on the scores of the attack that was chosen for privacy.
    PrivacyErrors(Rule),
    /// The pooled errors of a rule: the advantage follows from them.
    Pooled(Rule),
    /// The Kolmogorov distance of a pair.
    Kolmogorov(usize),
}

/// How the total variation of the worst pair is certified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorstMethod {
    Attack,
    Kolmogorov,
}

/// Where a limit of ε, μ or ρ comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PrivacyPlan {
    pub quantity: PrivacyParameter,
    pub rule: Rule,
    /// The limit that it follows from.
    pub read: CertifiedLimit,
    /// Position among the rules that are judged.
    pub position: usize,
}

/// What is judged and at which level.
#[derive(Debug)]
pub(super) struct Plan {
    alpha: f64,
    /// For each pair, how its advantage is limited.
    pub methods: Vec<AdvantageMethod>,
    /// The worst pair.
    pub worst: usize,
    pub worst_method: WorstMethod,
    /// ε at δ = 0 first, then those that claims read, each once.
    pub privacy: Vec<PrivacyPlan>,
    /// For each claim of privacy, which of these it reads.
    privacy_of_claims: Vec<Option<usize>>,
    /// For each claim of a mechanism, the pair most likely to refute it.
    pub mechanism_pairs: Vec<Option<usize>>,
    reads: Vec<CertifiedLimit>,
    /// For each prior, how the Bayes risk is limited from above.
    pub risk_methods: Vec<RiskMethod>,
}

/// Settles the plan on the tuning rows. In a split by time each error rate is limited by itself: nothing
/// is said of how the errors of one secret and of the other hang together.
pub(super) fn plan(prepared: &Prepared, tuned: &Tuned) -> Plan {
    let (split, claims, alpha) = (&prepared.split, &prepared.claims, prepared.alpha);
    let choices = &tuned.choices;
    // Numbers of certification rows may be looked at: a pair that cannot be judged is no candidate.
    let judged = |rule: Rule| {
        let rows = split.certify.rows();
        [rule.a, rule.b].iter().all(|&s| rows[s as usize] > 0)
    };
    let candidate = |rule: Rule, value: f64| if judged(rule) { value } else { f64::MIN };
    let limits = choices.iter();
    let worst = largest(limits.map(|choice| candidate(choice.rule, choice.lower)));
    let (privacy, privacy_of_claims) = privacy(tuned, claims, &prepared.targets, &candidate);
    let (methods, worst_method, risk_methods) = if prepared.is_serial() {
        (
            vec![AdvantageMethod::Separate; choices.len()],
            WorstMethod::Attack,
            vec![RiskMethod::EffectiveRows; prepared.priors.len()],
        )
    } else if prepared.units.is_some() {
        (
            vec![AdvantageMethod::Separate; choices.len()],
            WorstMethod::Attack,
            vec![RiskMethod::Units; prepared.priors.len()],
        )
    } else {
        (
            methods(split, tuned, alpha),
            worst_method(&prepared.log.observations, split, tuned, worst, alpha),
            choose_methods(tuned, split, &prepared.priors, alpha),
        )
    };
    let mechanism_pairs = claims.iter();
    let mut plan = Plan {
        alpha,
        methods,
        worst,
        worst_method,
        privacy,
        privacy_of_claims,
        mechanism_pairs: mechanism_pairs
            .map(|claim| mechanism_pair(tuned, claim, &judged))
            .collect(),
        reads: Vec::new(),
        risk_methods,
    };
    plan.share_level(tuned, claims);
    plan
}

impl Plan {
    /// Every distinct limit that a claim reads gets a share of the level.
    fn share_level(&mut self, tuned: &Tuned, claims: &[BoundClaim]) {
        for (at, claim) in claims.iter().enumerate() {
            let read = self.read_by(tuned, at, claim);
            if !self.reads.contains(&read) {
                self.reads.push(read);
            }
        }
    }

    /// All rules that are judged: one per pair, then those for limits of privacy.
    pub fn rules(&self, tuned: &Tuned) -> Vec<Rule> {
        let pairs = tuned.choices.iter().map(|choice| choice.rule);
        pairs
            .chain(self.privacy.iter().map(|privacy| privacy.rule))
            .collect()
    }

    /// The number of limits that share α.
    pub fn reads(&self) -> usize {
        self.reads.len()
    }

    /// The share of α that a limit gets.
    pub fn share(&self, read: CertifiedLimit) -> f64 {
        if self.reads.contains(&read) {
            bonferroni(self.alpha, self.reads.len() as u64)
        } else {
            self.alpha
        }
    }

    /// The limit on the total variation of the worst pair.
    pub fn worst_read(&self, tuned: &Tuned) -> CertifiedLimit {
        match self.worst_method {
            WorstMethod::Attack => self.advantage_read(tuned, self.worst),
            WorstMethod::Kolmogorov => CertifiedLimit::Kolmogorov(self.worst),
        }
    }

    /// The limit on the advantage of a pair's attack.
    pub fn advantage_read(&self, tuned: &Tuned, pair: usize) -> CertifiedLimit {
        let rule = tuned.choices[pair].rule;
        match self.methods[pair] {
            AdvantageMethod::Separate => CertifiedLimit::Errors(rule),
            AdvantageMethod::Pooled => CertifiedLimit::Pooled(rule),
        }
    }

    /// The limit that a claim of privacy reads.
    pub fn privacy_of(&self, claim: usize) -> PrivacyPlan {
        self.privacy[self.privacy_of_claims[claim].expect("planned for every claim of privacy")]
    }

    fn read_by(&self, tuned: &Tuned, at: usize, claim: &BoundClaim) -> CertifiedLimit {
        match claim.terms() {
            Terms::Privacy(_) => self.privacy_of(at).read,
            Terms::BayesSecurity { .. } | Terms::Advantage { .. } => self.worst_read(tuned),
            Terms::AttackAdvantage { .. } => self.advantage_read(tuned, self.worst),
            Terms::Mechanism(_) => {
                let pair = self.mechanism_pairs[at].expect("planned for every mechanism claim");
                self.advantage_read(tuned, pair)
            }
        }
    }
}

/// The limits of privacy that are read, and which of them each claim reads: at the pair whose tune-row
/// limit exceeds its own allowance most.
fn privacy(
    tuned: &Tuned,
    claims: &[BoundClaim],
    targets: &Targets,
    candidate: &dyn Fn(Rule, f64) -> f64,
) -> (Vec<PrivacyPlan>, Vec<Option<usize>>) {
    let choices = &tuned.choices;
    let at = |target: usize, value: &dyn Fn(PrivacyParameter, Rule, f64) -> f64| {
        let quantity = |pair: usize| targets.list[target].at(pair);
        let pair = largest(choices.iter().enumerate().map(|(pair, choice)| {
            let (rule, limit) = choice.privacy[target];
            candidate(rule, value(quantity(pair), rule, limit))
        }));
        let rule = choices[pair].privacy[target].0;
        PrivacyPlan {
            quantity: quantity(pair),
            rule,
            read: match tuned.for_privacy {
                Some(_) => CertifiedLimit::PrivacyErrors(rule),
                None => CertifiedLimit::Errors(rule),
            },
            position: 0,
        }
    };
    let limit = |_: PrivacyParameter, _: Rule, limit: f64| limit;
    let mut plans = vec![at(0, &limit)];
    let of_claims = claims
        .iter()
        .zip(&targets.of_claims)
        .map(|(claim, target)| {
            let promise = claim.privacy()?;
            let excess = |quantity: PrivacyParameter, rule: Rule, limit: f64| {
                let allowed = promise.between(rule.a as usize, rule.b as usize);
                quantity.excess(limit.max(0.0), allowed.parameter())
            };
            // Where all pairs are allowed the same, claims of several values read one limit.
            let plan = if promise.is_uniform() {
                at((*target)?, &limit)
            } else {
                at((*target)?, &excess)
            };
            let known = plans.iter().position(|known| *known == plan);
            Some(known.unwrap_or_else(|| {
                plans.push(plan);
                plans.len() - 1
            }))
        });
    let of_claims = of_claims.collect();
    for (at, plan) in plans.iter_mut().enumerate() {
        plan.position = choices.len() + at;
    }
    (plans, of_claims)
}

/// For each pair, the method that promises the larger limit on its certification rows.
fn methods(split: &Split, tuned: &Tuned, alpha: f64) -> Vec<AdvantageMethod> {
    let guide = AdvantageGuide::new(alpha);
    let rows = split.certify.rows();
    let choices = tuned.choices.iter();
    choices
        .map(|choice| {
            guide.method(
                &choice.tune,
                rows[choice.rule.a as usize],
                rows[choice.rule.b as usize],
            )
        })
        .collect()
}

/// The position of the largest value, the first of equals.
fn largest(values: impl Iterator<Item = f64>) -> usize {
    let best = values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, next| {
            if next.1 > best.1 { next } else { best }
        });
    best.0
}

/// The pair whose tune-row lower limit exceeds its own analytic total variation most.
fn mechanism_pair(
    tuned: &Tuned,
    claim: &BoundClaim,
    judged: &dyn Fn(Rule) -> bool,
) -> Option<usize> {
    let mechanism = claim.mechanism()?;
    Some(largest(tuned.choices.iter().map(|choice| {
        let rule = choice.rule;
        if judged(rule) {
            choice.lower - mechanism.total_variation(rule.a as usize, rule.b as usize)
        } else {
            f64::MIN
        }
    })))
}

/// On one numeric column the Kolmogorov distance is an alternative to the attack. The better on the
/// tuning rows is taken.
fn worst_method(
    observations: &Observations,
    split: &Split,
    tuned: &Tuned,
    worst: usize,
    alpha: f64,
) -> WorstMethod {
    let choice = &tuned.choices[worst];
    if observations.columns().len() != 1
        || observations.dimensions() != 1
        || !choice.tune.is_judged()
    {
        return WorstMethod::Attack;
    }
    let (a, b) = (choice.rule.a, choice.rule.b);
    if kolmogorov_lower(observations, &split.tune, a, b, alpha) > choice.lower {
        WorstMethod::Kolmogorov
    } else {
        WorstMethod::Attack
    }
}

/// Lower limit of the total variation of two secrets from their Kolmogorov distance.
///
/// # Formula
/// sup|F̂_a − F̂_b| − r_a − r_b, r = √(ln(4/α)/2n) for each empirical distribution function.
///
/// # References
/// Massart 1990, doi:10.1214/aop/1176990746.
pub(super) fn kolmogorov_lower(
    observations: &Observations,
    counts: &Counts,
    a: u32,
    b: u32,
    alpha: f64,
) -> f64 {
    let radius =
        |secret: u32| concentration::dkw_radius(counts.rows()[secret as usize], alpha / 2.0);
    plug_in::kolmogorov_distance(observations, counts, a, b) - radius(a) - radius(b)
}

/// The analytic values of a mechanism at a pair, (total variation, Bayes security).
pub(super) fn analytic(mechanism: &dyn BoundMechanism, tuned: &Tuned, pair: usize) -> (f64, f64) {
    let rule = tuned.choices[pair].rule;
    let (a, b) = (rule.a as usize, rule.b as usize);
    (
        mechanism.total_variation(a, b),
        mechanism.bayes_security(a, b),
    )
}
