//! Columns whose cells are lists, `[1,-1,1]`: what of them is observed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::cell::canonical;
use crate::digits::Digits;
use crate::integers::Part;
use crate::items::{Items, Seen, Told};
use crate::layout::Layout;
use crate::options::{ListReading, ReadOptions};
use crate::parts::Split;
use crate::row::{MISSING, NULL, is_absent};
use crate::sequences::{self, Aspect, Notation, Sequence};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::setting;

/// One observation column that a list becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// The element at a position, of so many.
    At { at: usize, of: usize },
    /// See [`ListReading`].
    Length,
    /// See [`ListReading`].
    Sum,
    /// See [`ListReading`].
    Set,
    /// See [`ListReading::Parts`]; replaced by a form and numbers once the first rows are known.
    Apart,
    /// See [`ListReading::Items`]; replaced by what is seen of items once the first rows are known.
    AskedItems,
    /// A cell with `#` for its numbers, so many at most.
    Form { split: Split, of: usize },
    /// The number at a position among those of a cell, of so many at most.
    Number { at: usize, of: usize, split: Split },
    /// The whole cell, as a label.
    Whole,
    /// The number at a position of a text that is bits.
    Digit { at: usize, of: Digits },
    /// Of a list of numbers; all that is observed of it may be all that it says.
    Aspect {
        what: Aspect,
        /// Which number of a record, of a list of records.
        part: usize,
        of: Notation,
        is_all: bool,
    },
    /// Of an integer beyond double precision.
    Integer(Part),
    /// Of a text of items.
    Item {
        seen: Seen,
        of: Arc<Items>,
        is_all: bool,
    },
}

impl Element {
    /// The name of the column that it becomes.
    pub fn name(&self, column: &str) -> String {
        match *self {
            Element::At { at, .. } => format!("{column}[{}]", at + 1),
            Element::Length => format!("{column}.length"),
            Element::Sum => format!("{column}.sum"),
            Element::Set => format!("{column}.set"),
            Element::Apart | Element::AskedItems => column.to_owned(),
            Element::Form { .. } => format!("{column}.form"),
            Element::Number { at: 0, of: 1, .. } => format!("{column}.number"),
            Element::Number { at, .. } => format!("{column}.number[{}]", at + 1),
            Element::Whole => column.to_owned(),
            Element::Digit {
                at,
                of: Digits::Hexadecimal { .. },
            } if self.is_bit() => {
                format!("{column}.bit[{}]", at + 1)
            }
            Element::Digit { at, .. } => format!("{column}[{}]", at + 1),
            Element::Aspect { what, part, of, .. } if of.parts() > 1 && what != Aspect::Length => {
                format!("{column}.{}{}", part + 1, what.name())
            }
            Element::Aspect { what, .. } => format!("{column}{}", what.name()),
            Element::Integer(part) => format!("{column}{}", part.name()),
            Element::Item { seen, ref of, .. } => format!("{column}{}", seen.name(of)),
        }
    }

    fn is_bit(&self) -> bool {
        matches!(*self, Element::Digit { of, .. } if of.is_in_bits())
    }

    /// Whether it is a number, whatever the first rows look like.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Element::Digit { .. }
                | Element::Aspect { .. }
                | Element::Integer(Part::Low | Part::Bit(_))
                | Element::Item { .. }
        )
    }

    /// Whether it is a label, whatever the first rows look like.
    pub fn is_label(&self) -> bool {
        matches!(self, Element::Form { .. } | Element::Whole)
    }

    /// Whether the cell says more than all that is observed of it.
    pub fn is_summary(&self) -> bool {
        matches!(
            self,
            Element::Aspect { is_all: false, .. } | Element::Item { is_all: false, .. }
        )
    }

    /// Whether it stands for a cell that is not what the column holds: the first of its column does.
    fn is_first(&self) -> bool {
        match *self {
            Element::Digit { at, .. } => at == 0,
            Element::Aspect { what, part, .. } => {
                part == 0 && matches!(what, Aspect::Length | Aspect::Item(0))
            }
            Element::Item { seen, .. } => seen == Seen::Length,
            _ => false,
        }
    }

    /// Whether what is missing stands for 0: something beside it says that it is missing.
    pub fn may_be_missing(&self) -> bool {
        matches!(self, Element::Number { .. } | Element::Item { .. })
    }
}

