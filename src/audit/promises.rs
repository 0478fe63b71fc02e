//! What pairs promise before any row that judges is looked at.

use crate::audit::learn::earlier::Block;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::PairChoice;
use leakgauge_attack::tuning::Tuned;
use leakgauge_stats::joint;

/// What pairs promise, by rows before the first that judges.
pub(super) struct Promises<'a> {
    choices: &'a [PairChoice],
    /// Rows that will judge, by secret.
    rows: Vec<u64>,
    alpha: f64,
}

impl<'a> Promises<'a> {
    /// `first` is the attack that was learned before any row that judges.
    pub fn new(prepared: &Prepared, first: &'a Tuned, earlier: &[Block]) -> Self {
        let mut rows = prepared.split.certify.rows().to_vec();
        for block in earlier {
            for (sum, more) in rows.iter_mut().zip(block.rows.rows()) {
                *sum += more;
            }
        }
        Promises {
            choices: &first.choices,
            rows,
            alpha: prepared.alpha,
        }
    }

    /// Of every pair: the limit to expect, less what is allowed.
    pub fn all(&self, allowed: impl Fn(&PairChoice) -> f64) -> Vec<f64> {
        let promise = |choice: &PairChoice| {
            let (rule, tune) = (choice.rule, &choice.tune);
            let rows = [rule.a, rule.b].map(|secret| self.rows[secret as usize]);
            let errors = [tune.a_missed, tune.b_missed];
            joint::promise(errors, [tune.a_rows, tune.b_rows], rows, self.alpha) - allowed(choice)
        };
        self.choices.iter().map(promise).collect()
    }
}

/// The position of the largest value, the first of equals.
pub(super) fn largest(values: impl Iterator<Item = f64>) -> usize {
    let best = values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, next| {
            if next.1 > best.1 { next } else { best }
        });
    best.0
}
