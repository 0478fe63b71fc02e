//! The column of the secret, where none is named so: that of a few labels.

use std::collections::BTreeSet;

use crate::column_names::words;
use crate::record_keeping::FirstLook;
use crate::row::{Field, Row, is_absent};

/// Different labels that a column of secrets has at most, if it is chosen by looking.
const MAX_LABELS: usize = 50;
/// Rows that each of them has on average, at least.
const MIN_ROWS_OF_LABEL: usize = 5;

/// The only column of a few labels: no value in it is a number or blank, at least two are different, and they recur.
/// Only the columns are looked at, never how observations differ. `None` where two columns could be meant. A column of
/// numbers is never chosen: it may as well be the direction of a packet, a port or a status. Where there is one, a
/// column of labels is chosen only if its name is usual for secrets, and one that is called as what is observed never
/// is.
pub(crate) fn only_labels(rows: &[Row], names: &[String], others: &[usize]) -> Option<usize> {
    let chosen = only_column_of_labels(rows, others)?;
    if is_called_observed(names, chosen) {
        return None;
    }
    let mut rivals = candidates(rows, names, others);
    rivals.retain(|&column| column != chosen);
    let is_sure = is_usual(names, chosen) || {
        // Whoever keeps the log writes these.
        let look = FirstLook {
            names,
            body: rows,
            secret: &[chosen],
        };
        look.find(&rivals).len() == rivals.len()
    };
    is_sure.then_some(chosen)
}

fn only_column_of_labels(rows: &[Row], others: &[usize]) -> Option<usize> {
    let width = rows.iter().map(Row::len).min()?;
    let is_few_labels = |column: usize| {
        let mut labels = BTreeSet::new();
        for row in rows {
            match row.get(column) {
                Some(field @ (Field::Text(_) | Field::Quoted(_))) if !field.is_number() => {
                    let text = field.text().trim().to_owned();
                    if is_absent(&text) {
                        return false;
                    }
                    labels.insert(text);
                }
                _ => return false,
            }
            if labels.len() > MAX_LABELS {
                return false;
            }
        }
        labels.len() > 1 && labels.len() * MIN_ROWS_OF_LABEL <= rows.len()
    };
    let free = (0..width).filter(|column| !others.contains(column));
    let mut found = free.filter(|&column| is_few_labels(column));
    match (found.next(), found.next()) {
        (Some(column), None) => Some(column),
        _ => None,
    }
}

/// The same of a column with a usual name, where the user is asked.
const MAX_PROPOSED: usize = 1_000;
/// Names that columns of secrets often have.
const USUAL: [&str; 23] = [
    "arm", "author", "canary", "class", "dataset", "domain", "group", "input", "item", "key",
    "label", "member", "neighbor", "page", "person", "site", "target", "topic", "true", "url",
    "user", "website", "y",
];
/// Words in names of columns of what is observed, and of kinds of measurements.
const OBSERVED: [&str; 18] = [
    "answer",
    "bytes",
    "count",
    "duration",
    "elapsed",
    "latency",
    "length",
    "metric",
    "noisy",
    "observation",
    "outcome",
    "output",
    "received",
    "released",
    "report",
    "response",
    "size",
    "time",
];

/// Whether a word of the name is one of what is observed.
fn is_called_observed(names: &[String], column: usize) -> bool {
    let words = names.get(column).map_or(Vec::new(), |name| words(name));
    words.iter().any(|word| OBSERVED.contains(&word.as_str()))
}

/// Whether the name is one of secrets.
fn is_usual(names: &[String], column: usize) -> bool {
    // Either spelling of a neighbor.
    let name = names
        .get(column)
        .map(|name| name.trim().to_lowercase().replace("ghbour", "ghbor"));
    name.is_some_and(|name| USUAL.contains(&name.as_str()))
}

/// The columns that a secret may be, where none is chosen: few labels or whole numbers, which recur. Columns with usual
/// names come first, then labels, then numbers, and last what is called as an observation.
pub(crate) fn candidates(rows: &[Row], names: &[String], others: &[usize]) -> Vec<usize> {
    let width = rows.iter().map(Row::len).min().unwrap_or(0);
    let free = (0..width).filter(|column| !others.contains(column));
    let most = |column: usize| {
        if is_usual(names, column) {
            MAX_PROPOSED
        } else {
            MAX_LABELS
        }
    };
    let found = free.filter_map(|column| Some((column, recurring(rows, column, most(column))?)));
    let mut found: Vec<(usize, bool)> = found.collect();
    found.sort_by_key(|&(column, are_numbers)| {
        (
            !is_usual(names, column),
            is_called_observed(names, column),
            are_numbers,
        )
    });
    found.into_iter().map(|(column, _)| column).collect()
}

/// Whether a column of at most so many values, which recur, has numbers only; `None` for other columns.
fn recurring(rows: &[Row], column: usize, most: usize) -> Option<bool> {
    let mut labels = BTreeSet::new();
    let mut are_numbers = true;
    for row in rows {
        let field = row.get(column)?;
        let text = field.text().trim().to_owned();
        let number = text.parse::<f64>();
        let is_whole = || number.is_ok_and(|number| number.fract() == 0.0);
        if is_absent(&text) || (field.is_number() && !is_whole()) {
            return None;
        }
        are_numbers &= field.is_number();
        labels.insert(text);
        if labels.len() > most {
            return None;
        }
    }
    (labels.len() > 1 && labels.len() * MIN_ROWS_OF_LABEL <= rows.len()).then_some(are_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_secret_is_proposed_first() {
        let row = |at: usize| {
            let fields = [
                (at % 2).to_string(),
                ["in", "out"][at / 2 % 2].to_owned(),
                (at % 60).to_string(),
                format!("{}.5", at * 7),
            ];
            Row::of_texts(fields.iter().map(String::as_str))
        };
        let rows: Vec<Row> = (0..600).map(row).collect();
        let names = ["bit", "way", "domain", "time"].map(str::to_owned);
        assert_eq!(candidates(&rows, &names, &[]), [2, 1, 0]);
        assert_eq!(candidates(&rows, &[], &[1]), [0]);
    }

    #[test]
    fn what_is_called_a_report_is_no_secret_and_a_number_may_be_one() {
        let rows = |value: fn(usize) -> String| -> Vec<Row> {
            let row = |at: usize| {
                [
                    value(at),
                    ["red", "blue"][at % 2].to_owned(),
                    format!("{}.5", at * 7),
                ]
            };
            (0..600).map(|at| Row::of_texts(row(at))).collect()
        };
        let names = |labels: &str| ["value", labels, "time"].map(str::to_owned);
        let few = rows(|at| (at / 2 % 4).to_string());
        assert_eq!(only_labels(&few, &names("report"), &[]), None);
        assert_eq!(only_labels(&few, &names("color"), &[]), None);
        assert_eq!(only_labels(&few, &names("label"), &[]), Some(1));
        assert_eq!(candidates(&few, &names("report"), &[]), [0, 1]);
        let real = rows(|at| format!("{}.25", at * 31));
        assert_eq!(only_labels(&real, &names("color"), &[]), Some(1));
        assert_eq!(only_labels(&real, &names("noisyOutput"), &[]), None);
        // A part of a word is no word.
        for secret in ["country", "sentiment"] {
            assert_eq!(only_labels(&real, &names(secret), &[]), Some(1), "{secret}");
        }
    }
}