/// The observation columns that a list becomes.
fn elements(reading: ListReading) -> Vec<Element> {
    match reading {
        ListReading::First(of) => (0..of).map(|at| Element::At { at, of }).collect(),
        ListReading::Length => vec![Element::Length],
        ListReading::Sum => vec![Element::Sum],
        ListReading::Set => vec![Element::Set],
        ListReading::Parts => vec![Element::Apart],
        ListReading::Items => vec![Element::AskedItems],
    }
}

/// Replaces every column of lists among the observations by what is observed of it; which element each
/// observation column is, if it is one.
///
/// # Errors
/// A list reading of what is no observation column, or the same twice.
pub fn expand(layout: &mut Layout, options: &ReadOptions) -> Result<Vec<Option<Element>>> {
    for (at, (wanted, reading)) in options.lists.iter().enumerate() {
        let option = || setting("lists", shorten(wanted));
        let is_named = |&position: &usize| layout.is_named(position, wanted);
        if !layout.observe.iter().any(is_named) {
            let columns = layout.observe.iter().map(|&p| layout.names[p].as_str());
            return Err(Error::parameter(option(), "is not an observation column")
                .with_hint(format!("the observation columns are: {}", listing(columns))));
        }
        let is_first = |reading| matches!(reading, ListReading::First(_));
        let again = |(name, other): &(String, ListReading)| {
            name == wanted && (other == reading || (is_first(*other) && is_first(*reading)))
        };
        if options.lists[..at].iter().any(again) {
            return Err(Error::parameter(option(), "asks for the same twice"));
        }
    }
    let (mut observe, mut elements) = (Vec::new(), Vec::new());
    for &position in &layout.observe {
        let readings: Vec<ListReading> = options
            .lists
            .iter()
            .filter(|(wanted, _)| layout.is_named(position, wanted))
            .map(|&(_, reading)| reading)
            .collect();
        if readings.is_empty() {
            observe.push(position);
            elements.push(None);
        }
        for element in readings.into_iter().flat_map(self::elements) {
            observe.push(position);
            elements.push(Some(element));
        }
    }
    layout.observe = observe;
    Ok(elements)
}

/// The columns of lists that are observed in part, and how to say that this is what an observer sees, or a part like it.
pub fn in_part(layout: &Layout, elements: &[Option<Element>]) -> Vec<(String, ListReading)> {
    let mut names: Vec<(String, ListReading)> = Vec::new();
    for (&position, element) in layout.observe.iter().zip(elements) {
        let name = &layout.names[position];
        let is_known = names.last().is_some_and(|(known, _)| known == name);
        if let Some(element) = element.as_ref().filter(|one| one.is_summary() && !is_known) {
            let reading = match element {
                Element::Item { .. } => ListReading::Items,
                _ => ListReading::First(sequences::FIRST_ITEMS),
            };
            names.push((name.clone(), reading));
        }
    }
    names
}

/// The names of the columns that items of texts became.
pub fn item_columns(layout: &Layout, elements: &[Option<Element>]) -> Vec<String> {
    let columns = layout.observe.iter().zip(elements);
    let names = columns.filter_map(|(&position, element)| {
        let of_items = element
            .as_ref()
            .filter(|one| matches!(one, Element::Item { .. }))?;
        Some(of_items.name(&layout.names[position]))
    });
    names.collect()
}

/// What was made of the columns of lists, for the report.
pub fn notes(options: &ReadOptions) -> impl Iterator<Item = String> {
    let asked = options.lists.iter();
    // What is taken apart is said by whoever finds out how.
    let asked =
        asked.filter(|(_, reading)| !matches!(reading, ListReading::Parts | ListReading::Items));
    asked.map(|(column, reading)| {
        format!(
            "Column {} holds lists; observed is {}.",
            shorten(column),
            reading.description()
        )
    })
}

/// How a cell is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Split(Split),
    Digits(Digits),
    Sequence(Notation),
    /// By where the keys of its items are held.
    Items(usize),
}

/// The elements of the lists of one row, one column at a time.
#[derive(Default)]
pub struct Lists {
    /// The column, and how its cells are taken apart.
    parsed: Option<(usize, Kind)>,
    /// The elements of a list, [`NULL`] for null; a form and the numbers behind it.
    elements: Vec<String>,
    /// The first element that is null, from 1.
    null: Option<usize>,
    /// Whether the cell is written like those of the first rows.
    fits: bool,
    sequence: Sequence,
    told: Told,
}

impl Lists {
    /// A new row begins.
    pub fn begin_row(&mut self) {
        self.parsed = None;
    }

