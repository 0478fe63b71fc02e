//! Words of tuples, kept as narrow as their numbers are: a matrix of 8-bit integers takes a byte a number and not eight.

/// The fewest words of a tuple for which this is worth a look at each.
const WIDE_ENOUGH: usize = 16;

/// Words one after the other: bits of numbers, or anything.
#[derive(Debug)]
pub(crate) enum Words {
    /// Whole numbers of 8 bits.
    Bytes(Vec<i8>),
    /// Whole numbers of 16 bits.
    Shorts(Vec<i16>),
    /// Any words.
    Any(Vec<u64>),
}

/// The whole number that a word is the bits of, where it has at most 16 bits. −0 is none.
fn short(word: u64) -> Option<i16> {
    let value = f64::from_bits(word);
    let short = value as i16;
    (f64::from(short).to_bits() == word).then_some(short)
}

fn word(short: i16) -> u64 {
    f64::from(short).to_bits()
}

impl Words {
    /// None yet, of tuples of this width.
    pub fn new(width: usize) -> Self {
        match width >= WIDE_ENOUGH {
            true => Words::Bytes(Vec::new()),
            false => Words::Any(Vec::new()),
        }
    }

    /// Adds a tuple behind the others; all of them become wider if it does not fit.
    pub fn extend(&mut self, tuple: &[u64]) {
        if let Words::Bytes(words) = self {
            let before = words.len();
            for &next in tuple {
                match short(next).and_then(|short| i8::try_from(short).ok()) {
                    Some(byte) => words.push(byte),
                    None => break,
                }
            }
            if words.len() == before + tuple.len() {
                return;
            }
            words.truncate(before);
            *self = Words::Shorts(words.iter().map(|&byte| i16::from(byte)).collect());
        }
        if let Words::Shorts(words) = self {
            let before = words.len();
            words.extend(tuple.iter().map_while(|&next| short(next)));
            if words.len() == before + tuple.len() {
                return;
            }
            words.truncate(before);
            *self = Words::Any(words.iter().map(|&short| word(short)).collect());
        }
        if let Words::Any(words) = self {
            words.extend_from_slice(tuple);
        }
    }

    /// The word at a place.
    #[inline]
    pub fn at(&self, place: usize) -> u64 {
        match self {
            Words::Bytes(words) => word(i16::from(words[place])),
            Words::Shorts(words) => word(words[place]),
            Words::Any(words) => words[place],
        }
    }

    /// The words, where they are kept as they are.
    #[inline]
    pub fn plain(&self) -> Option<&[u64]> {
        match self {
            Words::Any(words) => Some(words),
            Words::Bytes(_) | Words::Shorts(_) => None,
        }
    }

    /// Copies words to another place, as for slices.
    pub fn copy_within(&mut self, from: std::ops::Range<usize>, to: usize) {
        match self {
            Words::Bytes(words) => words.copy_within(from, to),
            Words::Shorts(words) => words.copy_within(from, to),
            Words::Any(words) => words.copy_within(from, to),
        }
    }

    /// Forgets all words behind the first ones.
    pub fn truncate(&mut self, length: usize) {
        match self {
            Words::Bytes(words) => words.truncate(length),
            Words::Shorts(words) => words.truncate(length),
            Words::Any(words) => words.truncate(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_they_were_however_wide_they_become() {
        let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|v| v.to_bits()).collect() };
        let tuple = |other: f64| {
            let mut tuple: Vec<f64> = (0..20).map(|at| f64::from(at) - 10.0).collect();
            tuple[17] = other;
            bits(&tuple)
        };
        let others = [
            127.0,
            -128.0,
            128.0,
            -32768.0,
            0.5,
            -0.0,
            f64::NAN,
            1e300,
            5e-324,
        ];
        let mut words = Words::new(20);
        for (at, &other) in others.iter().enumerate() {
            words.extend(&tuple(other));
            for (earlier, &other) in others[..=at].iter().enumerate() {
                let found: Vec<u64> = (0..20)
                    .map(|place| words.at(20 * earlier + place))
                    .collect();
                assert_eq!(found, tuple(other));
            }
            let is_as_wide = match at {
                0..2 => matches!(words, Words::Bytes(_)),
                2..4 => matches!(words, Words::Shorts(_)),
                _ => matches!(words, Words::Any(_)),
            };
            assert!(is_as_wide, "{other}");
        }
    }
}
