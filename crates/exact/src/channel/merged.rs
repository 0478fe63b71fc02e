//! Observations that tell the same about the secret, as one.

use crate::channel::Channel;

/// The columns of a channel; those that are multiples of one another are added, which changes no leakage.
pub(super) fn merged(channel: &Channel) -> Vec<Vec<f64>> {
    let width = channel.observations().len();
    let column = |o: usize| -> Vec<f64> { channel.rows().map(|row| row[o]).collect() };
    let mut found: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for column in (0..width).map(column) {
        let sum: f64 = column.iter().sum();
        if sum == 0.0 {
            continue;
        }
        let shape: Vec<f64> = column.iter().map(|x| x / sum).collect();
        let alike = |known: &[f64]| {
            let mut pairs = known.iter().zip(&shape);
            pairs.all(|(a, b)| (a - b).abs() <= 1e-14)
        };
        match found.iter_mut().find(|(known, _)| alike(known)) {
            Some((_, whole)) => whole.iter_mut().zip(&column).for_each(|(a, b)| *a += b),
            None => found.push((shape, column)),
        }
    }
    found.into_iter().map(|(_, column)| column).collect()
}

/// 0 if both have the same columns in some order.
pub(super) fn same_columns(source: &[Vec<f64>], target: &[Vec<f64>]) -> Option<f64> {
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-14);
    let found = |column: &Vec<f64>| target.iter().any(|other| near(column, other));
    (source.len() == target.len() && source.iter().all(found)).then_some(0.0)
}
