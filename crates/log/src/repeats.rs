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

/// A row that was read before.
struct Entry {
    meaning: Meaning,
    /// How often it came again since this was last asked.
    again: u64,
}

/// The rows of one file, by the numbers that [`Records::ahead`](crate::records::Records::ahead) gives them.
#[derive(Default)]
pub struct Repeats {
    entries: Vec<Entry>,
    /// The entry of each number; [`UNKNOWN`] where there is none.
    entry_of: Vec<u32>,
    /// What the rows meant that were asked for last.
    meanings: Vec<Meaning>,
    looked_up: u64,
    found: u64,
    is_over: bool,
}

impl Repeats {
    /// Whether it is worth asking.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Counts the first of these rows as long as they were read before: what they mean.
    pub fn again(&mut self, numbers: &[u32]) -> &[Meaning] {
        self.meanings.clear();
        for &number in numbers {
            let at = self.entry_of.get(number as usize);
            let Some(entry) = at.and_then(|&at| self.entries.get_mut(at as usize)) else {
                self.looked_up += 1;
                break;
            };
            entry.again += 1;
            self.meanings.push(entry.meaning);
        }
        let known = self.meanings.len() as u64;
        self.looked_up += known;
        self.found += known;
        &self.meanings
    }

    /// Remembers a row.
    pub fn remember(&mut self, number: u32, meaning: Meaning) {
        let is_full = number == UNKNOWN || self.entries.len() >= MAX_NUMBERS;
        let is_in_vain = self.looked_up >= TRIAL && 2 * self.found < self.looked_up;
        if is_full || is_in_vain {
            self.is_over = true;
            return;
        }
        let number = number as usize;
        if self.entry_of.len() <= number {
            self.entry_of.resize(number + 1, UNKNOWN);
        }
        self.entry_of[number] = self.entries.len() as u32;
        self.entries.push(Entry { meaning, again: 0 });
    }

    /// How often rows came again since this was last asked, in the order in which they were first read.
    pub fn take(&mut self) -> Vec<(Meaning, u64)> {
        let entries = self.entries.iter_mut();
        entries
            .filter(|entry| entry.again > 0)
            .map(|entry| (entry.meaning, std::mem::take(&mut entry.again)))
            .collect()
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

    #[test]
    fn rows_are_counted_once_they_are_known() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.again(&[1]), []);
        repeats.remember(1, A);
        assert_eq!(repeats.again(&[1, 1, 0, 1]), [A, A]);
        assert_eq!(repeats.again(&[2]), []);
        assert_eq!(repeats.take(), [(A, 2)]);
        assert_eq!(repeats.take(), []);
        assert!(!repeats.is_over());
    }

    #[test]
    fn rows_that_never_come_again_are_given_up() {
        let mut repeats = Repeats::default();
        for number in 0..=TRIAL as u32 {
            assert_eq!(repeats.again(&[number]), []);
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
