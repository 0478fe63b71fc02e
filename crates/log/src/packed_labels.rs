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
    table: HashTable<u32>,
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
        let hash = self.hasher.hash_one(text);
        let found = self.table.find(hash, |&id| self.text(id) == text).copied();
        let id = found.unwrap_or_else(|| self.add(hash, text));
        self.last = Some(id);
        id
    }

    fn add(&mut self, hash: u64, text: &str) -> u32 {
        let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 distinct labels");
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        let (texts, ends, hasher) = (&self.texts, &self.ends, &self.hasher);
        self.table
            .insert_unique(hash, id, |&id| hasher.hash_one(text_at(texts, ends, id)));
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
        text_at(&self.texts, &self.ends, id)
    }
}

fn text_at<'a>(texts: &'a str, ends: &[usize], id: u32) -> &'a str {
    let at = id as usize;
    let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
    &texts[begin..ends[at]]
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
