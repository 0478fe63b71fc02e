//! A posterior of the secret from an attack's scores, and what rows gain by it over the prior.

use leakgauge_base::parallel;

use super::judge::blocks;
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::information::Gains;

/// Weights of the scores beside ln prior: scores are log-likelihoods at best.
const WEIGHTS: [f64; 10] = [1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05, 1.5, 2.5, 5.0];
/// Shares of the prior in the posterior, which bound what a row can lose.
const CAUTIONS: [f64; 6] = [0.001, 0.01, 0.05, 0.2, 0.5, 0.9];
/// The largest number of scores that exist at once, unless one observation has more.
const MAX_SCORES: usize = 1 << 22;

/// q(s | o) = (1 − η)·π_s e^(w·score_s)/Σ_t π_t e^(w·score_t) + η·π_s, with w and η chosen on rows that judge nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    prior: Vec<f64>,
    weight: f64,
    caution: f64,
    /// The mean and the standard deviation of the gains to expect, for each secret.
    expected: Vec<(f64, f64)>,
}

impl Posterior {
    /// The posterior that promises most at level 1 − `alpha` on so many rows of every secret.
    ///
    /// # Conditions
    /// `scores` are those of the observations of `tune`. The secrets of positive prior have rows among those that judge.
    pub fn choose(
        scores: &ScoreTable,
        tune: &Counts,
        prior: &[f64],
        rows: &[u64],
        alpha: f64,
    ) -> Posterior {
        let found = parallel::map(WEIGHTS.len(), |at| {
            let weight = WEIGHTS[at];
            let ratios = ratios(scores, tune, prior, weight);
            let all = CAUTIONS.map(|caution| {
                let expected: Vec<(f64, f64)> =
                    ratios.iter().map(|of| expected(of, caution)).collect();
                let posterior = Posterior {
                    prior: prior.to_vec(),
                    weight,
                    caution,
                    expected,
                };
                let promise = posterior.promise(rows, alpha);
                (promise, posterior)
            });
            all.into_iter().reduce(better)
        });
        let best = found.into_iter().flatten().reduce(better);
        best.map(|(_, posterior)| posterior)
            .expect("weights and cautions are listed")
    }

    /// About the lower limit on so many rows: the expected gain less its deviation at this level.
    fn promise(&self, rows: &[u64], alpha: f64) -> f64 {
        let level = -alpha.ln();
        let (mut mean, mut variance, mut step) = (0.0, 0.0, 0.0f64);
        for ((&prior, &rows), (center, deviation)) in
            self.prior.iter().zip(rows).zip(&self.expected)
        {
            if prior > 0.0 {
                let scale = prior / rows.max(1) as f64;
                mean += prior * center;
                variance += prior * scale * deviation * deviation;
                step = step.max(scale * (center - self.caution.ln()));
            }
        }
        mean - (2.0 * level * variance).sqrt() - level * step
    }

    /// What rows that nothing was learned or chosen on gain by it: one entry for each secret of positive prior.
    pub fn gains(
        &self,
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &Counts,
    ) -> Vec<Gains> {
        let secrets = rows.secrets();
        let block = (MAX_SCORES / secrets.max(1)).max(1);
        let blocks = blocks(rows.cells(), block);
        let parts = parallel::map(blocks.len(), |at| {
            let part = Counts::new(secrets, blocks[at].to_vec());
            let scores = score_table(scorer, observations, part.symbols(), secrets);
            ratios(&scores, &part, &self.prior, self.weight)
        });
        let mut values: Vec<Vec<(f64, u64)>> = vec![Vec::new(); secrets];
        for part in parts {
            for (all, more) in values.iter_mut().zip(part) {
                all.extend(more.iter().map(|&(ratio, count)| (self.gain(ratio), count)));
            }
        }
        let secrets = values.into_iter().zip(&self.prior).zip(&self.expected);
        let positive = secrets.filter(|((_, prior), _)| **prior > 0.0);
        positive
            .map(|((values, &weight), &(center, deviation))| Gains {
                weight,
                values,
                least: self.caution.ln(),
                most: self.gain(1.0 / weight),
                center,
                deviation,
            })
            .collect()
    }

    /// ln q/π where the scores alone say that q/π is this ratio.
    fn gain(&self, ratio: f64) -> f64 {
        gain(ratio, self.caution)
    }
}

fn gain(ratio: f64, caution: f64) -> f64 {
    ((1.0 - caution) * ratio + caution).ln()
}

type Promised = (f64, Posterior);

/// The one that promises more, the first of equals.
fn better(one: Promised, other: Promised) -> Promised {
    if other.0 > one.0 { other } else { one }
}

