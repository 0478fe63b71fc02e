//! Secrets and observations in their canonical order, whatever the order of rows was.

use std::borrow::Cow;

use crate::fold::TupleInterner;
use crate::labels::word_of;
use crate::observations::{Column, ColumnType, NUMBER, ObservationKind, Observations};
use crate::typing::ColumnPlan;

/// What the observer sees: labels, numbers or both.
pub fn kind_of(plans: &[ColumnPlan], recurring_integers: bool) -> ObservationKind {
    let numeric: Vec<&ColumnPlan> = plans
        .iter()
        .filter(|plan| plan.kind != ColumnType::Categorical)
        .collect();
    let is_mixed = plans.iter().any(|plan| plan.kind == ColumnType::Mixed);
    // An observer that sees bins sees labels; a user who says "numeric" is believed.
    let resolved = numeric.iter().all(|plan| plan.resolution.is_some());
    let countable = numeric
        .iter()
        .all(|plan| plan.countable || plan.resolution.is_some());
    if numeric.is_empty() || resolved || (countable && recurring_integers) {
        ObservationKind::Discrete
    } else if numeric.len() == plans.len() && !is_mixed {
        ObservationKind::Numeric
    } else {
        ObservationKind::Mixed
    }
}

/// What the key of a category is in a mixed column where it holds a number. No word has it.
const IS_NUMBER: u64 = u64::MAX;

/// The table of distinct observations, in the order given, with the labels or words of each column.
pub fn tabulate(
    kind: ObservationKind,
    plans: &[ColumnPlan],
    order: &[u32],
    tuples: &TupleInterner,
    labels: &[Cow<[String]>],
) -> Observations {
    let but = |kind: ColumnType| -> Vec<usize> {
        let columns = (0..plans.len()).filter(|&column| plans[column].kind != kind);
        columns.collect()
    };
    let (numeric, labeled) = (but(ColumnType::Categorical), but(ColumnType::Numeric));
    let number = |word: u64| match word_of(word) {
        Some(_) => 0.0,
        None => f64::from_bits(word),
    };
    // Of a mixed column the number of the word, of a categorical one that of the label.
    let key_of = |column: usize, word: u64| match plans[column].kind {
        ColumnType::Mixed => word_of(word).map_or(IS_NUMBER, u64::from),
        _ => word,
    };
    let mut numbers = Vec::with_capacity(order.len() * numeric.len());
    let mut categories = TupleInterner::new(labeled.len());
    let mut category = Vec::new();
    let mut key = Vec::new();
    for &id in order {
        let word = |column: usize| tuples.word(id, column);
        numbers.extend(numeric.iter().map(|&column| number(word(column))));
        if !labeled.is_empty() {
            key.clear();
            key.extend(labeled.iter().map(|&column| key_of(column, word(column))));
            category.push(categories.intern(&key));
        }
    }
    let label = |column: usize, word: u64| match word {
        IS_NUMBER => NUMBER.to_owned(),
        word => labels[column][word as usize].clone(),
    };
    Observations {
        kind,
        columns: plans
            .iter()
            .map(|plan| Column {
                name: plan.name.clone(),
                kind: plan.kind,
                resolution: plan.resolution,
            })
            .collect(),
        numbers,
        category,
        categories: (0..categories.len() as u32)
            .filter(|_| !labeled.is_empty())
            .map(|id| {
                let words = categories.tuple(id);
                let words = words.iter().zip(&labeled);
                words.map(|(&word, &column)| label(column, word)).collect()
            })
            .collect(),
        len: order.len(),
    }
}

/// The positions of labels in numeric order if all are finite numbers, else in alphabetical order.
pub fn natural_order(labels: &[String]) -> Vec<u32> {
    let numbers: Option<Vec<f64>> = labels
        .iter()
        .map(|label| label.parse::<f64>().ok().filter(|value| value.is_finite()))
        .collect();
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        let by_number = numbers
            .as_ref()
            .map(|values| values[a].total_cmp(&values[b]));
        by_number
            .filter(|order| order.is_ne())
            .unwrap_or_else(|| labels[a].cmp(&labels[b]))
    });
    order
}

/// The inverse of a permutation.
pub fn ranks(order: &[u32]) -> Vec<u32> {
    ranks_among(order, order.len())
}

/// The ranks of some of so many numbers; others have none.
pub fn ranks_among(order: &[u32], all: usize) -> Vec<u32> {
    let mut ranks = vec![u32::MAX; all];
    for (rank, &id) in order.iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}
