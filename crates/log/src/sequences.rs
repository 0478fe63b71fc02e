//! Lists of numbers, `[4, 3, 1]`: what an attacker sees of them where nobody says what it is.

use std::hash::{DefaultHasher, Hasher};

use crate::parts::is_number;

/// Elements of lists of one length that are all observed.
pub const MAX_ITEMS: usize = 256;
/// … where they have two values.
pub const MAX_BITS: usize = 1024;
/// The first elements of longer lists, and of lists of different lengths, that are observed.
pub const FIRST_ITEMS: usize = 64;
/// … where they have two values.
pub const FIRST_BITS: usize = 256;

/// Numbers of a record, such as a time and a size, that are told apart.
pub const MAX_PARTS: usize = 8;

/// How lists are written: the text before the first number, those between numbers, and that behind the last. Lists of records
/// have several texts between numbers, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notation {
    before: Gap,
    between: [Gap; MAX_PARTS],
    after: Gap,
    /// A list without numbers: `[]`, also where each number would stand in brackets of its own.
    empty: [Gap; 2],
    /// Numbers of a record.
    parts: u8,
}

impl Notation {
    /// Numbers of a record; 1 of a plain list.
    pub fn parts(self) -> usize {
        usize::from(self.parts)
    }
}

/// A text between numbers, by a digest of all that is no blank.
type Gap = u64;

/// The digest of texts without blanks; blanks alone are told from nothing, for they separate too.
fn gap(texts: &[&str]) -> Gap {
    let mut hasher = DefaultHasher::new();
    let bytes = texts.iter().flat_map(|text| text.bytes());
    for byte in bytes.filter(|byte| !byte.is_ascii_whitespace()) {
        hasher.write_u8(byte);
    }
    let is_blank = texts.iter().all(|text| text.trim_ascii().is_empty());
    hasher.write_u8(u8::from(
        is_blank && texts.iter().any(|text| !text.is_empty()),
    ));
    hasher.finish()
}

/// What is observed of a list of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// The number of its elements.
    Length,
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The smallest.
    Least,
    /// The largest.
    Most,
    /// Their standard deviation: √(Σ(x − mean)²/n).
    Deviation,
    /// The last.
    Last,
    /// The smallest element that so many quarters of all do not exceed.
    Quarter(usize),
    /// The element at a position, 0 where there is none.
    Item(usize),
}

/// All that is observed of a list but its elements.
pub const STATISTICS: [Aspect; 10] = [
    Aspect::Length,
    Aspect::Sum,
    Aspect::Mean,
    Aspect::Deviation,
    Aspect::Least,
    Aspect::Quarter(1),
    Aspect::Quarter(2),
    Aspect::Quarter(3),
    Aspect::Most,
    Aspect::Last,
];

impl Aspect {
    /// Its name behind that of the column.
    pub fn name(self) -> String {
        match self {
            Aspect::Length => ".length".to_owned(),
            Aspect::Sum => ".sum".to_owned(),
            Aspect::Mean => ".mean".to_owned(),
            Aspect::Least => ".min".to_owned(),
            Aspect::Most => ".max".to_owned(),
            Aspect::Deviation => ".sd".to_owned(),
            Aspect::Last => ".last".to_owned(),
            Aspect::Quarter(2) => ".median".to_owned(),
            Aspect::Quarter(quarter) => format!(".q{}", 25 * quarter),
            Aspect::Item(at) => format!("[{}]", at + 1),
        }
    }
}

/// What a word says that is true or false, as JSON, Python and R write it: 1 or 0.
fn truth(word: &str) -> Option<f64> {
    match word {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        _ => None,
    }
}

/// The numbers of one list.
#[derive(Debug, Default)]
pub struct Sequence {
    before: Gap,
    between: Vec<Gap>,
    after: Gap,
    empty: [Gap; 2],
    /// Where the text of each number begins and ends in its cell.
    places: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// Places of a part in the order of their values, and the part; empty until someone asks.
    order: (usize, Vec<usize>),
}

