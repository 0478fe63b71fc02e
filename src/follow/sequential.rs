//! The sequential test: rows of two secrets, judged once by rules that were fixed before, as bets.

use std::collections::VecDeque;

use leakgauge_stats::confidence_sequence::{Outcomes, ln_capital, mean_at_least};

/// Which secret of a rule's pair a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// The first secret.
    #[default]
    A,
    /// The second secret.
    B,
}

/// Evidence that some pair of secrets can be told apart, gathered row by row.
///
/// The n-th row of a and the n-th row of b since a rule was fixed make one outcome,
/// 1 − (a was missed) − (b was missed), whose mean is the advantage of the rule: at most the total
/// variation of its pair, at most the largest of all pairs.
///
/// # Conditions
/// Rows are independent given the secrets, whose order does not depend on earlier observations. Rules,
/// their pairs and the moments at which they change depend on earlier rows only.
#[derive(Debug, Clone, Default)]
pub struct SequentialTest {
    segments: Vec<Outcomes>,
    /// Whether each row was missed, of the secret that is ahead of the other.
    waiting: VecDeque<bool>,
    ahead: Side,
    largest: f64,
}

impl SequentialTest {
    /// From the next row on another rule judges. Rows that wait for one of the other secret never count.
    pub fn change_rule(&mut self) {
        self.waiting.clear();
        self.segments.push(Outcomes::default());
    }

    /// A row was judged by the rule fixed last.
    ///
    /// # Panics
    /// If no rule was fixed.
    pub fn judge(&mut self, side: Side, missed: bool) {
        if self.waiting.is_empty() || self.ahead == side {
            self.ahead = side;
            self.waiting.push_back(missed);
            return;
        }
        let other = self.waiting.pop_front().expect("not empty");
        let outcomes = self.segments.last_mut().expect("a rule was fixed");
        match u8::from(other) + u8::from(missed) {
            0 => outcomes.plus += 1,
            1 => outcomes.zero += 1,
            _ => outcomes.minus += 1,
        }
    }

    /// The lower limit of the largest total variation so far. It never falls, and with the same `alpha` each time
    /// holds at all times together with probability 1 − `alpha`.
    pub fn at_least(&mut self, alpha: f64) -> f64 {
        self.largest = self.largest.max(mean_at_least(&self.segments, alpha));
        self.largest
    }

    /// The p-value, at this row, of total variations of at most `bound` at all pairs. The least of all rows
    /// looked at is a p-value too.
    pub fn p_value(&self, bound: f64) -> f64 {
        (-ln_capital(&self.segments, bound)).exp().min(1.0)
    }

    /// The mean advantage of the last rules, from the one that half of the rows came before.
    pub fn point(&self) -> Option<f64> {
        let latest = self.segments.iter().rev();
        let mut seen = Outcomes::default();
        for outcomes in latest {
            seen = seen.plus(outcomes);
            if 2 * seen.total() >= self.rows() / 2 {
                break;
            }
        }
        seen.mean()
    }

    /// Rows that count.
    pub fn rows(&self) -> u64 {
        2 * self.segments.iter().map(Outcomes::total).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_row_of_one_secret_meets_the_nth_of_the_other() {
        let mut test = SequentialTest::default();
        test.change_rule();
        for (side, missed) in [
            (Side::A, false),
            (Side::A, true),
            (Side::B, false),
            (Side::B, true),
            (Side::B, true),
            (Side::B, false),
            (Side::A, false),
        ] {
            test.judge(side, missed);
        }
        let expected = Outcomes {
            minus: 1,
            zero: 1,
            plus: 1,
        };
        assert_eq!((test.segments[0], test.rows()), (expected, 6));
        test.change_rule();
        test.judge(Side::A, false);
        assert_eq!(test.rows(), 6, "the row that waited is gone");
    }

    #[test]
    fn the_limit_never_falls() {
        let mut test = SequentialTest::default();
        test.change_rule();
        for _ in 0..200 {
            test.judge(Side::A, false);
            test.judge(Side::B, false);
        }
        let before = test.at_least(0.05);
        assert!((test.p_value(before) - 0.05).abs() < 1e-9 && test.p_value(1.0) > 0.999);
        assert!(before > 0.9 && test.point() == Some(1.0));
        for _ in 0..2000 {
            test.judge(Side::A, true);
            test.judge(Side::B, true);
        }
        assert_eq!(test.at_least(0.05), before);
        assert!(test.point().unwrap() < 0.0);
    }
}
