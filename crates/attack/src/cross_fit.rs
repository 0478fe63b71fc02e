//! Scores of past rows by attacks that did not learn from them: what rules for rows to come are chosen by.

use crate::pairwise::{by_score, rows_by_secret};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};

/// The scores of past rows by attacks that did not learn from them.
pub struct PairScores {
    parts: Vec<Part>,
    secrets: usize,
}

/// A part of the past.
struct Part {
    scores: ScoreTable,
    /// For each secret, its lines of the scores with their rows.
    by_secret: Vec<Vec<(usize, u64)>>,
}

impl PairScores {
    /// The scores of each fold by the attack learned from the others.
    ///
    /// # Panics
    /// If there is only one fold.
    pub fn cross_fitted(table: &Observations, folds: &[Counts], scorer: &dyn Scorer) -> PairScores {
        let secrets = folds.first().map_or(0, Counts::secrets);
        let mut parts = Vec::with_capacity(folds.len());
        for (at, fold) in folds.iter().enumerate() {
            let others = folds.iter().enumerate().filter(|other| other.0 != at);
            let fit = others
                .map(|other| other.1.clone())
                .reduce(|sum, next| sum.plus(&next))
                .expect("more than one fold");
            // A part that teaches nothing, for want of rows of some secret, has no say in the choice.
            let Ok(scorer) = scorer.refit(table, &fit) else {
                continue;
            };
            let scores = score_table(&*scorer, table, fold.symbols(), secrets);
            parts.push(Part {
                scores,
                by_secret: rows_by_secret(fold),
            });
        }
        PairScores { parts, secrets }
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.secrets
    }

    /// The past rows of a pair by score_a − score_b, the largest first: each distinct score with the rows of a and of
    /// b that have it.
    pub fn steps(&self, a: u32, b: u32) -> Vec<(f64, u64, u64)> {
        let mut steps = Vec::new();
        for Part { scores, by_secret } in &self.parts {
            let difference = |line: usize| {
                let scores = scores.row(line);
                scores[a as usize] - scores[b as usize]
            };
            let of = |secret: u32| by_secret[secret as usize].iter();
            steps.extend(of(a).map(|&(line, rows)| (difference(line), rows, 0)));
            steps.extend(of(b).map(|&(line, rows)| (difference(line), 0, rows)));
        }
        by_score(steps)
    }
}
