//! What the log says, in a few sentences.

use crate::audit::{ClaimReport, Findings, Pair, PrivacyLimit, Verdict, Warning};
use crate::report::columns;
use crate::report::document::Document;
use crate::report::numbers::{Limits, confidence_percent};
use crate::report::sentences::no_leak;
use crate::report::sentences::reasons::reason;
use crate::report::words::value;
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_base::rounding::percent_beyond;
use leakgauge_log::observations::bins;

/// Whether it leaks, between whom, how surely, and what is not known.
pub fn summary(document: &mut Document, audit: &Findings) {
    document.paragraph(sentences(audit));
}

/// The same as one text.
pub fn sentences(audit: &Findings) -> String {
    let tv = &audit.worst_pair.total_variation;
    let observer = observer(audit);
    let mut sentences = vec![first(audit, &observer)];
    let worst = &audit.worst_pair.secrets;
    sentences.extend(
        audit
            .claims
            .iter()
            .find_map(|claim| other_pair(claim, worst)),
    );
    let security = &audit.overall.bayes_security;
    sentences.push(match (security.lower, &tv.reason) {
        (Some(lower), _) if lower <= 1e-4 => {
            "No upper limit below 1 can be certified: too many different observations for so few rows, or a leak."
                .to_owned()
        }
        (Some(lower), _) => format!(
            "No attacker{observer} can tell any pair of secrets apart with an advantage of more than {} (the same confidence).",
            Limits {
                lower: security.upper.map(|upper| 1.0 - upper),
                point: security.point.map(|point| 1.0 - point),
                upper: Some(1.0 - lower),
            }
            .texts(None)
            .upper
        ),
        (None, Some(why)) => reason(why),
        (None, None) => "How much more a better attack could do is not known.".to_owned(),
    });
    let proven = tv.lower.is_some_and(|lower| lower > 0.0);
    let test = audit.no_leak.as_ref();
    sentences.extend(test.map(|found| no_leak::sentence(found, proven, 1.0 - audit.confidence)));
    if audit.warnings.iter().any(Warning::is_about_order) {
        let doubt = if tv.lower.is_some_and(|lower| lower > 0.0) {
            "it may be the cause of what looks like a leak"
        } else {
            "the limits need independent rows"
        };
        sentences.push(format!(
            "See the warnings about the order of rows below: {doubt}."
        ));
    }
    if audit.warnings.iter().any(Warning::is_about_copies) {
        sentences.push(
            "See the warnings about copies of rows below: copies make limits too optimistic."
                .to_owned(),
        );
    }
    sentences.join(" ")
}

/// Says that a claim was refuted by another pair than the worst, if so.
pub fn other_pair(claim: &ClaimReport, worst: &Pair) -> Option<String> {
    let sorted = |pair: &Pair| {
        let mut secrets = pair.secrets();
        secrets.sort_unstable();
        secrets
    };
    let names_another = claim.verdict == Verdict::Violated
        && claim.quantity != Quantity::TimeDifference
        && claim
            .deciding_pair()
            .is_some_and(|pair| sorted(pair) != sorted(worst));
    let [a, b] = claim.pair.labels().map(shorten);
    let [c, d] = worst.labels().map(shorten);
    names_another.then(|| {
        format!(
            "The verdict on {} is about {a} and {b}, which exceed the claim most. Easiest to tell apart are {c} and {d}.",
            shorten(&claim.claim.text)
        )
    })
}

/// Whether anything leaks, and between whom.
fn first(audit: &Findings, observer: &str) -> String {
    let worst = &audit.worst_pair;
    let [a, b] = worst.secrets.labels().map(shorten);
    let tv = &worst.total_variation;
    let percent = confidence_percent(audit.confidence);
    let in_blocks = audit
        .differences
        .as_ref()
        .is_some_and(|found| found.blocks.is_some());
    let [others, inside] = match in_blocks {
        true => [" and the others of its block", " inside blocks"],
        false => [""; 2],
    };
    let [leaks, depends] = match audit.rows_depend() {
        true => [
            "If rows are independent, the log leaks its secret",
            "If rows are independent, what",
        ],
        false => ["The log leaks its secret", "What"],
    };
    match (tv.lower, epsilon(audit)) {
        (Some(lower), _) if lower > 0.0 => format!(
            "{leaks}. Seeing one row{others}, an attacker{observer} can tell secret {a} from secret {b} at least \
             {} % of the time (a coin flip: 50 %). The advantage is at least {} ({percent} confidence).",
            percent_beyond(0.5 * (1.0 + lower), 0.5),
            Limits::from(tv).texts(Some(0.0)).lower
        ),
        (Some(_), _) if differs(audit) => format!(
            "Times differ between secrets{inside}, so the log leaks its secret; the differences are below. How well \
             one row tells the secret could not be certified at {percent} confidence."
        ),
        (Some(_), Some(limit)) if limit.is_of_some_pair => format!(
            "{leaks}: some observations are likelier under one of two secrets, which need an epsilon of at \
             least {} ({percent} confidence). This is shown of all pairs together: it is not known which two these are.",
            Limits::from(limit).texts(Some(0.0)).lower
        ),
        (Some(_), Some(limit)) => {
            let [a, b] = limit.secrets.labels().map(shorten);
            format!(
                "{leaks}: some observations are likelier under one of {a} and {b}, which need an epsilon of at \
                 least {} ({percent} confidence). They are too rare to certify an advantage of an attacker who sees one row: its \
                 estimate is {}.",
                Limits::from(limit).texts(Some(0.0)).lower,
                value(tv.point)
            )
        }
        (Some(_), None) if columns::any(audit) => format!(
            "{depends} is observed depends on the secret: some columns say so. How well one row tells the secret could not be \
             certified at {percent} confidence."
        ),
        (Some(_), None) => format!(
            "No leak could be certified at {percent} confidence. The worst pair on the tuning rows, {a} and {b}, has an \
             estimated advantage of {}, which chance could explain.",
            value(tv.point)
        ),
        (None, _) => format!(
            "Nothing can be certified about the worst pair on the tuning rows, {a} and {b}. {}",
            tv.reason
                .as_ref()
                .map_or("There are too few rows.".to_owned(), reason)
        ),
    }
}

/// An ε above 0 at δ = 0 that the log proves.
pub fn epsilon(audit: &Findings) -> Option<&PrivacyLimit> {
    audit.privacy.iter().find(|limit| {
        let is_epsilon = limit.quantity == PrivacyParameter::Epsilon { delta: 0.0 };
        is_epsilon && limit.lower > Some(0.0)
    })
}

/// Whether times of secrets are shown to differ.
pub fn differs(audit: &Findings) -> bool {
    let found = audit.differences.as_ref();
    found.is_some_and(|found| {
        let mut pairs = found.pairs.iter();
        found.p_value < 1.0 - audit.confidence
            || pairs.any(|pair| {
                let advantage = pair.paired_advantage.as_ref();
                advantage.and_then(|advantage| advantage.lower) > Some(0.0)
            })
    })
}

/// What the attacker sees, where the log was reduced to what an observer can resolve.
fn observer(audit: &Findings) -> String {
    bins(&audit.input.columns).map_or(String::new(), |bins| format!(" who sees {bins}"))
}
