//! Which limits of ε, μ and ρ are judged, and where two secrets are guessed for ε.

use std::collections::BTreeSet;

use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::learn::earlier::{Block, Learned};
use crate::audit::learn::trials::trials;
use crate::audit::prepare::Prepared;
use crate::audit::promises::largest;
use leakgauge_attack::pairwise::{PairScores, Rule};
use leakgauge_attack::past::overfits;
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::{ForPrivacy, Tuned};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::Curve;
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::tails::Tails;
use leakgauge_stats::variational::{self, Divergence};

/// With more, coins would be tossed for seconds, and two error rates are limited well enough.
const MOST_TOSSES: u64 = 200_000_000;
/// With so many rows for each distinct observation frequencies are not learned by heart.
const ROWS_EACH: u64 = 10;

/// Where a limit of ε, μ or ρ comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrivacyPlan {
    pub quantity: PrivacyParameter,
    pub rule: Rule,
    /// The limit that it follows from.
    pub read: CertifiedLimit,
    /// Position among the rules that are judged.
    pub position: usize,
    /// For ε: where the first block that judges is guessed.
    pub tails: Option<Tails>,
    /// For ρ and Rényi divergences: how bins of the scores are weighed, where that promises more than a threshold.
    pub weights: Option<Weights>,
    /// The δ at which guesses limit ε together: 0, and those that claims allow these secrets.
    pub deltas: Vec<f64>,
    /// The pairs whose limits of this parameter are comparable.
    pub scope: Scope,
}

/// The pairs of secrets that a limit of privacy is the largest of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All pairs.
    All,
    /// Those that claims of privacy are about.
    Neighbors,
    /// One pair: what others are allowed is another parameter.
    Pair,
}

/// Bins of the difference of two secrets' scores, and what each counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    pub edges: Vec<f64>,
    pub plan: variational::Plan,
}

/// How finely scores are weighed. A Gaussian shift keeps all but a thousandth of its divergence.
const BINS: usize = 32;

/// The limits of privacy that are read, and which of them each claim reads: at the pair whose tune-row
/// limit exceeds its own allowance most.
pub(crate) fn plan(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
) -> (Vec<PrivacyPlan>, Vec<Option<usize>>) {
    let targets = &prepared.targets;
    let choices = &tuned.choices;
    // Numbers of certification rows may be looked at: a pair that cannot be judged is no candidate.
    let rows = prepared.split.certify.rows();
    let judged = |rule: Rule| [rule.a, rule.b].iter().all(|&s| rows[s as usize] > 0);
    let best = |target: usize, value: &dyn Fn(PrivacyParameter, Rule, f64) -> f64| {
        let quantity = |pair: usize| targets.list[target].at(pair);
        let values: Vec<f64> = choices
            .iter()
            .enumerate()
            .map(|(pair, choice)| {
                let (rule, limit) = choice.privacy[target];
                match quantity(pair) {
                    Some(quantity) if judged(rule) => value(quantity, rule, limit),
                    Some(_) => f64::MIN,
                    None => f64::NEG_INFINITY,
                }
            })
            .collect();
        let pair = largest(values.iter().copied());
        let quantity = quantity(pair).expect("some pair is one of neighbors");
        let (rule, limit) = choices[pair].privacy[target];
        (values[pair], limit, quantity, rule)
    };
    let planned = |scope: Scope, (_, limit, quantity, rule): (f64, f64, PrivacyParameter, Rule)| {
        of_rule(prepared, tuned, earlier, (limit, quantity, rule), scope)
    };
    let limit = |_: PrivacyParameter, _: Rule, limit: f64| limit;
    let mut plans = vec![planned(Scope::All, best(0, &limit))];
    let mut position = |plan: PrivacyPlan| {
        let known = plans.iter().position(|known| *known == plan);
        known.unwrap_or_else(|| {
            plans.push(plan);
            plans.len() - 1
        })
    };
    let neighbors = if prepared.neighbors.are_all() {
        Scope::All
    } else {
        Scope::Neighbors
    };
    let of_claims = prepared
        .claims
        .iter()
        .zip(&targets.of_claims)
        .map(|(claim, of)| {
            if let Some(curve) = claim.curve() {
                let points = curve.spread().into_iter().zip(of);
                let excess = points.map(|((epsilon, _), &target)| {
                    best(target, &|_, _, limit| limit.max(0.0) - epsilon)
                });
                let first = excess.reduce(|best, next| if next.0 > best.0 { next } else { best });
                return first.map(|first| position(planned(neighbors, first)));
            }
            let promise = claim.privacy()?;
            let excess = |quantity: PrivacyParameter, rule: Rule, limit: f64| {
                let allowed = promise.between(rule.a as usize, rule.b as usize);
                quantity.excess(limit.max(0.0), allowed.parameter())
            };
            // Where all pairs are allowed the same, claims of several values read one limit.
            Some(position(if promise.is_uniform() {
                planned(neighbors, best(of[0], &limit))
            } else {
                planned(Scope::Pair, best(of[0], &excess))
            }))
        });
    let of_claims = of_claims.collect();
    for (at, plan) in plans.iter_mut().enumerate() {
        plan.position = choices.len() + at;
    }
    (plans, of_claims)
}

