//! Limits of ε to which nearly all rows testify: guess where it pays, else abstain.
//!
//! Blocks, shuffled rows and coins are those of [`all_rows`](crate::all_rows). The rule of a block now has
//! three answers: a, b, or none. Let A and B be the sets of observations where it says a and b.
//!
//! # Why one binomial law suffices
//!
//! Under ε-differential privacy P_a(A) ≤ e^ε P_b(A), so that, given all before and that the coin's row
//! falls into A, the secret is a with probability P_a(A)/(P_a(A) + P_b(A)) ≤ ρ = e^ε/(1 + e^ε); the same
//! for b in B. So every guess is right with conditional probability at most ρ, whether it is for a or for
//! b, and the number of right ones among the first T guesses, T *fixed beforehand*, is stochastically at
//! most Bin(T, ρ). Guesses that are short of T at the end count as wrong, and so does
//! a toss whose secret has no row left. ε's two inequalities are thus
//! tested by one count, with all rows where the likelihood ratio is extreme; limits of two error rates
//! need α/2 each and see one side.
//!
//! With δ > 0: every pair of laws that is (ε, δ)-close both ways is a post-processing of the mechanism that reveals the
//! secret with probability δ and else answers by randomized response at ε (Kairouz, Oh, Viswanath 2015, Theorem 3.1 and
//! Murtagh and Vadhan 2018). Whether a row reveals is independent of the past; a guess on a row that does not is right
//! with probability at most ρ. Of m rows tossed, m fixed beforehand, at most d reveal, d the upper limit of Bin(m, δ)
//! at level α/50, but for a probability of α/50. Then T − d guesses or more are on rows that do not reveal. Each is
//! wrong with probability at least 1 − ρ given all before and that it is made, so by induction the wrong ones among the
//! first T − d of them are stochastically at least Bin(T − d, 1 − ρ). The claim is refuted at level α if P(Bin(T − d, 1
//! − ρ) ≤ wrong) < 49α/50. Nothing is asked of how guesses and revelations depend on each other.
//!
//! T may depend on the rows before the first judged block, so [`wanted`] reads the share of guesses there.
//!
//! Where one rule, fixed beforehand, judges all rows, T need not be promised: given *which* tossed rows reveal and
//! which it guesses on, the guesses on the others are independent and each is wrong with probability at least 1 − ρ. So
//! all this holds whatever T came out as ([`Guesses::of_one_rule`]). A toss whose secret has no row left adds to the
//! wrong ones, which can only make p larger. With rules that change *and* a T that is not promised it would not hold:
//! stopping when ahead would pay. Nor need the rule be fixed beforehand if it follows from observations alone, see
//! [`secret_blind`](crate::secret_blind).
//!
//! # Limits at several δ
//!
//! If T was promised, what refutes a claim at its δ is "at most so many wrong ones". The largest of these numbers is
//! that of one δ, so that all limits hold together and share nothing.
//!
//! If T came out, which δ has the largest number depends on T. That T − d wrong ones or fewer are as improbable as the
//! formula says is true for every T, at every δ. That more than d rows reveal is not: given T, it may be likely. So
//! each of K positive δ gets α/(50K) for its d ([`Guesses::for_deltas`]). All d are right but for α/50, and then the
//! argument above holds given T. Without δ > 0 nothing reveals.
//!
//! # References
//! Kairouz, Oh and Viswanath 2015, doi:10.1109/TIT.2017.2685505; Murtagh and Vadhan 2018,
//! doi:10.4086/toc.2018.v014a008; Steinke, Nasr and Jagielski 2023, doi:10.48550/arXiv.2305.08846, whose
//! bound for one run this is, for the rows of one log.

use crate::bisection::bisect;
use rand::{Rng, RngExt};

use crate::all_rows::heads;
use crate::binomial_tail::at_most;
use crate::hypergeometric;
use crate::level;

/// Standard deviations by which fewer guesses are promised than are expected.
const SPARE: f64 = 2.0;
/// What of the level is for more revelations than are reckoned with.
const FOR_REVELATIONS: f64 = 0.02;
/// A smaller δ counts as this one: 1 − δ would have lost its digits.
const LEAST_DELTA: f64 = 1e-10;
/// The largest ε that is looked for: beyond, e^ε has no meaning for any number of rows.
const MOST: f64 = 60.0;

