//! Bringing columns of different units to one scale.

use crate::observations::{Counts, Observations};

/// Brings every numeric column to a spread of 1, so that no unit of measurement dominates.
pub struct Scaling {
    /// Column, and the factor it is multiplied with; constant columns are left out.
    factors: Vec<(usize, f64)>,
}

impl Scaling {
    /// The spread is the mean absolute deviation from the median: outliers count, but not squared, and
    /// it is positive unless the column is constant in the fit rows.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        let cells = fit.cells();
        let factors = (0..observations.dimensions())
            .filter_map(|column| {
                let mut values: Vec<(f64, u64)> = cells
                    .iter()
                    .map(|cell| (observations.numbers(cell.symbol)[column], cell.count))
                    .collect();
                values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
                let spread = mean_absolute_deviation(&values);
                (spread.is_finite() && spread > 0.0).then(|| (column, spread.recip()))
            })
            .collect::<Vec<_>>();
        if factors.is_empty() && observations.dimensions() > 0 {
            return Scaling {
                factors: vec![(0, 1.0)],
            };
        }
        Scaling { factors }
    }

    /// The number of columns that vary.
    pub fn dimensions(&self) -> usize {
        self.factors.len()
    }

    /// Replaces `scaled` by the scaled columns that vary.
    pub fn apply(&self, numbers: &[f64], scaled: &mut Vec<f64>) {
        scaled.clear();
        scaled.extend(
            self.factors
                .iter()
                .map(|&(column, factor)| numbers[column] * factor),
        );
    }
}

fn mean_absolute_deviation(sorted: &[(f64, u64)]) -> f64 {
    let rows: u64 = sorted.iter().map(|&(_, count)| count).sum();
    let mut seen = 0;
    let median = sorted
        .iter()
        .find(|(_, count)| {
            seen += count;
            2 * seen >= rows
        })
        .map_or(0.0, |&(value, _)| value);
    let sum: f64 = sorted
        .iter()
        .map(|&(value, count)| (value - median).abs() * count as f64)
        .sum();
    sum / rows as f64
}
