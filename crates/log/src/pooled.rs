//! Several kinds of measurements in one column of numbers, told apart by a column of labels that is not used: a log of
//! metrics with one row each, say. Pooled they are no measurement, and a difference in one of them drowns in the others.
//!
//! # Formula
//! Ranks of the numbers within each secret, and the part of their sum of squares that is between the labels of each
//! secret: η² of Kruskal and Wallis (1952, doi:10.1080/01621459.1952.10483441), given the secret. It does not depend on
//! how the secrets differ, and no row with a large number decides it.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::Layout;
use crate::row::{Row, is_absent};

/// A column of labels that is not used and explains most of what is observed.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledKinds {
    /// Its name.
    pub column: String,
    /// The part of the variance of the ranks that it explains.
    pub share: f64,
    /// Whether nothing but how much it explains says so: not its name, and not the scales of the numbers.
    pub by_ranks_alone: bool,
    /// The label whose measurements are the most different numbers.
    pub example: String,
}

/// Fewer first rows say little.
const MIN_ROWS: usize = 50;
/// A kind has so many rows of each secret on average, at least.
const ROWS_EACH: usize = 8;
/// Kinds of measurements are few, and meet early.
const MOST_KINDS: usize = 40;
const FIRST: usize = 500;
/// Kinds of measurements have scales of their own: typical values differ by this factor, at least. Users, say, differ by
/// less.
const SCALES: f64 = 10.0;
/// Names of columns that tell kinds of measurements apart, in lower case, letters and digits only.
const NAMES: [&str; 9] = [
    "metric",
    "metricname",
    "measurement",
    "measure",
    "counter",
    "quantity",
    "variable",
    "statistic",
    "sensor",
];
/// More of the variance than this is explained.
const MOST: f64 = 0.5;
/// What explains so much of what labels of such numbers can is what is measured, whatever its name and its scales.
const NEARLY_ALL: f64 = 0.95;

/// The unused column of labels that explains most of the only observed column of numbers, by the first rows.
pub(crate) fn find(layout: &Layout, body: &[Row], decided: &[&str]) -> Option<PooledKinds> {
    let [observed] = layout.observe[..] else {
        return None;
    };
    let used = [layout.count, layout.group, layout.row_id];
    let is_used = |column: &usize| {
        layout.secret.contains(column)
            || *column == observed
            || used.contains(&Some(*column))
            || layout.order.contains(column)
            || decided.contains(&layout.names[*column].as_str())
    };
    // Rows without a secret are no rows of the log.
    let secret_of = |row: &Row| -> Option<Vec<String>> {
        let text = |column: &usize| Some(row.text(*column)?.trim().to_owned());
        let secret: Option<Vec<String>> = layout.secret.iter().map(text).collect();
        secret.filter(|secret| !secret.iter().all(|part| is_absent(part)))
    };
    let with_secret: Vec<_> = body
        .iter()
        .filter_map(|row| Some((secret_of(row)?, row)))
        .collect();
    let all = with_secret.len();
    let rows: Vec<Measured> = with_secret
        .into_iter()
        .filter_map(|(secret, row)| {
            let number: f64 = row.text(observed)?.trim().parse().ok()?;
            number.is_finite().then_some((secret, number, row))
        })
        .collect();
    if rows.len() < MIN_ROWS || 10 * rows.len() < 9 * all {
        return None;
    }
    let columns = (0..layout.names.len()).filter(|column| !is_used(column));
    let found = columns.filter_map(|column| {
        let (rows, labels) = labeled(&rows, column)?;
        let share = explained(&rows, &ranks_within(&rows), &labels);
        let of_kinds = is_named(&layout.names[column]) || are_scaled(&rows, &labels);
        let is_found = share > MOST && (of_kinds || share > NEARLY_ALL * most_explained(&labels));
        is_found.then(|| {
            let kinds = PooledKinds {
                column: layout.names[column].clone(),
                share,
                by_ranks_alone: !of_kinds,
                example: most_various(&rows, &labels),
            };
            (share, kinds)
        })
    });
    let best = found.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, kinds)| kinds)
}