impl Sequence {
    /// Reads the numbers of a cell and what stands between them; whether all that has a digit is a finite number.
    pub fn read(&mut self, cell: &str) -> bool {
        self.places.clear();
        self.values.clear();
        self.between.clear();
        self.order.1.clear();
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '+' | '-' | '_');
        let is_listed = cell.trim_start().starts_with(['[', '(', '{']);
        let (mut at, mut last) = (0, 0);
        while at < cell.len() {
            let rest = &cell[at..];
            let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            let truth = truth(word).filter(|_| is_listed);
            if truth.is_some() || word.bytes().any(|byte| byte.is_ascii_digit()) {
                let number = || word.parse().ok().filter(|_| is_number(word));
                let Some(value) = truth.or_else(number) else {
                    return false;
                };
                match self.values.is_empty() {
                    true => self.before = gap(&[cell[..at].trim()]),
                    false => self.between.push(gap(&[&cell[last..at]])),
                }
                self.values.push(value);
                self.places.push((at, at + length));
                last = at + length;
            } else if is_no_value(word) {
                return false;
            }
            let next = rest[length..].chars().next().map_or(0, char::len_utf8);
            at += length + next;
        }
        let Some(&(first, _)) = self.places.first() else {
            self.empty = [gap(&[cell.trim()]); 2];
            return !cell.chars().any(char::is_alphanumeric);
        };
        // Python ends a tuple of one number with a comma.
        let after = cell[last..].trim();
        let after = match after {
            ",)" => ")",
            after => after,
        };
        let before = cell[..first].trim();
        let outer = |text: &'_ str, is_first: bool| {
            let mut letters = text.char_indices();
            let at = if is_first {
                letters.next()
            } else {
                letters.next_back()
            };
            at.map_or((0, 0), |(at, letter)| (at, at + letter.len_utf8()))
        };
        let (open, close) = (outer(before, true), outer(after, false));
        let outermost = [&before[open.0..open.1], &after[close.0..close.1]];
        self.after = gap(&[after]);
        self.empty = [gap(&[before, after]), gap(&outermost)];
        true
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The numbers as they stand in their cell.
    pub fn texts<'c>(&self, cell: &'c str) -> impl Iterator<Item = &'c str> {
        self.places.iter().map(move |&(from, to)| &cell[from..to])
    }

    /// The numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How the list that was read last is written, if it shows that: records are seen twice at least, and of one number
    /// what stands between two is not known.
    pub fn notation(&self) -> Option<Notation> {
        let count = self.len();
        let between = &self.between;
        let recurs =
            |parts: usize| (parts..between.len()).all(|at| between[at] == between[at - parts]);
        let fits = |&parts: &usize| {
            count.is_multiple_of(parts) && (parts == 1 || 2 * parts <= count) && recurs(parts)
        };
        let parts = (1..=MAX_PARTS).find(fits).filter(|_| count > 0)?;
        let mut all = [0; MAX_PARTS];
        let known = between.iter().take(parts).enumerate();
        known.for_each(|(at, &text)| all[at] = text);
        Some(Notation {
            before: self.before,
            between: all,
            after: self.after,
            empty: self.empty,
            parts: parts as u8,
        })
    }

    /// Whether the list that was read last is written like others.
    pub fn is_like(&self, notation: Notation) -> bool {
        let parts = notation.parts();
        if self.values.is_empty() {
            return notation.empty.contains(&self.empty[0]);
        }
        let mut between = self.between.iter().enumerate();
        self.before == notation.before
            && self.after == notation.after
            && self.len().is_multiple_of(parts)
            && between.all(|(at, &text)| text == notation.between[at % parts])
    }

    /// An aspect of a part of the list that was read last, in the words of its cell where it is a number of it; 0 of an
    /// empty list.
    pub fn text(&mut self, aspect: Aspect, (part, parts): (usize, usize), cell: &str) -> String {
        let count = self.len() / parts;
        let place = |at: usize| part + at * parts;
        let item = |at: usize| {
            let (from, to) = self.places[place(at)];
            match truth(&cell[from..to]) {
                Some(value) => value.to_string(),
                None => cell[from..to].to_owned(),
            }
        };
        let quarters = match aspect {
            Aspect::Least => 0,
            Aspect::Most => 4,
            Aspect::Quarter(quarter) => quarter,
            Aspect::Length => return count.to_string(),
            Aspect::Item(at) if at < count => return item(at),
            Aspect::Last if count > 0 => return item(count - 1),
            Aspect::Sum => return self.sum((part, parts), cell),
            // With an exponent: rounding leaves decimals that no one wrote.
            Aspect::Mean if count > 0 => return format!("{:e}", self.mean((part, parts))),
            Aspect::Deviation if count > 0 => {
                return format!("{:e}", self.deviation((part, parts)));
            }
            _ => return "0".to_owned(),
        };
        if count == 0 {
            return "0".to_owned();
        }
        if self.order.1.is_empty() || self.order.0 != part {
            let mut order: Vec<usize> = (0..count).map(place).collect();
            let values = &self.values;
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
            self.order = (part, order);
        }
        let rank = (quarters * count).div_ceil(4).max(1) - 1;
        let (from, to) = self.places[self.order.1[rank]];
        cell[from..to].to_owned()
    }

    /// Exact for integers, whatever their order.
    fn sum(&self, part: (usize, usize), cell: &str) -> String {
        let places = self.places.iter().skip(part.0).step_by(part.1);
        let texts = places.map(|&(from, to)| &cell[from..to]);
        let mut integers = texts.map(|text| text.parse::<i64>().ok().map(i128::from));
        match integers.try_fold(0i128, |sum, value| sum.checked_add(value?)) {
            Some(sum) => sum.to_string(),
            None => format!("{:e}", finite(self.part(part).sum())),
        }
    }

    /// The numbers of one part of all records.
    fn part(&self, (part, parts): (usize, usize)) -> impl Iterator<Item = f64> {
        self.values.iter().copied().skip(part).step_by(parts)
    }

    fn mean(&self, part: (usize, usize)) -> f64 {
        finite(self.part(part).sum::<f64>() / (self.len() / part.1) as f64)
    }

    fn deviation(&self, part: (usize, usize)) -> f64 {
        let mean = self.mean(part);
        let squares = self.part(part).map(|value| (value - mean).powi(2));
        finite((squares.sum::<f64>() / (self.len() / part.1) as f64).sqrt())
    }
}

