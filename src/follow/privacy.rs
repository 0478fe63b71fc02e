//! Bets against (ε, δ)-differential privacy on the rows of several pairs of secrets at once.
//!
//! At the end of every epoch rules are chosen on the past: pairs of secrets of which no two share a secret, each
//! with the tails that it guesses. So every row of the next epoch is one of at most one pair, and the outcomes of
//! all pairs, each of the n-th row of either secret, are independent given the past. One capital bets on all of
//! them, and no correction for the number of pairs is needed.
//!
//! Given the outcomes that are complete, rows that wait for one of the other secret say nothing about those to
//! come, and they are dropped when an epoch ends. So the capital is a supermartingale along the outcomes
//! ([`leakgauge_stats::sequential`]), whatever was chosen on the past.

use std::collections::VecDeque;

use leakgauge_stats::sequential::{GuessOutcomes, ln_capital};
use leakgauge_stats::tails::Tails;

use super::sequential::Side;

/// A pair of secrets and the rows that are taken for the one or the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GuessRule {
    pub a: u32,
    pub b: u32,
    pub tails: Tails,
}

/// What a rule says of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    Right,
    Wrong,
    None,
}

/// A rule with the guesses that wait for a row of the other secret.
#[derive(Debug, Clone)]
struct Bet {
    rule: GuessRule,
    waiting: VecDeque<Guess>,
    ahead: Side,
}

/// Bets on the guesses of rules that change from epoch to epoch.
#[derive(Debug, Clone, Default)]
pub(super) struct PrivacyTest {
    segments: Vec<GuessOutcomes>,
    bets: Vec<Bet>,
}

impl PrivacyTest {
    /// From the next row on these rules judge, no two of which share a secret. Rows that wait are dropped.
    pub fn change_rules(&mut self, rules: &[GuessRule]) {
        self.segments.push(GuessOutcomes::default());
        self.bets = rules
            .iter()
            .map(|&rule| Bet {
                rule,
                waiting: VecDeque::new(),
                ahead: Side::A,
            })
            .collect();
    }

    /// Judges the next row of a secret by the rule that is about it; `difference` is its score_a − score_b of a
    /// pair.
    pub fn judge(&mut self, secret: u32, difference: impl Fn(u32, u32) -> f64) {
        let mut bets = self.bets.iter_mut();
        let is_of = |bet: &&mut Bet| bet.rule.a == secret || bet.rule.b == secret;
        let Some(bet) = bets.find(is_of) else {
            return;
        };
        let GuessRule { a, b, tails } = bet.rule;
        let side = if secret == a { Side::A } else { Side::B };
        let score = difference(a, b);
        let says = if score >= tails.above {
            Some(Side::A)
        } else if score <= tails.below {
            Some(Side::B)
        } else {
            None
        };
        let guess = match says {
            None => Guess::None,
            Some(said) if said == side => Guess::Right,
            Some(_) => Guess::Wrong,
        };
        if bet.waiting.is_empty() || bet.ahead == side {
            bet.ahead = side;
            bet.waiting.push_back(guess);
            return;
        }
        let other = bet.waiting.pop_front().expect("not empty");
        let count = |what: Guess| usize::from(other == what) + usize::from(guess == what);
        let outcomes = self.segments.last_mut().expect("rules were fixed");
        outcomes.add(count(Guess::Right), count(Guess::Wrong));
    }

    /// The outcomes of each epoch.
    pub fn segments(&self) -> &[GuessOutcomes] {
        &self.segments
    }

    /// The p-value of (ε, δ) at this row.
    pub fn p_value(&self, epsilon: f64, delta: f64) -> f64 {
        (-ln_capital(&self.segments, epsilon, delta)).exp().min(1.0)
    }

    /// The pairs that are judged now, the likeliest to refute first.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.bets.iter().map(|bet| [bet.rule.a, bet.rule.b])
    }

    /// Rows that count.
    pub fn rows(&self) -> u64 {
        2 * self.segments.iter().map(total).sum::<u64>()
    }

    /// The logarithm of how many guesses were right for one that was wrong, from the epoch on that half of the
    /// outcomes came before; `None` if none was wrong or right.
    pub fn point(&self) -> Option<f64> {
        let all = self.rows() / 2;
        let (mut seen, mut right, mut wrong) = (0, 0, 0);
        for outcomes in self.segments.iter().rev() {
            seen += total(outcomes);
            for (r, row) in outcomes.counts.iter().enumerate() {
                for (w, &count) in row.iter().enumerate() {
                    right += r as u64 * count;
                    wrong += w as u64 * count;
                }
            }
            if 2 * seen >= all {
                break;
            }
        }
        (right > 0 && wrong > 0).then(|| (right as f64 / wrong as f64).ln())
    }
}

/// Pairs of rows.
fn total(outcomes: &GuessOutcomes) -> u64 {
    outcomes.counts.iter().flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(a: u32, b: u32) -> GuessRule {
        let tails = Tails {
            above: 1.0,
            below: -1.0,
            share: 0.5,
            rate: 0.9,
        };
        GuessRule { a, b, tails }
    }

    #[test]
    fn rows_meet_within_their_pair_and_others_do_not_count() {
        let mut test = PrivacyTest::default();
        test.change_rules(&[rule(0, 3), rule(1, 2)]);
        for (secret, score) in [
            (0, 2.0),  // right
            (1, 0.0),  // no guess
            (0, -2.0), // wrong
            (3, 2.0),  // wrong: with the first of 0
            (2, -1.0), // right: with that of 1
            (4, 9.0),  // in no pair
            (3, -2.0), // right: with the second of 0
        ] {
            test.judge(secret, |_, _| score);
        }
        let counts = test.segments[0].counts;
        assert_eq!((counts[1][1], counts[1][0]), (2, 1));
        assert_eq!(test.pairs().collect::<Vec<_>>(), [[0, 3], [1, 2]]);
        assert_eq!(test.rows(), 6);
        assert!((test.point().unwrap() - 1.5f64.ln()).abs() < 1e-15);
        test.judge(0, |_, _| 2.0);
        test.change_rules(&[rule(0, 3)]);
        test.judge(3, |_, _| -2.0);
        assert_eq!(
            test.segments[1],
            GuessOutcomes::default(),
            "what waited is gone"
        );
    }
}
