//! Labels of many units: texts in one piece of memory, numbered as they first appear.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Assigns each distinct text a number, in the order of first appearance. A text takes its own bytes and about a dozen
/// more: a log may have as many units as a third of its rows.
#[derive(Debug, Default)]
pub(crate) struct PackedLabels {
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// Numbers with half of the hash of their text, so that a growing table looks at no text.
    table: HashTable<(u32, u32)>,
    hasher: DefaultHashBuilder,
    /// The number that was asked for last: rows of a unit often stand together.
    last: Option<u32>,
}

impl PackedLabels {
    /// The number of a text.
    ///
    /// # Panics
    /// With 2^32 distinct texts.
    pub fn intern(&mut self, text: &str) -> u32 {
        if let Some(last) = self.last.filter(|&last| self.text(last) == text) {
            return last;
        }
        let half = self.hasher.hash_one(text) as u32;
        let is = |&(other, id): &(u32, u32)| other == half && self.text(id) == text;
        let found = self.table.find(spread(half), is).map(|found| found.1);
        let id = found.unwrap_or_else(|| self.add(half, text));
        self.last = Some(id);
        id
    }

    fn add(&mut self, half: u32, text: &str) -> u32 {
        let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 distinct labels");
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        self.table
            .insert_unique(spread(half), (half, id), |&(half, _)| spread(half));
        id
    }

    /// The text of a number; `None` if no text has it.
    pub fn get(&self, id: u32) -> Option<&str> {
        ((id as usize) < self.ends.len()).then(|| self.text(id))
    }

    /// The texts, by number.
    pub fn texts(&self) -> Vec<String> {
        (0..self.ends.len() as u32)
            .map(|id| self.text(id).to_owned())
            .collect()
    }

    fn text(&self, id: u32) -> &str {
        let at = id as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[begin..self.ends[at]]
    }
}

/// A hash whose upper bits, which tables compare first, depend on all bits of a half.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_as_they_come() {
        let mut labels = PackedLabels::default();
        let texts = ["b", "", "b", "ä", "a", "", "ba", "a"];
        let ids = texts.map(|text| labels.intern(text));
        assert_eq!(ids, [0, 1, 0, 2, 3, 1, 4, 3]);
        assert_eq!(labels.texts(), ["b", "", "ä", "a", "ba"]);
        assert_eq!((labels.get(2), labels.get(5)), (Some("ä"), None));
        let many: Vec<u32> = (0..5000).map(|at| labels.intern(&at.to_string())).collect();
        assert_eq!(many[4999], labels.intern("4999"));
        assert_eq!(labels.get(many[77]), Some("77"));
    }
}
