//! Lists of numbers, `[4, 3, 1]`: what an attacker sees of them where nobody says what it is.

use crate::parts::is_number;

/// Elements of lists of one length that are all observed.
pub const MAX_ITEMS: usize = 64;
/// … where they are 0 and 1.
pub const MAX_BITS: usize = 1024;
/// The first elements of lists of different lengths that are observed.
pub const FIRST_ITEMS: usize = 16;

/// How lists are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notation {
    /// The character that they begin with.
    open: u8,
    /// What stands between elements: a comma, or blanks.
    separator: u8,
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

/// The elements of one list.
#[derive(Debug, Default)]
pub struct Sequence {
    notation: Option<Notation>,
    /// Where the text of each element begins and ends in its cell.
    places: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// Elements in the order of their values; empty until someone asks.
    order: Vec<usize>,
}

impl Sequence {
    /// Reads a list of finite numbers between brackets or parentheses, with commas or blanks between them; whether it
    /// is one.
    pub fn read(&mut self, cell: &str) -> bool {
        self.places.clear();
        self.values.clear();
        self.order.clear();
        let text = cell.trim();
        let Some(open @ (b'[' | b'(')) = text.bytes().next() else {
            return false;
        };
        let close = if open == b'[' { ']' } else { ')' };
        let Some(inner) = text[1..].strip_suffix(close) else {
            return false;
        };
        let separator = if inner.contains(',') { b',' } else { b' ' };
        self.notation = Some(Notation { open, separator });
        let begin = |part: &str| part.as_ptr() as usize - cell.as_ptr() as usize;
        let mut add = |part: &str| {
            let part = part.trim();
            self.places.push((begin(part), begin(part) + part.len()));
            let value = part.parse().ok().filter(|_| is_number(part));
            value.is_some_and(|value| {
                self.values.push(value);
                true
            })
        };
        if separator == b' ' {
            return inner.split_ascii_whitespace().all(add);
        }
        // Python ends a tuple of one element with a comma.
        let inner = match open {
            b'(' => inner.trim_end().strip_suffix(',').unwrap_or(inner),
            _ => inner,
        };
        inner.split(',').all(&mut add)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether all elements are 0 or 1.
    pub fn is_binary(&self) -> bool {
        self.values.iter().all(|value| [0.0, 1.0].contains(value))
    }

    /// How the list that was read last is written; of one element, what stands between two is not known.
    pub fn notation(&self) -> Option<Notation> {
        self.notation
    }

    /// Whether the list that was read last is written like others.
    pub fn is_like(&self, notation: Notation) -> bool {
        self.notation.is_some_and(|own| {
            own.open == notation.open && (self.len() < 2 || own.separator == notation.separator)
        })
    }

    /// An aspect of the list that was read last, in the words of its cell where it is an element; 0 of an empty list.
    pub fn text(&mut self, aspect: Aspect, cell: &str) -> String {
        let item = |at: usize| {
            let (from, to) = self.places[at];
            cell[from..to].to_owned()
        };
        let count = self.len();
        let quarters = match aspect {
            Aspect::Least => 0,
            Aspect::Most => 4,
            Aspect::Quarter(quarter) => quarter,
            Aspect::Length => return count.to_string(),
            Aspect::Item(at) if at < count => return item(at),
            Aspect::Last if count > 0 => return item(count - 1),
            Aspect::Sum => return self.sum(cell),
            // With an exponent: rounding leaves decimals that no one wrote.
            Aspect::Mean if count > 0 => return format!("{:e}", self.mean()),
            Aspect::Deviation if count > 0 => return format!("{:e}", self.deviation()),
            _ => return "0".to_owned(),
        };
        if count == 0 {
            return "0".to_owned();
        }
        if self.order.is_empty() {
            self.order = (0..count).collect();
            let values = &self.values;
            self.order
                .sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
        }
        let rank = (quarters * count).div_ceil(4).max(1) - 1;
        let (from, to) = self.places[self.order[rank]];
        cell[from..to].to_owned()
    }

    /// Exact for integers, whatever their order.
    fn sum(&self, cell: &str) -> String {
        let texts = self.places.iter().map(|&(from, to)| &cell[from..to]);
        let mut integers = texts.map(|text| text.parse::<i64>().ok().map(i128::from));
        match integers.try_fold(0i128, |sum, value| sum.checked_add(value?)) {
            Some(sum) => sum.to_string(),
            None => format!("{:e}", finite(self.values.iter().sum())),
        }
    }

    fn mean(&self) -> f64 {
        finite(self.values.iter().sum::<f64>() / self.len() as f64)
    }

    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.values.iter().map(|value| (value - mean).powi(2));
        finite((squares.sum::<f64>() / self.len() as f64).sqrt())
    }
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
        sequence.text(aspect, cell)
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
    fn other_texts_are_no_lists_of_numbers() {
        let mut sequence = Sequence::default();
        for cell in [
            "",
            "1,2",
            "[1,2",
            "[1,,2]",
            "[1,]",
            "[1,a]",
            "[1,null]",
            "[[1]]",
            "[nan]",
            "[1e999]",
            "{\"a\":1}",
            "[\"1\"]",
        ] {
            assert!(!sequence.read(cell), "{cell}");
        }
    }

    #[test]
    fn lists_are_alike_where_brackets_and_separators_are() {
        let mut sequence = Sequence::default();
        sequence.read("[1,2]");
        let notation = sequence.notation().expect("a list");
        for (cell, is_like) in [
            ("[3]", true),
            ("[]", true),
            ("[1, 2]", true),
            ("[1 2]", false),
            ("(1,2)", false),
        ] {
            assert!(sequence.read(cell));
            assert_eq!(sequence.is_like(notation), is_like, "{cell}");
        }
    }
}
