//! Past rows with scores that no attack gave to rows that it knows too well: what rules for rows to come are chosen by.

use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Cell, Counts, Observations};

/// An attack with fewer rows of a secret than this for each number that it learned knows them too well: separations of
/// the rows that a discriminant was learned from are too large by about the number of columns over the rows.
const ROWS_EACH: f64 = 50.0;
/// Rows for each distinct observation from which on they recur.
const RECURRING: u64 = 2;
/// Parts of the rows, each scored by an attack that learned from the others.
const FOLDS: u32 = 4;

/// Past rows and their scores.
#[derive(Debug, Clone)]
pub struct PastRows {
    /// The rows.
    pub rows: Counts,
    /// The scores of their observations.
    pub scores: ScoreTable,
}

/// Whether an attack learned so many numbers that it tells the rows that it learned from apart better than others.
///
/// Not where observations recur: an attack that has never met one of few knows less of it than any attack to come.
pub fn overfits(scorer: &dyn Scorer, learned: &Counts) -> bool {
    let rows = learned.rows().iter().copied().filter(|&rows| rows > 0);
    let recur = learned.total() >= RECURRING * learned.symbols().len() as u64;
    !recur && scorer.freedom() * ROWS_EACH > rows.min().unwrap_or(0) as f64
}

/// The scores of past rows, where the attack learned from `fit`: its own, or out of fold if it
/// [overfits]; `None` where it may know rows by heart.
pub fn past_scores(
    scorer: &dyn Scorer,
    observations: &Observations,
    fit: &Counts,
    past: &Counts,
) -> Option<ScoreTable> {
    if scorer.memorizes() {
        return None;
    }
    let scores = score_table(scorer, observations, past.symbols(), past.secrets());
    match overfits(scorer, fit) {
        true => out_of_fold(scorer, observations, fit, scores),
        false => Some(scores),
    }
}

/// Scores where those of observations that an attack learned from `fit` are by the same attack, learned from the rows
/// of other observations; `None` if it cannot be learned from a part of the rows.
pub(crate) fn out_of_fold(
    scorer: &dyn Scorer,
    observations: &Observations,
    fit: &Counts,
    mut scores: ScoreTable,
) -> Option<ScoreTable> {
    let secrets = fit.secrets();
    let learned = fit.symbols();
    for fold in 0..FOLDS {
        let others = fit.cells().iter().copied();
        let others: Vec<Cell> = others.filter(|cell| fold_of(cell.symbol) != fold).collect();
        let other = scorer
            .refit(observations, &Counts::new(secrets, others))
            .ok()?;
        let own = learned.iter().copied();
        let own: Vec<u32> = own.filter(|&symbol| fold_of(symbol) == fold).collect();
        scores.replace(&score_table(&*other, observations, own, secrets));
    }
    Some(scores)
}

/// Observations that are beside each other, in value or in time, come into different parts.
fn fold_of(symbol: u32) -> u32 {
    // Fibonacci hashing: the first bits of a product with 2³² over the golden ratio.
    (symbol.wrapping_mul(0x9e37_79b9) >> 16) % FOLDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::{Columns, Covariance, Gaussian};
    use leakgauge_testing::rng;
    use rand::RngExt;

    /// Rows of noise in so many columns, so many of each of two secrets.
    fn numbers(columns: usize, rows: usize) -> (Observations, Counts) {
        let mut rng = rng(11);
        let numbers = (0..2 * rows * columns).map(|_| rng.random::<f64>());
        let observations = Observations::of_numbers(columns, numbers.collect());
        let cells = (0..2 * rows as u32).map(|symbol| Cell {
            secret: symbol % 2,
            symbol,
            count: 1,
        });
        (observations, Counts::new(2, cells.collect()))
    }

    /// With 60 columns of noise and 100 rows a secret, a discriminant separates the rows that it learned from and no
    /// others.
    #[test]
    fn an_attack_does_not_score_rows_that_it_knows_too_well() {
        let (observations, fit) = numbers(60, 100);
        let scorer = Gaussian::fit(&observations, &fit, Covariance::Shared, Columns::Scaled)
            .expect("columns vary");
        let right = |scores: &ScoreTable| {
            let right = fit.cells().iter().filter(|cell| {
                let at = scores.observations().binary_search(&cell.symbol);
                let row = scores.row(at.expect("scored"));
                (row[1] > row[0]) == (cell.secret == 1)
            });
            right.count() as f64 / fit.cells().len() as f64
        };
        let own = score_table(&scorer, &observations, fit.symbols(), 2);
        let past = past_scores(&scorer, &observations, &fit, &fit).expect("it can be learned");
        assert!(overfits(&scorer, &fit));
        assert!(right(&own) > 0.7, "{}", right(&own));
        assert!((right(&past) - 0.5).abs() < 0.12, "{}", right(&past));
    }
}
