//! Folding rows into counts while they are read, so that memory grows with what is distinct.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;

use crate::observations::{Cell, Counts};
use crate::packed_words::Words;

/// Assigns each distinct text a number, in the order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    texts: Vec<String>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The number of a text.
    pub fn intern(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let texts = &self.texts;
        if let Some(&id) = self
            .table
            .find(hash, |&id| is_same(&texts[id as usize], text))
        {
            return id;
        }
        let id = to_id(self.texts.len());
        self.texts.push(text.to_owned());
        let (texts, hasher) = (&self.texts, &self.hasher);
        self.table
            .insert_unique(hash, id, |&id| hasher.hash_one(texts[id as usize].as_str()));
        id
    }

    /// Forgets the texts from a number on.
    pub fn truncate(&mut self, len: usize) {
        for text in self.texts.drain(len..) {
            let hash = self.hasher.hash_one(text.as_str());
            if let Ok(entry) = self.table.find_entry(hash, |&id| id as usize >= len) {
                entry.remove();
            }
        }
    }

    /// The texts, by number.
    pub fn into_texts(self) -> Vec<String> {
        self.texts
    }

    /// The texts so far, by number.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Whether two texts are equal; short ones, as most labels are, without calling for it.
#[inline]
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        false
    } else if one.len() <= 8 {
        one.iter().zip(other).all(|(a, b)| a == b)
    } else {
        one == other
    }
}

/// Assigns each distinct tuple of `width` words a number, in the order of first appearance.
pub struct TupleInterner {
    width: usize,
    words: Words,
    len: usize,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl TupleInterner {
    /// An empty interner of tuples of `width` words.
    pub fn new(width: usize) -> Self {
        TupleInterner {
            width,
            words: Words::new(width),
            len: 0,
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The number of a tuple.
    #[inline]
    pub fn intern(&mut self, tuple: &[u64]) -> u32 {
        debug_assert_eq!(tuple.len(), self.width);
        let width = self.width;
        let hash = hash_tuple(&self.hasher, tuple);
        let words = &self.words;
        let is = |id: u32| match (tuple, words.plain()) {
            // Most logs: not worth the call of a comparison of slices.
            ([word], Some(words)) => words[id as usize] == *word,
            (_, Some(words)) => words[id as usize * width..(id as usize + 1) * width] == *tuple,
            (_, None) => (0..width).all(|at| words.at(id as usize * width + at) == tuple[at]),
        };
        if let Some(&id) = self.table.find(hash, |&id| is(id)) {
            return id;
        }
        let id = to_id(self.len);
        self.len += 1;
        self.words.extend(tuple);
        let (words, hasher) = (&self.words, &self.hasher);
        self.table.insert_unique(hash, id, |&id| {
            hash_tuple(hasher, &tuple_of(words, width, id))
        });
        id
    }

    /// The number of distinct tuples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Forgets all tuples but those marked, and numbers these anew in the same order; the new numbers by
    /// the old ones.
    pub fn retain(&mut self, needed: &[bool]) -> Vec<u32> {
        let width = self.width;
        let mut numbers = vec![u32::MAX; self.len];
        self.len = 0;
        for id in (0..numbers.len()).filter(|&id| needed[id]) {
            let from = id * width;
            self.words.copy_within(from..from + width, self.len * width);
            numbers[id] = to_id(self.len);
            self.len += 1;
        }
        self.words.truncate(self.len * width);
        self.table.clear();
        let (words, hasher) = (&self.words, &self.hasher);
        let hash = |&id: &u32| hash_tuple(hasher, &tuple_of(words, width, id));
        for id in 0..to_id(self.len) {
            self.table.insert_unique(hash(&id), id, hash);
        }
        numbers
    }

    /// A tuple by its number.
    pub fn tuple(&self, id: u32) -> Cow<'_, [u64]> {
        tuple_of(&self.words, self.width, id)
    }

    /// A word of the tuple of a number.
    #[inline]
    pub fn word(&self, id: u32, at: usize) -> u64 {
        self.words.at(id as usize * self.width + at)
    }
}

#[inline]
fn tuple_of(words: &Words, width: usize, id: u32) -> Cow<'_, [u64]> {
    let range = id as usize * width..(id as usize + 1) * width;
    match words.plain() {
        Some(words) => Cow::Borrowed(&words[range]),
        None => range.map(|place| words.at(place)).collect(),
    }
}

#[inline]
fn hash_tuple(hasher: &DefaultHashBuilder, tuple: &[u64]) -> u64 {
    match tuple {
        [word] => hasher.hash_one(word),
        _ => hasher.hash_one(tuple),
    }
}

fn to_id(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 distinct values fit in memory")
}

/// Adds up occurrences of (secret, observation) in memory that grows with the distinct ones.
pub struct CellCounter {
    pending: Vec<Cell>,
    /// Occurrences that are sorted at once at least.
    batch: usize,
    /// How many of `pending` are already sorted and distinct.
    compacted: usize,
}

impl CellCounter {
    /// Enough rows that sorting them is cheap per row.
    const BATCH: usize = 1 << 17;