    /// What an element is in a cell of a column, or what is wrong with the cell.
    pub fn text<'t>(
        &'t mut self,
        column: usize,
        element: &Element,
        cell: &'t str,
    ) -> std::result::Result<Cow<'t, str>, String> {
        let (kind, of) = match *element {
            Element::Whole => return Ok(cell.into()),
            Element::Integer(part) => return Ok(part.text(cell)),
            Element::Form { split, of } | Element::Number { split, of, .. } => {
                (Kind::Split(split), of)
            }
            Element::Digit { of, .. } => (Kind::Digits(of), 0),
            Element::Aspect { of, .. } => (Kind::Sequence(of), 0),
            Element::Item { ref of, .. } => (Kind::Items(Arc::as_ptr(of) as usize), 0),
            _ => (Kind::List, 0),
        };
        if self.parsed != Some((column, kind)) {
            match element {
                Element::Item { of, .. } => self.fits = self.told.read(of, cell),
                _ => self.parse(kind, of, cell)?,
            }
            self.parsed = Some((column, kind));
        }
        if matches!(kind, Kind::Digits(_) | Kind::Sequence(_) | Kind::Items(_)) && !self.fits {
            return Ok(other(element, cell));
        }
        let elements = &self.elements;
        let or_missing = |at: usize| elements.get(at).map_or(MISSING, String::as_str);
        match *element {
            Element::At { at, .. } => Ok(or_missing(at).into()),
            Element::Form { .. } | Element::Apart | Element::AskedItems => Ok(or_missing(0).into()),
            Element::Number { at, .. } => Ok(or_missing(at + 1).into()),
            Element::Sum | Element::Set if self.null.is_some() => {
                Err(format!("holds null at {}", self.null.unwrap_or(0)))
            }
            Element::Length => Ok(elements.len().to_string().into()),
            Element::Sum => sum(elements).map(Cow::Owned),
            Element::Set => {
                let texts = elements.iter().map(|element| canonical(element));
                let set: BTreeSet<Cow<str>> = texts.collect();
                let set: Vec<Cow<str>> = set.into_iter().collect();
                // Quoted, so that no element can look like two.
                Ok(serde_json::to_string(&set).unwrap_or_default().into())
            }
            Element::Digit { at, of } => Ok(of.number(at, cell).into()),
            Element::Aspect { what, part, of, .. } => {
                Ok(self.sequence.text(what, (part, of.parts()), cell).into())
            }
            Element::Item { seen, .. } => Ok(self.told.text(seen)),
            Element::Whole | Element::Integer(_) => Ok(cell.into()),
        }
    }

    /// Takes a cell apart; `of` numbers at most, where they are told from words.
    fn parse(&mut self, kind: Kind, of: usize, cell: &str) -> std::result::Result<(), String> {
        match kind {
            Kind::Split(split) => {
                let (form, numbers) = split.apart(cell, of);
                self.elements.clear();
                self.elements.push(form);
                self.elements.extend(numbers.into_iter().map(str::to_owned));
            }
            // Read with their keys.
            Kind::Items(_) => {}
            Kind::Digits(digits) => self.fits = digits.fits(cell),
            Kind::Sequence(notation) => {
                self.fits = self.sequence.read(cell) && self.sequence.is_like(notation);
            }
            Kind::List => match parse(cell) {
                Ok(found) => (self.elements, self.null) = found,
                // Lists of numbers are read however they are written.
                Err(problem)
                    if problem == NO_LIST
                        && self.sequence.read(cell)
                        && is_written_as_list(cell)
                        && (self.sequence.len() > 1 || !cell.contains(char::is_alphabetic)) =>
                {
                    let texts = self.sequence.texts(cell).map(str::to_owned);
                    (self.elements, self.null) = (texts.collect(), None);
                }
                Err(problem) => return Err(problem),
            },
        }
        Ok(())
    }
}

/// What stands for a cell that is not what its column holds: the cell as a word at the first element, so that nothing
/// of it is lost. What stands for no value stays that.
fn other<'c>(element: &Element, cell: &'c str) -> Cow<'c, str> {
    match cell.trim() {
        absent if is_absent(absent) && (element.is_first() || !element.may_be_missing()) => {
            absent.into()
        }
        _ if element.is_first() => format!("{cell:?}").into(),
        _ => MISSING.into(),
    }
}

/// Whether brackets that are opened are closed, and something stands between numbers or around them.
fn is_written_as_list(cell: &str) -> bool {
    let count = |c: char| cell.matches(c).count();
    let are_closed = [('[', ']'), ('(', ')'), ('{', '}')]
        .iter()
        .all(|&(open, close)| count(open) == count(close));
    let separates = |c: char| c.is_whitespace() || "[({,;|:/".contains(c);
    are_closed && cell.trim().contains(separates)
}

