//! Verdicts on claims, from the limits that are printed and from nothing else.

use crate::audit::goodness;
use crate::audit::model::{ClaimReport, Verdict, Warning};
use crate::audit::plan::{Read, analytic};
use crate::audit::reasons::{reason, security_reason};
use crate::audit::rows_needed;
use crate::audit::{BoundClaim, Evidence};
use crate::claim::Promise;
use crate::error::shorten;
use crate::estimate::{Estimate, Method, Methods};
use crate::log::Log;
use crate::measure::plug_in::hockey_stick;
use crate::observations::bins;
use crate::outward::{at_least, at_least_beyond, at_most, at_most_beyond};
use crate::stats::concentration::mcdiarmid_hockey_stick_radius;

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
            let mut report = match claim.promise() {
                Some(Promise::Advantage { at_most }) => {
                    bound_on_advantage(evidence, claim, at_most)
                }
                Some(Promise::BayesSecurity { at_least }) => {
                    bound_on_security(evidence, claim, at_least)
                }
                Some(Promise::AttackAdvantage { at_most }) => {
                    bound_on_attack(evidence, claim, at_most)
                }
                Some(Promise::LocalDp { epsilon }) => privacy(evidence, claim, epsilon, 0.0, false),
                Some(Promise::Dp { epsilon, delta }) => {
                    privacy(evidence, claim, epsilon, delta, delta > 0.0)
                }
                None => mechanism(evidence, log, claim, at),
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
    {
        let doubt = match warning {
            Warning::LabelsNotInterleaved { .. } => {
                "its secrets were not logged in random order, so that drift could imitate a leak"
            }
            _ => "limits count on independent rows, and those of this log are not",
        };
        report
            .reason
            .push_str(&format!(" But {doubt} ({}).", warning.code()));
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
        claim: claim.claim.text.clone(),
        quantity: "advantage",
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
        claim: claim.claim.text.clone(),
        quantity: "bayes_security",
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
        claim: claim.claim.text.clone(),
        quantity: "attack_advantage",
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

/// (ε, δ)-differential privacy between all secrets: refuted by the certified lower limit of ε; proved,
/// for δ > 0 on a discrete log, by the upper limit of the hockey-stick divergence.
fn privacy(
    evidence: &Evidence,
    claim: &BoundClaim,
    epsilon: f64,
    delta: f64,
    provable: bool,
) -> ClaimReport {
    let limit = evidence.epsilon(delta);
    let plan = evidence.plan.epsilon_for(delta);
    let divergence = (provable && evidence.is_discrete())
        .then(|| divergence(evidence, epsilon))
        .flatten();
    let violated = limit.lower.is_some_and(|lower| lower > epsilon);
    let holds = divergence.is_some_and(|(_, upper)| upper <= delta);
    let (verdict, reason) = if violated {
        let lower = limit.lower.unwrap_or_default();
        (
            Verdict::Violated,
            format!(
                "Secrets {} and {} need an epsilon of at least {}, more than {epsilon}.",
                shorten(&limit.secrets[0]),
                shorten(&limit.secrets[1]),
                at_least_beyond(lower, epsilon)
            ),
        )
    } else if let (true, Some((_, upper))) = (holds, divergence) {
        (
            Verdict::Holds,
            format!(
                "At epsilon {epsilon} every ordered pair needs a delta of at most {}, within {delta}.",
                at_most_beyond(upper, delta)
            ),
        )
    } else {
        let lower = limit.lower.map_or("no limit".to_owned(), |lower| {
            format!("at least {}", at_least(lower))
        });
        let why = match divergence {
            Some((_, upper)) => {
                format!("the delta needed at epsilon {epsilon} is only limited to {}", at_most(upper))
            }
            None if delta > 0.0 && evidence.is_discrete() => "some secret has no rows in this log".to_owned(),
            None if delta > 0.0 => "no upper limit exists for numeric observations".to_owned(),
            None => "samples can refute pure differential privacy but never prove it: an observation too rare to be \
                     seen could still break it"
                .to_owned(),
        };
        (
            Verdict::Inconclusive,
            format!(
                "Not refuted: the log shows an epsilon of {lower}, which the claimed {epsilon} allows. Not confirmed: {why}."
            ),
        )
    };
    let tally = evidence.judgement.tallies[plan.position];
    let share = evidence.plan.share(Read::Errors(plan.rule));
    let provable_with = divergence
        .and_then(|(plug_in, upper)| rows_needed::for_divergence(evidence, plug_in, upper, delta));
    let rows_needed = match verdict {
        Verdict::Inconclusive if provable_with.is_some() => provable_with,
        Verdict::Inconclusive
            if limit.point.zip(limit.lower).is_some_and(|(point, lower)| {
                rows_needed::is_within_noise(point, lower, epsilon)
            }) =>
        {
            None
        }
        Verdict::Inconclusive => rows_needed::scaled(evidence, tally.is_judged(), |factor| {
            tally
                .scaled(factor)
                .errors_at_most(share)
                .epsilon_at_least(delta)
                > epsilon
        }),
        _ => None,
    };
    ClaimReport {
        claim: claim.claim.text.clone(),
        quantity: "epsilon",
        analytic: epsilon,
        pair: limit.secrets,
        estimate: Estimate {
            point: limit.point,
            lower: limit.lower,
            upper: None,
            method: Methods {
                point: limit.point.map(|_| Method::HeldOutAttack),
                lower: limit.lower.map(|_| Method::ClopperPearson),
                upper: None,
            },
            reason: Some("no upper limit of epsilon exists from samples".to_owned()),
        },
        verdict,
        reason,
        rows_needed,
        fit: None,
    }
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

fn mechanism(evidence: &Evidence, log: &Log, claim: &BoundClaim, at: usize) -> ClaimReport {
    let suspect = evidence.plan.mechanism_pairs[at].expect("planned for every mechanism claim");
    let share = evidence
        .plan
        .share(evidence.plan.advantage_read(evidence.tuned, suspect));
    let level = evidence.one_side(share);
    let values = |pair| analytic(claim, evidence.tuned, pair).expect("a mechanism claim");
    let estimate_of =
        |pair: usize| evidence.total_variation(pair, level, evidence.one_side(evidence.alpha()));
    let margin = evidence.options.margin;
    let excess = |pair: usize| {
        let upper = evidence.plug_in_upper(pair, evidence.one_side(evidence.alpha()));
        upper.map(|upper| upper - values(pair).0 - margin)
    };
    let tightest = (0..evidence.pair_count())
        .map(|pair| excess(pair).map(|excess| (pair, excess)))
        .try_fold(None::<(usize, f64)>, |best, next| {
            let next = next?;
            Some(Some(best.filter(|best| best.1 >= next.1).unwrap_or(next)))
        })
        .flatten();
    let suspect_estimate = evidence.chosen_total_variation(suspect, level);
    let bound = claim.mechanism.as_deref();
    let impossible = bound.and_then(|mechanism| goodness::impossible(log, mechanism));
    let (verdict, pair, total_variation) = if suspect_estimate
        .lower
        .is_some_and(|lower| lower > values(suspect).0)
    {
        (Verdict::Violated, suspect, suspect_estimate)
    } else if let (Some((pair, _)), None) =
        (tightest.filter(|(_, excess)| *excess <= 0.0), &impossible)
    {
        (
            Verdict::Holds,
            pair,
            without_lower(estimate_of(pair), pair == suspect),
        )
    } else {
        (Verdict::Inconclusive, suspect, suspect_estimate)
    };
    let (_, analytic_security) = values(pair);
    let estimate = total_variation.decreasing(|tv| 1.0 - tv);
    let note = match (verdict, &impossible) {
        (Verdict::Inconclusive, Some(label)) => format!(
            " The log has the observation {:?}, which this mechanism cannot produce: it cannot hold.",
            shorten(label)
        ),
        (Verdict::Holds, _) => {
            format!(
                " No pair's total variation exceeds its own analytic value by more than the margin of {margin}."
            )
        }
        _ => String::new(),
    };
    ClaimReport {
        claim: claim.claim.text.clone(),
        quantity: "bayes_security",
        analytic: analytic_security,
        pair: evidence.names(pair),
        verdict,
        reason: security_reason(&estimate, analytic_security, verdict, &note),
        rows_needed: rows_needed::for_mechanism(
            evidence,
            verdict,
            &total_variation,
            |pair| values(pair).0,
            pair,
        ),
        estimate,
        fit: claim
            .mechanism
            .as_ref()
            .map(|mechanism| goodness::fit(log, &**mechanism)),
    }
}

/// A pair that was picked after looking at the certify rows has no lower limit of its own.
fn without_lower(mut estimate: Estimate, planned: bool) -> Estimate {
    if !planned {
        estimate.lower = None;
        estimate.method.lower = None;
        estimate.reason = Some(
            "this pair was picked for its upper limit; a lower limit was planned for another"
                .to_owned(),
        );
    }
    estimate
}