    /// No cells; how many are distinct is known once there are twice `soon` occurrences, and from time to
    /// time after.
    pub fn new(soon: u64) -> Self {
        let soon = usize::try_from(soon.saturating_mul(2)).unwrap_or(usize::MAX);
        CellCounter {
            pending: Vec::new(),
            batch: soon.min(Self::BATCH),
            compacted: 0,
        }
    }

    /// Adds occurrences.
    #[inline]
    pub fn add(&mut self, secret: u32, symbol: u32, count: u64) {
        self.pending.push(Cell {
            secret,
            symbol,
            count,
        });
        if self.pending.len() >= self.batch.max(2 * self.compacted) {
            self.compact();
        }
    }

    fn compact(&mut self) {
        self.pending
            .sort_unstable_by_key(|cell| (u64::from(cell.symbol) << 32) | u64::from(cell.secret));
        self.pending.dedup_by(|next, kept| {
            let same = (next.symbol, next.secret) == (kept.symbol, kept.secret);
            if same {
                kept.count = kept.count.saturating_add(next.count);
            }
            same
        });
        self.compacted = self.pending.len();
    }

    /// How many cells are distinct, as far as known: never more than there are.
    pub fn distinct(&self) -> usize {
        self.compacted
    }

    /// The observations of the cells, with repetitions.
    pub fn symbols(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().map(|cell| cell.symbol)
    }

    /// Gives observations other numbers, in the same order.
    pub fn renumber(&mut self, number: &[u32]) {
        for cell in &mut self.pending {
            cell.symbol = number[cell.symbol as usize];
        }
    }

    /// The cells, sorted and distinct; none are left.
    pub fn take_cells(&mut self) -> Vec<Cell> {
        self.compact();
        self.compacted = 0;
        std::mem::take(&mut self.pending)
    }
}

/// Counts of cells, with secrets and observations renumbered.
pub fn to_counts(
    cells: Vec<Cell>,
    secrets: usize,
    secret_rank: &[u32],
    symbol_rank: &[u32],
) -> Counts {
    let renumbered = cells.into_iter().map(|cell| Cell {
        secret: secret_rank[cell.secret as usize],
        symbol: symbol_rank[cell.symbol as usize],
        count: cell.count,
    });
    Counts::new(secrets, renumbered.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_tuples_are_numbered_once() {
        let mut texts = Interner::default();
        assert_eq!(
            [texts.intern("b"), texts.intern("a"), texts.intern("b")],
            [0, 1, 0]
        );
        let mut tuples = TupleInterner::new(2);
        assert_eq!(
            [
                tuples.intern(&[1, 2]),
                tuples.intern(&[2, 1]),
                tuples.intern(&[1, 2])
            ],
            [0, 1, 0]
        );
        assert_eq!(&*tuples.tuple(1), &[2, 1]);
    }

    #[test]
    fn tuples_that_are_not_needed_are_forgotten() {
        let mut tuples = TupleInterner::new(2);
        for id in 0..1000 {
            tuples.intern(&[id, id * id]);
        }
        let needed: Vec<bool> = (0..1000).map(|id| id % 3 == 1).collect();
        let numbers = tuples.retain(&needed);
        assert_eq!((tuples.len(), numbers[4], numbers[5]), (333, 1, u32::MAX));
        assert_eq!(tuples.intern(&[4, 16]), 1);
        assert_eq!(&*tuples.tuple(1), &[4, 16]);
        assert_eq!(tuples.intern(&[5, 25]), 333);
    }

    #[test]
    fn many_occurrences_of_few_cells_stay_few() {
        let mut counter = CellCounter::new(u64::MAX);
        for row in 0..1_000_000u32 {
            counter.add(row % 3, row % 7, 1);
        }
        assert!(counter.pending.capacity() <= 4 * CellCounter::BATCH);
        let cells = counter.take_cells();
        let counts = to_counts(cells, 3, &[0, 1, 2], &[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(counts.cells().len(), 21);
        assert_eq!(counts.total(), 1_000_000);
    }
}
