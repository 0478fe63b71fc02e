//! Deciding between two secrets, for all pairs at once.

mod advantage;
pub mod average;
mod choose;
mod clustering;
pub mod column_events;
mod confusion;
mod cross_validation;
mod event;
mod guesses;
mod judge;
pub mod ladder;
pub mod masked;
mod payoff;
mod posterior;
mod privacy;
mod ranks;
mod reconstruction;
mod rows;
mod serial;
pub mod similar_rows;
mod trade_off;
pub mod units;

pub use advantage::{Advantage, AdvantageGuide, AdvantageMethod};
pub use choose::{PairChoice, choose_rules};
pub use clustering::clustering_order;
pub use confusion::{Confusion, LeakAtLeast, RateLimits};
pub use cross_validation::{Judging, promises};
pub use event::{Event, ScoreEvent};
pub use guesses::PairScores;
pub use judge::{GuessErrors, Judgement, judge, judge_and_keep, judge_groups, tally_guesses};
pub use payoff::{GainMatrix, PayoffRule, plug_in_gain};
pub use posterior::Posterior;
pub use privacy::Target;
pub use ranks::{Ranks, judge_ranks};
pub use reconstruction::{DirectedRule, choose_events};
pub(crate) use rows::by_score;
pub use rows::rows_by_secret;
pub use serial::{EffectiveRows, effective_rows};
pub use trade_off::{CurvePoint, Detection, ScoredRows, Thresholds, rows_for_detection};

pub use crate::pairs::{pair_count, pair_index, pairs};
use leakgauge_stats::binomial;
pub use leakgauge_stats::error_rates::ErrorRates;
use leakgauge_stats::wilson::Wilson;

/// A test of secret a against secret b: it says a where score_a − score_b exceeds the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The first secret.
    pub a: u32,
    /// The second secret.
    pub b: u32,
    /// Where to cut the difference of scores.
    pub threshold: f64,
}

/// How often a rule erred on rows that it never saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairErrors {
    /// Rows of secret a.
    pub a_rows: u64,
    /// Rows of a that the rule took for b (false negatives).
    pub a_missed: u64,
    /// Rows of secret b.
    pub b_rows: u64,
    /// Rows of b that the rule took for a (false positives).
    pub b_missed: u64,
}

impl PairErrors {
    /// Whether both secrets were tested at all.
    pub fn is_judged(&self) -> bool {
        self.a_rows > 0 && self.b_rows > 0
    }

    /// TPR − FPR, or `None` where a secret has no rows. Not clipped: an attack can do worse than
    /// guessing, and on a leak-free log half of all attacks do.
    pub fn advantage(&self) -> Option<f64> {
        self.is_judged().then(|| {
            1.0 - self.a_missed as f64 / self.a_rows as f64
                - self.b_missed as f64 / self.b_rows as f64
        })
    }

    /// Variance of the advantage: that of either error rate as [`binomial::variance`] has it, with as many
    /// rows as they are worth if that is given. Infinite where a secret has no rows.
    pub fn variance(&self, worth: Option<[u64; 2]>) -> f64 {
        let [a, b] = worth.unwrap_or([self.a_rows, self.b_rows]);
        binomial::variance(self.a_missed, self.a_rows, a)
            + binomial::variance(self.b_missed, self.b_rows, b)
    }

    /// The same rates on a multiple of the rows.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> PairErrors {
        let scale = |count: u64| (count as f64 * factor).round() as u64;
        PairErrors {
            a_rows: scale(self.a_rows),
            a_missed: scale(self.a_missed),
            b_rows: scale(self.b_rows),
            b_missed: scale(self.b_missed),
        }
    }

    /// Limits of both error rates that hold together with probability 1 − alpha.
    ///
    /// # Conditions
    /// The rule was fixed before the rows were seen; rows are independent.
    pub fn errors_at_most(&self, alpha: f64) -> ErrorRates {
        ErrorRates {
            missed: binomial::clopper_pearson_upper(self.a_missed, self.a_rows, alpha / 2.0),
            false_alarm: binomial::clopper_pearson_upper(self.b_missed, self.b_rows, alpha / 2.0),
        }
    }

    /// Lower limits of both error rates that hold together with probability 1 − alpha.
    pub fn errors_at_least(&self, alpha: f64) -> ErrorRates {
        ErrorRates {
            missed: binomial::clopper_pearson_lower(self.a_missed, self.a_rows, alpha / 2.0),
            false_alarm: binomial::clopper_pearson_lower(self.b_missed, self.b_rows, alpha / 2.0),
        }
    }

    /// [`errors_at_most`](Self::errors_at_most) as if only so many rows of a and of b had been seen.
    pub fn errors_at_most_of(&self, rows: [u64; 2], alpha: f64) -> ErrorRates {
        let limit = |missed: u64, all: u64, rows: u64| {
            let missed = (missed as f64 * rows as f64 / all.max(1) as f64).ceil() as u64;
            binomial::clopper_pearson_upper(missed.min(rows), rows, alpha / 2.0)
        };
        ErrorRates {
            missed: limit(self.a_missed, self.a_rows, rows[0]),
            false_alarm: limit(self.b_missed, self.b_rows, rows[1]),
        }
    }

    /// [`errors_at_least`](Self::errors_at_least) as if only so many rows of a and of b had been seen.
    pub fn errors_at_least_of(&self, rows: [u64; 2], alpha: f64) -> ErrorRates {
        let limit = |missed: u64, all: u64, rows: u64| {
            let missed = (missed as f64 * rows as f64 / all.max(1) as f64).floor() as u64;
            binomial::clopper_pearson_lower(missed.min(rows), rows, alpha / 2.0)
        };
        ErrorRates {
            missed: limit(self.a_missed, self.a_rows, rows[0]),
            false_alarm: limit(self.b_missed, self.b_rows, rows[1]),
        }
    }

    /// Approximate upper limits of both error rates, for choosing only.
    pub fn errors_about(&self, limit: &Wilson) -> ErrorRates {
        ErrorRates {
            missed: limit.upper(self.a_missed, self.a_rows),
            false_alarm: limit.upper(self.b_missed, self.b_rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_in_order() {
        for secrets in [2, 3, 7] {
            assert_eq!(pairs(secrets).count(), pair_count(secrets));
            for (index, (a, b)) in pairs(secrets).enumerate() {
                assert_eq!(pair_index(secrets, a, b), index);
            }
        }
    }
}
