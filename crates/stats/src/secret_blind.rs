//! Tests on many events that are chosen without looking at secrets, so that all rows judge.
//!
//! # Why all rows may judge
//!
//! Coins name the secret of each row, as in [`all_rows`](crate::all_rows): the rows that are taken are independent
//! pairs of a fair secret and what was observed. Under ε-differential privacy the secret of a row, given *what was
//! observed in all of them*, is either one with probability at most e^ε/(1 + e^ε), independently of the others. So
//! which events are tested, how many they are and which part of a level each one gets may follow from the observations
//! of these rows in any way, as long as secrets are not looked at. That level itself is settled beforehand. What a
//! column holds, numbers or labels, counts as settled, too: whoever decides that by reading rows must not look at their
//! secrets.
//!
//! With δ > 0 the same holds for rows that do not reveal their secret, given which ones do. All tests are of the same m
//! rows. If some test gets at most L of the level, more rows than its quantile of Bin(m, δ) at L/50 reveal with
//! probability L/50 at most, and every other quantile is larger: so that much is lost once, not for each test, and
//! 49/50 of what all tests have is left for the rest.
//!
//! # Why secrets may be looked at one after the other
//!
//! Given all that was observed, secrets are independent. So given the secrets of some rows, too, those of the others
//! still are either one with probability at most e^ε/(1 + e^ε), whichever rows these are, as long as each was chosen by
//! what was known before it. Which of the other rows are guessed, how, and how much each guess weighs, may follow from
//! all that was observed and from the secrets that were revealed.
//!
//! If a secret is called more often than it has rows, which has a probability of 0.3 % at most, nothing is tested.
//!
//! # References
//! As [`guesses`](crate::guesses), whose tests these are.

use std::collections::BTreeMap;

use rand::Rng;

use crate::all_rows::{heads, tosses_with};
use crate::guesses::Guesses;
use crate::hypergeometric;

/// Standard deviations of a fair coin's count that each secret has rows for.
const SPARE: f64 = 3.0;

/// Rows of two secrets that coins have taken, by what was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenRows {
    /// The kind of observation of each row: those of the first secret before those of the second.
    observed: Vec<u32>,
    of_first: usize,
}

/// A set of rows among [`TakenRows`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowSet {
    words: Vec<u64>,
}

impl TakenRows {
    /// Tosses and takes. `counts` has, for each kind of observation, the rows of both secrets. `None` if one is called
    /// more often than it has rows.
    ///
    /// # Formula
    /// The number of tosses is the largest m with m/2 + 3√m/2 ≤ min(n_a, n_b).
    ///
    /// # Conditions
    /// `rng` is independent of the log.
    pub fn take(counts: &[(u32, [u64; 2])], rng: &mut impl Rng) -> Option<Self> {
        let rows = [0, 1].map(|side| counts.iter().map(|kind| kind.1[side]).sum::<u64>());
        let tosses = tosses_with(SPARE, rows[0].min(rows[1]));
        let of_first = heads(tosses, rng);
        let called = [of_first, tosses - of_first];
        if called[0] > rows[0] || called[1] > rows[1] {
            return None;
        }
        let mut observed = Vec::with_capacity(tosses as usize);
        for side in 0..2 {
            let (mut left, mut wanted) = (rows[side], called[side]);
            for &(kind, of) in counts {
                let taken = hypergeometric::sample(left, of[side], wanted, rng);
                observed.extend(std::iter::repeat_n(kind, taken as usize));
                (left, wanted) = (left - of[side], wanted - taken);
            }
        }
        Some(TakenRows {
            observed,
            of_first: of_first as usize,
        })
    }

    /// What was observed in each row.
    pub fn observed(&self) -> &[u32] {
        &self.observed
    }

    /// How many rows of either secret have each kind of observation, by kind.
    pub fn kinds(&self) -> BTreeMap<u32, [u64; 2]> {
        let mut kinds: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (row, &kind) in self.observed.iter().enumerate() {
            kinds.entry(kind).or_default()[usize::from(row >= self.of_first)] += 1;
        }
        kinds
    }

    /// Rows of both secrets.
    pub fn rows(&self) -> [u64; 2] {
        [self.of_first, self.observed.len() - self.of_first].map(|rows| rows as u64)
    }

    /// How many rows of either secret a set has.
    pub fn inside(&self, set: &RowSet) -> [u64; 2] {
        let (whole, rest) = (self.of_first / 64, self.of_first % 64);
        let of = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum();
        let (before, behind): (u64, u64) = (of(&set.words[..whole]), of(&set.words[whole..]));
        let split = set.words.get(whole).copied().unwrap_or(0) & ((1u64 << rest) - 1);
        let split = u64::from(split.count_ones());
        [before + split, behind - split]
    }

    /// Whether a row is of the second secret. Whoever asks has looked at this row's secret.
    pub fn is_second(&self, row: usize) -> bool {
        row >= self.of_first
    }

