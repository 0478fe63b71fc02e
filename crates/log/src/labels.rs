//! Labels as they are told apart, and as they are shown.
//!
//! A label is its text and what stood in the log: nothing (`null`), a field that is not there, a string in quotes whose
//! text is another value without them. Most labels are plain texts, and these are kept as they are.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::observations::NUMBER;
use crate::row::Field;

/// Before what is no plain text, and before a plain text that begins so.
const MARK: char = '\0';

/// The key of a label: equal for labels that are equal.
pub(crate) fn key<'t>(field: Field, text: &'t str) -> Cow<'t, str> {
    let kind = match field {
        Field::Null => 'n',
        Field::Missing => 'm',
        Field::Quoted(_) => 'q',
        _ if text.starts_with(MARK) => 't',
        _ => return text.into(),
    };
    format!("{MARK}{kind}{text}").into()
}

/// The labels of some keys, all different: where two texts are equal, the one that stood in quotes has them.
pub(crate) fn shown(keys: &[String]) -> Cow<'_, [String]> {
    if !keys
        .iter()
        .any(|key| key.starts_with(MARK) || key == NUMBER)
    {
        return keys.into();
    }
    let parts = |key: &str| match key.strip_prefix(MARK) {
        Some(marked) => (marked.as_bytes()[0], marked[1..].to_owned()),
        None => (b't', key.to_owned()),
    };
    // Who keeps its text: what is no text first, for it has no quotes.
    let rank = |key: &str| match parts(key).0 {
        b'n' => 0,
        b'm' => 1,
        b't' => 2,
        _ => 3,
    };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&at| (rank(&keys[at]), at));
    let mut taken = HashSet::from([NUMBER.to_owned()]);
    let mut labels = vec![String::new(); keys.len()];
    for at in order {
        let (_, mut label) = parts(&keys[at]);
        while !taken.insert(label.clone()) {
            label = format!("{label:?}");
        }
        labels[at] = label;
    }
    labels.into()
}

/// Words among numbers are kept in bits that no finite number has.
const WORD: u64 = 0x7ff8 << 48;

/// The bits of the word of a number.
pub(crate) fn word_bits(word: u32) -> u64 {
    WORD | u64::from(word)
}

/// The number of a word, if the bits are those of one.
pub(crate) fn word_of(bits: u64) -> Option<u32> {
    (bits >> 32 == WORD >> 32).then_some(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_equal_text_are_told_apart() {
        let keys = [
            key(Field::Quoted(b"1"), "1"),
            key(Field::Text(b"1"), "1"),
            key(Field::Text(b"(null)"), "(null)"),
            key(Field::Null, "(null)"),
            key(Field::Quoted(b"true"), "true"),
            key(Field::Text(b"\0n"), "\0n"),
            key(Field::Text(b"(number)"), "(number)"),
        ];
        let keys = keys.map(Cow::into_owned);
        assert_eq!(
            *shown(&keys),
            [
                "\"1\"",
                "1",
                "\"(null)\"",
                "(null)",
                "true",
                "\0n",
                "\"(number)\""
            ]
        );
        assert_eq!(*shown(&["a".to_owned()]), ["a"]);
    }

    #[test]
    fn words_are_no_numbers() {
        for word in [0, 7, u32::MAX] {
            assert_eq!(word_of(word_bits(word)), Some(word));
            assert!(f64::from_bits(word_bits(word)).is_nan());
        }
        for number in [0.0, -0.0, 1.5, f64::MAX, f64::MIN, f64::MIN_POSITIVE] {
            assert_eq!(word_of(number.to_bits()), None);
        }
    }
}