/// The secret and the measurement of a row, and the row.
type Measured<'a> = (Vec<String>, f64, &'a Row);

/// The labels of a column that come with several secrets, and the rows that have one, if these are most, and each kind
/// has rows of each secret often enough. Numbers are no labels, unless they are two.
fn labeled<'a>(rows: &[Measured<'a>], column: usize) -> Option<(Vec<Measured<'a>>, Vec<String>)> {
    // Most columns have far more values, or one.
    let mut first = BTreeSet::new();
    for row in rows.iter().take(FIRST) {
        first.insert(row.2.text(column)?.trim().to_owned());
        if first.len() > MOST_KINDS {
            return None;
        }
    }
    if first.len() < 2 {
        return None;
    }
    let text = |row: &Row| Some(row.text(column)?.trim().to_owned());
    let labels: Option<Vec<String>> = rows.iter().map(|row| text(row.2)).collect();
    let labels = labels?;
    let mut secrets: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for (label, row) in labels.iter().zip(rows) {
        let of_label = secrets.entry(label).or_default();
        if !of_label.contains(&&row.0[..]) {
            of_label.push(&row.0);
        }
    }
    // What comes with one secret only says nothing of the others.
    secrets.retain(|_, of_label| of_label.len() > 1);
    let cells: usize = secrets.values().map(Vec::len).sum();
    let are_numbers = secrets.keys().all(|label| label.parse::<f64>().is_ok());
    let is_kept: Vec<bool> = labels
        .iter()
        .map(|label| secrets.contains_key(&label[..]))
        .collect();
    let kept = is_kept.iter().filter(|&&is_kept| is_kept).count();
    // Two numbers are a flag.
    let are_kinds = secrets.len() > 1 && (secrets.len() == 2 || !are_numbers);
    if !are_kinds || 2 * kept < rows.len() || cells * ROWS_EACH > kept {
        return None;
    }
    let both = rows
        .iter()
        .cloned()
        .zip(labels.iter().cloned())
        .zip(is_kept);
    Some(
        both.filter(|(_, is_kept)| *is_kept)
            .map(|(row, _)| row)
            .unzip(),
    )
}

/// The part of the variance of ranks that labels explain where no ranks of two overlap: 1 − Σ p³.
fn most_explained(labels: &[String]) -> f64 {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1.0;
    }
    let all = labels.len() as f64;
    1.0 - counts
        .values()
        .map(|count| (count / all).powi(3))
        .sum::<f64>()
}

/// Ranks of the numbers among those of the same secret, equal ones the mean of theirs.
fn ranks_within(rows: &[Measured]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let key = |at: usize| (&rows[at].0, rows[at].1);
    order.sort_by(|&a, &b| {
        let ((s, x), (t, y)) = (key(a), key(b));
        s.cmp(t).then(x.total_cmp(&y))
    });
    let mut ranks = vec![0.0; rows.len()];
    for secret in order.chunk_by(|&a, &b| rows[a].0 == rows[b].0) {
        let mut before = 0;
        for equal in secret.chunk_by(|&a, &b| rows[a].1 == rows[b].1) {
            let rank = before as f64 + 0.5 * (equal.len() as f64 - 1.0);
            equal.iter().for_each(|&at| ranks[at] = rank);
            before += equal.len();
        }
    }
    ranks
}

/// The part of the ranks' squares within secrets that is between the labels there.
fn explained(rows: &[Measured], ranks: &[f64], labels: &[String]) -> f64 {
    let mut secrets: BTreeMap<&[String], (f64, f64, f64)> = BTreeMap::new();
    let mut kinds: BTreeMap<(&[String], &str), (f64, f64)> = BTreeMap::new();
    for ((row, rank), label) in rows.iter().zip(ranks).zip(labels) {
        let secret = secrets.entry(&row.0).or_default();
        *secret = (secret.0 + 1.0, secret.1 + rank, secret.2 + rank * rank);
        let kind = kinds.entry((&row.0, label)).or_default();
        *kind = (kind.0 + 1.0, kind.1 + rank);
    }
    let all: f64 = secrets
        .values()
        .map(|(n, sum, squares)| squares - sum * sum / n)
        .sum();
    let between: f64 = kinds.values().map(|(n, sum)| sum * sum / n).sum::<f64>()
        - secrets
            .values()
            .map(|(n, sum, _)| sum * sum / n)
            .sum::<f64>();
    match all > 0.0 {
        true => between / all,
        false => 0.0,
    }
}

