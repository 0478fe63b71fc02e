//! The pairs that are easiest to tell apart.

use std::borrow::Cow;

use crate::audit::{Findings, PairFigures};
use crate::report::document::Document;
use crate::report::layout::MOST_PAIRS;
use crate::report::numbers::Limits;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;

/// Pairs listed in the table of worst pairs.
const LISTED_PAIRS: usize = 10;

/// A table of the worst.
pub fn pairs(document: &mut Document, audit: &Findings) {
    let rows = by_lower_limit(audit, LISTED_PAIRS)
        .into_iter()
        .map(|pair| {
            let tv = &pair.total_variation;
            let mut row: Vec<String> = pair.secrets.labels().map(shorten).into();
            row.extend(Limits::from(tv).cells());
            row.push(Limits::from(&pair.bayes_security()).texts(None).point);
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
        "{} of {} pairs, by their lower limits. {}",
        LISTED_PAIRS.min(audit.pairs.len()),
        audit.pairs.len(),
        together(audit)
    ));
    if audit.pairs.len() > MOST_PAIRS {
        document.paragraph(how_to_have_all());
    }
}

/// How the limits of pairs hold.
pub fn together(audit: &Findings) -> String {
    format!(
        "The lower limits of all pairs hold together, and so do the upper ones (correction: {}).",
        audit.multiplicity.correction
    )
}

/// The pairs of a report that has at most so many: all in the order of their secrets, else those with the largest
/// lower limits, these first.
pub fn listed(audit: &Findings, most: usize) -> Vec<&PairFigures> {
    if audit.pairs.len() <= most {
        return audit.pairs.iter().collect();
    }
    by_lower_limit(audit, most)
}

/// How many pairs such a report leaves out.
pub fn left_out(audit: &Findings, most: usize) -> usize {
    audit.pairs.len().saturating_sub(most)
}

/// What writes every pair.
pub fn how_to_have_all() -> String {
    format!(
        "{} writes all pairs to a file.",
        setting("pairs_file", "FILE")
    )
}

/// The first line of a file of pairs, by which it is known as one of ours.
pub const PAIRS_HEADER: &str =
    "secret,other_secret,total_variation,lower,upper,bayes_security,no_leak_p_value";

/// All pairs as CSV, those with the largest lower limits first. A number that could not be had is an empty field.
///
/// # Errors
/// What the CSV writer reports.
pub fn pairs_csv(audit: &Findings) -> Result<Vec<u8>> {
    let failed = |error: String| Error::file("CSV", error);
    let mut bytes = format!("{PAIRS_HEADER}\n").into_bytes();
    let mut writer = csv::Writer::from_writer(&mut bytes);
    let text = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for pair in by_lower_limit(audit, audit.pairs.len()) {
        let [a, b] = pair.secrets.labels();
        let tv = &pair.total_variation;
        let numbers = [
            tv.point,
            tv.lower,
            tv.upper,
            pair.bayes_security().point,
            pair.no_leak_p_value,
        ]
        .map(text);
        let labels = [a, b].map(for_spreadsheets);
        let labels = labels.iter().map(|label| &**label);
        let fields = labels.chain(numbers.iter().map(String::as_str));
        writer
            .write_record(fields)
            .map_err(|error| failed(error.to_string()))?;
    }
    writer.flush().map_err(|error| failed(error.to_string()))?;
    drop(writer);
    Ok(bytes)
}

/// A label as a cell of a file that may be opened with a spreadsheet. A log is not trusted: what begins like a formula would be
/// computed, with all that formulas may do there. Behind a quotation mark it is text. Numbers stay numbers.
pub fn for_spreadsheets(label: &str) -> Cow<'_, str> {
    let is_formula = label.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    match is_formula && label.parse::<f64>().is_err() {
        true => format!("'{label}").into(),
        false => label.into(),
    }
}

/// So many pairs with the largest lower limits, these first.
pub fn by_lower_limit(audit: &Findings, most: usize) -> Vec<&PairFigures> {
    let key = |pair: &PairFigures| {
        let tv = &pair.total_variation;
        (tv.lower.unwrap_or(-1.0), tv.point.unwrap_or(-2.0))
    };
    let pairs = audit.pairs.iter().enumerate();
    let mut order: Vec<(f64, f64, usize)> = pairs
        .map(|(at, pair)| {
            let (lower, point) = key(pair);
            (lower, point, at)
        })
        .collect();
    let first = |x: &(f64, f64, usize), y: &(f64, f64, usize)| {
        let by_limit = y.0.total_cmp(&x.0).then(y.1.total_cmp(&x.1));
        by_limit.then(x.2.cmp(&y.2))
    };
    if most < order.len() {
        order.select_nth_unstable_by(most, first);
        order.truncate(most);
    }
    order.sort_unstable_by(first);
    let pair = |(.., at): (f64, f64, usize)| &audit.pairs[at];
    order.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_be_formulas_are_quoted() {
        for label in [
            "=cmd|' /C calc'!A0",
            "+1+2",
            "-x",
            "@SUM(A1)",
            "\t=1",
            "＝1",
            "-",
            "+",
        ] {
            assert_eq!(for_spreadsheets(label), format!("'{label}"));
        }
        for label in ["", "a", "a=b", "-1", "+1.5e3", "-inf", "'=1", "1-2", "3;-4"] {
            assert_eq!(for_spreadsheets(label), label);
        }
    }
}
