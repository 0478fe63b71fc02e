//! The user's own attack: its scores stand in the log.

use std::sync::Arc;

use crate::scorer::{Origin, Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};

/// Scores that were read, not computed. Nothing is learned from the fit rows.
///
/// # Conditions
/// Whatever computed the scores has not seen the rows that are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    reading: Reading,
}

/// What the score columns mean.
#[derive(Debug, Clone, PartialEq)]
enum Reading {
    /// For each secret, the numeric column of its scores.
    PerSecret(Vec<usize>),
    /// One column; the secret for which it is larger than for the other.
    One { first_is_larger: bool, zero: Zero },
}

/// Where on a single column neither secret is likelier.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Zero {
    /// At 0, as for log-likelihood ratios: scores are taken as they are, and a prior moves the cut by
    /// its logarithm.
    Origin,
    /// At another value, as for losses. Scores are then counted in floating-point numbers from there,
    /// so that values which are small beside it stay apart; a prior does not move the cut.
    At(f64),
}

impl Given {
    /// One score a secret: `columns` has the position of each secret's score among the numeric columns.
    pub fn per_secret(columns: Vec<usize>) -> Self {
        Given {
            reading: Reading::PerSecret(columns),
        }
    }

    /// One score for two secrets, the only column of the log. Which of them it is larger for, and where
    /// the best cut is, is found on the tune rows; 0 is taken unless another cut is better there by more
    /// than a standard error.
    pub fn single(observations: &Observations, tune: &Counts) -> Self {
        let rows = tune.rows();
        let share = |taken: [u64; 2]| {
            let [a, b] = [0, 1].map(|secret| taken[secret] as f64 / rows[secret].max(1) as f64);
            a - b
        };
        // Symbols are in the order of their values: one pass from the smallest.
        let (mut below, mut below_origin) = ([0; 2], [0; 2]);
        let mut best = (0.0, 0.0);
        let mut values = tune.by_symbol().peekable();
        while let Some(cells) = values.next() {
            let value = observations.numbers(cells[0].symbol)[0];
            for cell in cells {
                below[cell.secret as usize] += cell.count;
            }
            if value < 0.0 {
                below_origin = below;
            }
            if let Some(next) = values.peek() {
                let next = observations.numbers(next[0].symbol)[0];
                if f64::abs(share(below)) > f64::abs(best.0) {
                    best = (share(below), middle(value, next));
                }
            }
        }
        let (gap, at) = best;
        let at_origin = share(below_origin);
        let variance = |taken: u64, rows: u64| {
            let rate = (taken as f64 + 0.5) / (rows as f64 + 1.0);
            rate * (1.0 - rate) / (rows as f64).max(1.0)
        };
        let error = (0..2)
            .map(|s| variance(below_origin[s], rows[s]))
            .sum::<f64>()
            .sqrt();
        let origin_will_do = at_origin * gap >= 0.0 && at_origin.abs() + error >= gap.abs();
        Given {
            reading: Reading::One {
                first_is_larger: gap <= 0.0,
                zero: if origin_will_do {
                    Zero::Origin
                } else {
                    Zero::At(at)
                },
            },
        }
    }
}

/// Halfway between two values, below the larger even if they are neighboring floats.
fn middle(low: f64, high: f64) -> f64 {
    let middle = low + 0.5 * (high - low);
    if middle < high { middle } else { low }
}

