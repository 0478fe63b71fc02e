//! The trade-off section of an audit.

use crate::audit::{Findings, OperatingPoint, TradeOff};
use crate::estimate::Reason;
use crate::report::document::Document;
use crate::report::numbers::{
    Limits, at_least, confidence_percent, percent, plain, plain_below, plain_exact,
};
use crate::report::sentences::reasons::reason;
use crate::report::words::{lower, range, value};
use leakgauge_base::error::shorten;

/// True positives at few false ones, and what the whole curve says of differential privacy.
pub fn section(document: &mut Document, audit: &Findings) {
    if audit.worst_pair.trade_off.is_none() {
        document.paragraph(missing(audit));
        return;
    }
    document.heading("Trade-off");
    body(document, audit);
}

/// Why there is none.
pub fn missing(audit: &Findings) -> String {
    let why = match audit.worst_pair.trade_off_reason.as_ref() {
        // Blocks are units that nobody named as a group.
        Some(Reason::GroupedRows) if audit.input.facts.blocks.is_some() => {
            "This limit needs independent rows, and the rows of a block are not.".to_owned()
        }
        Some(why) => reason(why),
        None => "Nothing was judged.".to_owned(),
    };
    format!("No trade-off of true and false positives. {why}")
}

/// The same without its heading; nothing where there is none.
pub fn body(document: &mut Document, audit: &Findings) {
    let Some(found) = &audit.worst_pair.trade_off else {
        return;
    };
    document.table(
        vec![
            "secret",
            "taken for it",
            "FPR",
            "TPR",
            "at least",
            "at most",
        ],
        2,
        found.operating_points.iter().map(row).collect(),
    );
    document.paragraph(levels(found));
    document.list(privacy(audit, found));
}

fn row(point: &OperatingPoint) -> Vec<String> {
    let rate = &point.true_positive_rate;
    let [detects, against] = point.secrets.labels().map(shorten);
    let [found, least, most] = Limits::from(rate).cells();
    let at = percent(point.false_positive_rate);
    vec![detects, against, at, found, least, most]
}

fn levels(found: &TradeOff) -> String {
    let missing = found
        .operating_points
        .iter()
        .find_map(|point| point.true_positive_rate.reason.as_ref());
    let missing = missing.map_or(String::new(), |why| format!(" n/a: {}", reason(why)));
    format!(
        "TPR: how many rows of the secret a threshold on the score finds. FPR: how many rows of the other secret are taken \
         for it, at most. The limits of a line hold with {} confidence, all lines together with at least {} %. An upper limit is about \
         thresholds on this score only.{missing}",
        confidence_percent(found.operating_levels.each),
        plain_below(100.0 * found.operating_levels.together, 4)
    )
}

fn privacy(audit: &Findings, found: &TradeOff) -> Vec<String> {
    let limits: Vec<String> = found
        .epsilon
        .iter()
        .filter_map(|epsilon| {
            let lower = at_least(epsilon.lower?);
            Some(format!(
                "{lower} at delta {}",
                plain_exact(epsilon.delta, 4)
            ))
        })
        .collect();
    let mut items = vec![format!(
        "Gaussian privacy needs a mu of at least {}; the Gaussian curve with the same area under it has {}.",
        lower(found.mu.lower),
        value(found.gaussian_fit.mu)
    )];
    items.push(format!(
        "Differential privacy needs an epsilon of at least {}.",
        limits.join(", ")
    ));
    items.push(format!(
        "These limits hold together with {} confidence. They use both errors at all thresholds, and are about the \
         mechanism, whatever the attack. One threshold that was chosen on other rows may show more: see epsilon above.",
        confidence_percent(audit.confidence)
    ));
    items.push(area(found));
    items
}

/// The area under the curve and the balanced accuracy, of this attack.
fn area(found: &TradeOff) -> String {
    let error = found.area_standard_error;
    let error = error.map_or(String::new(), |error| {
        format!(" (standard error {}, DeLong)", plain(error, 2))
    });
    format!(
        "Of this attack: area under the curve {}{error}, {}; balanced accuracy {}, {}.",
        Limits::from(&found.area).texts(None).point,
        range(&found.area),
        Limits::from(&found.balanced_accuracy).texts(None).point,
        range(&found.balanced_accuracy)
    )
}
