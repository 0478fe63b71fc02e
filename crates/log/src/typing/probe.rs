//! What the first rows say of a column.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::cell::occurrences_of;
use crate::lists::{Element, Lists};
use crate::notation::{Notation, may_be_hexadecimal};
use crate::number::Number;
use crate::row::{Field, Row, is_absent, is_not_a_number, is_number};
use crate::typing::FEW_VALUES;
use crate::units::{CURRENCIES, Suffix, Unit};

/// Few values are categories if each is seen at least this often on average.
const OFTEN: u64 = 5;

/// What the first rows say of a column.
pub(super) struct Probe {
    /// A value, where nearly all begin like a number that cannot be read.
    pub like_a_number: Option<String>,
    /// Two numbers with different units, or a date of which day and month cannot be told, in such a column.
    pub unclear: Option<Unclear>,
    /// What its numbers count, if they are dates or durations.
    pub unit: Option<Unit>,
    /// Whether all values begin with a blank.
    pub padded: bool,
    /// Whether any value is a number.
    pub has_numbers: bool,
    /// Whether it holds numbers, perhaps with words among them.
    pub holds_numbers: bool,
    /// Whether it holds few integers and no words, each seen often.
    pub few_integers: bool,
    /// Whether it holds words and few numbers, each seen often.
    pub few_with_words: bool,
    /// A number in a notation that is not read, in a column of numbers of whatever notation.
    pub foreign: Option<(String, Notation)>,
    /// A value that begins like a number and is none.
    pub odd: Option<String>,
    /// A value, where nearly all may be hexadecimal numbers without a prefix.
    pub hexadecimal: Option<String>,
}

/// How many rows the first rows stand for.
pub(crate) fn occurrences(rows: &[Row], count: Option<usize>) -> u64 {
    let occurred = |row: &Row| {
        let count = count.and_then(|column| match row.get(column)? {
            Field::Number(number) => occurrences_of(number).ok(),
            field => field.text().trim().parse().ok(),
        });
        count.unwrap_or(1u64)
    };
    rows.iter().map(occurred).fold(0, u64::saturating_add)
}

/// What a field says to whoever decides the type of its column.
pub(super) enum Cell<'r> {
    /// A text, or what stands for no value.
    Text(Cow<'r, str>),
    /// A number in binary.
    Number(Number),
}

/// The fields of a column. What is no list in a column of lists is reported when its row is read.
pub(super) fn cells<'r>(
    rows: &'r [Row],
    position: usize,
    element: Option<&Element>,
) -> Vec<Cell<'r>> {
    let fields = rows.iter().filter_map(|row| row.get(position));
    let Some(element) = element else {
        return fields
            .map(|field| match field {
                Field::Number(number) => Cell::Number(number),
                field => Cell::Text(field.text()),
            })
            .collect();
    };
    let of_list = |field: Field| {
        let (mut lists, cell) = (Lists::default(), field.text());
        let text = lists.text(position, element, &cell);
        text.map_or(String::new(), Cow::into_owned)
    };
    fields
        .map(|field| Cell::Text(of_list(field).into()))
        .collect()
}

/// At most one value more than few, each once.
struct Few<T>(BTreeSet<T>);

impl<T: Ord> Few<T> {
    fn new() -> Self {
        Few(BTreeSet::new())
    }

    fn add(&mut self, value: T) {
        if self.0.len() <= FEW_VALUES {
            self.0.insert(value);
        }
    }

    fn are_few(&self) -> bool {
        self.0.len() <= FEW_VALUES
    }
}

/// What stands in a column beside its numbers.
struct Words<'c> {
    count: usize,
    different: Few<&'c str>,
    foreign: Option<(&'c str, Notation)>,
    foreign_count: usize,
    odd: Option<&'c str>,
}

impl<'c> Words<'c> {
    fn new() -> Self {
        Words {
            count: 0,
            different: Few::new(),
            foreign: None,
            foreign_count: 0,
            odd: None,
        }
    }

    fn add(&mut self, text: &'c str) {
        self.count += 1;
        self.different.add(text);
        match Notation::of(text) {
            Some(notation) if notation.is_number() => {
                self.foreign_count += 1;
                self.foreign = self.foreign.or(Some((text, notation)));
            }
            Some(_) => self.odd = self.odd.or(Some(text)),
            None => {}
        }
    }
}

