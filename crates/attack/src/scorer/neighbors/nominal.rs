//! What a search costs, as a count of operations and never as a measurement: what is decided by it is
//! decided alike in every run.

use crate::scorer::neighbors::{Index, Metric, Neighbors, Space};

/// A search to be priced.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// The distance.
    pub metric: Metric,
    /// Columns that it is measured in.
    pub dimensions: usize,
    /// Secrets.
    pub secrets: usize,
    /// Fit rows of all secrets.
    pub fit_rows: u64,
}

impl Search {
    /// Nominal seconds, on two cores of about 2 GHz with AVX2, of arranging the fit rows and finding
    /// the neighbors of so many observations without trees.
    pub fn nominal_seconds(self, queries: usize) -> f64 {
        let (rows, queries) = (self.fit_rows as f64, queries as f64);
        let (d, secrets) = (self.dimensions as f64, self.secrets as f64);
        let arranging = 2e-8 * rows * (d + rows.max(2.0).log2());
        let pair = match self.metric {
            Metric::Hamming => 5e-10 + 6e-11 * d,
            _ if self.dimensions <= 1 => 0.0,
            Metric::Euclidean => 1e-10 + 2.5e-11 * d,
            Metric::Manhattan | Metric::Chebyshev => 6e-10 + 1.5e-10 * d,
        };
        arranging + queries * (1e-7 * secrets + pair * rows)
    }
}

impl Neighbors {
    /// Nominal seconds of finding the neighbors of so many observations, see
    /// [`Search::nominal_seconds`]; less where trees serve.
    pub fn nominal_seconds(&self, queries: usize) -> f64 {
        let search = Search {
            metric: self.metric,
            dimensions: self.dimensions(),
            secrets: self.fit.secrets(),
            fit_rows: self.fit.total(),
        };
        let trees = match &self.space {
            Space::Numbers(numbers) => {
                let index = numbers.groups.iter().map(|group| &group.index);
                index
                    .filter(|index| matches!(index, Index::Trees(_)))
                    .count()
                    > 0
            }
            Space::Codes(_) => false,
        };
        if !trees {
            return search.nominal_seconds(queries);
        }
        let (d, secrets) = (search.dimensions as f64, search.secrets as f64);
        let depth = (search.fit_rows as f64 / secrets).max(2.0).log2();
        queries as f64 * secrets * 2e-8 * d * depth
    }
}
