//! Lines that were read before: what a row is follows from its line, so that a line that comes again need
//! only be counted.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Lines that are remembered at most. A log with more different ones gains little.
const MAX_LINES: usize = 1 << 16;
/// … and bytes of them.
const MAX_BYTES: usize = 16 << 20;
/// Lines after which it is clear whether they come again.
const TRIAL: u64 = 1 << 14;

/// What a line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The number of its secret.
    pub secret: u32,
    /// The number of its observation.
    pub symbol: u32,
}

/// A line that was read before.
struct Entry {
    /// Where its text begins and ends.
    text: (usize, usize),
    meaning: Meaning,
    /// How often it came again since this was last asked.
    again: u64,
}

/// The lines of one file.
#[derive(Default)]
pub struct Repeats {
    entries: Vec<Entry>,
    texts: Vec<u8>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    looked_up: u64,
    found: u64,
    is_over: bool,
}

impl Repeats {
    /// Whether it is worth asking.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Counts a line, if it was read before.
    pub fn again(&mut self, line: &[u8]) -> Option<Meaning> {
        let hash = self.hasher.hash_one(line);
        let (entries, texts) = (&mut self.entries, &self.texts);
        self.looked_up += 1;
        let same = |&id: &u32| {
            let (from, to) = entries[id as usize].text;
            texts[from..to] == *line
        };
        let &id = self.table.find(hash, same)?;
        self.found += 1;
        let entry = &mut entries[id as usize];
        entry.again += 1;
        Some(entry.meaning)
    }

    /// Remembers a line.
    pub fn remember(&mut self, line: &[u8], meaning: Meaning) {
        let is_full = self.entries.len() >= MAX_LINES || self.texts.len() >= MAX_BYTES;
        let is_in_vain = self.looked_up >= TRIAL && 2 * self.found < self.looked_up;
        if is_full || is_in_vain {
            self.is_over = true;
            return;
        }
        let hash = self.hasher.hash_one(line);
        let from = self.texts.len();
        self.texts.extend_from_slice(line);
        let id = self.entries.len() as u32;
        self.entries.push(Entry {
            text: (from, self.texts.len()),
            meaning,
            again: 0,
        });
        let (entries, texts, hasher) = (&self.entries, &self.texts, &self.hasher);
        let rehash = |&id: &u32| {
            let (from, to) = entries[id as usize].text;
            hasher.hash_one(&texts[from..to])
        };
        self.table.insert_unique(hash, id, rehash);
    }

    /// How often lines came again since this was last asked, in the order in which they were first read.
    pub fn take(&mut self) -> Vec<(Meaning, u64)> {
        let entries = self.entries.iter_mut();
        entries
            .filter(|entry| entry.again > 0)
            .map(|entry| (entry.meaning, std::mem::take(&mut entry.again)))
            .collect()
    }

    /// Forgets all lines, whose numbers mean something else from now on.
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
    };

    #[test]
    fn lines_are_counted_once_they_are_known() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.again(b"a,1"), None);
        repeats.remember(b"a,1", A);
        assert_eq!(repeats.again(b"a,1"), Some(A));
        assert_eq!(repeats.again(b"a,2"), None);
        assert_eq!(repeats.again(b"a,1"), Some(A));
        assert_eq!(repeats.take(), [(A, 2)]);
        assert_eq!(repeats.take(), []);
        assert!(!repeats.is_over());
    }

    #[test]
    fn lines_that_never_come_again_are_given_up() {
        let mut repeats = Repeats::default();
        for line in 0..=TRIAL {
            let line = line.to_string();
            assert!(repeats.again(line.as_bytes()).is_none());
            repeats.remember(line.as_bytes(), A);
        }
        assert!(repeats.is_over());
    }
}
