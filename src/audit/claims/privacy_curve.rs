//! Claims of several (ε, δ) at once. Limits of ε at all δ follow from the same two error rates, or from the same
//! guesses, which are told how many δ there are: they hold together.

use crate::audit::basis::Evidence;
use crate::audit::claims::reason::{CurveGrounds, CurveOutcome, Grounds};
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::{privacy, rows_needed};
use crate::audit::closure::Read;
use crate::audit::figures::privacy::PrivacyLimit;
use leakgauge_attack::measure::plug_in::hockey_stick;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::{BoundClaim, Curve};
use leakgauge_stats::dp_upper::Allowed;

/// Refuted where the limit of ε at the δ of some point exceeds the ε of that point; proved on a discrete log where the
/// hockey-stick divergences of all pairs are within δ at every point.
pub(crate) fn judge(
    evidence: &Evidence,
    claim: &BoundClaim,
    curve: &Curve,
    at: usize,
) -> ClaimReport {
    let at = evidence.plan.privacy_at(at);
    let planned = evidence.pair_of(evidence.plan.privacy[at].rule);
    let limits = curve.points().iter().map(|&(epsilon, delta)| {
        let quantity = PrivacyParameter::Epsilon { delta };
        (epsilon, evidence.privacy_of(at, quantity))
    });
    let excess = |(epsilon, read): &(f64, Read)| read.limit.lower.unwrap_or(0.0) - epsilon;
    let (epsilon, read) = limits
        .reduce(|best, next| {
            if excess(&next) > excess(&best) {
                next
            } else {
                best
            }
        })
        .expect("a curve has points");
    let limit = &read.limit;
    let (verdict, outcome) = decide(evidence, curve, epsilon, limit);
    let p_value = p_value(evidence, curve, [planned, read.pair]);
    let width = limit.point.zip(limit.lower);
    let rows_needed = (verdict == Verdict::Inconclusive)
        .then(|| {
            width.and_then(|(point, lower)| rows_needed::by_width(evidence, point, lower, epsilon))
        })
        .flatten();
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Privacy(limit.quantity),
        analytic: epsilon,
        estimate: match verdict {
            Verdict::Holds => privacy::proved(evidence, privacy::estimate(&read), epsilon),
            Verdict::Violated | Verdict::Inconclusive => privacy::estimate(&read),
        },
        p_value: limit.lower.and(p_value),
        pair: limit.secrets.clone(),
        verdict,
        reason: Grounds::PrivacyCurve(CurveGrounds {
            points: curve.points().len(),
            delta: limit.quantity.delta().unwrap_or(0.0),
            outcome,
        })
        .into(),
        rows_needed,
        units_needed: None,
        fit: None,
    }
}

/// The smallest p-value of all points at two pairs, which may be one.
fn p_value(evidence: &Evidence, curve: &Curve, [planned, deciding]: [usize; 2]) -> Option<f64> {
    let others = (deciding != planned).then_some(deciding);
    let pairs = std::iter::once(planned).chain(others);
    let points = curve.points().iter();
    let of_points = |most: f64, pair: usize| {
        points.clone().fold(most, |most, &(epsilon, delta)| {
            let quantity = PrivacyParameter::Epsilon { delta };
            evidence.privacy_p_value_up_to(pair, quantity, epsilon, most)
        })
    };
    let of_pairs = pairs.fold(1.0, of_points);
    let average = points.clone().map(|&(epsilon, delta)| {
        evidence.some_privacy_p_value(PrivacyParameter::Epsilon { delta }, epsilon)
    });
    Some(average.fold(of_pairs, f64::min)).filter(|_| !curve.points().is_empty())
}

fn decide(
    evidence: &Evidence,
    curve: &Curve,
    epsilon: f64,
    limit: &PrivacyLimit,
) -> (Verdict, CurveOutcome) {
    if limit.lower.is_some_and(|lower| lower > epsilon) {
        return (Verdict::Violated, CurveOutcome::Refuted);
    }
    match proved(evidence, curve) {
        points if points == curve.points().len() => (Verdict::Holds, CurveOutcome::Proved),
        proved => (Verdict::Inconclusive, CurveOutcome::Open { proved }),
    }
}

/// At how many points the divergences of all pairs are within δ. Each limit holds by itself: a claim that is wrong is
/// wrong at some point, whose limit is as sure as the level.
fn proved(evidence: &Evidence, curve: &Curve) -> usize {
    let Some(limits) = evidence.upper else {
        return 0;
    };
    if evidence.counts.rows().contains(&0) {
        return 0;
    }
    let neighbors = |a: u32, b: u32| evidence.neighbors.contain(a, b);
    let within = |&&(epsilon, delta): &&(f64, f64)| {
        let of_pairs = hockey_stick(evidence.counts, |_, _| epsilon);
        let of_pairs: Vec<_> = of_pairs
            .into_iter()
            .filter(|&(a, b, _)| neighbors(a, b))
            .collect();
        let allowed = |&(a, b, _): &(u32, u32, f64)| Allowed {
            pair: [a, b],
            epsilon,
            delta,
        };
        let pairs: Vec<Allowed> = of_pairs.iter().map(allowed).collect();
        // Limits are not below the frequencies that they limit.
        of_pairs.iter().all(|&(.., plug_in)| plug_in <= delta)
            && (limits.largest_divergence(&pairs)).is_none_or(|(_, limit)| limit <= delta)
    };
    curve.points().iter().filter(within).count()
}
