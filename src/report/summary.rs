//! What the log says, in a few sentences.

use crate::audit::Audit;
use crate::report::document::Document;
use crate::report::words::value;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::{at_least, at_most, percent_at_least};
use leakgauge_log::observations::bins;

/// Whether it leaks, between whom, how surely, and what is not known.
pub fn summary(document: &mut Document, audit: &Audit) {
    document.paragraph(sentences(audit));
}

/// The same as one text.
pub fn sentences(audit: &Audit) -> String {
    let worst = &audit.worst_pair;
    let [a, b] = worst.secrets.each_ref().map(|label| shorten(label));
    let tv = &worst.total_variation;
    let percent = 100.0 * audit.confidence;
    let observer = observer(audit);
    let mut sentences = vec![match tv.lower {
        Some(lower) if lower > 0.0 => format!(
            "The log tells its secrets apart. Take {a} and {b}, the pair picked on the rows to choose with: asked which of \
             the two it was, an observer of one row{observer} is right at least {} % of the time, where guessing gives \
             50 % (advantage at least {}, {percent} % confidence).",
            percent_at_least(0.5 * (1.0 + lower)),
            at_least(lower)
        ),
        Some(_) => format!(
            "No leak could be certified at {percent} % confidence. The pair picked on the rows to choose with, {a} and \
             {b}, has an estimated advantage of {}, which chance could explain.",
            value(tv.point)
        ),
        None => format!(
            "Nothing can be certified about the pair picked on the rows to choose with, {a} and {b}: {}.",
            tv.reason.as_deref().unwrap_or("too few rows")
        ),
    }];
    let security = &audit.overall.bayes_security;
    sentences.push(match (security.lower, &tv.reason) {
        (Some(lower), _) if lower <= 1e-4 => {
            "From above these rows certify nothing: too many different observations for so few rows, or a leak."
                .to_owned()
        }
        (Some(lower), _) => format!(
            "No observer{observer} can tell any pair of secrets apart with an advantage of more than {} (the same \
             confidence).",
            at_most(1.0 - lower)
        ),
        (None, Some(reason)) => format!("How much more a better attack could do is not known: {reason}."),
        (None, None) => "How much more a better attack could do is not known.".to_owned(),
    });
    if audit
        .warnings
        .iter()
        .any(crate::audit::Warning::is_about_order)
    {
        let doubt = if tv.lower.is_some_and(|lower| lower > 0.0) {
            "they may be the cause of what looks like a leak"
        } else {
            "the limits count on independent rows"
        };
        sentences.push(format!(
            "Mind the warnings about the order of rows below: {doubt}."
        ));
    }
    sentences.join(" ")
}

/// Whom the limits are about, where the log was reduced to what an observer can resolve.
fn observer(audit: &Audit) -> String {
    bins(&audit.input.observation.columns).map_or(String::new(), |bins| format!(" who sees {bins}"))
}