    /// The test that guesses the first secret, or the second, in all rows of a set.
    ///
    /// # Conditions
    /// The set follows from what was observed in the taken rows, and not from their secrets.
    pub fn guesses(&self, set: &RowSet, second: bool) -> Guesses {
        let inside = self.inside(set);
        let (right, wrong) = if second {
            (inside[1], inside[0])
        } else {
            (inside[0], inside[1])
        };
        Guesses::counted(right, wrong, self.observed.len() as u64)
    }
}

impl RowSet {
    /// The rows of so many that a rule names.
    pub fn new(rows: usize, mut contains: impl FnMut(usize) -> bool) -> Self {
        let mut words = vec![0u64; rows.div_ceil(64)];
        for row in (0..rows).filter(|&row| contains(row)) {
            words[row / 64] |= 1 << (row % 64);
        }
        RowSet { words }
    }

    /// Whether a row is in the set.
    pub fn contains(&self, row: usize) -> bool {
        let word = self.words.get(row / 64);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The number of rows.
    pub fn len(&self) -> u64 {
        let ones = self.words.iter().map(|word| u64::from(word.count_ones()));
        ones.sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of both sets, which are of the same taken rows.
    #[must_use]
    pub fn and(&self, other: &RowSet) -> RowSet {
        let words = self.words.iter().zip(&other.words);
        RowSet {
            words: words.map(|(x, y)| x & y).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most as most_events, rng};
    use rand::RngExt;

    #[test]
    fn rows_are_counted_on_both_sides() {
        let counts = [(0u32, [300u64, 100]), (1, [100, 300])];
        let mut rng = rng(1);
        let rows = TakenRows::take(&counts, &mut rng).expect("enough rows");
        let [a, b] = rows.rows();
        assert_eq!(a + b, 719); // 719/2 + 1.5√719 = 399.7, and 720 needs 400.2.
        let kinds = rows.kinds();
        assert_eq!(kinds[&0][0] + kinds[&1][0], a);
        assert_eq!(kinds[&0][1] + kinds[&1][1], b);
        let of_0 = rows.observed().iter().filter(|&&kind| kind == 0).count();
        assert_eq!(kinds[&0].iter().sum::<u64>(), of_0 as u64);
    }

    /// All rows of a secret in one set, none of the other.
    #[test]
    fn a_set_is_told_from_its_complement() {
        let mut rng = rng(2);
        let counts = [(7u32, [90u64, 0]), (9, [0, 90])];
        let rows = TakenRows::take(&counts, &mut rng).expect("enough rows");
        let first = RowSet::new(rows.observed().len(), |row| rows.observed()[row] == 7);
        let [a, b] = rows.rows();
        assert_eq!(rows.inside(&first), [a, 0]);
        assert_eq!(rows.guesses(&first, false).counts(), (a, a));
        assert_eq!(rows.guesses(&first, true).counts(), (0, a));
        let all = RowSet::new(rows.observed().len(), |_| true);
        assert_eq!(rows.inside(&all), [a, b]);
        assert_eq!(all.and(&first), first);
        assert!(RowSet::new(5, |_| false).is_empty());
    }

    /// 2,000 logs of four outcomes with odds of exactly e^ε one way or the other. The event is the outcome with most
    /// rows whichever secret they have, and the level is α for both guesses on it together. Half of ε is refuted.
    #[test]
    fn events_chosen_by_observations_alone_are_covered() {
        let (epsilon, alpha, logs) = (1.0f64, 0.05, 2000);
        let mut rng = rng(3);
        let likely = epsilon.exp() / (1.0 + epsilon.exp());
        let (mut wrong, mut found) = (0, 0);
        for _ in 0..logs {
            let mut counts = [0u32, 1, 2, 3].map(|kind| (kind, [0u64; 2]));
            for secret in (0..2).flat_map(|secret| [secret; 200]) {
                let first_or_second_pair = usize::from(rng.random_bool(0.5));
                let of_its_own = rng.random_bool(likely);
                let kind = 2 * first_or_second_pair + usize::from(of_its_own == (secret == 0));
                counts[kind].1[secret] += 1;
            }
            let Some(rows) = TakenRows::take(&counts, &mut rng) else {
                continue;
            };
            let observed = rows.observed();
            let of = |kind: u32| RowSet::new(observed.len(), |row| observed[row] == kind);
            let largest = (0..4).map(of).max_by_key(RowSet::len).expect("four");
            let refutes = |epsilon: f64| {
                let guesses = [false, true].map(|second| rows.guesses(&largest, second));
                guesses
                    .iter()
                    .any(|one| one.refutes(epsilon, 0.0, alpha / 2.0))
            };
            wrong += usize::from(refutes(epsilon));
            found += usize::from(refutes(0.5 * epsilon));
        }
        assert!(wrong <= most_events(logs, alpha), "{wrong}");
        // In about 100 rows of the outcome 73 % are of one secret, and 62 % are allowed.
        assert!(found * 3 > logs, "{found}");
    }
}
