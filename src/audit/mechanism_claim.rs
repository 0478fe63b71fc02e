//! Claims of a mechanism.

use crate::audit::claim_reason::Grounds;
use crate::audit::evidence::Evidence;
use crate::audit::findings::{ClaimReport, Verdict};
use crate::audit::goodness::{self, Fit, Untested};
use crate::audit::plan::analytic;
use crate::audit::rows_needed;
use crate::estimate::{Estimate, Reason};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_exact::mechanism::BoundMechanism;
use leakgauge_log::Log;

/// Judges the `at`-th claim, a mechanism: refuted at the pair that the tune rows found likeliest to
/// exceed its own analytic value, holding where every pair's upper limit is within the margin of its
/// own. A log with an observation that the mechanism cannot produce never holds.
pub(super) fn judge(
    evidence: &Evidence,
    log: &Log,
    claim: &BoundClaim,
    mechanism: &dyn BoundMechanism,
    at: usize,
) -> ClaimReport {
    let suspect = evidence.plan.mechanism_pairs[at].expect("planned for every mechanism claim");
    let values = |pair| analytic(mechanism, evidence.tuned, pair);
    let impossible = goodness::impossible(log, mechanism);
    let (verdict, pair, total_variation) = decide(
        evidence,
        suspect,
        |pair| values(pair).0,
        impossible.is_some(),
    );
    let (_, analytic_security) = values(pair);
    let estimate = total_variation.decreasing(|tv| 1.0 - tv);
    let rows_needed = match &impossible {
        Some(_) => None,
        None => rows_needed::for_mechanism(
            evidence,
            verdict,
            &total_variation,
            |pair| values(pair).0,
            pair,
        ),
    };
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::BayesSecurity,
        analytic: analytic_security,
        pair: evidence.pair(pair),
        verdict,
        reason: Grounds::Mechanism {
            impossible,
            margin: evidence.options.margin,
        }
        .into(),
        rows_needed,
        estimate,
        fit: Some(match (evidence.effective, evidence.units) {
            (None, None) => goodness::fit(log, mechanism),
            _ => Fit::untested(Untested::DependentRows),
        }),
    }
}

/// The verdict, the pair that decides and its total variation.
fn decide(
    evidence: &Evidence,
    suspect: usize,
    analytic: impl Fn(usize) -> f64,
    impossible: bool,
) -> (Verdict, usize, Estimate) {
    let share = evidence
        .plan
        .share(evidence.plan.advantage_read(evidence.tuned, suspect));
    let level = evidence.one_side(share);
    let all_pairs = evidence.one_side(evidence.alpha());
    let of_suspect = evidence.chosen_total_variation(suspect, level);
    if of_suspect
        .lower
        .is_some_and(|lower| lower > analytic(suspect))
    {
        return (Verdict::Violated, suspect, of_suspect);
    }
    let excess = |pair: usize| {
        let upper = evidence.plug_in_upper(pair, all_pairs)?;
        Some((pair, upper - analytic(pair) - evidence.options.margin))
    };
    let excesses: Option<Vec<(usize, f64)>> = (0..evidence.pair_count()).map(excess).collect();
    let largest = excesses.and_then(|excesses| {
        excesses
            .into_iter()
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    });
    match largest {
        Some((pair, excess)) if excess <= 0.0 && !impossible => {
            let estimate = evidence.total_variation(pair, level, all_pairs);
            (
                Verdict::Holds,
                pair,
                without_lower(estimate, pair == suspect),
            )
        }
        _ => (Verdict::Inconclusive, suspect, of_suspect),
    }
}

/// A pair that was picked after looking at the certify rows has no lower limit of its own.
fn without_lower(mut estimate: Estimate, planned: bool) -> Estimate {
    if !planned {
        estimate.lower = None;
        estimate.method.lower = None;
        estimate.reason = Some(Reason::PickedForUpper);
    }
    estimate
}
