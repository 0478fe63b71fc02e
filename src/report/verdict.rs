//! The verdict on a claim, in words.

use crate::audit::{ClaimReport, Verdict};
use crate::report::document::Document;
use crate::report::words::{range, value};
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::Quantity;
use leakgauge_base::rounding::nearest;

/// The verdict and what it rests on.
pub fn verdict(document: &mut Document, claim: &ClaimReport) {
    let word = claim.verdict.to_string().to_uppercase();
    document.paragraph(format!("{word}: {}", claim.claim));
    document.list(grounds(claim));
}

/// What a verdict rests on.
pub fn grounds(claim: &ClaimReport) -> Vec<String> {
    let mut items = vec![claim.reason.clone()];
    items.push(format!(
        "Pair {} and {}{}: {} {} in the claim, {} estimated, {}.",
        shorten(&claim.pair[0]),
        shorten(&claim.pair[1]),
        match (&claim.fit, claim.verdict) {
            (Some(_), Verdict::Holds) => ", the nearest to exceeding the margin",
            (Some(_), _) => ", the likeliest to exceed its own analytic value",
            (None, _) => "",
        },
        quantity(claim),
        nearest(claim.analytic),
        value(claim.estimate.point),
        range(&claim.estimate)
    ));
    match (claim.verdict, claim.rows_needed) {
        (Verdict::Inconclusive, Some(rows)) => {
            items.push(format!(
                "If the estimate were the truth, about {rows} rows in all would decide."
            ));
        }
        (Verdict::Inconclusive, None) => {
            items.push("No number of rows like these can be named that would decide.".to_owned())
        }
        _ => {}
    }
    if let Some(fit) = &claim.fit {
        items.push(match fit.p_value {
            Some(p) if p < 0.001 => format!(
                "Fit of the log to the claimed mechanism as a whole: p < 0.001 ({}). Whatever it leaks, the log does not \
                 look like it came from this mechanism. The verdict is about leakage alone.",
                fit.test
            ),
            Some(p) => format!(
                "Fit of the log to the claimed mechanism as a whole: p = {p:.3} ({}). It does not change the verdict.",
                fit.test
            ),
            None => format!("Fit of the log to the claimed mechanism as a whole: {}.", fit.test),
        });
    }
    items
}

/// The quantity that decides, in words.
pub fn quantity(claim: &ClaimReport) -> &'static str {
    match claim.quantity {
        Quantity::BayesSecurity => "Bayes security",
        Quantity::TotalVariation => "total variation",
        Quantity::Advantage => "advantage",
        Quantity::AttackAdvantage => "advantage of the attack",
        Quantity::Privacy(parameter) => parameter.key(),
    }
}