/// Whether a word stands for a number that is missing.
fn is_no_value(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    ["nan", "inf", "infinity", "null", "none"]
        .iter()
        .any(|none| word.eq_ignore_ascii_case(none))
}

/// Sums of finite numbers may be too large for one.
fn finite(value: f64) -> f64 {
    match value.is_nan() {
        true => 0.0,
        false => value.clamp(-f64::MAX, f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cell: &str, aspect: Aspect) -> String {
        let mut sequence = Sequence::default();
        assert!(sequence.read(cell), "{cell}");
        sequence.text(aspect, (0, 1), cell)
    }

    #[test]
    fn statistics_are_those_of_the_elements() {
        let cell = " [4, 1.50, -2, 10]";
        let all = STATISTICS.map(|aspect| text(cell, aspect));
        assert_eq!(
            all,
            [
                "4",
                "1.35e1",
                "3.375e0",
                "4.378569972034248e0",
                "-2",
                "-2",
                "1.50",
                "4",
                "10",
                "10"
            ]
        );
        assert_eq!(text(cell, Aspect::Item(1)), "1.50");
        assert_eq!(text(cell, Aspect::Item(4)), "0");
        assert_eq!(text("[3, 4]", Aspect::Sum), "7");
        assert_eq!(
            text("[1e308, 1e308]", Aspect::Sum),
            "1.7976931348623157e308"
        );
        for aspect in STATISTICS {
            assert_eq!(text("[]", aspect), "0");
        }
        assert_eq!(text("(1,)", Aspect::Length), "1");
        assert_eq!(text("[0. 1. 0.]", Aspect::Length), "3");
    }

    #[test]
    fn texts_with_other_digits_are_no_lists_of_numbers() {
        let mut sequence = Sequence::default();
        for cell in [
            "[1,null]",
            "[nan]",
            "[1e999]",
            "s0 s1",
            "2026-11-29 10",
            "10.0.0.1",
            "60B 5B",
            "0x1f",
            "a1,b2",
            "word",
        ] {
            assert!(!sequence.read(cell), "{cell}");
        }
    }

    #[test]
    fn lists_are_alike_where_what_stands_around_numbers_is() {
        let mut sequence = Sequence::default();
        sequence.read("[1,2]");
        let notation = sequence.notation().expect("a list");
        for (cell, is_like) in [
            ("[3]", true),
            ("[]", true),
            ("[ ]", true),
            ("-", false),
            ("()", false),
            ("[1,]", false),
            ("[1, 2]", true),
            ("[1 2]", false),
            ("(1,2)", false),
            ("[1,,2]", false),
            ("1,2", false),
            ("[1,2", false),
        ] {
            assert!(sequence.read(cell));
            assert_eq!(sequence.is_like(notation), is_like, "{cell}");
        }
    }

    #[test]
    fn records_are_told_apart_by_what_stands_between_their_numbers() {
        for cell in [
            "[[0.5, 60], [1.5, -60], [2.5, 7]]",
            "[(0.5, 60), (1.5, -60), (2.5, 7)]",
            "0.5:60 1.5:-60 2.5:7",
            r#"[{"t": 0.5, "size": 60}, {"t": 1.5, "size": -60}, {"t": 2.5, "size": 7}]"#,
        ] {
            let mut sequence = Sequence::default();
            assert!(sequence.read(cell), "{cell}");
            let notation = sequence.notation().expect(cell);
            assert_eq!(notation.parts(), 2, "{cell}");
            assert_eq!(sequence.text(Aspect::Sum, (1, 2), cell), "7");
            assert_eq!(sequence.text(Aspect::Most, (0, 2), cell), "2.5");
            assert_eq!(sequence.text(Aspect::Quarter(2), (1, 2), cell), "7");
            assert_eq!(sequence.text(Aspect::Length, (0, 2), cell), "3");
        }
        let mut sequence = Sequence::default();
        for cell in ["14/11/2023 22:13:20", "1 day 3 h 20 min 5 s"] {
            assert!(sequence.read(cell), "{cell}");
            assert_eq!(sequence.notation(), None, "{cell}");
        }
    }
}
