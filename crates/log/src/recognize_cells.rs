//! What the first cells of a column show them to be: bits, lists of numbers, integers beyond double precision.
//!
//! Nobody asked for it, so nothing may be lost by it but of long lists, whose columns say what is kept.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::digits::Digits;
use crate::integers;
use crate::item_columns::{ItemColumns, are_times};
use crate::lists::Element;
use crate::parts::Split;
use crate::sequences::{self, Aspect, Sequence};
use crate::units::Suffix;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::setting;

/// Different cells that are told apart as labels.
const FEW: usize = 20;
/// Cells that are seen so often on average are labels, beside what they hold.
const TWICE: u64 = 2;
/// … and labels that tell enough.
const OFTEN: u64 = 5;
/// Statistics of lists of no more elements tell nothing that these do not.
const SHORT: usize = 4;

/// How the cells of a column are read.
pub struct Reading {
    /// The columns that they become.
    pub elements: Vec<Element>,
    /// A sentence for the report.
    pub note: String,
}

impl Reading {
    /// Words and numbers together, so many numbers in a cell at most.
    pub fn mixed(column: &str, (split, of): (Split, usize), is_asked: bool) -> Self {
        let form = Element::Form { split, of };
        let numbers = match of {
            1 => "its number".to_owned(),
            _ => format!("its {of} numbers, 0 where a cell has fewer"),
        };
        let otherwise = match is_asked {
            true => String::new(),
            false => format!(
                " Its first rows hold words and numbers together; {}.",
                as_labels(column)
            ),
        };
        let note = format!(
            "Column {} is taken apart {}: {} (words, # for a number) and {numbers}.{otherwise}",
            shorten(column),
            split.description(),
            shorten(&form.name(column))
        );
        let numbers = (0..of).map(|at| Element::Number { at, of, split });
        Reading {
            elements: std::iter::once(form).chain(numbers).collect(),
            note,
        }
    }
}

impl Reading {
    /// Besides, which numbers are in a list, where they are names of things.
    fn with_ids(mut self, column: &str, cells: &[Cow<str>], parts: usize) -> Self {
        let Some(ids) = ItemColumns::of_ids(cells, parts) else {
            return self;
        };
        let is_all = !self.elements.iter().any(Element::is_summary);
        self.elements.extend(ids.elements(false, is_all));
        let also = format!(
            " Its numbers look like names of things; observed is also {}.",
            ids.observed(&shorten(column))
        );
        self.note += &also;
        self
    }
}

fn as_labels(column: &str) -> String {
    let option = setting("categorical", shorten(column));
    format!("{option} reads them as labels")
}

/// How a column is read whose first cells, blanks aside, are these; of so many rows. `None` where they are none of what
/// is known here. Times are no integers to be taken apart.
pub fn of(column: &str, cells: &[Cow<str>], occurrences: u64, timed: bool) -> Option<Reading> {
    if let Some(digits) = Digits::of(cells) {
        return Some(of_digits(column, digits, recurrence(cells, occurrences)));
    }
    if let Some(lists) = NumberLists::of(cells) {
        let found = of_lists(column, &lists, recurrence(cells, occurrences));
        return found.map(|found| found.with_ids(column, cells, lists.notation.parts()));
    }
    (!timed && integers::are_beyond_double(cells)).then(|| of_integers(column))
}

/// How a column of lists is read of whose numbers an observer sees bins: these numbers, and nothing else of a cell.
pub fn of_lists_in_bins(column: &str, cells: &[Cow<str>]) -> Option<Reading> {
    of_lists(column, &NumberLists::of(cells)?, Recurrence::Hardly)
}

/// How a column of texts of items is read whose whole texts hardly recur.
pub fn of_items(column: &str, cells: &[Cow<str>], occurrences: u64) -> Option<Reading> {
    let whole = match recurrence(cells, occurrences) {
        Recurrence::Few | Recurrence::Often => return None,
        Recurrence::Sometimes => Some(Element::Whole),
        Recurrence::Hardly => None,
    };
    let items = ItemColumns::of_words(cells).filter(|_| !are_times(cells))?;
    let and_whole = match whole {
        Some(_) => ", the whole as a label",
        None => "",
    };
    let otherwise = format!(
        " This is not all that the texts say: {} says that an observer sees no more. {}.",
        setting("lists", format!("{}=items", shorten(column))),
        as_labels(column)
    );
    let elements = whole.into_iter().chain(items.elements(true, false));
    Some(Reading {
        elements: elements.collect(),
        note: note_of_items(column, &items, and_whole) + &otherwise,
    })
}

