//! What a search costs, as a count of operations and never as a measurement: what is decided by it is
//! decided alike in every run.

use crate::scorer::neighbors::Metric;

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
    /// Neighbors of each secret that are found.
    pub neighbors: usize,
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
        // Telling the nearest from the others, and sorting them.
        let finding = match self.metric {
            Metric::Euclidean if self.dimensions > 1 => {
                5e-7 + self.neighbors as f64 * (1.5e-8 + 1e-9 * d)
            }
            _ => 1e-7,
        };
        arranging + queries * (finding * secrets + pair * rows)
    }
}