impl Probe {
    pub(super) fn of(cells: &[Cell], occurrences: u64) -> Self {
        let unit = unit_of(cells);
        let (mut numbers, mut finite, mut integers) = (0usize, 0usize, true);
        let mut different = Few::new();
        let mut words = Words::new();
        for cell in cells {
            let value = match (cell, unit) {
                (Cell::Number(number), _) => Some(number.value()),
                (Cell::Text(text), _) if is_absent(text.trim()) => continue,
                (Cell::Text(text), Some(unit)) => unit.seconds(text.trim()),
                (Cell::Text(text), None) => text.trim().parse::<f64>().ok(),
            };
            match (value, cell) {
                (Some(value), _) => {
                    numbers += 1;
                    finite += usize::from(value.is_finite());
                    integers &= unit.map_or(value == value.trunc(), |unit| unit.is_whole(value));
                    different.add(value.to_bits());
                }
                (None, Cell::Text(text)) => words.add(text.trim()),
                (None, Cell::Number(_)) => {}
            }
        }
        let present = numbers + words.count;
        let holds_numbers = finite > 0
            && (2 * numbers >= present || (words.different.are_few() && !different.are_few()));
        let values = different.0.len() + words.different.0.len();
        let is_few = different.are_few()
            && words.different.are_few()
            && occurrences >= OFTEN * values as u64;
        let foreign = words.foreign.filter(|(_, notation)| {
            // A pair of digits is a label like others.
            let may_be_pair = *notation == Notation::DecimalComma && words.different.are_few();
            2 * (numbers + words.foreign_count) >= present && !may_be_pair || holds_numbers
        });
        let is_padded = |cell: &Cell| matches!(cell, Cell::Text(text) if text.starts_with(' '));
        let unread = unit.is_none().then_some(cells);
        Probe {
            like_a_number: unread.and_then(like_a_number),
            unclear: unread.and_then(|cells| Unclear::of(cells, occurrences)),
            unit,
            padded: !cells.is_empty() && cells.iter().all(is_padded),
            has_numbers: numbers > 0,
            holds_numbers,
            few_integers: finite > 0 && words.count == 0 && integers && is_few,
            few_with_words: words.count > 0 && is_few && words.foreign.is_none(),
            foreign: foreign
                .map(|(text, notation)| (text.to_owned(), notation))
                .or_else(|| Some((has_points_of_thousands(cells)?, Notation::Separators))),
            odd: words.odd.map(str::to_owned),
            hexadecimal: hexadecimal(cells, present),
        }
    }
}

fn texts<'c>(cells: &'c [Cell<'_>]) -> impl Iterator<Item = &'c str> + Clone {
    cells.iter().filter_map(|cell| match cell {
        Cell::Text(text) => Some(text.trim()),
        Cell::Number(_) => None,
    })
}

/// The unit that cells are written in, words aside: by the rule by which a column holds numbers. A number without a
/// unit has none.
fn unit_of(cells: &[Cell]) -> Option<Unit> {
    let present = || texts(cells).filter(|text| !is_absent(text) && !is_not_a_number(text));
    let begins = |text: &&str| text.contains(|c: char| c.is_ascii_digit());
    let first = present().find(begins)?;
    if cells.iter().any(|cell| matches!(cell, Cell::Number(_))) {
        return None;
    }
    if let Some(unit) = Unit::of_slashed(present()) {
        return Some(unit);
    }
    let is_time = Unit::of(std::iter::once(first)).is_some();
    if !is_time && let Some(unit) = scaled(cells) {
        return Some(unit);
    }
    if is_number(first) {
        return None;
    }
    let unit = match Unit::of(std::iter::once(first)) {
        Some(unit) => unit,
        // Few values are labels, whatever stands behind their numbers.
        None => Unit::Suffix(Suffix::of(first).filter(|_| like_a_number(cells).is_some())?),
    };
    let (mut count, mut others, mut different) = (0, 0, Few::new());
    for text in present() {
        if unit.seconds(text).is_some() {
            count += 1;
        } else if is_number(text) || (!unit.is_time() && Suffix::of(text).is_some()) {
            return None;
        } else {
            others += 1;
            different.add(text);
        }
    }
    (count >= others || (different.are_few() && count > FEW_VALUES)).then_some(unit)
}

/// The unit of many different numbers behind which it is multiplied: nothing else begins like them but words.
fn scaled(cells: &[Cell]) -> Option<Unit> {
    let different: BTreeSet<&str> = texts(cells).collect();
    if different.len() <= FEW_VALUES {
        return None;
    }
    let begins = |text: &&&str| {
        let is_of_number = |c: char| c.is_ascii_digit() || "+-.".contains(c);
        text.starts_with(is_of_number) || text.starts_with(CURRENCIES)
    };
    let numbers = different.iter().filter(begins).copied();
    let found = Unit::of_scaled(numbers.clone())?;
    (2 * numbers.count() >= different.len()).then_some(found)
}

/// A text of a column of many different ones, nearly all of which may be hexadecimal numbers: letters and digits stand
/// anywhere in them, and nearly all letters come up. Names of cells and classes, `a1` and `c12`, are none.
fn hexadecimal(cells: &[Cell], present: usize) -> Option<String> {
    let (mut count, mut with_letters) = (0, 0);
    let (mut letter_first, mut digit_first) = (false, false);
    let (mut different, mut letters) = (Few::new(), Few::new());
    let mut example = None;
    for text in texts(cells).filter(|text| may_be_hexadecimal(text)) {
        count += 1;
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        if text.parse::<f64>().is_err() && text.as_bytes().iter().any(is_digit) {
            with_letters += 1;
            digit_first |= is_digit(&text.as_bytes()[0]);
            letter_first |= !is_digit(&text.as_bytes()[0]);
            different.add(text);
            let of_text = text.bytes().filter(|byte| !is_digit(byte));
            of_text.for_each(|letter| letters.add(letter.to_ascii_lowercase()));
            example = example.or(Some(text));
        }
    }
    let is_hexadecimal = 10 * count >= 9 * present
        && 4 * with_letters >= present
        && letter_first
        && digit_first
        && !different.are_few()
        && letters.0.len() >= 5;
    example.filter(|_| is_hexadecimal).map(str::to_owned)
}

/// A text with a unit of a column of many, nearly all of which are numbers with one or without.
fn like_a_number(cells: &[Cell]) -> Option<String> {
    let like_numbers = texts(cells)
        .filter(|text| looks_like_a_number(text) || is_number(text))
        .count();
    let different: BTreeSet<&str> = texts(cells).take(1000).collect();
    let nearly_all = 10 * like_numbers >= 9 * cells.len().max(1);
    let mut like = texts(cells).filter(|text| looks_like_a_number(text));
    like.next()
        .filter(|_| nearly_all && different.len() > FEW_VALUES)
        .map(str::to_owned)
}

/// Values that are numbers of something, and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unclear {
    /// `3 KB` beside `2 MB`.
    Units(String),
    /// `02/03/2026`.
    Date(String),
}

