//! Learning from fewer rows than there are.

use std::borrow::Cow;
use std::sync::Arc;

use crate::scorer::{Kind, Origin, Parameters, Scorer};
use leakgauge_log::observations::{Cell, Counts, Observations};

/// At most so many rows, spread evenly over the secrets and, within a secret, over its observations in
/// their order. Secrets with few rows keep them all.
///
/// # Conditions
/// Depends on the counts alone: the same rows are kept in every run.
pub fn thinned(counts: &Counts, most_rows: u64) -> Cow<'_, Counts> {
    if counts.total() <= most_rows {
        return Cow::Borrowed(counts);
    }
    let quota = quota(counts.rows(), most_rows);
    let mut seen = vec![0u64; counts.secrets()];
    let cells = counts.cells().iter().filter_map(|cell| {
        let secret = cell.secret as usize;
        let rows = counts.rows()[secret];
        let keep = rows.min(quota);
        let upto = |seen: u64| (u128::from(seen) * u128::from(keep) / u128::from(rows)) as u64;
        let before = upto(seen[secret]);
        seen[secret] += cell.count;
        let count = upto(seen[secret]) - before;
        (count > 0).then_some(Cell { count, ..*cell })
    });
    Cow::Owned(Counts::new(counts.secrets(), cells.collect()))
}

/// The largest number that every secret may keep.
fn quota(rows: &[u64], most_rows: u64) -> u64 {
    let mut rows: Vec<u64> = rows.iter().copied().filter(|&rows| rows > 0).collect();
    rows.sort_unstable();
    let mut left = most_rows;
    for (at, &here) in rows.iter().enumerate() {
        let share = left / (rows.len() - at) as u64;
        if here > share {
            return share;
        }
        left -= here;
    }
    most_rows
}

/// An attacker that learned from thinned rows, and will do so again when learned anew.
pub struct Thinned {
    scorer: Arc<dyn Scorer>,
    most_rows: u64,
}

impl Thinned {
    /// An attacker that learned from `thinned(fit, most_rows)`.
    pub fn new(scorer: Arc<dyn Scorer>, most_rows: u64) -> Self {
        Thinned { scorer, most_rows }
    }
}

impl Scorer for Thinned {
    fn name(&self) -> &str {
        self.scorer.name()
    }

    fn memorizes(&self) -> bool {
        self.scorer.memorizes()
    }

    fn freedom(&self) -> f64 {
        self.scorer.freedom()
    }

    fn parameters(&self) -> Parameters {
        self.scorer.parameters()
    }

    fn origin(&self) -> Origin {
        self.scorer.origin()
    }

    fn description(&self) -> String {
        self.scorer.description()
    }

    fn kinds(&self) -> Vec<Kind> {
        self.scorer.kinds()
    }

    fn index(&self) -> Option<&'static str> {
        self.scorer.index()
    }

    fn is_portable(&self) -> bool {
        self.scorer.is_portable()
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        self.scorer.score(observations, ids, scores);
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        let scorer = self
            .scorer
            .refit(observations, &thinned(fit, self.most_rows))?;
        Ok(Arc::new(Thinned::new(scorer, self.most_rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_keeps_its_share_spread_over_its_observations() {
        let cells = (0..3u32).flat_map(|secret| {
            let observations = [10u32, 100, 1000][secret as usize];
            (0..observations).map(move |symbol| Cell {
                secret,
                symbol,
                count: 1,
            })
        });
        let counts = Counts::new(3, cells.collect());
        let thin = thinned(&counts, 110);
        assert_eq!(thin.rows(), &[10, 50, 50]);
        let last: Vec<u32> = thin
            .cells()
            .iter()
            .filter(|cell| cell.secret == 2)
            .map(|cell| cell.symbol)
            .collect();
        assert!(last.windows(2).all(|pair| pair[1] - pair[0] == 20));
        assert_eq!(*thinned(&counts, 2000), counts);
    }

    #[test]
    fn counts_of_billions_are_thinned_in_proportion() {
        let cell = |symbol, count| Cell {
            secret: 0,
            symbol,
            count,
        };
        let counts = Counts::new(1, vec![cell(0, 3_000_000_000), cell(1, 1_000_000_000)]);
        let thin = thinned(&counts, 100);
        assert_eq!(thin.cells(), &[cell(0, 75), cell(1, 25)]);
    }
}
