//! The pairs that are easiest to tell apart.

use crate::audit::{Findings, PairFigures};
use crate::report::document::Document;
use crate::report::words::{lower, upper, value};
use leakgauge_base::error::shorten;

/// Pairs listed in the table of worst pairs.
const LISTED_PAIRS: usize = 10;

/// A table of the worst.
pub fn pairs(document: &mut Document, audit: &Findings) {
    let order = by_lower_limit(audit);
    let rows = order
        .iter()
        .take(LISTED_PAIRS)
        .map(|pair| {
            let tv = &pair.total_variation;
            let mut row: Vec<String> = pair.secrets.labels().map(shorten).into();
            row.extend([
                value(tv.point),
                lower(tv.lower),
                upper(tv.upper),
                value(pair.bayes_security.point),
            ]);
            row
        })
        .collect();
    document.table(
        vec![
            "secret",
            "secret",
            "total variation",
            "at least",
            "at most",
            "Bayes security",
        ],
        2,
        rows,
    );
    document.paragraph(format!(
        "{} of {} pairs, by their lower limits. The lower limits of all pairs hold together, and so do the upper ones \
         (correction: {}).",
        LISTED_PAIRS.min(audit.pairs.len()),
        audit.pairs.len(),
        audit.multiplicity.correction
    ));
}

/// All pairs, those with the largest lower limits first.
pub fn by_lower_limit(audit: &Findings) -> Vec<&PairFigures> {
    let mut order: Vec<&PairFigures> = audit.pairs.iter().collect();
    let key = |pair: &PairFigures| {
        let tv = &pair.total_variation;
        (tv.lower.unwrap_or(-1.0), tv.point.unwrap_or(-2.0))
    };
    order.sort_by(|x, y| {
        let ((x_lower, x_point), (y_lower, y_point)) = (key(x), key(y));
        y_lower
            .total_cmp(&x_lower)
            .then(y_point.total_cmp(&x_point))
    });
    order
}
