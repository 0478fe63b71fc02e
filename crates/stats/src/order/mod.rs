//! Does the order of the rows carry information that independent rows would not have?
//!
//! Every test conditions on what does not depend on the order: how many rows each secret has, and
//! which values. Under the null hypothesis the rows of one secret are exchangeable, so that within
//! a secret every order of its values is equally likely ([`interleaving`]: every order of the
//! secrets). The mean and variance under this law are exact, ties included, save in
//! [`category_drift`], which has a χ² law. None of them needs to know the law of the values.
//!
//! A p-value is the normal tail of the z-score where that is a fair approximation. A sum of rare
//! coincidences is not normal; it is told by its kurtosis, and the p-value is then Chebyshev's
//! bound 1/z², which holds for every law. A p-value that is an approximation can be about half too
//! small at 0.001 when neighbors coincide by chance about ten times in all.
//!
//! Everything takes O(n log n) time.

mod categorical;
mod design;
mod numeric;
mod shifted;
#[cfg(test)]
mod tests;

pub use categorical::{
    CategoryDrift, NeighborTest, agreement_autocorrelation, category_drift, interleaving,
};
pub use design::{
    OwnInflation, Period, own_agreement, own_correlation, own_inflation, period, random_order,
};
pub use numeric::{NumericTests, drift, neighbor_correlation, numeric_tests, rank_autocorrelation};
pub use shifted::{
    MOST_ROWS, Neighbor, NeighborSecret, neighbor_secret, neighbor_secret_of_labels,
};

use super::special::normal_survival;

/// What a test of order found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderTest {
    /// A correlation, less what is expected under the null hypothesis; 0 if nothing can be tested.
    pub correlation: f64,
    /// The statistic in standard deviations from its mean under the null hypothesis.
    pub z: f64,
    /// Two-sided p-value; 1 if nothing can be tested.
    pub p_value: f64,
}

/// The two-sided p-value of a standardized sum of terms whose fourth moments, divided by the
/// squared variance of the sum, add up to `irregularity`: the sum's excess kurtosis, or more.
fn two_sided(z: f64, irregularity: f64) -> f64 {
    /// The excess kurtosis of a Poisson count of mean 10.
    const REGULAR: f64 = 0.1;
    if irregularity <= REGULAR {
        2.0 * normal_survival(z.abs())
    } else {
        (1.0 / (z * z)).min(1.0)
    }
}

/// The rows of each secret, in order.
struct BySecret {
    starts: Vec<usize>,
    rows: Vec<usize>,
}

impl BySecret {
    /// # Panics
    /// If a secret is not below `n_secrets`.
    fn new(secrets: &[u32], n_secrets: usize) -> Self {
        let mut starts = vec![0; n_secrets + 1];
        for &secret in secrets {
            starts[secret as usize + 1] += 1;
        }
        for i in 0..n_secrets {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; secrets.len()];
        for (row, &secret) in secrets.iter().enumerate() {
            let place = &mut next[secret as usize];
            rows[*place] = row;
            *place += 1;
        }
        BySecret { starts, rows }
    }

    fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.starts
            .windows(2)
            .map(|ends| &self.rows[ends[0]..ends[1]])
    }
}
