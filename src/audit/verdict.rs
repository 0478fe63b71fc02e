//! Verdicts on claims, from the limits that are printed and from nothing else.

use crate::audit::Evidence;
use crate::audit::mechanism_claim;
use crate::audit::model::{ClaimReport, Verdict};
use crate::audit::privacy;
use crate::audit::reasons::{reason, security_reason};
use crate::audit::rows_needed;
use crate::audit::warning::Warning;
use crate::estimate::Estimate;
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_log::Log;
use leakgauge_log::observations::bins;

/// Judges every claim.
pub(super) fn judge_claims(
    evidence: &Evidence,
    log: &Log,
    claims: &[BoundClaim],
    warnings: &[Warning],
) -> Vec<ClaimReport> {
    claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            let mut report = match claim.terms() {
                Terms::Advantage { at_most } => bound_on_advantage(evidence, claim, *at_most),
                Terms::BayesSecurity { at_least } => bound_on_security(evidence, claim, *at_least),
                Terms::AttackAdvantage { at_most } => bound_on_attack(evidence, claim, *at_most),
                Terms::Privacy(promise) => privacy::judge(evidence, claim, promise, at),
                Terms::Mechanism(mechanism) => {
                    mechanism_claim::judge(evidence, log, claim, &**mechanism, at)
                }
            };
            qualify(&mut report, evidence, warnings);
            report
        })
        .collect()
}

/// What a violation rests on belongs in its reason.
fn qualify(report: &mut ClaimReport, evidence: &Evidence, warnings: &[Warning]) {
    if let Some(warning) = warnings.iter().find(|warning| warning.is_about_order())
        && report.verdict != Verdict::Inconclusive
        && (evidence.effective.is_none() || warning.is_about_secrets())
    {
        report.reason.push_str(&format!(" {}", warning.doubt()));
    }
    if evidence.effective.is_some() && report.verdict != Verdict::Inconclusive {
        report
            .reason
            .push_str(" The limit is approximate: it rests on effective rows.");
    }
    if let Some(rows) = report.rows_needed
        && let Some(advice) = rows_needed::from_the_log(evidence, rows)
    {
        report.reason.push_str(&format!(" {advice}"));
    }
    if let Some(bins) = bins(evidence.observations.columns()) {
        report
            .reason
            .push_str(&format!(" This is for an observer that sees {bins}."));
    }
}

/// A figure that should be at most `bound`, decided by its limits.
fn decide(estimate: &Estimate, bound: f64) -> Verdict {
    if estimate.lower.is_some_and(|lower| lower > bound) {
        Verdict::Violated
    } else if estimate.upper.is_some_and(|upper| upper <= bound) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    }
}

/// Total variation of the whole log: the certified worst pair from below, all pairs from above.
fn largest_total_variation(evidence: &Evidence) -> Estimate {
    let mut estimate = evidence.worst_total_variation();
    estimate.upper = evidence.largest_upper();
    estimate
}

fn bound_on_advantage(evidence: &Evidence, claim: &BoundClaim, at_most: f64) -> ClaimReport {
    let estimate = largest_total_variation(evidence);
    let verdict = decide(&estimate, at_most);
    let pair = evidence.plan.worst;
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Advantage,
        analytic: at_most,
        pair: evidence.names(pair),
        verdict,
        reason: reason(&estimate, "advantage", at_most, verdict, ""),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, pair),
        estimate,
        fit: None,
    }
}

fn bound_on_security(evidence: &Evidence, claim: &BoundClaim, at_least: f64) -> ClaimReport {
    let total_variation = largest_total_variation(evidence);
    let estimate = total_variation.decreasing(|tv| 1.0 - tv);
    // Decided on the printed limits of Bayes security itself: 1 − (1 − b) need not be b.
    let verdict = if estimate.upper.is_some_and(|upper| upper < at_least) {
        Verdict::Violated
    } else if estimate.lower.is_some_and(|lower| lower >= at_least) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    };
    let pair = evidence.plan.worst;
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::BayesSecurity,
        analytic: at_least,
        pair: evidence.names(pair),
        verdict,
        reason: security_reason(&estimate, at_least, verdict, ""),
        rows_needed: rows_needed::for_bound(
            evidence,
            verdict,
            &total_variation,
            1.0 - at_least,
            pair,
        ),
        estimate,
        fit: None,
    }
}

fn bound_on_attack(evidence: &Evidence, claim: &BoundClaim, at_most: f64) -> ClaimReport {
    let worst = evidence.plan.worst;
    let share = evidence
        .plan
        .share(evidence.plan.advantage_read(evidence.tuned, worst));
    let mut estimate = evidence.attack_advantage(worst, share / 2.0, evidence.alpha() / 2.0);
    // Over all pairs, each at its own level: the pair with the best attack is one fixed pair.
    estimate.upper = (0..evidence.pair_count())
        .map(|pair| {
            evidence
                .attack_advantage(pair, share / 2.0, evidence.alpha() / 2.0)
                .upper
        })
        .try_fold(-1.0f64, |largest, upper| Some(largest.max(upper?)));
    if estimate.upper.is_none() {
        estimate.reason = Some("some secret has no rows to certify on".to_owned());
    }
    let mut verdict = decide(&estimate, at_most);
    // A Kolmogorov limit is that of an attack too: the best cut of the observation itself.
    let found = evidence
        .worst_total_variation()
        .lower
        .is_some_and(|lower| lower > at_most);
    if verdict == Verdict::Holds && found {
        verdict = Verdict::Inconclusive;
    }
    let note =
        " This is about the best attack found; it says nothing about attacks that were not found.";
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::AttackAdvantage,
        analytic: at_most,
        pair: evidence.names(worst),
        verdict,
        reason: reason(
            &estimate,
            "advantage of the best attack found",
            at_most,
            verdict,
            note,
        ),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, worst),
        estimate,
        fit: None,
    }
}
