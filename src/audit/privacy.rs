//! Claims of differential privacy.

use crate::audit::model::{ClaimReport, EpsilonLimit, Verdict};
use crate::audit::plan::Read;
use crate::audit::rows_needed;
use crate::audit::{BoundClaim, Evidence};
use crate::error::shorten;
use crate::estimate::{Estimate, Method, Methods};
use crate::measure::plug_in::hockey_stick;
use crate::outward::{at_least, at_least_beyond, at_most, at_most_beyond};
use crate::stats::concentration::mcdiarmid_hockey_stick_radius;

/// (ε, δ)-differential privacy between all secrets: refuted by the certified lower limit of ε; proved,
/// for δ > 0 on a discrete log, by the upper limit of the hockey-stick divergence.
pub(super) fn judge(
    evidence: &Evidence,
    claim: &BoundClaim,
    epsilon: f64,
    delta: f64,
) -> ClaimReport {
    let limit = evidence.epsilon(delta);
    let divergence = (delta > 0.0 && evidence.is_discrete())
        .then(|| divergence(evidence, epsilon))
        .flatten();
    let (verdict, reason) = decide(evidence, &limit, divergence, epsilon);
    let rows_needed = (verdict == Verdict::Inconclusive)
        .then(|| rows(evidence, &limit, divergence, epsilon))
        .flatten();
    ClaimReport {
        claim: claim.claim.text.clone(),
        quantity: "epsilon",
        analytic: epsilon,
        estimate: Estimate {
            point: limit.point,
            lower: limit.lower,
            upper: None,
            method: Methods {
                point: limit.point.map(|_| Method::HeldOutAttack),
                lower: limit.lower.map(|_| evidence.errors_method()),
                upper: None,
            },
            reason: Some("no upper limit of epsilon exists from samples".to_owned()),
        },
        pair: limit.secrets,
        verdict,
        reason,
        rows_needed,
        fit: None,
    }
}

/// The verdict and why. `divergence` is the plug-in value and the upper limit.
fn decide(
    evidence: &Evidence,
    limit: &EpsilonLimit,
    divergence: Option<(f64, f64)>,
    epsilon: f64,
) -> (Verdict, String) {
    let delta = limit.delta;
    if let Some(lower) = limit.lower.filter(|lower| *lower > epsilon) {
        let [a, b] = limit.secrets.each_ref().map(|label| shorten(label));
        let lower = at_least_beyond(lower, epsilon);
        let reason = format!(
            "Secrets {a} and {b} need an epsilon of at least {lower}, more than {epsilon}."
        );
        return (Verdict::Violated, reason);
    }
    if let Some((_, upper)) = divergence.filter(|(_, upper)| *upper <= delta) {
        let reason = format!(
            "At epsilon {epsilon} every ordered pair needs a delta of at most {}, within {delta}.",
            at_most_beyond(upper, delta)
        );
        return (Verdict::Holds, reason);
    }
    let lower = limit.lower.map_or("no limit".to_owned(), |lower| {
        format!("at least {}", at_least(lower))
    });
    let why = match divergence {
        Some((_, upper)) => {
            format!("the delta needed at epsilon {epsilon} is only limited to {}", at_most(upper))
        }
        None if delta > 0.0 && evidence.effective.is_some() => evidence.no_upper("").to_owned(),
        None if delta > 0.0 && evidence.is_discrete() => "some secret has no rows in this log".to_owned(),
        None if delta > 0.0 => "no upper limit exists for numeric observations".to_owned(),
        None => "samples can refute pure differential privacy but never prove it: an observation too rare to be seen \
                 could still break it"
            .to_owned(),
    };
    let reason = format!(
        "Not refuted: the log shows an epsilon of {lower}, which the claimed {epsilon} allows. Not confirmed: {why}."
    );
    (Verdict::Inconclusive, reason)
}

/// Rows that would prove the claim, else rows that would refute it, if either can be named.
fn rows(
    evidence: &Evidence,
    limit: &EpsilonLimit,
    divergence: Option<(f64, f64)>,
    epsilon: f64,
) -> Option<u64> {
    let proof = divergence.and_then(|(plug_in, upper)| {
        rows_needed::for_divergence(evidence, plug_in, upper, limit.delta)
    });
    let unclear = limit
        .point
        .zip(limit.lower)
        .is_some_and(|(point, lower)| rows_needed::is_within_noise(point, lower, epsilon));
    if proof.is_some() || unclear {
        return proof;
    }
    let plan = evidence.plan.epsilon_for(limit.delta);
    let tally = evidence.judgement.tallies[plan.position];
    let share = evidence.plan.share(Read::Errors(plan.rule));
    rows_needed::scaled(evidence, tally.is_judged(), |factor| {
        evidence
            .errors(plan.position)
            .scaled(factor)
            .errors_at_most(share)
            .epsilon_at_least(limit.delta)
            > epsilon
    })
}

/// The hockey-stick divergence of all ordered pairs: the plug-in value and upper limit of the pair whose
/// limit, at its own level, is the largest.
fn divergence(evidence: &Evidence, epsilon: f64) -> Option<(f64, f64)> {
    let rows = evidence.counts.rows();
    if rows.contains(&0) {
        return None;
    }
    let alpha = evidence.alpha();
    let limits = hockey_stick(evidence.counts, epsilon)
        .into_iter()
        .map(|(a, b, divergence)| {
            let (a, b) = (rows[a as usize], rows[b as usize]);
            (
                divergence,
                divergence + mcdiarmid_hockey_stick_radius(a, b, epsilon, alpha),
            )
        });
    let largest = limits.reduce(|best, next| if next.1 > best.1 { next } else { best });
    // No divergence exceeds 1, however wide its limit.
    largest.map(|(plug_in, limit)| (plug_in, limit.min(1.0)))
}