/// How a rule's guesses did on all rows of one secret in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Side {
    /// Rows.
    pub rows: u64,
    /// Rows where it guessed this secret.
    pub right: u64,
    /// Rows where it guessed the other.
    pub wrong: u64,
}

/// The first guesses, as many as were promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guesses {
    wanted: u64,
    counted: u64,
    right: u64,
    tossed: u64,
    /// Whether their number was settled before any was seen.
    is_promised: bool,
    /// Positive δ whose limits hold together.
    deltas: u64,
}

/// The number of guesses to promise when a share of the rows is guessed and so many will be tossed.
///
/// # Formula
/// ⌊φm − 2√(φ(1 − φ)m)⌋, at least 1 if m > 0.
///
/// # Conditions
/// The share was read on rows before the first judged block.
pub fn wanted(share: f64, tosses: u64) -> u64 {
    let m = tosses as f64;
    let promised = share * m - SPARE * (share * (1.0 - share) * m).sqrt();
    (promised.max(1.0) as u64).min(tosses)
}

impl Guesses {
    /// Guesses of one rule on the rows of one or more blocks: all of them count.
    ///
    /// # Conditions
    /// The rule and `trials`, for each block, were settled before any of these rows was seen; `rng` is
    /// independent of the log.
    pub fn of_one_rule(blocks: &[([Side; 2], u64)], rng: &mut impl Rng) -> Self {
        let mut guesses = Guesses::new(blocks.iter().map(|block| block.1).sum());
        for ([a, b], trials) in blocks {
            guesses.add(a, b, *trials, rng);
        }
        guesses.wanted = guesses.counted;
        guesses.is_promised = false;
        guesses
    }

    /// All guesses of a rule on so many tossed rows, counted.
    ///
    /// # Conditions
    /// As [`Guesses::of_one_rule`]; or the rule follows from what was observed in these rows, and not from their
    /// secrets ([`secret_blind`](crate::secret_blind)).
    pub(crate) fn counted(right: u64, wrong: u64, tossed: u64) -> Self {
        Guesses {
            wanted: right + wrong,
            counted: right + wrong,
            right,
            tossed,
            is_promised: false,
            deltas: 1,
        }
    }

    /// The same guesses for limits at so many positive δ that hold together. See [Limits at several
    /// δ](self#limits-at-several-δ).
    ///
    /// # Conditions
    /// The number was settled before these rows were seen.
    #[must_use]
    pub fn for_deltas(self, deltas: u64) -> Self {
        Guesses {
            deltas: deltas.max(1),
            ..self
        }
    }

    /// A test of so many guesses.
    pub fn new(wanted: u64) -> Self {
        Guesses {
            wanted,
            counted: 0,
            right: 0,
            tossed: 0,
            is_promised: true,
            deltas: 1,
        }
    }

    /// Tosses for the rows of a block and counts the guesses on them, up to the number promised.
    ///
    /// # Conditions
    /// `rng` is independent of the log; `trials` was settled before the first judged block.
    ///
    /// # Panics
    /// If a side has more guesses than rows.
    pub fn add(&mut self, a: &Side, b: &Side, trials: u64, rng: &mut impl Rng) {
        assert!(
            a.right + a.wrong <= a.rows && b.right + b.wrong <= b.rows,
            "guesses without rows"
        );
        let of_a = heads(trials, rng);
        let called = [of_a, trials - of_a];
        self.tossed += trials;
        if called[0] > a.rows || called[1] > b.rows {
            return self.add_one_by_one([*a, *b], called, rng);
        }
        let (mut right, mut wrong) = (0, 0);
        for (side, called) in [a, b].into_iter().zip(called) {
            let good = hypergeometric::sample(side.rows, side.right, called, rng);
            right += good;
            wrong += hypergeometric::sample(side.rows - side.right, side.wrong, called - good, rng);
        }
        // Rows of a block come in random order, so its first guesses are any of them.
        let counted = (right + wrong).min(self.wanted - self.counted);
        self.right += hypergeometric::sample(right + wrong, right, counted, rng);
        self.counted += counted;
    }

