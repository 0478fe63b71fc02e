//! Secrets and observations in their canonical order, whatever the order of rows was.

use crate::fold::{Interner, TupleInterner};
use crate::observations::{Column, ColumnType, ObservationKind, Observations};
use crate::typing::ColumnPlan;

/// What the observer sees: labels, numbers or both.
pub fn kind_of(plans: &[ColumnPlan], recurring_integers: bool) -> ObservationKind {
    let numeric: Vec<&ColumnPlan> = plans
        .iter()
        .filter(|plan| plan.kind == ColumnType::Numeric)
        .collect();
    // An observer that sees bins sees labels; a user who says "numeric" is believed.
    let resolved = numeric.iter().all(|plan| plan.resolution.is_some());
    let countable = numeric
        .iter()
        .all(|plan| plan.countable || plan.resolution.is_some());
    if numeric.is_empty() || resolved || (countable && recurring_integers) {
        ObservationKind::Discrete
    } else if numeric.len() == plans.len() {
        ObservationKind::Numeric
    } else {
        ObservationKind::Mixed
    }
}

/// The table of distinct observations, in the order given.
pub fn tabulate(
    kind: ObservationKind,
    plans: &[ColumnPlan],
    order: &[u32],
    tuples: &TupleInterner,
    labels: &[Interner],
) -> Observations {
    let numeric: Vec<usize> = (0..plans.len())
        .filter(|&c| plans[c].kind == ColumnType::Numeric)
        .collect();
    let categorical: Vec<usize> = (0..plans.len())
        .filter(|&c| plans[c].kind == ColumnType::Categorical)
        .collect();
    let mut numbers = Vec::with_capacity(order.len() * numeric.len());
    let mut categories = TupleInterner::new(categorical.len());
    let mut category = Vec::new();
    let mut key = Vec::new();
    for &id in order {
        let tuple = tuples.tuple(id);
        numbers.extend(numeric.iter().map(|&column| f64::from_bits(tuple[column])));
        if !categorical.is_empty() {
            key.clear();
            key.extend(categorical.iter().map(|&column| tuple[column]));
            category.push(categories.intern(&key));
        }
    }
    let label = |column: usize, word: u64| labels[column].texts()[word as usize].clone();
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
            .filter(|_| !categorical.is_empty())
            .map(|id| {
                let words = categories.tuple(id).iter();
                words
                    .zip(&categorical)
                    .map(|(&word, &column)| label(column, word))
                    .collect()
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