/// ε is limited by guesses where there are rows to choose them by, ρ and Rényi divergences by weighed scores, all else
/// by two error rates. In a split by time, and with units, no guesses are counted together.
fn of_rule(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    (limit, quantity, rule): (f64, PrivacyParameter, Rule),
    scope: Scope,
) -> PrivacyPlan {
    let is_epsilon = matches!(quantity, PrivacyParameter::Epsilon { .. });
    let tails = (is_epsilon && prepared.independence.is_of_rows())
        .then(|| first_tails(prepared, tuned, earlier, rule))
        .flatten();
    let aim = aim(quantity);
    let weights = aim.and_then(|aim| weights(prepared, tuned, rule, aim, limit));
    let read = match (tails, &tuned.for_privacy) {
        _ if weights.is_some() => {
            let aim = aim.expect("weights are for an aim");
            CertifiedLimit::Divergence([rule.a, rule.b], aim)
        }
        (Some(_), _) => CertifiedLimit::Guesses([rule.a, rule.b]),
        (None, Some(_)) => CertifiedLimit::PrivacyErrors(rule),
        (None, None) => CertifiedLimit::Errors(rule),
    };
    PrivacyPlan {
        quantity,
        rule,
        read,
        position: 0,
        tails,
        weights,
        deltas: deltas_at(prepared, [rule.a, rule.b]),
        scope,
    }
}

fn aim(quantity: PrivacyParameter) -> Option<Divergence> {
    match quantity {
        PrivacyParameter::Rho => Some(Divergence::PerOrder),
        PrivacyParameter::Renyi { order } => Some(Divergence::Order(order)),
        PrivacyParameter::Epsilon { .. } | PrivacyParameter::Mu => None,
    }
}

/// Weights by rows before the certification rows, if they promise more than the threshold that was chosen showed there.
fn weights(
    prepared: &Prepared,
    tuned: &Tuned,
    rule: Rule,
    aim: Divergence,
    of_threshold: f64,
) -> Option<Weights> {
    if !prepared.independence.is_of_rows() {
        return None;
    }
    let pair = [rule.a, rule.b];
    let past = past_scores(prepared, tuned, &Learned::of(&prepared.split), pair);
    let edges = past.edges(BINS);
    let rows = pair.map(|secret| prepared.split.certify.rows()[secret as usize]);
    let past = past.between(&edges);
    let (plan, promised) = variational::Plan::best(&past, rows, aim, prepared.alpha)?;
    (promised > of_threshold).then_some(Weights { edges, plan })
}

/// The blocks before the certification rows that guesses are counted on. With more than two secrets there are none, for
/// the pair is chosen on these rows. With two, guesses begin with the first block whose ends no later rows would choose
/// better: a weak leak needs many rows to choose by. Each such decision reads the rows before the block alone.
pub(crate) fn blocks_for_guesses<'b>(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &'b [Block],
    rule: Rule,
) -> &'b [Block] {
    if tuned.choices.len() != 1 {
        return &[];
    }
    let delta = delta_of_guesses(prepared);
    let all = trials(prepared, earlier, rule);
    let left = |from: usize| all[from..].iter().sum::<u64>();
    let rows = |block: &Block| block.learned.all.total() as f64;
    let waits = |at: &usize| {
        let block = &earlier[*at];
        let after = earlier[*at + 1..].iter().enumerate();
        let mut later: Vec<(f64, u64)> = after
            .map(|(ahead, later)| (rows(later) / rows(block), left(*at + 1 + ahead)))
            .collect();
        let Split { fit, tune, .. } = &prepared.split;
        let learned = (fit.total() + tune.total()) as f64;
        later.push((learned / rows(block), left(earlier.len())));
        let pair = [rule.a, rule.b];
        let past = past_scores(prepared, &block.tuned, &block.learned, pair).past();
        let past = past.with_delta(delta);
        past.gains_later(left(*at), &later, prepared.alpha)
    };
    let first = (0..earlier.len()).find(|at| !waits(at));
    &earlier[first.unwrap_or(earlier.len())..]
}

