//! Columns each of whose values stands beside one secret only, though it recurs: what is observed of such a column names
//! the secret, and rows that share a value of one that is not observed may be of one unit, such as a device.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::Layout;
use crate::row::{Row, is_absent};

/// A column whose values tell the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PureColumn {
    /// Its name.
    pub column: String,
    /// Whether it is observed.
    pub is_observed: bool,
    /// Whether columns were asked for.
    pub is_asked: bool,
    /// Whether it has several values for each secret, and is no other name of the secret.
    pub has_several: bool,
}

/// Fewer first rows say little.
const MIN_ROWS: usize = 50;
/// Rows of a value on average, at least.
const ROWS_EACH: usize = 3;

/// Such columns, by the first rows; `decided` are columns that filters have looked at.
pub(crate) fn find(
    layout: &Layout,
    body: &[Row],
    decided: &[&str],
    is_asked: bool,
) -> Vec<PureColumn> {
    let used = [layout.count, layout.group, layout.row_id];
    let is_free = |column: &usize| {
        !layout.secret.contains(column)
            && !used.contains(&Some(*column))
            && !layout.order.contains(column)
            && !decided.contains(&layout.names[*column].as_str())
    };
    let secret = |row: &Row| -> Option<Vec<String>> {
        let texts = layout.secret.iter().map(|&column| row.text(column));
        texts.map(|text| Some(text?.trim().to_owned())).collect()
    };
    let secrets: Vec<Option<Vec<String>>> = body.iter().map(secret).collect();
    let different: BTreeSet<&Vec<String>> = secrets.iter().flatten().collect();
    if body.len() < MIN_ROWS || different.len() < 2 || layout.secret.is_empty() {
        return Vec::new();
    }
    let observed: BTreeSet<usize> = layout.observe.iter().copied().collect();
    let columns = (0..layout.names.len()).filter(is_free);
    let columns = columns.filter_map(|column| {
        let values = pure_values(body, &secrets, column)?;
        let is_observed = observed.contains(&column);
        let has_several = values >= 3 * different.len();
        // A column alone is what is measured. As many values as secrets are other names of these.
        let says = match is_observed {
            true => observed.len() > 1,
            false => has_several,
        };
        says.then(|| PureColumn {
            column: layout.names[column].clone(),
            is_observed,
            is_asked,
            has_several,
        })
    });
    columns.collect()
}

/// How many values a column has, if each stands beside one secret only and recurs.
fn pure_values(body: &[Row], secrets: &[Option<Vec<String>>], column: usize) -> Option<usize> {
    let mut secret_of: BTreeMap<String, &Vec<String>> = BTreeMap::new();
    let mut rows = 0;
    for (row, secret) in body.iter().zip(secrets) {
        let text = row.text(column)?;
        let text = text.trim();
        let Some(secret) = secret.as_ref().filter(|_| !is_absent(text)) else {
            continue;
        };
        rows += 1;
        match secret_of.get(text) {
            Some(known) if *known != secret => return None,
            Some(_) => {}
            None => {
                secret_of.insert(text.to_owned(), secret);
            }
        }
    }
    let values = secret_of.len();
    let seen: BTreeSet<&&Vec<String>> = secret_of.values().collect();
    let recurs = values * ROWS_EACH <= rows && 2 * rows >= body.len();
    (recurs && seen.len() > 1).then_some(values)
}