/// For each secret, q/π by the scores alone of its rows, and how many have each.
fn ratios(scores: &ScoreTable, rows: &Counts, prior: &[f64], weight: f64) -> Vec<Vec<(f64, u64)>> {
    let mut ratios = vec![Vec::new(); rows.secrets()];
    let mut at = 0;
    for cells in rows.by_symbol() {
        let Some(first) = cells.first() else { continue };
        // Both are in ascending order; the table may have more.
        while scores.observations()[at] != first.symbol {
            at += 1;
        }
        let of = scores.row(at);
        let allowed = || of.iter().zip(prior).filter(|(_, p)| **p > 0.0);
        let most = allowed()
            .map(|(score, _)| *score)
            .fold(f64::NEG_INFINITY, f64::max);
        let power = |score: f64| (weight * (score - most)).exp();
        let all: f64 = allowed().map(|(score, p)| p * power(*score)).sum();
        for cell in cells {
            let secret = cell.secret as usize;
            if prior[secret] > 0.0 {
                ratios[secret].push((power(of[secret]) / all, cell.count));
            }
        }
    }
    ratios
}

/// The mean and the standard deviation of the gains of a secret's rows, drawn to those of blind guessing by one row.
fn expected(ratios: &[(f64, u64)], caution: f64) -> (f64, f64) {
    /// What one row more would add.
    const UNKNOWN: f64 = 0.3;
    let gains = ratios
        .iter()
        .map(|&(ratio, count)| (gain(ratio, caution), count));
    expected_of(&gains.collect::<Vec<_>>(), (0.0, UNKNOWN))
}

/// The mean and the standard deviation of values, drawn by one row to what is known without them.
pub(super) fn expected_of(values: &[(f64, u64)], (center, deviation): (f64, f64)) -> (f64, f64) {
    let (mut rows, mut sum) = (1.0, center);
    for &(value, count) in values {
        rows += count as f64;
        sum += count as f64 * value;
    }
    let mean = sum / rows;
    let squares: f64 = values
        .iter()
        .map(|&(value, count)| count as f64 * (value - mean).powi(2))
        .sum();
    (mean, ((squares + deviation * deviation) / rows).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::Frequentist;
    use leakgauge_log::observations::Cell;
    use leakgauge_stats::information::{information_at_least, mean_gain};

    fn counts(table: &[[u64; 2]]) -> Counts {
        let cells = table.iter().enumerate().flat_map(|(secret, row)| {
            row.iter().enumerate().map(move |(symbol, &count)| Cell {
                secret: secret as u32,
                symbol: symbol as u32,
                count,
            })
        });
        Counts::new(table.len(), cells.collect())
    }

    fn table(values: [[f64; 2]; 2]) -> ScoreTable {
        ScoreTable::new(vec![0, 1], 2, values.concat())
    }

    /// Two secrets told apart with 80 %: ln 2 − h(0.2) = 0.19274 nats by hand.
    #[test]
    fn scores_that_exaggerate_are_weighed_until_their_posterior_fits() {
        let prior = [0.5, 0.5];
        let rows = counts(&[[8000, 2000], [2000, 8000]]);
        let truth = 2f64.ln() + 0.8 * 0.8f64.ln() + 0.2 * 0.2f64.ln();
        for scale in [1.0, 2.0, 5.0] {
            let log = [[0.8f64, 0.2], [0.2, 0.8]].map(|row| row.map(|p| scale * p.ln()));
            let posterior = Posterior::choose(&table(log), &rows, &prior, &[10_000, 10_000], 0.05);
            let ratios = ratios(&table(log), &rows, &prior, posterior.weight);
            let gains: Vec<Gains> = ratios
                .into_iter()
                .zip(&posterior.expected)
                .map(|(ratios, &(center, deviation))| Gains {
                    weight: 0.5,
                    values: ratios
                        .into_iter()
                        .map(|(ratio, count)| (posterior.gain(ratio), count))
                        .collect(),
                    least: posterior.caution.ln(),
                    most: 2f64.ln(),
                    center,
                    deviation,
                })
                .collect();
            let mean = mean_gain(&gains).expect("rows");
            assert!(
                mean <= truth + 1e-12 && mean > 0.97 * truth,
                "{scale}: {mean} {truth}"
            );
            let lower = information_at_least(&gains, 0.05).expect("rows");
            assert!(
                lower < mean && lower > 0.9 * truth,
                "{scale}: {lower} {truth}"
            );
        }
    }

    #[test]
    fn a_prior_that_excludes_a_secret_leaves_its_rows_out() {
        let tune = counts(&[[80, 20], [20, 80], [50, 50]]);
        let scorer = Frequentist::fit(&tune);
        let scores = ScoreTable::new(vec![0, 1], 3, vec![-0.2, -1.6, -0.7, -1.6, -0.2, -0.7]);
        let prior = [0.5, 0.5, 0.0];
        let posterior = Posterior::choose(&scores, &tune, &prior, &[100; 3], 0.05);
        assert_eq!(posterior.expected.len(), 3);
        let _ = scorer;
        let ratios = ratios(&scores, &tune, &prior, 1.0);
        assert!(ratios[2].is_empty());
        // Σ_s π_s·(q/π) of an observation is 1.
        let sum = 0.5 * ratios[0][0].0 + 0.5 * ratios[1][0].0;
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
}
