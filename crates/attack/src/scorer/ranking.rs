//! Columns by rank, so that neither units nor heavy tails matter.

use ndarray::Array2;
use statrs::distribution::{ContinuousCDF, Normal};

use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, Observations};

/// The distinct values of a numeric column among some rows, in order.
pub struct Ranking {
    values: Vec<f64>,
    /// The share of rows below each value, half of those at it included.
    shares: Vec<f64>,
}

impl Ranking {
    /// All values of a column.
    pub fn fit(observations: &Observations, fit: &Counts, column: usize) -> Self {
        let mut counted: Vec<(f64, u64)> = fit
            .cells()
            .iter()
            .map(|cell| (observations.numbers(cell.symbol)[column], cell.count))
            .collect();
        counted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let rows = fit.total().max(1) as f64;
        let (mut values, mut shares, mut below) = (Vec::new(), Vec::new(), 0u64);
        for same in counted.chunk_by(|a, b| a.0 == b.0) {
            let here: u64 = same.iter().map(|&(_, count)| count).sum();
            values.push(same[0].0);
            shares.push((below as f64 + 0.5 * here as f64) / rows);
            below += here;
        }
        Ranking { values, shares }
    }

    /// At most so many of the values, evenly spread.
    #[must_use]
    pub fn coarsened(mut self, most: usize) -> Self {
        let last = self.values.len().saturating_sub(1);
        if last >= most {
            let kept: Vec<usize> = (0..most).map(|at| at * last / (most - 1)).collect();
            self.values = kept.iter().map(|&at| self.values[at]).collect();
            self.shares = kept.iter().map(|&at| self.shares[at]).collect();
        }
        self
    }

    /// Whether all values are the same.
    pub fn is_constant(&self) -> bool {
        self.values.len() < 2
    }

    /// The place of a value among the values: whole at each of them, in between by interpolation.
    pub fn place(&self, value: f64) -> f64 {
        let above = self.values.partition_point(|&known| known < value);
        match (above.checked_sub(1), self.values.get(above)) {
            (_, None) => self.values.len().saturating_sub(1) as f64,
            (None, Some(_)) => 0.0,
            (Some(below), Some(&right)) => {
                let left = self.values[below];
                // Halves, because the distance of two numbers may overflow.
                let fraction = (0.5 * value - 0.5 * left) / (0.5 * right - 0.5 * left);
                below as f64 + fraction.clamp(0.0, 1.0)
            }
        }
    }
}

/// Numeric columns turned into what they would be if they were normally distributed.
pub struct NormalScores {
    columns: Vec<(usize, Ranking, Vec<f64>)>,
}

impl NormalScores {
    /// Values kept for interpolation.
    const MAX_VALUES: usize = 2_000;

    /// Learns the distribution of every column; constant ones are left out.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        let normal = Normal::standard();
        let columns = parallel::map(observations.dimensions(), |column| {
            let ranking = Ranking::fit(observations, fit, column).coarsened(Self::MAX_VALUES);
            let scores = ranking.shares.iter();
            let scores = scores.map(|&share| normal.inverse_cdf(share)).collect();
            (!ranking.is_constant()).then_some((column, ranking, scores))
        });
        NormalScores {
            columns: columns.into_iter().flatten().collect(),
        }
    }

    /// The number of columns that vary.
    pub fn dimensions(&self) -> usize {
        self.columns.len()
    }

    /// The normal scores of some observations, one row each.
    pub fn of(&self, observations: &Observations, ids: &[u32]) -> Array2<f64> {
        let mut all = Array2::zeros((ids.len(), self.columns.len()));
        // Column by column, because the values of all columns do not fit into the cache.
        for ((column, ranking, scores), mut out) in self.columns.iter().zip(all.columns_mut()) {
            for (&id, score) in ids.iter().zip(&mut out) {
                let place = ranking.place(observations.numbers(id)[*column]);
                let below = place as usize;
                let above = (below + 1).min(scores.len() - 1);
                *score = scores[below] + (place - below as f64) * (scores[above] - scores[below]);
            }
        }
        all
    }
}