/// How a column is read whose frequent items are asked for.
pub fn of_asked_items(column: &str, cells: &[Cow<str>]) -> Option<Reading> {
    let items = ItemColumns::of_asked(cells)?;
    Some(Reading {
        elements: items.elements(true, true).collect(),
        note: note_of_items(column, &items, ""),
    })
}

fn note_of_items(column: &str, items: &ItemColumns, besides: &str) -> String {
    let name = shorten(column);
    format!(
        "Column {name} holds {}, taken apart: observed are their number{besides}, and {}. The first rows chose which, by how \
         often they occur and by no secret.",
        items.kind(),
        items.observed(&name),
    )
}

/// How often cells recur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recurrence {
    /// Few different ones.
    Few,
    /// Five times on average.
    Often,
    /// Twice.
    Sometimes,
    /// Less.
    Hardly,
}

fn recurrence(cells: &[Cow<str>], occurrences: u64) -> Recurrence {
    let different: HashSet<&str> = cells.iter().map(|cell| cell.trim()).collect();
    let different = different.len();
    match different as u64 {
        _ if different <= FEW => Recurrence::Few,
        cells if occurrences >= OFTEN * cells => Recurrence::Often,
        cells if occurrences >= TWICE * cells => Recurrence::Sometimes,
        _ => Recurrence::Hardly,
    }
}

fn of_digits(column: &str, digits: Digits, recurrence: Recurrence) -> Reading {
    let (name, kind) = (shorten(column), digits.description());
    let whole = (recurrence != Recurrence::Hardly).then_some(Element::Whole);
    if recurrence == Recurrence::Few {
        return Reading {
            elements: vec![Element::Whole],
            note: format!("Column {name} holds {kind}, which are labels and no numbers."),
        };
    }
    let count = digits.count();
    let numbers = (0..count).map(|at| Element::Digit { at, of: digits });
    let what = match digits.is_in_bits() {
        true => format!("its {count} bits"),
        false => format!("its {count} digits"),
    };
    let and_whole = match whole {
        Some(_) => " and the whole as a label",
        None => "",
    };
    Reading {
        elements: whole.into_iter().chain(numbers).collect(),
        note: format!(
            "Column {name} holds {kind}; observed are {what}{and_whole}. {}.",
            as_labels(column)
        ),
    }
}

/// Lists of numbers, all written alike.
struct NumberLists {
    notation: sequences::Notation,
    /// Records of the shortest and of the longest.
    lengths: (usize, usize),
    /// Whether the numbers have two values at most.
    is_binary: bool,
}

impl NumberLists {
    fn of(cells: &[Cow<str>]) -> Option<Self> {
        // `Decimal('12.5')` and `tensor(0.5)` are numbers as a language prints them.
        if cells.iter().all(|cell| Suffix::of(cell.trim()).is_some()) {
            return None;
        }
        let mut sequence = Sequence::default();
        let (mut shortest, mut longest) = (usize::MAX, (0, ""));
        for cell in cells {
            if !sequence.read(cell) {
                return None;
            }
            let length = sequence.len();
            shortest = shortest.min(length);
            if length > longest.0 {
                longest = (length, cell);
            }
        }
        if longest.0 == 0 || is_bare(longest.1) && !is_bare_list(longest, cells) {
            return None;
        }
        sequence.read(longest.1);
        let notation = sequence.notation()?;
        let mut values: Vec<f64> = Vec::new();
        for cell in cells {
            sequence.read(cell);
            if !sequence.is_like(notation) {
                return None;
            }
            for value in sequence.values() {
                if values.len() <= 2 && !values.contains(value) {
                    values.push(*value);
                }
            }
        }
        let parts = notation.parts();
        Some(NumberLists {
            notation,
            lengths: (shortest / parts, longest.0 / parts),
            is_binary: parts == 1 && values.len() <= 2,
        })
    }
}

/// Whether no brackets say that it is a list.
fn is_bare(cell: &str) -> bool {
    !cell.contains(['[', '(', '{'])
}

/// Whether what has no brackets is a list, and no number with separators, no time and no date: three numbers at least, or
/// four between colons or slashes, and not all in threes.
fn is_bare_list((length, longest): (usize, &str), cells: &[Cow<str>]) -> bool {
    let in_threes = |cell: &Cow<str>| {
        let mut groups = cell.trim().split(',');
        let first = groups.next().map_or(0, str::len);
        first <= 4 && groups.all(|group| group.len() == 3)
    };
    let least = if longest.contains([':', '/']) { 4 } else { 3 };
    length >= least && !cells.iter().all(in_threes)
}

