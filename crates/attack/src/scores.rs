//! The score table: distinct observations × secrets. Every leakage measure is a function of it.

use std::borrow::Cow;

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

    /// The part of some of the observations, in ascending order.
    ///
    /// # Panics
    /// If one of them has no scores.
    pub(crate) fn of(&self, ids: Vec<u32>) -> ScoreTable {
        let mut values = Vec::with_capacity(ids.len() * self.secrets);
        let mut row = 0;
        for id in &ids {
            while self.ids[row] != *id {
                row += 1;
            }
            values.extend_from_slice(self.row(row));
        }
        ScoreTable::new(ids, self.secrets, values)
    }

    /// Takes the scores of some observations from another table.
    ///
    /// # Panics
    /// If an observation is not in this one.
    pub(crate) fn replace(&mut self, other: &ScoreTable) {
        let mut row = 0;
        for (at, id) in other.ids.iter().enumerate() {
            row += self.ids[row..].partition_point(|own| own < id);
            assert_eq!(self.ids.get(row), Some(id), "an observation with scores");
            let own = row * self.secrets..(row + 1) * self.secrets;
            self.values[own].copy_from_slice(other.row(at));
        }
    }

    /// The scores as they stand, for a few pairs of secrets.
    pub(crate) fn for_few_pairs(&self) -> PairView<'_> {
        PairView {
            values: Cow::Borrowed(&self.values),
            row: self.secrets,
            secret: 1,
        }
    }

    /// The scores in the order in which loops over all pairs of secrets read them.
    pub(crate) fn for_pairs(&self) -> PairView<'_> {
        let (rows, secrets) = (self.ids.len(), self.secrets);
        if secrets < MIN_SECRETS || self.values.len() > MAX_COPIED {
            return self.for_few_pairs();
        }
        let mut values = vec![0.0; self.values.len()];
        for (row, scores) in self.values.chunks_exact(secrets).enumerate() {
            for (secret, score) in scores.iter().enumerate() {
                values[secret * rows + row] = *score;
            }
        }
        PairView {
            values: Cow::Owned(values),
            row: 1,
            secret: rows,
        }
    }
}

/// Rows of fewer secrets stand in a few cache lines as they are.
const MIN_SECRETS: usize = 16;
/// Tables with more scores are not copied.
const MAX_COPIED: usize = 1 << 23;

/// Scores of single rows for single secrets: secret by secret, so that two secrets are two runs of memory, where
/// that is worth a copy.
pub(crate) struct PairView<'a> {
    values: Cow<'a, [f64]>,
    row: usize,
    secret: usize,
}

impl PairView<'_> {
    /// The scores of two secrets in a row of the table.
    pub(crate) fn pair(&self, row: usize, [a, b]: [u32; 2]) -> [f64; 2] {
        [a, b].map(|secret| self.values[row * self.row + secret as usize * self.secret])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_see_the_same_scores_in_either_order() {
        for secrets in [MIN_SECRETS - 1, MIN_SECRETS + 3] {
            let values = (0..7 * secrets).map(|at| at as f64).collect();
            let table = ScoreTable::new((0..7).collect(), secrets, values);
            let view = table.for_pairs();
            for row in 0..7 {
                let (scores, b) = (table.row(row), secrets as u32 - 1);
                assert_eq!(view.pair(row, [2, b]), [scores[2], scores[b as usize]]);
            }
        }
    }
}