impl Unclear {
    /// Of many different values, which do not recur as labels do, nearly all of which are so.
    fn of(cells: &[Cell], occurrences: u64) -> Option<Self> {
        let present: Vec<&str> = texts(cells).filter(|text| !is_absent(text)).collect();
        let different: BTreeSet<&str> = present.iter().copied().collect();
        if different.len() <= FEW_VALUES || occurrences >= OFTEN * different.len() as u64 {
            return None;
        }
        let nearly_all = |is_so: fn(&str) -> bool| {
            let so = present.iter().filter(|text| is_so(text)).count();
            10 * so >= 9 * present.len()
        };
        let example = |is_so: fn(&str) -> bool| {
            let found = present.iter().find(|text| is_so(text));
            found.map_or_else(String::new, |text| (*text).to_owned())
        };
        if nearly_all(is_slashed_date) {
            Some(Unclear::Date(example(is_slashed_date)))
        } else if nearly_all(has_short_unit) {
            Some(Unclear::Units(example(has_short_unit)))
        } else {
            None
        }
    }

    pub(super) fn example(&self) -> &str {
        match self {
            Unclear::Units(text) | Unclear::Date(text) => text,
        }
    }
}

/// A number behind which there are at most four letters or signs, or a rate.
fn has_short_unit(text: &str) -> bool {
    Suffix::of(text)
        .is_some_and(|unit| unit.text().chars().count() <= 4 || unit.text().contains('/'))
}

/// Whether points stand between thousands: whole numbers below 1000 beside numbers from 1.000 on, of which each has three
/// digits behind its point and none is below 1. Decimals would have had other numbers of digits too.
fn has_points_of_thousands(cells: &[Cell]) -> Option<String> {
    /// Fewer different numbers of either kind are chance, or stand for something.
    const LEAST: usize = 20;
    let (mut whole, mut pointed) = (BTreeSet::new(), BTreeSet::new());
    for text in texts(cells) {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty()
            || !digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            continue;
        }
        match digits.split_once('.') {
            None if digits.len() <= 3 => whole.insert(text),
            Some((before, after))
                if after.len() == 3
                    && (1..=3).contains(&before.len())
                    && !before.starts_with('0') =>
            {
                pointed.insert(text)
            }
            _ => return None,
        };
    }
    let example = pointed.first().map(|text| (*text).to_owned());
    example.filter(|_| whole.len() >= LEAST && pointed.len() >= LEAST)
}

/// A date with the year last and slashes between.
fn is_slashed_date(text: &str) -> bool {
    let date = text.split(' ').next().unwrap_or(text);
    let parts: Vec<&str> = date.split('/').collect();
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], [first, second, year]
        if (1..=2).contains(&first.len()) && (1..=2).contains(&second.len()) && year.len() == 4)
        && parts.iter().all(|part| is_number(part))
}

/// A number with a unit.
fn looks_like_a_number(text: &str) -> bool {
    text.parse::<f64>().is_err() && Suffix::of(text).is_some()
}
