//! At which guess a secret is found: guesses in the order of score + ln prior.

use leakgauge_base::parallel;

use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Cell, Counts, Observations};

use super::judge::blocks;

/// The largest number of scores that exist at once, unless one observation has more.
const MAX_SCORES: usize = 1 << 22;

/// For each secret, the rows that are found at the first guess, at the second, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    secrets: usize,
    /// Row-major: secret, then the number of wrong guesses before it.
    found: Vec<u64>,
}

impl Ranks {
    fn none(secrets: usize) -> Self {
        Ranks {
            secrets,
            found: vec![0; secrets * secrets],
        }
    }

    fn of(&self, secret: usize) -> &[u64] {
        &self.found[secret * self.secrets..(secret + 1) * self.secrets]
    }

    fn add(&mut self, cells: &[Cell], value: impl Fn(usize) -> f64) {
        let values: Vec<f64> = (0..self.secrets).map(value).collect();
        for cell in cells {
            let (secret, own) = (cell.secret as usize, values[cell.secret as usize]);
            let earlier = values[..secret].iter().filter(|other| **other >= own);
            let later = values[secret + 1..].iter().filter(|other| **other > own);
            let wrong = earlier.count() + later.count();
            self.found[secret * self.secrets + wrong] += cell.count;
        }
    }

    /// The rows of every secret.
    pub fn rows(&self) -> Vec<u64> {
        (0..self.secrets)
            .map(|secret| self.of(secret).iter().sum())
            .collect()
    }

    /// The rows of every secret that none of the first `tries` guesses finds.
    pub fn missed(&self, tries: u64) -> Vec<u64> {
        let tries = usize::try_from(tries).map_or(self.secrets, |tries| tries.min(self.secrets));
        (0..self.secrets)
            .map(|secret| self.of(secret)[tries..].iter().sum())
            .collect()
    }

    /// The sum of wrong guesses before the right one, over the rows of every secret.
    pub fn wrong_guesses(&self) -> Vec<u64> {
        let wrong = |secret: usize| {
            let found = self.of(secret).iter().zip(0u64..);
            found.map(|(rows, wrong)| rows * wrong).sum()
        };
        (0..self.secrets).map(wrong).collect()
    }

    /// Guesses in the order of π_s p̂_s(o) on the very rows that the frequencies come from: no order needs fewer
    /// guesses on them, and no set of k guesses at each observation finds more. A secret without rows is guessed last.
    pub fn plug_in(counts: &Counts, prior: &[f64]) -> Self {
        let mut ranks = Self::none(counts.secrets());
        let mut joint = vec![0.0; counts.secrets()];
        for cells in counts.by_symbol() {
            joint.fill(0.0);
            for cell in cells {
                let secret = cell.secret as usize;
                joint[secret] = prior[secret] * cell.count as f64 / counts.rows()[secret] as f64;
            }
            ranks.add(cells, |secret| joint[secret]);
        }
        ranks
    }
}

/// Guesses in the order of score + ln prior, the first of equals first, on rows that nothing was learned or chosen on.
pub fn judge_ranks(
    scorer: &dyn Scorer,
    observations: &Observations,
    rows: &Counts,
    prior: &[f64],
) -> Ranks {
    let secrets = rows.secrets();
    let ln_prior: Vec<f64> = prior.iter().map(|p| p.ln()).collect();
    let block = (MAX_SCORES / secrets.max(1)).max(1);
    let blocks = blocks(rows.cells(), block);
    let parts = parallel::map(blocks.len(), |at| {
        let part = Counts::new(secrets, blocks[at].to_vec());
        let scores: ScoreTable = score_table(scorer, observations, part.symbols(), secrets);
        let mut ranks = Ranks::none(secrets);
        for (row, cells) in part.by_symbol().enumerate() {
            let scores = scores.row(row);
            ranks.add(cells, |secret| scores[secret] + ln_prior[secret]);
        }
        ranks
    });
    let mut all = Ranks::none(secrets);
    for part in parts {
        let sums = all.found.iter_mut().zip(part.found);
        sums.for_each(|(sum, more)| *sum += more);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows (6, 3, 1), (2, 2, 6), (0, 5, 5) of ten.
    fn counts() -> Counts {
        let table = [[6u64, 3, 1], [2, 2, 6], [0, 5, 5]];
        let cells = table.iter().enumerate().flat_map(|(s, row)| {
            row.iter().enumerate().map(move |(o, &count)| Cell {
                secret: s as u32,
                symbol: o as u32,
                count,
            })
        });
        Counts::new(3, cells.filter(|cell| cell.count > 0).collect())
    }

    #[test]
    fn by_hand() {
        let ranks = Ranks::plug_in(&counts(), &[1.0 / 3.0; 3]);
        assert_eq!(ranks.rows(), [10, 10, 10]);
        // Observation 0: secrets 0, 1, 2; observation 1: 2, 0, 1; observation 2: 1, 2, 0.
        assert_eq!(ranks.missed(1), [4, 4, 5]);
        assert_eq!(ranks.missed(2), [1, 2, 0]);
        assert_eq!(ranks.missed(7), [0, 0, 0]);
        assert_eq!(ranks.wrong_guesses(), [5, 6, 5]);
    }

    #[test]
    fn a_prior_that_knows_the_secret_finds_it_first() {
        let ranks = Ranks::plug_in(&counts(), &[0.0, 1.0, 0.0]);
        assert_eq!(ranks.missed(1)[1], 0);
    }
}
