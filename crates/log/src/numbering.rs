//! Numbers of rows by their bytes: what a row means follows from its bytes, so that a row that comes again need only be
//! counted.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The number of a row that has none, because too many others have.
pub const UNKNOWN: u32 = u32::MAX;
/// Rows that are told apart at most. A log with more different ones gains little.
pub const MAX_NUMBERS: usize = 1 << 16;
/// … and bytes of them.
const MAX_BYTES: usize = 16 << 20;

/// Assigns each distinct text of bytes a number, in the order of first appearance, until there are too many.
#[derive(Default)]
pub struct Numbering {
    texts: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Short texts that were asked for, each where its bytes say.
    short: Vec<Short>,
    is_full: bool,
}

/// A short text and its number.
#[derive(Clone, Copy, Default)]
struct Short {
    bytes: u64,
    length: u32,
    number: u32,
}

/// Short texts that are held.
const SHORT: u32 = 12;

impl Numbering {
    /// Whether a text has been met that got no number.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The number of a text; [`UNKNOWN`] if it has none.
    #[inline]
    pub fn number(&mut self, text: &[u8]) -> u32 {
        let Some(bytes) = short(text) else {
            return self.find(text);
        };
        let (at, length) = (place(bytes), text.len() as u32);
        match self.short.get(at) {
            Some(held) if held.bytes == bytes && held.length == length => held.number,
            _ => {
                let number = self.find(text);
                self.short.resize(1 << SHORT, Short::default());
                self.short[at] = Short {
                    bytes,
                    length,
                    number,
                };
                number
            }
        }
    }

    fn find(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        let (texts, ends) = (&self.texts, &self.ends);
        let of = |id: u32| {
            let from = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
            &texts[from..ends[id as usize]]
        };
        if let Some(&id) = self.table.find(hash, |&id| is_same(of(id), text)) {
            return id;
        }
        if ends.len() == MAX_NUMBERS || texts.len() >= MAX_BYTES {
            self.is_full = true;
            return UNKNOWN;
        }
        let id = ends.len() as u32;
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len());
        let (texts, ends, hasher) = (&self.texts, &self.ends, &self.hasher);
        self.table.insert_unique(hash, id, |&id| {
            let from = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
            hasher.hash_one(&texts[from..ends[id as usize]])
        });
        id
    }
}

/// The bytes of a text of 1 to 8 as one number.
#[inline]
fn short(text: &[u8]) -> Option<u64> {
    let half = |at: usize| {
        let bytes = text.get(at..)?.first_chunk::<4>()?;
        Some(u64::from(u32::from_le_bytes(*bytes)))
    };
    match text.len() {
        // The two halves may overlap.
        n @ 4..=8 => Some(half(0)? | half(n - 4)? << 32),
        n @ 1..4 => {
            Some(u64::from(text[0]) | u64::from(text[n / 2]) << 8 | u64::from(text[n - 1]) << 16)
        }
        _ => None,
    }
}

/// Where a short text is held.
#[inline]
fn place(bytes: u64) -> usize {
    (bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SHORT)) as usize
}

/// Whether two texts are equal; short ones, as most rows are, without calling for it.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let half = |bytes: &[u8], at: usize| {
        let bytes = bytes[at..].first_chunk::<4>();
        bytes.map(|bytes| u32::from_le_bytes(*bytes))
    };
    match one.len() {
        // The two halves may overlap.
        n @ 4..=8 => half(one, 0) == half(other, 0) && half(one, n - 4) == half(other, n - 4),
        0..4 => one.iter().zip(other).all(|(a, b)| a == b),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_numbers_and_others_have_others() {
        let mut numbering = Numbering::default();
        let texts = [
            "",
            "a",
            "ab",
            "abcd",
            "abce",
            "bbcd",
            "abcdefgh",
            "abcdefgi",
            "abcdefghi",
            "abcdefghj",
        ];
        for _ in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(numbering.number(text.as_bytes()), at as u32);
            }
        }
    }

    #[test]
    fn beyond_so_many_texts_there_are_no_numbers() {
        let mut numbering = Numbering::default();
        for at in 0..MAX_NUMBERS {
            assert_eq!(numbering.number(at.to_string().as_bytes()), at as u32);
        }
        assert!(!numbering.is_full());
        assert_eq!(numbering.number(b"one more"), UNKNOWN);
        assert!(numbering.is_full());
        assert_eq!(numbering.number(b"7"), 7);
    }
}