/// Whether a column is called as one that tells kinds of measurements apart.
fn is_named(name: &str) -> bool {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    NAMES.contains(&name.to_lowercase().as_str())
}

/// Whether typical values of the labels have different scales.
fn are_scaled(rows: &[Measured], labels: &[String]) -> bool {
    let mut numbers: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (label, row) in labels.iter().zip(rows) {
        numbers.entry(label).or_default().push(row.1.abs());
    }
    let medians = numbers.into_values().map(|mut numbers| {
        numbers.sort_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    });
    let (least, most) = medians.fold((f64::INFINITY, 0.0f64), |(least, most), median| {
        (least.min(median), most.max(median))
    });
    most > SCALES * least
}

/// The label with the most different numbers, the first of equals.
fn most_various(rows: &[Measured], labels: &[String]) -> String {
    let mut numbers: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (label, row) in labels.iter().zip(rows) {
        numbers.entry(label).or_default().push(row.1.to_bits());
    }
    let various = numbers.into_iter().map(|(label, mut numbers)| {
        numbers.sort_unstable();
        numbers.dedup();
        (numbers.len(), label)
    });
    let best = various.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(String::new(), |best| best.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(names: &[&str]) -> Layout {
        Layout {
            header: true,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            secret: vec![0],
            secret_chosen: false,
            observe: vec![1],
            left_out: Vec::new(),
            count: None,
            group: None,
            row_id: None,
            order: Vec::new(),
        }
    }

    fn row(cells: [String; 4]) -> Row {
        Row::of_texts(cells)
    }

    #[test]
    fn kinds_of_measurements_are_found_and_what_hardly_differs_is_not() {
        let rows = |kinds: usize| -> Vec<Row> {
            (0..400usize)
                .map(|at| {
                    let kind = at % kinds;
                    let value = 100.0 * kind as f64 + (at * 7919 % 101) as f64;
                    let secret = ["a", "b"][at / kinds % 2];
                    row([
                        secret.into(),
                        value.to_string(),
                        format!("m{kind}"),
                        format!("u{}", at * 31 % 5),
                    ])
                })
                .collect()
        };
        let names = ["secret", "value", "metric", "user"];
        let found = find(&layout(&names), &rows(3), &[]).expect("kinds");
        assert_eq!(found.column, "metric");
        assert!(found.share > 0.8, "{found:?}");
        // Rows without a secret, and kinds that come with one secret only, hide nothing.
        let mut more = rows(3);
        let cells = |secret: &str, metric: &str| {
            let cells = [secret, "1", metric, "u0"];
            row(cells.map(str::to_owned))
        };
        more.splice(0..0, (0..20).map(|_| cells("", "vus")));
        more.push(cells("a", "login"));
        assert_eq!(
            find(&layout(&names), &more, &[]).map(|found| found.column),
            Some("metric".to_owned())
        );
        // Somebody chose rows by it.
        assert_eq!(find(&layout(&names), &rows(3), &["metric"]), None);
        assert_eq!(find(&layout(&names), &rows(1), &[]), None);
    }

    /// What comes with the secret is what the log is about.
    #[test]
    fn labels_that_are_the_secret_in_other_words_are_no_kinds() {
        let rows: Vec<Row> = (0..200usize)
            .map(|at| {
                let (secret, status) = if at % 2 == 0 {
                    ("a", "ok")
                } else {
                    ("b", "denied")
                };
                let value = (at % 2 * 100 + at % 13).to_string();
                row([secret.into(), value, status.into(), "x".into()])
            })
            .collect();
        assert_eq!(
            find(&layout(&["secret", "value", "status", "x"]), &rows, &[]),
            None
        );
    }
}
