//! Several tests by [`guesses`](crate::guesses) that share one level.
//!
//! One rule that changes from block to block has nearly all rows, but it is one rule: where the rows before it are too
//! few to choose by, it is the wrong one. So other rules, settled on rows that they do not judge, are tested beside it.
//! Each test has its share of α; with probability 1 − α all limits hold, hence the largest (weighted Bonferroni). The
//! shares may follow from what the rows before promise: a share that is wasted costs width only.
//!
//! # References
//! Genovese, Roeder and Wasserman 2006, doi:10.1093/biomet/93.3.509.

use crate::groups::GroupTest;
use crate::guesses::Guesses;
use crate::special::normal_cdf;

/// What one rule's test beside the main one gets of the level.
pub const RARE_SHARE: f64 = 0.1;
/// The part of the level of [`shares`] that goes to all events alike, whatever the past says of them.
const ALIKE: f64 = 0.3;
/// Standard errors of the rows to come that an event must stand out by: about the normal quantile of the share of α
/// that one of few events gets.
const STANDS_OUT: f64 = 2.5;

/// Tests of one pair of secrets, each with its share of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct GuessTests {
    tests: Vec<(f64, PairTest)>,
}

/// A test of one pair of secrets.
#[derive(Debug, Clone, PartialEq)]
pub enum PairTest {
    /// By guesses.
    Guesses(Guesses),
    /// By groups of rows, or by guesses that weigh differently, which say nothing of δ > 0.
    Groups(GroupTest),
}

impl From<Guesses> for PairTest {
    fn from(guesses: Guesses) -> Self {
        PairTest::Guesses(guesses)
    }
}

impl From<GroupTest> for PairTest {
    fn from(groups: GroupTest) -> Self {
        PairTest::Groups(groups)
    }
}

impl PairTest {
    /// As [`Guesses::for_deltas`].
    #[must_use]
    pub fn for_deltas(self, deltas: u64) -> Self {
        match self {
            PairTest::Guesses(guesses) => guesses.for_deltas(deltas).into(),
            PairTest::Groups(_) => self,
        }
    }

    fn epsilon(&self, delta: f64) -> Option<f64> {
        match self {
            PairTest::Guesses(guesses) => guesses.epsilon(delta),
            // Groups are kept for having many rows of a secret, so that their odds would say too much.
            PairTest::Groups(groups) => (delta <= 0.0).then(|| groups.epsilon_at_least(0.5)),
        }
    }

    fn epsilon_at_least(&self, delta: f64, alpha: f64) -> f64 {
        match self {
            PairTest::Guesses(guesses) => guesses.epsilon_at_least(delta, alpha),
            PairTest::Groups(groups) if delta <= 0.0 => groups.epsilon_at_least(alpha),
            PairTest::Groups(_) => 0.0,
        }
    }

    fn refutes(&self, epsilon: f64, delta: f64, alpha: f64) -> bool {
        match self {
            PairTest::Guesses(guesses) => guesses.refutes(epsilon, delta, alpha),
            PairTest::Groups(groups) => delta <= 0.0 && groups.refutes(epsilon, alpha),
        }
    }

    fn p_value_up_to(&self, epsilon: f64, delta: f64, most: f64) -> f64 {
        match self {
            PairTest::Guesses(guesses) => guesses.p_value_up_to(epsilon, delta, most),
            PairTest::Groups(groups) if delta <= 0.0 => most.min(groups.p_value(epsilon)),
            PairTest::Groups(_) => most,
        }
    }
}

impl GuessTests {
    /// # Conditions
    /// Tests and shares are settled before the rows of any are seen that are judged by it; or they follow from what was
    /// observed in these rows, and not from their secrets ([`secret_blind`](crate::secret_blind)).
    ///
    /// # Panics
    /// Without tests, or if shares are not positive or sum to more than 1.
    pub fn new(tests: Vec<(f64, PairTest)>) -> Self {
        let sum: f64 = tests.iter().map(|test| test.0).sum();
        let positive = tests.iter().all(|test| test.0 > 0.0);
        assert!(
            !tests.is_empty() && positive && sum <= 1.0 + 1e-9,
            "shares of the level sum to {sum}"
        );
        GuessTests { tests }
    }