fn first_tails(prepared: &Prepared, tuned: &Tuned, earlier: &[Block], rule: Rule) -> Option<Tails> {
    let earlier = blocks_for_guesses(prepared, tuned, earlier, rule);
    let all: u64 = trials(prepared, earlier, rule).iter().sum();
    if all > MOST_TOSSES {
        return None;
    }
    let last = Learned::of(&prepared.split);
    let (tuned, learned) = earlier
        .first()
        .map_or((tuned, &last), |block| (&block.tuned, &block.learned));
    past_scores(prepared, tuned, learned, [rule.a, rule.b])
        .past()
        .with_delta(delta_of_guesses(prepared))
        .best(all, prepared.alpha)
}

/// The δ that guesses are chosen for: that of the claims, where all read one, else 0. The same guesses serve every
/// limit, so that limits need not share the level, and ε at a smaller δ is never less.
pub(crate) fn delta_of_guesses(prepared: &Prepared) -> f64 {
    let claims = &prepared.claims;
    if claims.iter().any(|claim| claim.mechanism().is_some()) {
        return 0.0;
    }
    let claimed = prepared.targets.claimed().into_iter();
    let parameters = claimed.flat_map(|at| prepared.targets.list[at].parameters());
    let mut deltas = parameters.filter_map(|parameter| parameter.delta());
    let first = deltas.next().unwrap_or(0.0);
    if deltas.all(|other| other == first) {
        first
    } else {
        0.0
    }
}

/// 0, and the δ that claims allow two secrets: limits at all of them hold together.
fn deltas_at(prepared: &Prepared, [a, b]: [u32; 2]) -> Vec<f64> {
    let of_claims = prepared.claims.iter().flat_map(|claim| {
        let promise = claim.privacy();
        let promised = promise.map(|promise| promise.between(a as usize, b as usize).quantity());
        let on_curve = claim.curve().map_or(&[][..], Curve::points).iter();
        let on_curve = on_curve.map(|&(_, delta)| delta);
        promised
            .and_then(|one| one.delta())
            .into_iter()
            .chain(on_curve)
    });
    let positive = of_claims.filter(|&delta| delta > 0.0).map(f64::to_bits);
    // Bits of positive numbers are in the order of the numbers.
    let positive: BTreeSet<u64> = positive.collect();
    let positive = positive.into_iter().map(f64::from_bits);
    std::iter::once(0.0).chain(positive).collect()
}

/// The scores of an attack on past rows: those that it was tuned on, and those that it learned from where it
/// cannot know them too well, or by attacks that learned from the others.
pub(crate) fn past_scores(
    prepared: &Prepared,
    tuned: &Tuned,
    learned: &Learned,
    pair: [u32; 2],
) -> PairScores {
    let observations = &prepared.log.observations;
    let attack = tuned.privacy_attack();
    let few = learned.all.symbols().len() as u64 * ROWS_EACH <= learned.all.total();
    let few = few && observations.kind() == ObservationKind::Discrete;
    let knows_too_well = || attack.memorizes() || overfits(&**attack, &learned.all);
    match &tuned.for_privacy {
        Some(ForPrivacy {
            past: Some(past), ..
        }) => PairScores::of(&past.scores, &past.rows, pair),
        _ if few || !knows_too_well() => {
            PairScores::judge(&**attack, observations, &learned.all, pair)
        }
        None => PairScores::of(&tuned.scores, &learned.tune, pair),
        Some(_) => PairScores::judge(&**attack, observations, &learned.tune, pair),
    }
}
