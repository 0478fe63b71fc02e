//! The trade-off section of an audit.

use crate::audit::{Audit, OperatingPoint, TradeOff};
use crate::report::document::Document;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::{at_least, at_most, nearest};

/// True positives at few false ones, and what the whole curve says of differential privacy.
pub fn section(document: &mut Document, audit: &Audit) {
    document.heading("Trade-off");
    body(document, audit);
}

/// The same without its heading.
pub fn body(document: &mut Document, audit: &Audit) {
    let Some(found) = &audit.worst_pair.trade_off else {
        let reason = audit
            .worst_pair
            .trade_off_reason
            .unwrap_or("nothing was judged");
        document.paragraph(format!("None: {reason}."));
        return;
    };
    document.table(
        vec![
            "finds",
            "against",
            "false positives",
            "found",
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
    let or_none =
        |value: Option<f64>, write: fn(f64) -> String| value.map_or("none".to_owned(), write);
    vec![
        shorten(&point.detects),
        shorten(&point.against),
        format!("{} %", 100.0 * point.false_positive_rate),
        or_none(rate.point, nearest),
        or_none(rate.lower, at_least),
        or_none(rate.upper, at_most),
    ]
}

fn levels(found: &TradeOff) -> String {
    let missing = found
        .operating_points
        .iter()
        .find_map(|point| point.true_positive_rate.reason.as_deref());
    let missing = missing.map_or(String::new(), |reason| format!(" None where {reason}."));
    format!(
        "The share of one secret's rows that a threshold on this score finds, where at most so many of the other's are \
         false positives. Each line's limits hold with {} % confidence, all lines together with at least {} %; `at most` \
         is about thresholds on this score only.{missing}",
        percent(found.operating_levels.each),
        percent(found.operating_levels.together)
    )
}

fn privacy(audit: &Audit, found: &TradeOff) -> Vec<String> {
    let limits: Vec<String> = found
        .epsilon
        .iter()
        .filter_map(|epsilon| {
            let lower = at_least(epsilon.lower?);
            Some(format!("{lower} at delta {}", epsilon.delta))
        })
        .collect();
    let mut items = vec![format!(
        "Gaussian privacy needs a mu of at least {}; the Gaussian curve with the same area under it has {}.",
        found.mu.lower.map_or("none".to_owned(), at_least),
        found.gaussian_fit.mu.map_or("none".to_owned(), nearest)
    )];
    items.push(format!(
        "Differential privacy needs an epsilon of at least {}.",
        limits.join(", ")
    ));
    items.push(format!(
        "These hold together with {} % confidence, from limits of both errors at all thresholds: they are about the \
         mechanism, whatever the attack. One threshold that was fixed on other rows may prove more: see epsilon above.",
        percent(audit.confidence)
    ));
    items
}

/// A level as it was asked for, without the digits of its floating-point number.
fn percent(level: f64) -> f64 {
    (1e8 * level).round() / 1e6
}