    /// The ε that is shown, no limit, by the test with the largest limit at 95 %: of groups, what they would refute
    /// with probability ½.
    pub fn epsilon(&self, delta: f64) -> Option<f64> {
        self.tests[self.strongest(delta, 0.05).0].1.epsilon(delta)
    }

    /// The position of the test with the largest limit of ε at level 1 − `alpha`, the first of equals.
    pub fn largest(&self, delta: f64, alpha: f64) -> usize {
        self.strongest(delta, alpha).0
    }

    /// The lower limit of ε at level 1 − `alpha`: the largest one, each at its share of the level.
    pub fn epsilon_at_least(&self, delta: f64, alpha: f64) -> f64 {
        self.strongest(delta, alpha).1
    }

    fn strongest(&self, delta: f64, alpha: f64) -> (usize, f64) {
        let limit = |(share, test): &(f64, PairTest)| test.epsilon_at_least(delta, share * alpha);
        let first = (0, limit(&self.tests[0]));
        let others = self.tests.iter().enumerate().skip(1);
        others.fold(first, |best, (at, test)| {
            // One look tells whether a limit is larger, and finding it takes many.
            if !test.1.refutes(best.1, delta, test.0 * alpha) {
                return best;
            }
            let found = limit(test);
            if found > best.1 { (at, found) } else { best }
        })
    }

    /// The p-value of (ε, δ)-differential privacy: the smallest one, each divided by its share of the level.
    pub fn p_value(&self, epsilon: f64, delta: f64) -> f64 {
        self.p_value_up_to(epsilon, delta, 1.0)
    }

    /// The p-value, or `most` if it is not smaller, which one look tells: finding a p-value takes many.
    pub fn p_value_up_to(&self, epsilon: f64, delta: f64, most: f64) -> f64 {
        self.tests.iter().fold(most, |best, (share, test)| {
            best.min(test.p_value_up_to(epsilon, delta, best * share) / share)
        })
    }
}

/// An event that guesses one of two secrets, on past rows: how often it occurred with the secret that it guesses and
/// with the other, of how many rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastEvent {
    /// Rows of the secret that is guessed, and those of them in the event.
    pub right: [u64; 2],
    /// The same of the other secret.
    pub wrong: [u64; 2],
}

/// How a level is shared among events that are judged on so many times the rows of the past.
///
/// # Formula
/// 0.3 in equal parts. The rest by the probability that an event stands out at the largest ε that some event promises:
/// with y the past log-ratio of its rates, s its standard error and f = s/√`times`, the largest promise is
/// max(y − 2.5f − s, 0), and the probability Φ((y − 2.5f − promise)/√(s² + f²)).
///
/// # Conditions
/// None: whatever is returned sums to 1 and is positive. A bad choice costs width.
pub fn shares(past: &[PastEvent], times: f64) -> Vec<f64> {
    let shown: Vec<(f64, f64)> = past.iter().map(PastEvent::log_ratio).collect();
    let to_come = 1.0 / times.max(1e-9).sqrt();
    let needed = |error: f64| STANDS_OUT * error * to_come;
    let promises = shown
        .iter()
        .map(|&(ratio, error)| ratio - needed(error) - error);
    let promise = promises.fold(0.0, f64::max);
    let probability = |&(ratio, error): &(f64, f64)| {
        let doubt = error * (1.0 + to_come * to_come).sqrt();
        normal_cdf((ratio - needed(error) - promise) / doubt)
    };
    let of_events: Vec<f64> = shown.iter().map(probability).collect();
    let sum: f64 = of_events.iter().sum();
    let alike = 1.0 / past.len().max(1) as f64;
    let share = |probability: &f64| {
        let promised = if sum > 0.0 { probability / sum } else { alike };
        ALIKE * alike + (1.0 - ALIKE) * promised
    };
    of_events.iter().map(share).collect()
}

