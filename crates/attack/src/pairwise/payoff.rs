//! What an attacker wins who acts on an attack's scores: the guess with the best expected gain at a prior.

use leakgauge_base::parallel;

use super::judge::blocks;
use super::posterior::expected_of;
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::information::Gains;

/// Weights of the scores beside ln prior; 0 is the best blind guess.
const WEIGHTS: [f64; 7] = [1.0, 0.5, 2.0, 0.25, 4.0, 0.1, 0.0];
/// The largest number of scores that exist at once, unless one observation has more.
const MAX_SCORES: usize = 1 << 22;

/// A gain for every guess under every secret.
#[derive(Debug, Clone, Copy)]
pub struct GainMatrix<'a> {
    /// Row-major: one row per guess, one entry per secret.
    pub values: &'a [f64],
    /// The number of secrets.
    pub secrets: usize,
}

impl GainMatrix<'_> {
    fn of(&self, guess: usize) -> &[f64] {
        &self.values[guess * self.secrets..(guess + 1) * self.secrets]
    }

    fn mean(&self, guess: usize, weights: &[f64]) -> f64 {
        let gains = self.of(guess).iter().zip(weights);
        gains.map(|(gain, weight)| gain * weight).sum()
    }

    /// The guess that gains most where secrets have these weights, the first of equals, and what it gains.
    pub fn best(&self, weights: &[f64]) -> (usize, f64) {
        let guesses = (0..self.values.len() / self.secrets).map(|g| (g, self.mean(g, weights)));
        let best = guesses.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.expect("a matrix has a guess")
    }

    /// The smallest and the largest gain under a secret.
    pub fn range(&self, secret: usize) -> (f64, f64) {
        let column = self.values.iter().skip(secret).step_by(self.secrets);
        column.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), &gain| (least.min(gain), most.max(gain)),
        )
    }
}

/// The guess argmax_w Σ_s π_s e^(weight·score_s) g(w, s), its weight chosen on rows that judge nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct PayoffRule {
    prior: Vec<f64>,
    weight: f64,
    /// The mean and the standard deviation of the gains to expect, for each secret.
    expected: Vec<(f64, f64)>,
}

impl PayoffRule {
    /// The rule that gains most on these rows.
    ///
    /// # Conditions
    /// `scores` are those of the observations of `tune`.
    pub fn choose(
        scores: &ScoreTable,
        tune: &Counts,
        prior: &[f64],
        gains: GainMatrix<'_>,
    ) -> PayoffRule {
        let found = parallel::map(WEIGHTS.len(), |at| {
            let weight = WEIGHTS[at];
            let values = gains_of(scores, tune, (prior, weight), gains);
            let expected: Vec<(f64, f64)> = values
                .iter()
                .enumerate()
                .map(|(secret, values)| {
                    let (least, most) = gains.range(secret);
                    expected_of(values, (0.5 * (least + most), 0.5 * (most - least)))
                })
                .collect();
            let mean = prior
                .iter()
                .zip(&expected)
                .map(|(p, (center, _))| p * center);
            let mean: f64 = mean.sum();
            let rule = PayoffRule {
                prior: prior.to_vec(),
                weight,
                expected,
            };
            (mean, rule)
        });
        let best = found
            .into_iter()
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, rule)| rule).expect("weights are listed")
    }

    /// What it gains on rows that nothing was learned or chosen on: one entry for each secret of positive prior.
    pub fn gains(
        &self,
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &Counts,
        gains: GainMatrix<'_>,
    ) -> Vec<Gains> {
        let secrets = rows.secrets();
        let block = (MAX_SCORES / secrets.max(1)).max(1);
        let blocks = blocks(rows.cells(), block);
        let parts = parallel::map(blocks.len(), |at| {
            let part = Counts::new(secrets, blocks[at].to_vec());
            let scores = score_table(scorer, observations, part.symbols(), secrets);
            gains_of(&scores, &part, (&self.prior, self.weight), gains)
        });
        let mut values: Vec<Vec<(f64, u64)>> = vec![Vec::new(); secrets];
        for part in parts {
            let both = values.iter_mut().zip(part);
            both.for_each(|(all, more)| all.extend(more));
        }
        let secrets = values.into_iter().zip(&self.prior).zip(&self.expected);
        secrets
            .enumerate()
            .filter(|(_, ((_, prior), _))| **prior > 0.0)
            .map(|(secret, ((values, &weight), &(center, deviation)))| {
                let (least, most) = gains.range(secret);
                Gains {
                    weight,
                    values,
                    least,
                    most,
                    center,
                    deviation,
                }
            })
            .collect()
    }
}

