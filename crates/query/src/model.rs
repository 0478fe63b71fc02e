//! The attacks of an audit of a log, learned now and then from all that was drawn, and scores of what comes.

use std::sync::Arc;

use hashbrown::HashMap;

use leakgauge_attack::cross_fit::PairScores;
use leakgauge_attack::scorer::{Scorer, score_table};
use leakgauge_attack::scores::ScoreTable;
use leakgauge_attack::split::{Split, folds};
use leakgauge_attack::tuning::{Attacks, Budget, Goals, tune};
use leakgauge_log::Log;
use leakgauge_log::observations::{Cell, Counts};
use leakgauge_stats::random::{Randomness, Stream};

use crate::samples::Samples;
use crate::shape::Shape;
use leakgauge_sequential::cells::Scored;

/// Outputs before attacks are learned for the first time.
const FIRST: usize = 128;
/// They are learned again once there are so many times as many.
const AGAIN: f64 = 2.0;
/// Outputs of all inputs that attacks learn from at most: the latest.
const MAX_LEARNED: usize = 20_000;
/// What one choice among attacks has of the budget: the last few of a long audit cost nearly all of it.
const CHOICE: f64 = 0.05;
/// Parts of the past, each scored by an attack that learned from the others.
const FOLDS: usize = 3;

/// Learned attacks.
pub(crate) struct Model {
    attacks: Attacks,
    budget: Budget,
    seed: u64,
    learn_at: usize,
    learned: Option<Learned>,
    /// The scores of the rows of this batch.
    scores: Option<(ScoreTable, HashMap<u32, usize>)>,
}

struct Learned {
    scorer: Arc<dyn Scorer>,
    /// The rows that it learned from.
    fit: Vec<(usize, u32)>,
    /// What their columns hold.
    shape: Shape,
    /// For each input, its number among the secrets of the log, if it is there.
    secrets: Vec<Option<u32>>,
    past: PairScores,
}

impl Model {
    pub fn new(attacks: Attacks, budget: Budget, seed: u64) -> Self {
        Model {
            attacks,
            budget,
            seed,
            learn_at: FIRST,
            learned: None,
            scores: None,
        }
    }

    /// The name of the attack that scores.
    pub fn name(&self) -> Option<String> {
        self.learned
            .as_ref()
            .map(|learned| learned.scorer.name().to_owned())
    }

    /// Another number each time that attacks were learned.
    pub fn version(&self) -> usize {
        self.learn_at
    }

    /// Learns from all rows, if there are enough more. What cannot be learned from has no scores.
    pub fn learn(&mut self, samples: &Samples) {
        if samples.len() < self.learn_at {
            return;
        }
        self.learn_at = (samples.len() as f64 * AGAIN) as usize;
        let inputs = samples.inputs();
        let each = (MAX_LEARNED / inputs).max(8);
        let latest = |input: usize| {
            let rows = samples.rows(input);
            &rows[rows.len().saturating_sub(each)..]
        };
        // Few rows of an input teach nothing.
        let taught = (0..inputs).filter(|&input| latest(input).len() >= 2 * FOLDS);
        let fit: Vec<(usize, u32)> = taught
            .flat_map(|input| latest(input).iter().map(move |&row| (input, row)))
            .collect();
        self.learned = samples
            .log(&fit)
            .ok()
            .and_then(|log| self.learn_from(&log, samples, fit));
    }

    fn learn_from(&self, log: &Log, samples: &Samples, fit: Vec<(usize, u32)>) -> Option<Learned> {
        let random = Randomness::new(self.seed, log.counts.digest());
        let mut rng = random.rng(Stream::Query(self.learn_at as u64));
        let secrets = log.secrets.len();
        let split = Split::across(&log.counts, Counts::new(secrets, Vec::new()), &mut rng);
        let goals = Goals::advantage(0.05);
        let tuned = tune(
            &log.observations,
            &split,
            &self.attacks,
            self.budget.part(CHOICE),
            goals,
        )
        .ok()?;
        let folds = folds(&log.counts, FOLDS, &mut rng);
        let past = PairScores::cross_fitted(&log.observations, &folds, &*tuned.scorer);
        let number = |input: usize| -> Option<u32> {
            let at = fit.iter().position(|row| row.0 == input)?;
            Some(log.sequence.as_ref()?[at].0)
        };
        Some(Learned {
            scorer: tuned.scorer,
            secrets: (0..samples.inputs()).map(number).collect(),
            shape: Shape::of(samples, fit.iter().map(|row| row.1)),
            past,
            fit,
        })
    }

    /// Scores the rows of a batch, of these inputs.
    pub fn score(&mut self, samples: &Samples, batch: &[(usize, u32)]) {
        self.scores = self
            .learned
            .as_ref()
            .and_then(|learned| learned.scores(samples, batch));
    }