impl PastEvent {
    /// The logarithm of the ratio of both rates, and its standard error; half a row more in either event, so that both
    /// are finite.
    fn log_ratio(&self) -> (f64, f64) {
        let ([right, of_right], [wrong, of_wrong]) = (self.right, self.wrong);
        let rate = |inside: u64, rows: u64| (inside as f64 + 0.5) / (rows as f64 + 1.0);
        let ratio = (rate(right, of_right) / rate(wrong, of_wrong)).ln();
        let variance = 1.0 / (right as f64 + 0.5) + 1.0 / (wrong as f64 + 0.5);
        (ratio, variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_rows::tosses;
    use crate::guesses::Side;
    use leakgauge_testing::{at_most as most_events, rng};
    use rand::RngExt;

    /// 2,000 logs of randomized response at ε where an event of probability 0.02 has odds e^ε and is all that one
    /// rule guesses on, and both tests together: at most 5 % each.
    #[test]
    fn one_rule_and_two_tests_are_covered() {
        let (epsilon, rows) = (1.0f64, 1000);
        let keep = epsilon.exp() / (1.0 + epsilon.exp());
        let mut rng = rng(5);
        let runs = 2000;
        let (mut alone, mut both) = (0, 0);
        for _ in 0..runs {
            let mut side = |share: f64| {
                let mut side = Side {
                    rows,
                    ..Side::default()
                };
                for _ in 0..rows {
                    if rng.random_bool(share) {
                        let right = rng.random_bool(keep);
                        side.right += u64::from(right);
                        side.wrong += u64::from(!right);
                    }
                }
                side
            };
            let (all, rare) = ([side(1.0), side(1.0)], [side(0.02), side(0.02)]);
            let m = tosses(rows, rows);
            let mut main = Guesses::new(m);
            main.add(&all[0], &all[1], m, &mut rng);
            let rare = Guesses::of_one_rule(&[(rare, m)], &mut rng);
            alone += u64::from(rare.epsilon_at_least(0.0, 0.05) > epsilon);
            let tests = GuessTests::new(vec![(0.9, main.into()), (RARE_SHARE, rare.into())]);
            let limit = tests.epsilon_at_least(0.0, 0.05);
            both += u64::from(limit > epsilon);
            assert!(limit <= 1e-9 || (tests.p_value(limit, 0.0) - 0.05).abs() < 1e-6);
        }
        assert!(alone <= most_events(runs, 0.05) as u64, "{alone}");
        assert!(both <= most_events(runs, 0.05) as u64, "{both}");
    }

    /// 2,000 logs of five outcomes that all have odds e^ε, three of them for a and two for b: ten tests at shares by a
    /// tenth of the rows, which do not judge. The largest limit exceeds ε in at most 5 %, and the claim is refuted
    /// where it does.
    #[test]
    fn tests_of_single_outcomes_with_shares_by_the_past_are_covered() {
        let (epsilon, rows) = (0.5f64, 900u64);
        // 3x e^ε + 2y = 1 and 3x + 2y e^ε = 1.
        let odds = epsilon.exp();
        let low = [1.0 / (3.0 * (odds + 1.0)), 1.0 / (2.0 * (odds + 1.0))];
        let rates = |secret: usize| -> [f64; 5] {
            std::array::from_fn(|at| {
                let of_a = at < 3;
                low[usize::from(!of_a)] * if of_a == (secret == 0) { odds } else { 1.0 }
            })
        };
        assert!((rates(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut rng = rng(6);
        let runs = 2000;
        let mut wrong = 0;
        for _ in 0..runs {
            let mut draw = |secret: usize, rows: u64| {
                let mut counts = [0u64; 5];
                for _ in 0..rows {
                    let mut place: f64 = rng.random();
                    let at = rates(secret).iter().position(|rate| {
                        place -= rate;
                        place < 0.0
                    });
                    counts[at.unwrap_or(4)] += 1;
                }
                counts
            };
            let past = [draw(0, rows / 9), draw(1, rows / 9)];
            let counts = [draw(0, rows), draw(1, rows)];
            let events: Vec<(usize, usize)> = (0..10).map(|event| (event / 2, event % 2)).collect();
            let seen = |&(at, guessed): &(usize, usize)| PastEvent {
                right: [past[guessed][at], rows / 9],
                wrong: [past[1 - guessed][at], rows / 9],
            };
            let shares = shares(&events.iter().map(seen).collect::<Vec<_>>(), 9.0);
            let m = tosses(rows, rows);
            let guesses = |&(at, guessed): &(usize, usize)| {
                let side = |right: u64, wrong: u64| Side { rows, right, wrong };
                let sides = [
                    side(counts[guessed][at], 0),
                    side(0, counts[1 - guessed][at]),
                ];
                Guesses::of_one_rule(&[(sides, m)], &mut rng)
            };
            let tests = events.iter().map(guesses).map(PairTest::from);
            let tests = GuessTests::new(shares.into_iter().zip(tests).collect());
            let limit = tests.epsilon_at_least(0.0, 0.05);
            wrong += u64::from(limit > epsilon);
            assert_eq!(limit > epsilon, tests.p_value(epsilon, 0.0) < 0.05);
        }
        assert!(wrong <= most_events(runs, 0.05) as u64, "{wrong}");
    }

    /// The limit is the largest of all tests, each at its share, and the position is that test's.
    #[test]
    fn the_largest_limit_counts() {
        let side = |right: u64, wrong: u64| Side {
            rows: 1000,
            right,
            wrong,
        };
        let of = |right: u64| {
            let sides = [side(right, 0), side(0, 100)];
            Guesses::of_one_rule(&[(sides, tosses(1000, 1000))], &mut rng(1))
        };
        let all = [100, 300, 200].map(of);
        let tests = GuessTests::new(
            [0.5, 0.3, 0.2]
                .into_iter()
                .zip(all.map(PairTest::from))
                .collect(),
        );
        assert_eq!(tests.largest(0.0, 0.05), 1);
        let limit = all[1].epsilon_at_least(0.0, 0.3 * 0.05);
        assert!(limit > 0.5);
        assert_eq!(tests.epsilon_at_least(0.0, 0.05), limit);
        assert_eq!(tests.epsilon(0.0), all[1].epsilon(0.0));
    }

    /// The past speaks for one of four events: it gets most of the level, and none is left without any.
    #[test]
    fn shares_follow_the_past_and_leave_no_event_out() {
        let event = |right: u64, wrong: u64| PastEvent {
            right: [right, 5000],
            wrong: [wrong, 5000],
        };
        let clear = shares(
            &[
                event(1200, 1000),
                event(1000, 1200),
                event(1300, 1300),
                event(0, 0),
            ],
            9.0,
        );
        assert!((clear.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(clear[0] > 0.5, "{clear:?}");
        assert!(clear.iter().all(|&share| share >= 0.3 / 4.0), "{clear:?}");
        let even = shares(&[event(1000, 1000), event(1000, 1000)], 9.0);
        assert_eq!(even, [0.5, 0.5]);
    }

    /// Groups speak for δ = 0 alone, at their share of the level.
    #[test]
    fn groups_are_one_test_among_guesses() {
        let groups = GroupTest::new(&[[45, 5]; 20], 1.0);
        let tests = vec![
            (0.6, Guesses::counted(520, 480, 1000).into()),
            (0.4, groups.clone().into()),
        ];
        let tests = GuessTests::new(tests);
        assert_eq!(
            (tests.largest(0.0, 0.05), tests.largest(0.01, 0.05)),
            (1, 0)
        );
        let limit = tests.epsilon_at_least(0.0, 0.05);
        assert_eq!(limit, groups.epsilon_at_least(0.4 * 0.05));
        assert!(limit > 1.0 && tests.epsilon(0.0) > Some(limit));
        assert!((tests.p_value(limit, 0.0) / 0.05 - 1.0).abs() < 1e-3);
        assert!(tests.epsilon_at_least(0.01, 0.05) < 0.1);
        assert_eq!(tests.p_value(1.0, 0.01), 1.0);
    }
}
