//! The verdict on a claim, in words.

use crate::audit::{ClaimReport, Grounds, Verdict};
use crate::report::document::Document;
use crate::report::numbers::Texts;
use crate::report::sentences::brief_reasons::is_final;
use crate::report::sentences::claims::would_settle;
use crate::report::sentences::{claims, fit};
use crate::report::words::{p_value_of, quantity, texts};
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::Quantity;

/// The verdict and what it rests on.
pub fn verdict(document: &mut Document, claim: &ClaimReport) {
    document.paragraph(headline(claim));
    document.list(grounds(claim));
}

/// The verdict in a word, and the claim.
pub fn headline(claim: &ClaimReport) -> String {
    let word = claim.verdict.to_string().to_uppercase();
    format!("{word}: {}", claim.claim)
}

/// What a verdict rests on that its figures and the reasons beside them, on the first screen, do not say.
pub fn grounds_below(claim: &ClaimReport) -> Vec<String> {
    let fit = claim.fit.as_ref().map(fit::fit);
    [claims::reason(claim)].into_iter().chain(fit).collect()
}

/// What a verdict rests on.
pub fn grounds(claim: &ClaimReport) -> Vec<String> {
    let mut items = vec![claims::reason(claim)];
    let is_time = claim.quantity == Quantity::TimeDifference;
    if !claim.is_judged() {
        return items;
    }
    items.extend((!is_time).then(|| {
        let texts = texts(claim);
        format!(
            "{}{}: {} {} in the claim, {} estimated, {}{}.",
            claim
                .deciding_pair()
                .map_or(no_pair(claim).to_owned(), |pair| {
                    let [a, b] = pair.labels().map(shorten);
                    format!("Pair {a} and {b}")
                }),
            match (&claim.fit, claim.verdict) {
                (Some(_), Verdict::Holds) => ", closest to the limit",
                (Some(_), _) => ", which decides",
                (None, _) => "",
            },
            quantity(claim),
            texts.bound,
            texts.point,
            between(claim, &texts),
            match &claim.fit {
                Some(_) => " (limits that hold for all pairs together)",
                None => "",
            }
        )
    }));
    items.extend(claim.p_value.map(|p| strength(claim.verdict, p)));
    match (claim.verdict, claim.rows_needed) {
        (Verdict::Inconclusive, Some(_)) => items.extend(would_settle(claim)),
        (Verdict::Inconclusive, None) if is_time && claim.estimate.upper.is_none() => {}
        (Verdict::Inconclusive, None) if is_time && !is_final(claim) => items.push(
            "More measurements narrow the limits: four times as many make them half as wide."
                .to_owned(),
        ),
        (Verdict::Inconclusive, None) if is_final(claim) && !may_be_refuted(claim) => {
            items.push("Collecting more rows would not settle this claim.".to_owned());
        }
        (Verdict::Inconclusive, None) => {
            items.push("This log does not tell how many rows would settle this claim.".to_owned());
        }
        _ => {}
    }
    items.extend(claim.fit.as_ref().map(fit::fit));
    items
}

/// Whether more rows may refute a claim: its estimate is beyond what is claimed, or there is none.
fn may_be_refuted(claim: &ClaimReport) -> bool {
    claim
        .estimate
        .point
        .is_none_or(|point| match claim.quantity {
            Quantity::BayesSecurity => point < claim.analytic,
            _ => point > claim.analytic,
        })
}

/// The limits in words.
fn between(claim: &ClaimReport, texts: &Texts) -> String {
    let Texts { lower, upper, .. } = texts;
    match (claim.estimate.lower, claim.estimate.upper) {
        (Some(_), Some(_)) => format!("between {lower} and {upper}"),
        (Some(_), None) => format!("at least {lower}"),
        (None, Some(_)) => format!("at most {upper}"),
        (None, None) => "no limits".to_owned(),
    }
}

/// What stands for a pair where none decides.
fn no_pair(claim: &ClaimReport) -> &'static str {
    match claim.is_about_all_secrets() {
        true => "All secrets",
        false => "Some pair",
    }
}

/// Whether a number of the log is about the claim.
pub fn has_numbers(claim: &ClaimReport) -> bool {
    !matches!(
        claim.reason.grounds,
        Grounds::OneModel { .. } | Grounds::NothingObserved { .. }
    )
}

/// How strong the evidence against a claim is.
fn strength(verdict: Verdict, p: f64) -> String {
    let p = p_value_of(p);
    match verdict {
        Verdict::Violated => format!(
            "Strength of evidence: {p}. If the claim is true, such a log, or a worse one, is no more probable than that."
        ),
        Verdict::Holds | Verdict::Inconclusive => format!("Evidence against the claim: {p}."),
    }
}