/// For each secret, what the rule gains on its rows, and how many have each gain.
fn gains_of(
    scores: &ScoreTable,
    rows: &Counts,
    (prior, weight): (&[f64], f64),
    gains: GainMatrix<'_>,
) -> Vec<Vec<(f64, u64)>> {
    let mut found = vec![Vec::new(); rows.secrets()];
    let mut at = 0;
    for cells in rows.by_symbol() {
        let Some(first) = cells.first() else { continue };
        // Both are in ascending order; the table may have more.
        while scores.observations()[at] != first.symbol {
            at += 1;
        }
        let of = scores.row(at);
        let allowed = of.iter().zip(prior).filter(|(_, p)| **p > 0.0);
        let most = allowed
            .map(|(score, _)| *score)
            .fold(f64::NEG_INFINITY, f64::max);
        let weights = of.iter().zip(prior).map(|(score, p)| match *p > 0.0 {
            true => p * (weight * (score - most)).exp(),
            false => 0.0,
        });
        let (guess, _) = gains.best(&weights.collect::<Vec<f64>>());
        let of_guess = gains.of(guess);
        for cell in cells {
            let secret = cell.secret as usize;
            if prior[secret] > 0.0 {
                found[secret].push((of_guess[secret], cell.count));
            }
        }
    }
    found
}

/// The expected gain of the best guess at every observation at a prior, by the empirical frequencies; `None` if a secret of
/// positive prior has no rows.
///
/// # Formula
/// Σ_o max_w Σ_s π_s p̂_s(o) g(w, s): on these rows no rule gains more.
pub fn plug_in_gain(counts: &Counts, prior: &[f64], gains: GainMatrix<'_>) -> Option<f64> {
    let rows = counts.rows();
    if prior
        .iter()
        .zip(rows)
        .any(|(p, rows)| *p > 0.0 && *rows == 0)
    {
        return None;
    }
    let mut joint = vec![0.0; counts.secrets()];
    let of = counts.by_symbol().map(|cells| {
        joint.fill(0.0);
        for cell in cells {
            let secret = cell.secret as usize;
            joint[secret] = prior[secret] * (cell.count as f64 / rows[secret].max(1) as f64);
        }
        gains.best(&joint).1
    });
    Some(of.sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;
    use leakgauge_stats::information::mean_gain;

    /// Three secrets in a row, two observations; a guess one off gains a half.
    #[test]
    fn the_rule_and_the_plug_in_gain_are_those_by_hand() {
        let table = [[8u64, 2], [5, 5], [1, 9]];
        let cells = table.iter().enumerate().flat_map(|(secret, row)| {
            row.iter().enumerate().map(move |(symbol, &count)| Cell {
                secret: secret as u32,
                symbol: symbol as u32,
                count,
            })
        });
        let counts = Counts::new(3, cells.collect());
        let values = [1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0];
        let gains = GainMatrix {
            values: &values,
            secrets: 3,
        };
        let prior = [1.0 / 3.0; 3];
        // First observation .8 .5 .1: guesses gain 1.05, .95, .35; second .2 .5 .9: .45, 1.05, 1.15.
        let found = plug_in_gain(&counts, &prior, gains).expect("rows");
        assert!((found - (1.05 + 1.15) / 3.0).abs() < 1e-12, "{found}");
        let scores = ScoreTable::new(
            vec![0, 1],
            3,
            [[0.8f64, 0.5, 0.1], [0.2, 0.5, 0.9]]
                .concat()
                .into_iter()
                .map(f64::ln)
                .collect(),
        );
        let rule = PayoffRule::choose(&scores, &counts, &prior, gains);
        let of = gains_of(&scores, &counts, (&prior, rule.weight), gains);
        let of: Vec<Gains> = of
            .into_iter()
            .map(|values| Gains {
                weight: 1.0 / 3.0,
                values,
                least: 0.0,
                most: 1.0,
                center: 0.5,
                deviation: 0.5,
            })
            .collect();
        let mean = mean_gain(&of).expect("rows");
        assert!((mean - (1.05 + 1.15) / 3.0).abs() < 1e-12, "{mean}");
        assert_eq!(gains.best(&[1.0, 1.0, 1.0]), (1, 2.0));
        assert_eq!(gains.range(1), (0.5, 1.0));
    }
}
