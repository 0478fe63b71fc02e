//! The score table: distinct observations × secrets. Every leakage measure is a function of it.

/// One score per secret for each of some distinct observations.
#[derive(Debug, Clone)]
pub struct ScoreTable {
    ids: Vec<u32>,
    secrets: usize,
    values: Vec<f64>,
}

impl ScoreTable {
    /// A table from row-major values.
    ///
    /// # Panics
    /// If the number of values is not rows × secrets.
    pub fn new(ids: Vec<u32>, secrets: usize, values: Vec<f64>) -> Self {
        assert_eq!(
            ids.len() * secrets,
            values.len(),
            "one score per observation and secret"
        );
        ScoreTable {
            ids,
            secrets,
            values,
        }
    }

    /// The observations, in ascending order.
    pub fn observations(&self) -> &[u32] {
        &self.ids
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.secrets
    }

    /// All scores, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The scores of the observation in a row of the table.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.secrets..(row + 1) * self.secrets]
    }
}