/// `None` where lists recur so often that as labels they tell all.
fn of_lists(column: &str, lists: &NumberLists, recurrence: Recurrence) -> Option<Reading> {
    let (least, most) = lists.lengths;
    let parts = lists.notation.parts();
    let is_fixed = least == most;
    let is_bits = is_fixed && lists.is_binary && most <= sequences::MAX_BITS;
    let is_enough = match recurrence {
        Recurrence::Few => true,
        Recurrence::Often => !is_bits,
        Recurrence::Sometimes | Recurrence::Hardly => false,
    };
    if is_enough {
        return None;
    }
    let is_all = is_fixed && (is_bits || most * parts <= sequences::MAX_ITEMS);
    let first = match lists.is_binary {
        true => sequences::FIRST_BITS,
        false => sequences::FIRST_ITEMS / parts,
    };
    let items = if is_all { most } else { most.min(first) };
    let statistics = sequences::STATISTICS.into_iter().filter(|aspect| {
        let is_told = match aspect {
            // Items tell both, and the sum tells the mean.
            Aspect::Length | Aspect::Mean => is_fixed,
            Aspect::Last => is_all,
            _ => false,
        };
        !(is_told || is_bits || is_all && most <= SHORT)
    });
    let statistics: Vec<Aspect> = statistics.collect();
    let what = statistics
        .iter()
        .copied()
        .chain((0..items).map(Aspect::Item));
    let all = (0..parts).flat_map(|part| what.clone().map(move |what| (part, what)));
    let aspect = |(part, what)| Element::Aspect {
        what,
        part,
        of: lists.notation,
        is_all,
    };
    // The length is that of all parts.
    let all = all.filter(|&(part, what)| part == 0 || what != Aspect::Length);
    let whole = (recurrence != Recurrence::Hardly).then_some(Element::Whole);
    let elements = whole.clone().into_iter().chain(all.map(aspect)).collect();
    let mut observed: Vec<String> = whole
        .iter()
        .map(|_| "the whole as a label".into())
        .collect();
    let names = statistics
        .iter()
        .map(|what| what.name().trim_start_matches('.').to_owned());
    observed.extend(names);
    observed.push(match (is_bits, is_all) {
        (true, _) => format!("its {items} bits"),
        (false, true) => format!("its {items} elements"),
        (false, false) => format!("its first {items} elements"),
    });
    let name = shorten(column);
    let kind = match parts {
        1 => "lists of numbers".to_owned(),
        _ => {
            format!("lists of records of {parts} numbers, told apart as {name}.1 to {name}.{parts}")
        }
    };
    let otherwise = match is_all {
        true => String::new(),
        false => format!(
            " This is not all that the lists say: {} and others name what is observed instead.",
            setting("lists", format!("{name}=first:N"))
        ),
    };
    Some(Reading {
        elements,
        note: format!(
            "Column {name} holds {kind}; observed are {}.{otherwise} {}.",
            observed.join(", "),
            as_labels(column)
        ),
    })
}