/// What is wrong with a cell that is no JSON list.
const NO_LIST: &str = "is not a list like [1,-1,1]";

/// The elements of a list, and the first that is null.
fn parse(cell: &str) -> std::result::Result<(Vec<String>, Option<usize>), String> {
    let raw: Vec<&RawValue> = serde_json::from_str(cell.trim()).map_err(|_| NO_LIST.to_owned())?;
    let text = |(at, raw): (usize, &&RawValue)| match raw.get().as_bytes() {
        [b'"', ..] => serde_json::from_str(raw.get()).map_err(|_| NO_LIST.to_owned()),
        [b'[' | b'{', ..] => Err(format!("holds a list or an object at {}", at + 1)),
        b"null" => Ok(NULL.to_owned()),
        _ => Ok(raw.get().to_owned()),
    };
    let null = raw.iter().position(|raw| raw.get() == "null");
    let elements: std::result::Result<_, String> = raw.iter().enumerate().map(text).collect();
    Ok((elements?, null.map(|at| at + 1)))
}

/// Exact for integers, whatever their order; in the order of elements otherwise.
fn sum(elements: &[String]) -> std::result::Result<String, String> {
    let integers = elements
        .iter()
        .map(|element| element.parse::<i64>().ok().map(i128::from));
    if let Some(sum) = integers.sum::<Option<i128>>() {
        return Ok(sum.to_string());
    }
    let mut sum = 0.0;
    for (at, element) in elements.iter().enumerate() {
        let value = element
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite());
        sum += value.ok_or_else(|| format!("holds no finite number at {}", at + 1))?;
    }
    // With an exponent: rounding leaves decimals that no one wrote.
    Ok(format!("{sum:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cell: &str, element: Element) -> std::result::Result<String, String> {
        let mut lists = Lists::default();
        lists.text(0, &element, cell).map(Cow::into_owned)
    }

    #[test]
    fn elements_length_sum_and_set_of_a_list() {
        let cell = " [1, -1,1] ";
        let at = |at| Element::At { at, of: 2 };
        assert_eq!(text(cell, at(1)).unwrap(), "-1");
        assert_eq!(text(cell, Element::Length).unwrap(), "3");
        assert_eq!(text(cell, Element::Sum).unwrap(), "1");
        assert_eq!(text(cell, Element::Set).unwrap(), r#"["-1","1"]"#);
        assert_eq!(text("[1.0,1]", Element::Set).unwrap(), r#"["1"]"#);
        assert_eq!(text("[0.5,0.25]", Element::Sum).unwrap(), "7.5e-1");
        assert_eq!(text("[]", Element::Sum).unwrap(), "0");
        assert_eq!(text(r#"["a","b\n"]"#, at(1)).unwrap(), "b\n");
    }

    #[test]
    fn short_lists_are_padded_and_taken_apart() {
        let at = |at| Element::At { at, of: 2 };
        assert_eq!(text("[1]", at(1)).unwrap(), MISSING);
        assert_eq!(text("[null,1]", at(0)).unwrap(), NULL);
        let (split, of) = (Split::At('/'), 2);
        let mut lists = Lists::default();
        let mut text = |element| {
            let text = lists.text(3, &element, "below/3.52").unwrap();
            text.into_owned()
        };
        let number = |at| Element::Number { at, of, split };
        assert_eq!(text(number(0)), "3.52");
        assert_eq!(text(Element::Form { split, of }), "below/#");
        assert_eq!(text(number(1)), MISSING);
    }

    #[test]
    fn lists_of_numbers_are_read_however_they_are_written() {
        for cell in ["1 -2 3", "1;-2;3", "{1, -2, 3}", "tensor([1, -2, 3])"] {
            assert_eq!(text(cell, Element::At { at: 1, of: 3 }).unwrap(), "-2");
            assert_eq!(text(cell, Element::Sum).unwrap(), "2");
        }
    }

    #[test]
    fn what_is_no_list_is_said() {
        let at = Element::At { at: 1, of: 2 };
        for (cell, words) in [
            ("1,a", "not a list"),
            ("[1,2", "not a list"),
            ("", "not a list"),
            ("[1,[2]]", "at 2"),
        ] {
            let problem = text(cell, at.clone()).unwrap_err();
            assert!(problem.contains(words), "{cell}: {problem}");
        }
        for element in [Element::Sum, Element::Set] {
            assert!(text("[1,null]", element).unwrap_err().contains("null at 2"));
        }
        assert!(text("[\"a\"]", Element::Sum).unwrap_err().contains("at 1"));
    }
}