    /// The same where a secret is called more often than it has rows. Once its rows are gone, a row that
    /// is seen is surely of the other secret, which whoever guesses that one would profit from; so a call
    /// without a row is a wrong guess, in its place among the others.
    fn add_one_by_one(&mut self, sides: [Side; 2], called: [u64; 2], rng: &mut impl Rng) {
        let (mut left, mut calls) = (sides, called);
        while calls[0] + calls[1] > 0 && self.counted < self.wanted {
            let at = usize::from(rng.random_range(0..calls[0] + calls[1]) >= calls[0]);
            calls[at] -= 1;
            let side = &mut left[at];
            if side.rows == 0 {
                self.counted += 1;
                continue;
            }
            let place = rng.random_range(0..side.rows);
            side.rows -= 1;
            if place < side.right {
                side.right -= 1;
                self.right += 1;
                self.counted += 1;
            } else if place < side.right + side.wrong {
                side.wrong -= 1;
                self.counted += 1;
            }
        }
    }

    /// The share of rows that the next rule should guess, so that the promise is kept in the trials that are
    /// left; `learned` rows are what its share is estimated from. For choosing only.
    ///
    /// # Formula
    /// s + 2√(s(1 − s)(1/left + 1/learned)), s the share still wanted.
    pub fn share_needed(&self, left: u64, learned: u64) -> f64 {
        let share = ((self.wanted - self.counted) as f64 / left.max(1) as f64).min(1.0);
        let doubt = 1.0 / left.max(1) as f64 + 1.0 / learned.max(1) as f64;
        (share + SPARE * (share * (1.0 - share) * doubt).sqrt()).min(1.0)
    }

    /// Right guesses, and all that were promised.
    pub fn counts(&self) -> (u64, u64) {
        (self.right, self.wanted)
    }

    /// The ε that the guesses show, no limit: the log-odds of being right, revelations at rate δ put aside, at
    /// least 0. `None` where it is infinite or nothing was promised.
    pub fn epsilon(&self, delta: f64) -> Option<f64> {
        let revealed = delta * self.tossed as f64;
        let right = (self.right as f64 - revealed).max(0.0);
        let wrong = (self.wanted - self.right) as f64;
        let epsilon = (right / wrong).ln().max(0.0);
        (self.wanted > 0 && epsilon.is_finite()).then_some(epsilon)
    }

    /// The p-value of (ε, δ)-differential privacy of the pairs judged.
    ///
    /// # Formula
    /// At δ = 0, P(Bin(T, e^ε/(1+e^ε)) ≥ right); else the smallest level at which it is [refuted](Self::refutes).
    ///
    /// # Conditions
    /// See the [module](self).
    pub fn p_value(&self, epsilon: f64, delta: f64) -> f64 {
        self.p_value_up_to(epsilon, delta, 1.0)
    }

    /// The p-value, or `most` if it is not smaller.
    pub(crate) fn p_value_up_to(&self, epsilon: f64, delta: f64, most: f64) -> f64 {
        if delta <= 0.0 {
            return most.min(self.lucky(epsilon, 0));
        }
        if most <= level::SMALLEST {
            return most;
        }
        let refuted = |alpha: f64| self.refutes(epsilon, delta, alpha);
        level::smallest_up_to(most, refuted).map_or(most, |p| most.min(p))
    }

    /// Whether (ε, δ)-differential privacy is refuted at level `alpha`.
    ///
    /// # Formula
    /// P(Bin(T − d, 1/(1+e^ε)) ≤ wrong) < 49α/50, d the least number with P(Bin(m, δ) > d) ≤ α/50, or α/(50K) if T was
    /// not promised and limits at K positive δ hold together; at δ = 0, d = 0 and α in full.
    ///
    /// # Conditions
    /// See the [module](self).
    pub fn refutes(&self, epsilon: f64, delta: f64, alpha: f64) -> bool {
        let (revealed, alpha) = self.revealed(delta, alpha);
        self.lucky(epsilon, revealed) < alpha
    }

