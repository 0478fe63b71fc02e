//! All pairs of secrets together, on the average: for many secrets with few rows of each.

use crate::audit::learn::blocks::begins;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::average::{
    Aim, AverageErrors, AverageLimits, FEWEST_SECRETS, MOST_ROWS,
};
use leakgauge_attack::tuning::{ForAverage, Tuned};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::{BoundClaim, Terms};

/// What a rule for all pairs is wanted for, if it is: where secrets are many, claims say the same of all their pairs, and
/// rows are independent and too few for blocks that judge earlier.
pub(crate) fn wanted(prepared: &Prepared) -> Option<Aim> {
    let certify = &prepared.split.certify;
    let applies = prepared.labels.len() >= FEWEST_SECRETS
        && prepared.neighbors.are_all()
        && certify.total() <= MOST_ROWS
        && certify.rows().iter().all(|rows| *rows > 0)
        && prepared.independence.is_of_rows()
        && begins(prepared).is_none()
        && may_be_read(&prepared.claims);
    applies.then(|| aim(prepared).0)
}

/// So many secrets have so many pairs that the largest of their promises in the tail is mostly luck.
const MANY: usize = 8;

/// The attack whose rule promises most on the tuning rows. Of few secrets, only if that is more than the best pair promises.
pub(crate) fn plan(prepared: &Prepared, tuned: &Tuned) -> Option<ForAverage> {
    let best = tuned.average.as_ref()?;
    let (_, target) = aim(prepared);
    let of_pairs = tuned.choices.iter().map(|choice| match target {
        Some(target) => choice.privacy[target].1,
        None => choice.lower,
    });
    let is_luck = target.is_some() && prepared.labels.len() >= MANY;
    (is_luck || best.rule.promised > of_pairs.fold(0.0, f64::max)).then(|| best.clone())
}

/// Whether a claim reads it.
pub(crate) fn is_read(claims: &[BoundClaim]) -> bool {
    let reads = |claim: &BoundClaim| match claim.terms() {
        Terms::Privacy(promise) => promise.is_uniform(),
        Terms::Curve(_)
        | Terms::BayesSecurity { .. }
        | Terms::Advantage { .. }
        | Terms::AttackAdvantage { .. } => true,
        Terms::Mechanism(_) | Terms::Overall { .. } | Terms::TimeDifference(_) => false,
    };
    claims.iter().any(reads)
}

/// Whether it may have a part of the level: where a claim reads it, or there is none. Beside claims of times, which all rows
/// judge, no part may depend on what attacks made of rows.
fn may_be_read(claims: &[BoundClaim]) -> bool {
    let is_time = |claim: &BoundClaim| matches!(claim.terms(), Terms::TimeDifference(_));
    claims.is_empty() || (is_read(claims) && !claims.iter().any(is_time))
}

/// What the first claim of privacy is about, else the total variation; with the target that thresholds were chosen for.
fn aim(prepared: &Prepared) -> (Aim, Option<usize>) {
    let targets = &prepared.targets;
    let claims = prepared.claims.iter().zip(&targets.of_claims);
    let mut of_privacy = claims.filter_map(|(claim, of)| {
        let uniform = claim.privacy().is_none_or(|promise| promise.is_uniform());
        let target = *of.first().filter(|_| uniform)?;
        let parameter = targets.list[target].at(0)?;
        Some((Aim::Privacy(parameter), Some(target)))
    });
    let about_leak = prepared
        .claims
        .iter()
        .any(|claim| !matches!(claim.terms(), Terms::TimeDifference(_)));
    let pure = Aim::Privacy(PrivacyParameter::Epsilon { delta: 0.0 });
    of_privacy.next().unwrap_or(match about_leak {
        true => (Aim::TotalVariation, None),
        false => (pure, Some(0)),
    })
}

/// What the certification rows say.
pub(crate) fn judge(prepared: &Prepared, plan: &ForAverage) -> Option<AverageLimits> {
    let certify = &prepared.split.certify;
    let observations = &prepared.log.observations;
    let errors = AverageErrors::judge(&*plan.scorer, observations, certify, plan.rule.threshold);
    errors.bets(&plan.rule.expected)
}