/// The position of a number among all floating-point numbers, as
/// [`total_cmp`](f64::total_cmp) orders them.
fn position(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

impl Zero {
    /// How far a value is from here.
    fn to(self, value: f64) -> f64 {
        match self {
            Zero::Origin => value,
            Zero::At(zero) => (i128::from(position(value)) - i128::from(position(zero))) as f64,
        }
    }
}

impl Scorer for Given {
    fn name(&self) -> &str {
        "given"
    }

    fn memorizes(&self) -> bool {
        false
    }

    fn origin(&self) -> Origin {
        Origin::Given
    }

    fn parameters(&self) -> Parameters {
        let means = match &self.reading {
            Reading::PerSecret(_) => "one a secret",
            Reading::One {
                first_is_larger: true,
                ..
            } => "larger for the first secret",
            Reading::One {
                first_is_larger: false,
                ..
            } => "smaller for the first secret",
        };
        parameters([("scores", Parameter::Word(means.into()))])
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        match &self.reading {
            Reading::PerSecret(columns) => {
                for (&symbol, row) in ids.iter().zip(scores.chunks_mut(columns.len())) {
                    let numbers = observations.numbers(symbol);
                    for (score, &column) in row.iter_mut().zip(columns) {
                        *score = numbers[column];
                    }
                }
            }
            Reading::One {
                first_is_larger,
                zero,
            } => {
                for (&symbol, row) in ids.iter().zip(scores.chunks_mut(2)) {
                    let score = zero.to(observations.numbers(symbol)[0]);
                    row[0] = if *first_is_larger { score } else { -score };
                    row[1] = 0.0;
                }
            }
        }
    }

    fn refit(&self, _: &Observations, _: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::{ReadOptions, ScoreColumns, read_from};

    /// The scores of all distinct observations, in order.
    fn scores(csv: &str, columns: &[&str]) -> (Given, Vec<[f64; 2]>) {
        let options = ReadOptions {
            scores: Some(ScoreColumns::parse(columns).unwrap()),
            ..ReadOptions::default()
        };
        let log = read_from("log.csv", std::io::Cursor::new(csv.to_owned()), &options).unwrap();
        let given = match columns {
            [_] => Given::single(&log.observations, &log.counts),
            _ => Given::per_secret(vec![1, 0]),
        };
        let ids: Vec<u32> = (0..log.observations.len() as u32).collect();
        let mut scores = vec![0.0; 2 * ids.len()];
        given.score(&log.observations, &ids, &mut scores);
        (
            given,
            scores.chunks(2).map(|row| [row[0], row[1]]).collect(),
        )
    }

    #[test]
    fn losses_point_to_the_secret_that_has_the_small_ones() {
        let csv = "secret,loss\n".to_owned() + &"in,1e-30\nin,2e-30\nout,3.5\nout,4.5\n".repeat(20);
        let (given, scores) = scores(&csv, &["loss"]);
        assert_eq!(
            given.parameters()["scores"],
            Parameter::Word("smaller for the first secret".into())
        );
        let first: Vec<f64> = scores.iter().map(|row| row[0] - row[1]).collect();
        // The two smallest would be one number after a subtraction.
        assert!(first[0] > first[1] && first[1] > 0.0 && 0.0 > first[2] && first[2] > first[3]);
    }

    #[test]
    fn log_likelihood_ratios_are_taken_as_they_are() {
        let csv = "secret,ratio\n".to_owned() + &"in,2.5\nin,0.5\nout,-0.5\nout,-7\n".repeat(20);
        let (_, scores) = scores(&csv, &["ratio"]);
        assert_eq!(scores, [[-7.0, 0.0], [-0.5, 0.0], [0.5, 0.0], [2.5, 0.0]]);
    }

    #[test]
    fn each_secret_has_its_column() {
        let csv = "secret,x,y,z\na,1,9,2\nb,3,9,inf\n";
        let (_, scores) = scores(csv, &["b=x", "a=z"]);
        assert_eq!(scores, [[2.0, 1.0], [f64::MAX / 4.0, 3.0]]);
    }

    #[test]
    fn positions_are_in_the_order_of_numbers() {
        let numbers = [-1e300, -1.0, -1e-300, 0.0, 5e-324, 1e-300, 1.0, 1e300];
        assert!(
            numbers
                .windows(2)
                .all(|pair| position(pair[0]) < position(pair[1]))
        );
        assert_eq!(position(5e-324) - position(0.0), 1);
    }
}
