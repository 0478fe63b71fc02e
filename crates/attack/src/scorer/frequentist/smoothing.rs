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
            let unseen = Unseen::new(table, &grid[at]);
            let mut buffer = Vec::new();
            let losses = tasks.iter().map(|task| {
                let loss = if task.ln_columns.is_empty() {
                    task.loss_of_counts(table, &grid[at], &unseen)
                } else {
                    task.loss_by_column(table, &grid[at], &mut buffer)
                };
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
    /// The frequency of its observation among all other rows.
    pooled: f64,
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
                    pooled: table.pooled(cells, 1),
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

/// What secrets expect of any observation, as parts of its frequency among all rows.
struct Unseen {
    /// Per secret: (λ + d·D_s) / (n_s + λ).
    shares: Vec<f64>,
    sum: f64,
    /// Per secret: 1 / (n_s + λ).
    per_row: Vec<f64>,
}

impl Unseen {
    fn new(table: &Table, smoothing: &Smoothing) -> Self {
        let rows = table.counts.rows().iter();
        let per_row: Vec<f64> = rows
            .map(|&rows| 1.0 / (rows as f64 + smoothing.borrowed))
            .collect();
        let shares = table.distinct.iter().zip(&per_row);
        let shares: Vec<f64> = shares
            .map(|(&distinct, per_row)| smoothing.spread(distinct) * per_row)
            .collect();
        Unseen {
            sum: shares.iter().sum(),
            shares,
            per_row,
        }
    }
}

impl Task<'_> {
    /// −ln of the probability that the other rows give the row's secret, the base being the same for all secrets: what
    /// they expect unseen is summed beforehand, so that only those that produced the observation are looked at.
    fn loss_of_counts(&self, table: &Table, smoothing: &Smoothing, unseen: &Unseen) -> f64 {
        let held = self.secret as usize;
        let left = (table.counts.rows()[held] - 1) as f64 + smoothing.borrowed;
        let gone = u64::from(self.count == 1);
        let share = smoothing.spread(table.distinct[held] - gone) / left;
        let mut sum = (unseen.sum - unseen.shares[held] + share) * self.pooled;
        let kept = ((self.count - 1) as f64 - smoothing.discount).max(0.0);
        let of_held = share * self.pooled + kept / left;
        sum += kept / left;
        for cell in self.cells.iter().filter(|cell| cell.secret != self.secret) {
            let kept = (cell.count as f64 - smoothing.discount).max(0.0);
            sum += kept * unseen.per_row[cell.secret as usize];
        }
        (sum / of_held).ln()
    }

    /// The same with a base of each secret's own, which may be too small to be anything but a logarithm.
    fn loss_by_column(&self, table: &Table, smoothing: &Smoothing, scores: &mut Vec<f64>) -> f64 {
        let held = self.secret as usize;
        let rows = table.counts.rows();
        scores.clear();
        scores.extend((0..rows.len()).map(|secret| {
            let out = u64::from(secret == held);
            let gone = u64::from(secret == held && self.count == 1);
            let spread = smoothing.spread(table.distinct[secret] - gone);
            let normalizer = (rows[secret] - out) as f64 + smoothing.borrowed;
            (spread / normalizer).ln() + self.ln_columns[secret]
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

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Counts;

    /// Frequencies and their logarithms give the same loss, also of secrets without rows and of rows that were alone.
    #[test]
    fn sums_over_all_secrets_are_those_of_logarithms() {
        let cell = |at: u32| Cell {
            secret: at * 7 % 9,
            symbol: at * 5 % 31,
            count: u64::from(at * at % 11),
        };
        let table = Table::new(Counts::new(10, (0..120).map(cell).collect()));
        let mut found = 0;
        for mut task in tasks(&table, None) {
            for (discount, borrowed) in [(0.0, 0.0625), (0.5, 2.0), (0.9, 496.0)] {
                let smoothing = Smoothing { borrowed, discount };
                let unseen = Unseen::new(&table, &smoothing);
                let loss = task.loss_of_counts(&table, &smoothing, &unseen);
                task.ln_columns = vec![task.pooled.ln(); 10];
                let expected = task.loss_by_column(&table, &smoothing, &mut Vec::new());
                assert!((loss - expected).abs() < 1e-12, "{loss} {expected}");
                found += 1;
            }
        }
        assert!(found > 200, "{found}");
    }
}
