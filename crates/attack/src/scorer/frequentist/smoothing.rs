//! How much to smooth, chosen by predicting each fit row from the others.

use leakgauge_base::parallel;

use super::columns::ColumnCounts;
use super::{Table, ln_sum};
use leakgauge_log::observations::{Cell, Observations};

/// How counts are smoothed; see [`super::Frequentist`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Smoothing {
    /// λ: rows borrowed from the base.
    pub borrowed: f64,
    /// d: what each observation seen gives up.
    pub discount: f64,
}

/// Borrowed rows for each distinct observation.
const BORROWED: [f64; 5] = [0.0625, 0.25, 1.0, 4.0, 16.0];
const DISCOUNTS: [f64; 4] = [0.0, 0.5, 0.75, 0.9];
/// Scores that are computed at most for one choice.
const MAX_SCORES: usize = 200_000;
/// Cells that are predicted at most.
const MAX_CELLS: usize = 5_000;

impl Smoothing {
    /// The weight of the base for a secret with so many distinct observations.
    pub fn spread(&self, distinct: u64) -> f64 {
        self.borrowed + self.discount * distinct as f64
    }

    /// The choice with the least log-loss of the secret of a held-out fit row, the first of equals.
    pub fn choose(table: &Table, by_column: Option<(&Observations, &ColumnCounts)>) -> Smoothing {
        let tasks = tasks(table, by_column);
        let grid: Vec<Smoothing> = DISCOUNTS
            .into_iter()
            .flat_map(|discount| {
                BORROWED.map(|borrowed| Smoothing {
                    borrowed: borrowed * table.alphabet,
                    discount,
                })
            })
            .collect();
        let losses: Vec<f64> = parallel::map(grid.len(), |at| {
            let mut buffer = Vec::new();
            let losses = tasks.iter().map(|task| {
                let loss = task.loss(table, &grid[at], &mut buffer);
                task.weight * loss
            });
            losses.sum()
        });
        let mut best = 0;
        for (at, loss) in losses.iter().enumerate() {
            if *loss < losses[best] {
                best = at;
            }
        }
        grid[best]
    }
}

/// A fit row to be predicted.
struct Task<'a> {
    secret: u32,
    count: u64,
    /// The cells of its observation.
    cells: &'a [Cell],
    /// Its share of the loss.
    weight: f64,
    /// ln of the frequency of its observation among all other rows.
    ln_pooled: f64,
    /// Per secret, ln of the base made of columns; empty if there is none.
    ln_columns: Vec<f64>,
}

/// Cells at even distances, few enough for a quick choice.
fn tasks<'a>(table: &'a Table, by_column: Option<(&Observations, &ColumnCounts)>) -> Vec<Task<'a>> {
    let secrets = table.counts.secrets();
    let most = (MAX_SCORES / secrets.max(1)).clamp(100, MAX_CELLS);
    let step = table.counts.cells().len().div_ceil(most).max(1);
    let mut tasks = Vec::new();
    let mut at = 0;
    for cells in table.counts.by_symbol() {
        for cell in cells {
            let rows = table.counts.rows()[cell.secret as usize];
            if at % step == 0 && rows > 1 {
                tasks.push(Task {
                    secret: cell.secret,
                    count: cell.count,
                    cells,
                    weight: cell.count as f64 / rows as f64,
                    ln_pooled: table.pooled(cells, 1).ln(),
                    ln_columns: Vec::new(),
                });
            }
            at += 1;
        }
    }
    if let Some((observations, counts)) = by_column {
        parallel::for_each_row(&mut tasks, 1, &|_, task| {
            let task = &mut task[0];
            let (symbol, secret) = (task.cells[0].symbol, task.secret);
            task.ln_columns = vec![0.0; secrets];
            counts.ln_frequencies(observations, symbol, &mut task.ln_columns);
            let without = counts.ln_frequency_without(observations, symbol, secret);
            task.ln_columns[secret as usize] = without;
        });
    }
    tasks
}

impl Task<'_> {
    /// −ln of the probability that the other rows give the row's secret.
    fn loss(&self, table: &Table, smoothing: &Smoothing, scores: &mut Vec<f64>) -> f64 {
        let held = self.secret as usize;
        let rows = table.counts.rows();
        let ln_base = |secret: usize| {
            let by_column = self.ln_columns.get(secret);
            by_column.copied().unwrap_or(self.ln_pooled)
        };
        scores.clear();
        scores.extend((0..rows.len()).map(|secret| {
            let out = u64::from(secret == held);
            let gone = u64::from(secret == held && self.count == 1);
            let spread = smoothing.spread(table.distinct[secret] - gone);
            let normalizer = (rows[secret] - out) as f64 + smoothing.borrowed;
            (spread / normalizer).ln() + ln_base(secret)
        }));
        for cell in self.cells {
            let secret = cell.secret as usize;
            let out = u64::from(secret == held);
            let kept = (cell.count - out) as f64 - smoothing.discount;
            if kept > 0.0 {
                let normalizer = (rows[secret] - out) as f64 + smoothing.borrowed;
                scores[secret] = ln_sum((kept / normalizer).ln(), scores[secret]);
            }
        }
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
        largest + sum.ln() - scores[held]
    }
}