    /// The past rows of a pair of inputs in ascending order of score.
    pub fn past(&self, a: usize, b: usize) -> Option<Vec<Scored>> {
        let learned = self.learned.as_ref()?;
        let (a, b) = (learned.secrets[a]?, learned.secrets[b]?);
        let steps = learned.past.steps(a, b).into_iter().rev();
        let scored = steps.map(|(score, first, second)| Scored {
            score,
            first: first as f64,
            second: second as f64,
        });
        Some(scored.collect())
    }

    /// The score of a row of this batch between two inputs; NaN if there is none.
    pub fn difference(&self, row: u32, a: usize, b: usize) -> f64 {
        let difference = || {
            let learned = self.learned.as_ref()?;
            let (table, lines) = self.scores.as_ref()?;
            let scores = table.row(*lines.get(&row)?);
            Some(scores[learned.secrets[a]? as usize] - scores[learned.secrets[b]? as usize])
        };
        difference().unwrap_or(f64::NAN)
    }
}

impl Learned {
    /// The scores of rows, by an attack that learned again from the same rows in a table that has the new ones too.
    /// Columns are read as the rows that it learned from say: a new row of another kind has no score, and does not
    /// change those of others.
    fn scores(
        &self,
        samples: &Samples,
        batch: &[(usize, u32)],
    ) -> Option<(ScoreTable, HashMap<u32, usize>)> {
        let is_known =
            |row: &&(usize, u32)| self.secrets[row.0].is_some() && self.shape.fits(samples, row.1);
        let known = batch.iter().filter(is_known);
        let rows: Vec<(usize, u32)> = self.fit.iter().chain(known).copied().collect();
        if rows.len() == self.fit.len() {
            return None;
        }
        let log = samples.log(&rows).ok()?;
        let sequence = log.sequence.as_ref()?;
        let (fit, new) = sequence.split_at(self.fit.len());
        let cells = fit.iter().map(|&(secret, symbol)| Cell {
            secret,
            symbol,
            count: 1,
        });
        let counts = Counts::new(log.secrets.len(), cells.collect());
        let scorer = self.scorer.refit(&log.observations, &counts).ok()?;
        let mut distinct: Vec<u32> = new.iter().map(|row| row.1).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let table = score_table(&*scorer, &log.observations, distinct, log.secrets.len());
        let lines = rows[self.fit.len()..]
            .iter()
            .zip(new)
            .map(|(&(_, row), &(_, symbol))| {
                let line = table.observations().binary_search(&symbol).expect("scored");
                (row, line)
            });
        let lines = lines.collect();
        Some((table, lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Cell, Column};
    use leakgauge_testing::rng;
    use rand::RngExt;

    /// Two columns of integers, larger for the second input; then one row of words among ten of integers.
    #[test]
    fn one_odd_output_changes_no_other_score() {
        let mut rng = rng(11);
        let mut integers = |input: i64, count: usize| -> Vec<Vec<Cell>> {
            let mut column = || {
                let all = (0..count).map(|_| Cell::Integer(rng.random_range(0..50) + 20 * input));
                all.collect::<Vec<_>>()
            };
            vec![column(), column()]
        };
        let cells = |columns: Vec<Vec<Cell>>| columns.into_iter().map(Column::Cells).collect();
        let mut samples = Samples::new(2);
        for input in [0, 1] {
            let columns = integers(input as i64, 100);
            samples.push(&[(input, 100)], cells(columns)).unwrap();
        }
        let mut model = Model::new(Attacks::default(), Budget::default(), 0);
        model.learn(&samples);
        samples.push(&[(1, 10)], cells(integers(1, 10))).unwrap();
        let batch: Vec<(usize, u32)> = (200..210).map(|row| (1, row)).collect();
        let differences = |model: &Model| -> Vec<f64> {
            (200..210).map(|row| model.difference(row, 0, 1)).collect()
        };
        model.score(&samples, &batch);
        let alone = differences(&model);
        assert!(alone.iter().all(|score| score.is_finite()), "{alone:?}");
        assert!(alone.iter().any(|score| *score != alone[0]));
        let odd = [
            Cell::Word("stop".to_owned()),
            Cell::Number(0.5),
            Cell::Missing,
        ];
        for (at, cell) in (210..).zip(odd) {
            let columns = vec![vec![cell], vec![Cell::Integer(3)]];
            samples.push(&[(0, 1)], cells(columns)).unwrap();
            model.score(&samples, &[&batch[..], &[(0, at)]].concat());
            assert_eq!(differences(&model), alone);
            assert!(model.difference(at, 0, 1).is_nan());
            model.score(&samples, &[(0, at)]);
            assert!(model.difference(at, 0, 1).is_nan());
        }
    }
}
