//! Verdicts on claims, from the limits that are reported and from nothing else.

use crate::audit::claim_reason::{Grounds, Qualification};
use crate::audit::evidence::Evidence;
use crate::audit::findings::{ClaimReport, Verdict};
use crate::audit::mechanism_claim;
use crate::audit::privacy;
use crate::audit::rows_needed;
use crate::audit::warning::Warning;
use crate::estimate::{Estimate, Reason};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_log::Log;
use leakgauge_log::observations::Column;

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

/// What a verdict rests on beyond its limits belongs in its reason.
fn qualify(report: &mut ClaimReport, evidence: &Evidence, warnings: &[Warning]) {
    let decided = report.verdict != Verdict::Inconclusive;
    let add = &mut report.reason.qualifications;
    if let Some(warning) = warnings.iter().find(|warning| warning.is_about_order())
        && decided
        && (evidence.effective.is_none() || warning.is_about_secrets())
    {
        add.push(Qualification::Order(warning.clone()));
    }
    let copies = warnings.iter().filter(|warning| warning.is_about_copies());
    add.extend(copies.cloned().map(Qualification::Copies));
    if evidence.effective.is_some() && decided {
        add.push(Qualification::Approximate);
    }
    if let Some(rows) = report.rows_needed
        && let Some(advice) = rows_needed::from_the_log(evidence, rows)
    {
        add.push(Qualification::MoreRows(advice));
    }
    let columns = evidence.observations.columns().iter();
    let binned: Vec<Column> = columns
        .filter(|column| column.resolution.is_some())
        .cloned()
        .collect();
    if !binned.is_empty() {
        add.push(Qualification::Observer(binned));
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
        pair: evidence.pair(pair),
        verdict,
        reason: Grounds::Advantage.into(),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, pair),
        estimate,
        fit: None,
    }
}

fn bound_on_security(evidence: &Evidence, claim: &BoundClaim, at_least: f64) -> ClaimReport {
    let total_variation = largest_total_variation(evidence);
    let estimate = total_variation.decreasing(|tv| 1.0 - tv);
    // Decided on the reported limits of Bayes security itself: 1 − (1 − b) need not be b.
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
        pair: evidence.pair(pair),
        verdict,
        reason: Grounds::BayesSecurity.into(),
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
        estimate.reason = Some(Reason::SecretWithoutRows);
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
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::AttackAdvantage,
        analytic: at_most,
        pair: evidence.pair(worst),
        verdict,
        reason: Grounds::AttackAdvantage.into(),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, worst),
        estimate,
        fit: None,
    }
}