fn of_integers(column: &str) -> Reading {
    let name = shorten(column);
    Reading {
        elements: integers::Part::all().map(Element::Integer).collect(),
        note: format!(
            "Column {name} holds integers beyond 2^53, which are rounded as numbers; {} keeps the rest: the remainder modulo \
             2^52, and {name}.bit[0] to {name}.bit[{}] are its bits. {}.",
            format_args!("{name}.low"),
            integers::SINGLE_BITS - 1,
            as_labels(column)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: u64, count: u64, cell: impl Fn(u64) -> String) -> Option<Vec<String>> {
        let cells: Vec<Cow<str>> = (0..count).map(|at| cell(at).into()).collect();
        let found = of("x", &cells, rows, false)?;
        let elements = found.elements.iter();
        Some(elements.map(|element| element.name("x")).collect())
    }

    #[test]
    fn bits_are_columns_and_the_whole_where_it_recurs() {
        let bits = |at: u64| format!("{:08b}", at * 37 % 256);
        let columns: Vec<String> = (1..=8).map(|at| format!("x[{at}]")).collect();
        assert_eq!(read(100, 100, bits), Some(columns.clone()));
        let with_whole: Vec<String> = std::iter::once("x".to_owned()).chain(columns).collect();
        assert_eq!(read(200, 100, bits), Some(with_whole.clone()));
        assert_eq!(read(5000, 100, bits), Some(with_whole));
        assert_eq!(read(20, 20, bits), Some(vec!["x".to_owned()]));
    }

    #[test]
    fn lists_of_numbers_are_sequences_unless_they_recur() {
        let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        let statistics = [
            "length", "sum", "mean", "sd", "min", "q25", "median", "q75", "max",
        ];
        let varying = |at: u64| format!("{:?}", vec![at * 7 % 13; at as usize % 5 + 1]);
        let mut expected: Vec<String> = statistics.iter().map(|name| format!("x.{name}")).collect();
        expected.push("x.last".to_owned());
        expected.extend((1..=5).map(|at| format!("x[{at}]")));
        assert_eq!(read(60, 60, varying), Some(expected));
        assert_eq!(read(6000, 60, varying), None);
        let pair = |at: u64| format!("[{at}.5,{}]", at % 3);
        assert_eq!(read(60, 60, pair), names(&["x[1]", "x[2]"]));
        let bits = |at: u64| {
            format!(
                "[{}, {}, {}, {}, {}]",
                at >> 4 & 1,
                at >> 3 & 1,
                at >> 2 & 1,
                at >> 1 & 1,
                at & 1
            )
        };
        let columns = ["x[1]", "x[2]", "x[3]", "x[4]", "x[5]"];
        assert_eq!(read(32, 32, bits), names(&columns));
        let long = read(60, 60, |at| format!("{:?}", vec![at; 100])).expect("a sequence");
        assert!(long.contains(&"x[100]".to_owned()));
        let long = read(60, 60, |at| format!("{:?}", vec![at; 300])).expect("a sequence");
        assert!(long.contains(&"x[64]".to_owned()) && !long.contains(&"x[65]".to_owned()));
        // Labels, lists of words, times, dates, addresses and numbers with separators are something else.
        assert_eq!(read(60, 60, |at| format!("[\"a\",\"w{at}\"]")), None);
        assert_eq!(read(60, 60, |_| "[]".to_owned()), None);
        for cell in [
            |at: u64| format!("12:{}:{}", at % 60, at * 7 % 60),
            |at: u64| format!("{},{:03}", at, at * 17 % 1000),
            |at: u64| format!("1,{:03},{:03}", at, at * 17 % 1000),
            |at: u64| format!("{},{}", at, at * 17 % 10),
            |at: u64| format!("2026/11/{}", at % 30),
            |at: u64| format!("{at} ms"),
            |at: u64| format!("10.0.0.{at}"),
            |at: u64| format!("user {at}, 3 visits"),
        ] {
            assert_eq!(read(60, 60, cell), None, "{}", cell(3));
        }
    }

    /// As lists are written where no brackets stand around them, by other programs, or with several numbers a record.
    #[test]
    fn lists_are_read_however_they_are_written() {
        let sizes = |at: u64| (0..at % 5 + 2).map(move |n| (at * 31 + n * 7) % 1500);
        let join = |at: u64, separator: &str| {
            let texts: Vec<String> = sizes(at).map(|size| size.to_string()).collect();
            texts.join(separator)
        };
        let plain: [(&str, &str, &str); 8] = [
            ("", " ", ""),
            ("", ",", ""),
            ("", ";", ""),
            ("", "|", ""),
            ("", ":", ""),
            ("{", ", ", "}"),
            ("tensor([", ", ", "])"),
            ("", " B, ", " B"),
        ];
        for (before, between, after) in plain {
            let cell = |at: u64| format!("{before}{}{after}", join(at, between));
            let found = read(60, 60, cell).unwrap_or_default();
            assert!(found.contains(&"x.length".to_owned()), "{}", cell(3));
            assert!(found.contains(&"x[6]".to_owned()), "{}", cell(3));
        }
        let records: [fn(u64, u64) -> String; 4] = [
            |n, size| format!("[0.{n}, {size}]"),
            |n, size| format!("(0.{n}, {size})"),
            |n, size| format!("{{\"t\": 0.{n}, \"size\": {size}}}"),
            |n, size| format!("0.{n}:{size}"),
        ];
        for record in records {
            let cell = |at: u64| {
                let all: Vec<String> = sizes(at)
                    .zip(1..)
                    .map(|(size, n)| record(n, size))
                    .collect();
                format!("[{}]", all.join(", "))
            };
            let found = read(60, 60, cell).unwrap_or_default();
            for name in ["x.length", "x.1.sum", "x.2.sum", "x.2[6]"] {
                assert!(found.contains(&name.to_owned()), "{name}: {}", cell(3));
            }
        }
    }

    #[test]
    fn integers_beyond_double_precision_keep_their_bits() {
        let found = read(60, 60, |at| (u64::MAX - at).to_string()).expect("integers");
        assert_eq!(found[..4], ["x", "x.low", "x.bit[0]", "x.bit[1]"]);
        assert_eq!(read(60, 60, |at| at.to_string()), None);
    }
}
