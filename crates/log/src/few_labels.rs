//! The column of the secret, where none is named so: that of a few labels.

use std::collections::BTreeSet;

use crate::row::{Field, Row, is_absent};

/// Different labels that a column of secrets has at most, if it is chosen by looking.
const MAX_LABELS: usize = 50;
/// Rows that each of them has on average, at least.
const MIN_ROWS_OF_LABEL: usize = 5;

/// The only column of a few labels: no value in it is a number or blank, at least two are different, and they recur.
/// Only the columns are looked at, never how observations differ. `None` where two columns could be meant. A column of
/// numbers is never chosen: it may as well be the direction of a packet, a port or a status.
pub(crate) fn only_labels(rows: &[Row], others: &[usize]) -> Option<usize> {
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

/// The columns that a secret may be, where none is chosen: few labels or whole numbers, which recur.
pub(crate) fn candidates(rows: &[Row], others: &[usize]) -> Vec<usize> {
    let width = rows.iter().map(Row::len).min().unwrap_or(0);
    let recurs = |column: &usize| {
        let mut labels = BTreeSet::new();
        for row in rows {
            let Some(field) = row.get(*column) else {
                return false;
            };
            let text = field.text().trim().to_owned();
            let is_whole = || {
                text.parse::<f64>()
                    .is_ok_and(|number| number.fract() == 0.0)
            };
            if is_absent(&text) || (field.is_number() && !is_whole()) {
                return false;
            }
            labels.insert(text);
            if labels.len() > MAX_LABELS {
                return false;
            }
        }
        labels.len() > 1 && labels.len() * MIN_ROWS_OF_LABEL <= rows.len()
    };
    let free = (0..width).filter(|column| !others.contains(column));
    free.filter(recurs).collect()
}
