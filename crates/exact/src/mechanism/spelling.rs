//! Reports of labels as other programs write them: strings and lists of bits, and sets.

use super::alphabet::Alphabet;

/// How the reports of a log are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// One 0 or 1 for each label: `0101`, `[0, 1, 0, 1]`, `[False, True, False, True]`.
    Bits,
    /// The labels that are reported, or the parts of a report: `{1, 3}`, `3;1`, `(7, 2)`.
    Parts,
}

impl Spelling {
    /// All, in the order in which they are tried.
    pub const ALL: [Spelling; 2] = [Spelling::Bits, Spelling::Parts];
}

/// What stands between the brackets and separators of a text.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let bare = text.trim();
    let bare = ["array", "frozenset", "set", "tensor"]
        .iter()
        .find_map(|word| bare.strip_prefix(word))
        .unwrap_or(bare);
    let is_between = |c: char| c.is_whitespace() || "[](){}<>,;:|".contains(c);
    let unquoted = |part: &'_ str| part.trim_matches(['"', '\'']).len();
    bare.split(is_between)
        .filter(|part| unquoted(part) > 0)
        .map(|part| part.trim_matches(['"', '\'']))
        .collect()
}

/// So many bits, if the text is a string or a list of them.
pub(super) fn bits(text: &str, size: u64) -> Option<Vec<bool>> {
    let bit = |part: &str| match part {
        "1" | "1.0" | "1." | "True" | "true" => Some(true),
        "0" | "0.0" | "0." | "False" | "false" => Some(false),
        _ => None,
    };
    let parts = parts(text);
    let found: Option<Vec<bool>> = match parts[..] {
        [digits] if digits.len() > 1 => {
            let digits = digits.strip_prefix("0b").unwrap_or(digits);
            let digits = digits
                .strip_prefix('b')
                .unwrap_or(digits)
                .trim_matches('\'');
            let mut ends = digits
                .char_indices()
                .map(|(at, c)| &digits[at..at + c.len_utf8()]);
            ends.by_ref().map(bit).collect()
        }
        _ => parts.into_iter().map(bit).collect(),
    };
    found.filter(|bits| bits.len() as u64 == size)
}

/// The positions of different labels, ascending, if the text is a set of them.
pub(super) fn members(text: &str, alphabet: &Alphabet) -> Option<Vec<u64>> {
    let position = |part: &str| (0..alphabet.size()).find(|&at| alphabet.label(at) == part);
    let mut found: Vec<u64> = parts(text)
        .into_iter()
        .map(position)
        .collect::<Option<_>>()?;
    let all = found.len();
    found.sort_unstable();
    found.dedup();
    (found.len() == all).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_however_they_are_written() {
        let expected = Some(vec![false, true, false, true]);
        for text in [
            "0101",
            "b0101",
            "0b0101",
            "b'0101'",
            "[0, 1, 0, 1]",
            "0,1,0,1",
            "[0. 1. 0. 1.]",
            "array([False, True, False, True])",
        ] {
            assert_eq!(bits(text, 4), expected, "{text}");
        }
        for text in ["010", "0102", "{1, 3}", "", "é101"] {
            assert_eq!(bits(text, 4), None, "{text}");
        }
    }

    #[test]
    fn sets_are_read_in_any_order() {
        let labels = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let alphabet = Alphabet::bind("test", &labels, None).unwrap();
        for text in ["{'c', 'a'}", "a|c", "[c; a]", "a c"] {
            assert_eq!(members(text, &alphabet), Some(vec![0, 2]), "{text}");
        }
        assert_eq!(members("set()", &alphabet), Some(vec![]));
        assert_eq!(members("{a, d}", &alphabet), None);
        assert_eq!(members("a, a", &alphabet), None);
    }
}