    /// Rows that reveal, at most, and what that leaves of the level.
    fn revealed(&self, delta: f64, alpha: f64) -> (u64, f64) {
        if delta <= 0.0 {
            return (0, alpha);
        }
        let (part, delta) = (alpha * FOR_REVELATIONS, delta.max(LEAST_DELTA));
        let sharing = if self.is_promised { 1 } else { self.deltas };
        let of_this = part / sharing as f64;
        let m = self.tossed;
        // P(Bin(m, δ) > d), which is the tail that is computed precisely.
        let exceeds = |d: u64| at_most(m - d - 1, m, 1.0 - delta) > of_this;
        let (mut low, mut high) = (0, m);
        while low < high {
            let middle = low + (high - low) / 2;
            if exceeds(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low, alpha - part)
    }

    /// The probability of as few wrong guesses, or fewer, where so many rows reveal.
    fn lucky(&self, epsilon: f64, revealed: u64) -> f64 {
        let guesses = self.wanted.saturating_sub(revealed);
        let wrong = self.wanted - self.right;
        if wrong >= guesses {
            return 1.0;
        }
        at_most(wrong, guesses, 1.0 / (1.0 + epsilon.exp()))
    }

    /// The lower limit of ε at level 1 − `alpha`, for a given δ; 0 if none is shown.
    ///
    /// # Formula
    /// The largest ε that is [refuted](Self::refutes), from below, by bisection. At δ = 0 it is the log-odds of the
    /// Clopper–Pearson lower limit of right in T.
    ///
    /// # Conditions
    /// See the [module](self).
    pub fn epsilon_at_least(&self, delta: f64, alpha: f64) -> f64 {
        let (revealed, alpha) = self.revealed(delta, alpha);
        let refuted = |epsilon: f64| self.lucky(epsilon, revealed) < alpha;
        if !refuted(0.0) {
            return 0.0;
        }
        bisect((0.0, MOST), 60, refuted).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_rows::tosses;
    use crate::binomial::clopper_pearson_lower;
    use leakgauge_testing::{at_most as most_events, rng};

    fn test(right: u64, wanted: u64, tossed: u64) -> Guesses {
        Guesses {
            wanted,
            counted: wanted,
            right,
            tossed,
            is_promised: true,
            deltas: 1,
        }
    }

    #[test]
    fn without_delta_it_is_the_log_odds_of_clopper_and_pearson() {
        for (right, all) in [(731u64, 1000u64), (60, 80), (100, 100)] {
            let p = clopper_pearson_lower(right, all, 0.05);
            let found = test(right, all, all).epsilon_at_least(0.0, 0.05);
            assert!((found - (p / (1.0 - p)).ln()).abs() < 1e-8, "{found}");
        }
        assert_eq!(test(50, 100, 100).epsilon_at_least(0.0, 0.05), 0.0);
    }

    /// m = 2, δ = 0.1: both rows reveal with probability 0.01, one or both with 0.19.
    #[test]
    fn guesses_on_rows_that_reveal_prove_nothing() {
        // At level 0.4 the probability that is left out is 0.008, less than that of two.
        assert!(!test(2, 2, 2).refutes(0.0, 0.1, 0.4));
        // P(Bin(100, 0.1) > 20) = 0.0008; P(Bin(80, ½) ≤ 29) = 0.0093, P(Bin(79, ½) ≤ 29) = 0.0122.
        let found = test(71, 100, 100);
        let (revealed, left) = found.revealed(0.1, 0.05);
        assert_eq!(revealed, 20);
        assert!((left - 0.049).abs() < 1e-12);
        assert!(found.refutes(0.0, 0.1, 0.05));
        let limits: Vec<f64> = [0.0, 1e-6, 1e-3, 1e-2]
            .iter()
            .map(|&delta| test(900, 1000, 1500).epsilon_at_least(delta, 0.05))
            .collect();
        assert!(limits.is_sorted_by(|x, y| x >= y), "{limits:?}");
        for epsilon in [0.5, 1.5] {
            let p = test(900, 1000, 1500).p_value(epsilon, 1e-2);
            assert!(test(900, 1000, 1500).refutes(epsilon, 1e-2, 1.001 * p));
            assert!(!test(900, 1000, 1500).refutes(epsilon, 1e-2, 0.999 * p));
        }
    }

    /// P(Bin(100, 0.1) > d): 0.00198 at 19, 0.000808 at 20, 0.000312 at 21 (scipy 1.17, `binom.sf`). At level 0.05 one
    /// δ has 0.001, each of two 0.0005.
    #[test]
    fn limits_at_several_deltas_share_what_is_for_revelations() {
        let promised = test(71, 100, 100);
        let counted = Guesses::counted(71, 29, 100);
        let most = |guesses: Guesses| guesses.revealed(0.1, 0.05).0;
        assert_eq!(most(promised.for_deltas(2)), 20);
        assert_eq!(most(counted), 20);
        assert_eq!(most(counted.for_deltas(2)), 21);
        assert_eq!(counted.for_deltas(2).revealed(0.0, 0.05), (0, 0.05));
        let limits = [1, 2, 10, 1000].map(|deltas| {
            let guesses = counted.for_deltas(deltas);
            guesses.epsilon_at_least(0.02, 0.05)
        });
        assert!(limits.is_sorted_by(|x, y| x >= y), "{limits:?}");
    }

    /// What no other row proves: half of the rows are guessed, never wrongly, and a third may reveal.
    #[test]
    fn a_large_delta_leaves_what_it_does_not_reach() {
        let found = test(50_000, 50_000, 100_000).epsilon_at_least(0.3, 0.05);
        // About 20,000 guesses are left, and none is wrong: ln(20,000/3).
        assert!((found - (20_000.0f64 / 3.0).ln()).abs() < 0.1, "{found}");
    }

    /// 4,000 logs of a mechanism whose guesses depend on what it reveals: the rule guesses where it reveals, and on a
    /// tenth of the other rows.
    #[test]
    fn guesses_that_prefer_rows_that_reveal_are_covered() {
        let (epsilon, delta, rows) = (1.0f64, 0.1, 150);
        let keep = epsilon.exp() / (1.0 + epsilon.exp());
        let mut rng = rng(8);
        let runs = 4000;
        let wrong = (0..runs)
            .filter(|_| {
                let mut side = || {
                    let mut side = Side {
                        rows,
                        ..Side::default()
                    };
                    for _ in 0..rows {
                        if rng.random_bool(delta) {
                            side.right += 1;
                        } else if rng.random_bool(0.1) {
                            match rng.random_bool(keep) {
                                true => side.right += 1,
                                false => side.wrong += 1,
                            }
                        }
                    }
                    side
                };
                let block = ([side(), side()], tosses(rows, rows));
                let guesses = Guesses::of_one_rule(&[block], &mut rng);
                guesses.epsilon_at_least(delta, 0.05) > epsilon
            })
            .count();
        assert!(wrong <= most_events(runs, 0.05), "{wrong}");
    }

    /// 2,000 logs: revealing with probability δ, else randomized response at ε: the extreme case, which
    /// must not be exceeded in more than 5 %.
    #[test]
    fn the_extreme_mechanism_is_covered() {
        let (epsilon, delta) = (1.0f64, 0.02);
        let keep = epsilon.exp() / (1.0 + epsilon.exp());
        let mut rng = rng(3);
        let runs = 2000;
        let wrong = (0..runs)
            .filter(|_| {
                let rows = 150;
                let mut side = || {
                    let right = (0..rows)
                        .filter(|_| rng.random_bool(delta) || rng.random_bool(keep))
                        .count() as u64;
                    Side {
                        rows,
                        right,
                        wrong: rows - right,
                    }
                };
                let (a, b) = (side(), side());
                let m = tosses(rows, rows);
                let mut guesses = Guesses::new(m);
                guesses.add(&a, &b, m, &mut rng);
                guesses.epsilon_at_least(delta, 0.05) > epsilon
            })
            .count();
        assert!(wrong <= most_events(runs, 0.05), "{wrong}");
    }

    #[test]
    fn guesses_beyond_those_promised_do_not_count_and_missing_ones_are_wrong() {
        let side = Side {
            rows: 100,
            right: 60,
            wrong: 20,
        };
        let mut some = Guesses::new(50);
        some.add(&side, &side, 100, &mut rng(1));
        assert_eq!(some.counts().1, 50);
        assert_eq!(some.counted, 50);
        let mut short = Guesses::new(500);
        short.add(&side, &side, 100, &mut rng(1));
        assert!(short.counts().0 < 100 && short.counts().1 == 500);
        assert_eq!(wanted(1.0, 100), 100);
        assert_eq!(wanted(0.5, 10_000), 4900);
    }
}
