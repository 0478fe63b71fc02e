//! The columns of an observation one by one.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::observations::{Cell, ColumnType, Counts, Observations};
use crate::scorer::recurring::recurring;

/// For each column whose values recur, the number of its value in every observation.
pub(super) struct Columns {
    values: Vec<Vec<u32>>,
}

impl Columns {
    /// `None` if the log has one column, or none whose values recur among the fit rows.
    pub fn new(observations: &Observations, fit: &Counts) -> Option<Columns> {
        if observations.columns().len() < 2 {
            return None;
        }
        let symbols = || 0..observations.len() as u32;
        let values: Vec<Vec<u32>> = recurring(observations, fit)
            .into_par_iter()
            .map(|(kind, at)| match kind {
                ColumnType::Numeric => number(
                    symbols().map(|symbol| (observations.numbers(symbol)[at] + 0.0).to_bits()),
                ),
                ColumnType::Categorical => {
                    let labels = observations.categories.iter().map(|labels| &labels[at]);
                    let of_category = number(labels);
                    let category = |symbol| observations.category(symbol) as usize;
                    symbols()
                        .map(|symbol| of_category[category(symbol)])
                        .collect()
                }
            })
            .collect();
        (!values.is_empty()).then_some(Columns { values })
    }

    pub fn count(&self) -> usize {
        self.values.len()
    }
}

/// Numbers values in the order in which they first occur.
fn number<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known: HashMap<T, u32> = HashMap::new();
    let number = |value| {
        let next = known.len() as u32;
        *known.entry(value).or_insert(next)
    };
    values.map(number).collect()
}

/// How often each secret produced each value of each column.
pub(super) struct ColumnCounts {
    columns: Vec<ColumnCount>,
    rows: Vec<f64>,
}

struct ColumnCount {
    /// Cells by value, then secret.
    cells: Vec<Cell>,
    /// Where the cells of a value start.
    starts: Vec<usize>,
    /// Per value, ln of its frequency among all secrets.
    ln_pooled: Vec<f64>,
    /// Per secret, the weight of that frequency: λ + d·D_s.
    spread: Vec<f64>,
    /// Per secret, ln of that weight over n_s + λ.
    ln_unseen: Vec<f64>,
}

impl ColumnCounts {
    /// Rows borrowed from all secrets, and discount, within a column: values recur, so that these hardly
    /// matter.
    const BORROWED: f64 = 1.0;
    const DISCOUNT: f64 = 0.5;

    pub fn new(columns: &Columns, fit: &Counts) -> Self {
        let rows: Vec<f64> = fit.rows().iter().map(|&rows| rows as f64).collect();
        ColumnCounts {
            columns: columns
                .values
                .par_iter()
                .map(|values| ColumnCount::new(values, fit, &rows))
                .collect(),
            rows,
        }
    }

    /// The sum over columns of the logarithms of the smoothed frequencies, for every secret.
    pub fn ln_frequencies(&self, columns: &Columns, symbol: u32, sums: &mut [f64]) {
        sums.fill(0.0);
        for (column, values) in self.columns.iter().zip(&columns.values) {
            let value = values[symbol as usize] as usize;
            let ln_pooled = column.ln_pooled[value];
            for (sum, ln_unseen) in sums.iter_mut().zip(&column.ln_unseen) {
                *sum += ln_pooled + ln_unseen;
            }
            for cell in column.cells_of(value) {
                let secret = cell.secret as usize;
                let borrowed = column.spread[secret] * ln_pooled.exp();
                let kept = cell.count as f64 - Self::DISCOUNT;
                sums[secret] += (kept / borrowed).ln_1p();
            }
        }
    }

    /// The same for one secret, one of its rows with this observation held out.
    pub fn ln_frequency_without(&self, columns: &Columns, symbol: u32, secret: u32) -> f64 {
        let left = self.rows[secret as usize] - 1.0 + Self::BORROWED;
        let of_column = |(column, values): (&ColumnCount, &Vec<u32>)| {
            let value = values[symbol as usize] as usize;
            let cells = column.cells_of(value);
            let count = cells
                .iter()
                .find(|cell| cell.secret == secret)
                .map_or(1, |cell| cell.count);
            let lost = if count == 1 { Self::DISCOUNT } else { 0.0 };
            let spread = column.spread[secret as usize] - lost;
            let kept = (count as f64 - 1.0 - Self::DISCOUNT).max(0.0);
            ((kept + spread * column.ln_pooled[value].exp()) / left).ln()
        };
        self.columns
            .iter()
            .zip(&columns.values)
            .map(of_column)
            .sum()
    }
}

impl ColumnCount {
    fn new(values: &[u32], fit: &Counts, rows: &[f64]) -> Self {
        let by_value = fit.cells().iter().map(|cell| Cell {
            symbol: values[cell.symbol as usize],
            ..*cell
        });
        let counts = Counts::new(rows.len(), by_value.collect());
        let size = values.iter().max().map_or(0, |&value| value as usize + 1);
        let mut starts = vec![0; size + 1];
        let mut seen = vec![0.0; size];
        let mut distinct = vec![0.0; rows.len()];
        for cell in counts.cells() {
            starts[cell.symbol as usize + 1] += 1;
            seen[cell.symbol as usize] += cell.count as f64;
            distinct[cell.secret as usize] += 1.0;
        }
        for value in 0..size {
            starts[value + 1] += starts[value];
        }
        // Values that the fit rows lack are one more, however many there are.
        let known = seen.iter().filter(|&&rows| rows > 0.0).count() as f64;
        let total: f64 = rows.iter().sum::<f64>() + 0.5 * (known + 1.0);
        let spread: Vec<f64> = distinct
            .iter()
            .map(|distinct| ColumnCounts::BORROWED + ColumnCounts::DISCOUNT * distinct)
            .collect();
        ColumnCount {
            cells: counts.cells().to_vec(),
            starts,
            ln_pooled: seen
                .iter()
                .map(|seen| ((seen + 0.5) / total).ln())
                .collect(),
            ln_unseen: spread
                .iter()
                .zip(rows)
                .map(|(spread, rows)| (spread / (rows + ColumnCounts::BORROWED)).ln())
                .collect(),
            spread,
        }
    }

    fn cells_of(&self, value: usize) -> &[Cell] {
        &self.cells[self.starts[value]..self.starts[value + 1]]
    }
}
