//! Rows that were read before: what a row is follows from its bytes, so that a row that comes again need only be
//! counted.

use crate::numbering::{MAX_NUMBERS, UNKNOWN};

/// Rows after which it is clear whether they come again.
const TRIAL: u64 = 1 << 14;

/// What a row means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The number of its secret.
    pub secret: u32,
    /// The number of its observation.
    pub symbol: u32,
    /// What tells it apart where runs of rows are looked for.
    pub hash: u64,
}

/// The rows of one file, by the numbers that [`Records::ahead`](crate::records::Records::ahead) gives them.
#[derive(Default)]
pub struct Repeats {
    /// The rows that were read before, in that order: their numbers and what they mean.
    entries: Vec<(u32, Meaning)>,
    /// The entry of each number, in the order of numbers.
    entry_of: Vec<u32>,
    /// What each row that comes again needs, in the order of numbers.
    rows: Vec<Again>,
    looked_up: u64,
    found: u64,
    is_over: bool,
}

/// A row that may come again.
#[derive(Debug, Clone, Copy)]
struct Again {
    /// How often it did since this was last asked; [`UNREAD`] where it was not read.
    times: u64,
    /// What tells it apart.
    hash: u64,
}

/// How often a row came again that was not read before.
const UNREAD: u64 = u64::MAX;

impl Repeats {
    /// Whether it is worth asking.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Counts the first of these rows as long as they were read before, and adds what tells them apart; how many they
    /// are.
    pub fn again(&mut self, numbers: &[u32], hashes: &mut Vec<u64>) -> usize {
        let before = hashes.len();
        hashes.resize(before + numbers.len(), 0);
        let mut known = 0;
        for (hash, &number) in hashes[before..].iter_mut().zip(numbers) {
            match self.rows.get_mut(number as usize) {
                Some(row) if row.times != UNREAD => {
                    row.times += 1;
                    *hash = row.hash;
                }
                _ => break,
            }
            known += 1;
        }
        hashes.truncate(before + known);
        self.looked_up += known as u64 + u64::from(known < numbers.len());
        self.found += known as u64;
        known
    }

    /// What a row means that was read before.
    pub fn meaning(&self, number: u32) -> Meaning {
        self.entries[self.entry_of[number as usize] as usize].1
    }

    /// Remembers a row.
    pub fn remember(&mut self, number: u32, meaning: Meaning) {
        let is_full = number == UNKNOWN || self.entries.len() >= MAX_NUMBERS;
        let is_in_vain = self.looked_up >= TRIAL && 2 * self.found < self.looked_up;
        if is_full || is_in_vain {
            self.is_over = true;
            return;
        }
        let at = number as usize;
        if self.rows.len() <= at {
            let unread = Again {
                times: UNREAD,
                hash: 0,
            };
            self.entry_of.resize(at + 1, UNKNOWN);
            self.rows.resize(at + 1, unread);
        }
        self.entry_of[at] = self.entries.len() as u32;
        self.rows[at] = Again {
            times: 0,
            hash: meaning.hash,
        };
        self.entries.push((number, meaning));
    }

    /// How often rows came again since this was last asked, in the order in which they were first read.
    pub fn take(&mut self) -> Vec<(Meaning, u64)> {
        let rows = &mut self.rows;
        let taken = self.entries.iter().map(|&(number, meaning)| {
            let again = std::mem::take(&mut rows[number as usize].times);
            (meaning, again)
        });
        taken.filter(|&(_, again)| again > 0).collect()
    }

    /// Forgets all rows, whose numbers mean something else from now on.
    pub fn end(&mut self) {
        *self = Repeats {
            is_over: true,
            ..Repeats::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Meaning = Meaning {
        secret: 1,
        symbol: 2,
        hash: 3,
    };

    fn known(repeats: &mut Repeats, numbers: &[u32]) -> usize {
        let mut hashes = vec![9];
        let known = repeats.again(numbers, &mut hashes);
        assert!(hashes[0] == 9 && hashes[1..] == vec![A.hash; known]);
        known
    }

    #[test]
    fn rows_are_counted_once_they_are_known() {
        let mut repeats = Repeats::default();
        assert_eq!(known(&mut repeats, &[1]), 0);
        repeats.remember(1, A);
        assert_eq!(known(&mut repeats, &[1, 1, 0, 1]), 2);
        assert_eq!(known(&mut repeats, &[2]), 0);
        assert_eq!(repeats.meaning(1), A);
        assert_eq!(repeats.take(), [(A, 2)]);
        assert_eq!(repeats.take(), []);
        assert!(!repeats.is_over());
    }

    #[test]
    fn rows_that_never_come_again_are_given_up() {
        let mut repeats = Repeats::default();
        for number in 0..=TRIAL as u32 {
            assert_eq!(known(&mut repeats, &[number]), 0);
            repeats.remember(number, A);
        }
        assert!(repeats.is_over());
    }

    #[test]
    fn a_row_without_a_number_is_the_end() {
        let mut repeats = Repeats::default();
        repeats.remember(UNKNOWN, A);
        assert!(repeats.is_over());
    }
}
