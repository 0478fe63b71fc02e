//! What the first cells of a column show them to be: bits, lists of numbers, integers beyond double precision.
//!
//! Nobody asked for it, so nothing may be lost by it but of long lists, whose columns say what is kept.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::digits::Digits;
use crate::integers;
use crate::lists::Element;
use crate::parts::Split;
use crate::sequences::{self, Aspect, FIRST_ITEMS, MAX_BITS, MAX_ITEMS, Sequence};
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
        return of_lists(column, &lists, recurrence(cells, occurrences));
    }
    (!timed && integers::are_beyond_double(cells)).then(|| of_integers(column))
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
    /// The length of the shortest and of the longest.
    lengths: (usize, usize),
    is_binary: bool,
}

impl NumberLists {
    fn of(cells: &[Cow<str>]) -> Option<Self> {
        let mut sequence = Sequence::default();
        let mut found: Option<NumberLists> = None;
        for cell in cells {
            if !sequence.read(cell) {
                return None;
            }
            let (length, is_binary) = (sequence.len(), sequence.is_binary());
            let own = sequence.notation()?;
            let found = found.get_or_insert(NumberLists {
                notation: own,
                lengths: (length, length),
                is_binary: true,
            });
            // What stands between elements is known where there are two.
            if found.lengths.1 < 2 {
                let is_like = length < 2 || sequence.is_like(own);
                found.notation = if is_like { own } else { found.notation };
            }
            if !sequence.is_like(found.notation) {
                return None;
            }
            let (least, most) = found.lengths;
            found.lengths = (least.min(length), most.max(length));
            found.is_binary &= is_binary;
        }
        found.filter(|found| found.lengths.1 > 0)
    }
}

/// `None` where lists recur so often that as labels they tell all.
fn of_lists(column: &str, lists: &NumberLists, recurrence: Recurrence) -> Option<Reading> {
    let (least, most) = lists.lengths;
    let is_fixed = least == most;
    let is_bits = is_fixed && lists.is_binary && most <= MAX_BITS;
    let is_enough = match recurrence {
        Recurrence::Few => true,
        Recurrence::Often => !is_bits,
        Recurrence::Sometimes | Recurrence::Hardly => false,
    };
    if is_enough {
        return None;
    }
    let is_all = is_fixed && (is_bits || most <= MAX_ITEMS);
    let items = if is_all { most } else { most.min(FIRST_ITEMS) };
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
    let aspect = |what| Element::Aspect {
        what,
        of: lists.notation,
        is_all,
    };
    let whole = (recurrence != Recurrence::Hardly).then_some(Element::Whole);
    let elements = whole.into_iter().chain(what.map(aspect)).collect();
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
            "Column {name} holds lists of numbers; observed are {}.{otherwise} {}.",
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
             2^52, and {name}.bit[0] to {name}.bit[{}] are the lowest bits. {}.",
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
        assert!(long.contains(&"x[16]".to_owned()) && !long.contains(&"x[17]".to_owned()));
        // Labels, objects, lists of words and of lists are something else.
        assert_eq!(read(60, 60, |at| format!("[\"a\",{at}]")), None);
        assert_eq!(read(60, 60, |at| format!("[[{at}]]")), None);
        assert_eq!(read(60, 60, |_| "[]".to_owned()), None);
    }

    #[test]
    fn integers_beyond_double_precision_keep_their_bits() {
        let found = read(60, 60, |at| (u64::MAX - at).to_string()).expect("integers");
        assert_eq!(found[..4], ["x", "x.low", "x.bit[0]", "x.bit[1]"]);
        assert_eq!(read(60, 60, |at| at.to_string()), None);
    }
}
