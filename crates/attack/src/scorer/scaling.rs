//! Bringing columns of different units to one scale.

use leakgauge_base::parallel;
use leakgauge_log::observations::{Cell, Counts, Observations};

/// Brings every numeric column to a spread of 1, so that no unit of measurement dominates.
pub struct Scaling {
    /// Constant columns are left out.
    factors: Vec<Factor>,
}

/// What a column is multiplied with.
struct Factor {
    column: usize,
    /// A power of two, 1 but for columns whose spread would overflow or underflow.
    power: f64,
    spread: f64,
}

impl Factor {
    /// Squares of what is larger would overflow when summed.
    const FARTHEST: f64 = 1e140;

    fn apply(&self, numbers: &[f64]) -> f64 {
        let scaled = numbers[self.column] * self.power * self.spread;
        scaled.clamp(-Self::FARTHEST, Self::FARTHEST)
    }
}

impl Scaling {
    /// The spread is the mean absolute deviation from the median: outliers count, but not squared, and
    /// it is positive unless the column is constant in the fit rows. Words in a mixed column do not count.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        Self::fit_to(observations, fit, |_, _| true)
    }

    /// The same from some of the numbers: those of a column that are wanted.
    pub fn fit_to(
        observations: &Observations,
        fit: &Counts,
        is_wanted: impl Fn(usize, f64) -> bool + Sync,
    ) -> Self {
        let cells = fit.cells();
        let words = observations.words_beside_numbers();
        let factors = parallel::map(observations.dimensions(), |column| {
            let word = words[column];
            let number = |cell: &Cell| {
                let number = observations.number_at(cell.symbol, column, word)?;
                Some((number, cell.count))
            };
            let mut values: Vec<(f64, u64)> = cells
                .iter()
                .filter_map(number)
                .filter(|&(value, _)| is_wanted(column, value))
                .collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let power = power(&values);
            values.iter_mut().for_each(|(value, _)| *value *= power);
            let spread = mean_absolute_deviation(&values);
            (spread > 0.0).then(|| Factor {
                column,
                power,
                spread: spread.recip(),
            })
        });
        let factors: Vec<Factor> = factors.into_iter().flatten().collect();
        if factors.is_empty() && observations.dimensions() > 0 {
            return Scaling {
                factors: vec![Factor {
                    column: 0,
                    power: 1.0,
                    spread: 1.0,
                }],
            };
        }
        Scaling { factors }
    }

    /// Keeps only so many columns, those with the largest of these values.
    pub fn keep_largest(&mut self, values: &[f64], most: usize) {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&x, &y| values[y].total_cmp(&values[x]).then(x.cmp(&y)));
        order.truncate(most);
        let mut at = 0..values.len();
        self.factors
            .retain(|_| at.next().is_some_and(|at| order.contains(&at)));
    }

    /// The number of columns that vary.
    pub fn dimensions(&self) -> usize {
        self.factors.len()
    }

    /// These columns.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.factors.iter().map(|factor| factor.column)
    }

    /// Replaces `scaled` by the scaled columns that vary.
    pub fn apply(&self, numbers: &[f64], scaled: &mut Vec<f64>) {
        scaled.clear();
        scaled.extend(self.factors.iter().map(|factor| factor.apply(numbers)));
    }
}

/// The power of two that brings values out of the range where sums overflow or reciprocals do.
fn power(values: &[(f64, u64)]) -> f64 {
    let largest = values
        .iter()
        .fold(0.0f64, |largest, (value, _)| largest.max(value.abs()));
    if largest > 1e150 {
        2f64.powi(-600)
    } else if largest < 1e-150 {
        2f64.powi(600)
    } else {
        1.0
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
    sum / rows.max(1) as f64
}
