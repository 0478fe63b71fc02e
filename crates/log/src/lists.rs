//! Columns whose cells are lists, `[1,-1,1]`: what of them is observed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::cell::canonical;
use crate::layout::Layout;
use crate::options::{ListReading, ReadOptions};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::setting;

/// One observation column that a list becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// The element at a position, of so many.
    At { at: usize, of: usize },
    /// See [`ListReading`].
    Length,
    /// See [`ListReading`].
    Sum,
    /// See [`ListReading`].
    Set,
}

impl Element {
    /// The name of the column that it becomes.
    pub fn name(self, column: &str) -> String {
        match self {
            Element::At { at, .. } => format!("{column}[{}]", at + 1),
            Element::Length => format!("{column}.length"),
            Element::Sum => format!("{column}.sum"),
            Element::Set => format!("{column}.set"),
        }
    }
}

/// The observation columns that a list becomes.
fn elements(reading: ListReading) -> Vec<Element> {
    match reading {
        ListReading::First(of) => (0..of).map(|at| Element::At { at, of }).collect(),
        ListReading::Length => vec![Element::Length],
        ListReading::Sum => vec![Element::Sum],
        ListReading::Set => vec![Element::Set],
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

/// What was made of the columns of lists, for the report.
pub fn notes(options: &ReadOptions) -> impl Iterator<Item = String> {
    options.lists.iter().map(|(column, reading)| {
        format!(
            "Column {} holds lists; observed is {}.",
            shorten(column),
            reading.description()
        )
    })
}

/// The elements of the lists of one row, one column at a time.
#[derive(Default)]
pub struct Lists {
    column: Option<usize>,
    elements: Vec<String>,
}

impl Lists {
    /// A new row begins.
    pub fn begin_row(&mut self) {
        self.column = None;
    }

    /// What an element is in a cell of a column, or what is wrong with the cell.
    pub fn text(
        &mut self,
        column: usize,
        element: Element,
        cell: &str,
    ) -> std::result::Result<Cow<'_, str>, String> {
        if self.column != Some(column) {
            self.elements = parse(cell)?;
            self.column = Some(column);
        }
        let elements = &self.elements;
        match element {
            Element::At { at, of } => match elements.get(at) {
                Some(text) => Ok(text.into()),
                None => {
                    let found = elements.len();
                    let problem = format!("is a list of {found}, where {of} are to be observed");
                    Err(problem)
                }
            },
            Element::Length => Ok(elements.len().to_string().into()),
            Element::Sum => sum(elements).map(Cow::Owned),
            Element::Set => {
                let texts = elements.iter().map(|element| canonical(element));
                let set: BTreeSet<Cow<str>> = texts.collect();
                let set: Vec<Cow<str>> = set.into_iter().collect();
                // Quoted, so that no element can look like two.
                Ok(serde_json::to_string(&set).unwrap_or_default().into())
            }
        }
    }
}

fn parse(cell: &str) -> std::result::Result<Vec<String>, String> {
    let wrong = "is not a list like [1,-1,1]";
    let raw: Vec<&RawValue> = serde_json::from_str(cell.trim()).map_err(|_| wrong.to_owned())?;
    let text = |(at, raw): (usize, &&RawValue)| match raw.get().as_bytes() {
        [b'"', ..] => serde_json::from_str(raw.get()).map_err(|_| wrong.to_owned()),
        [b'[' | b'{', ..] => Err(format!("holds a list or an object at {}", at + 1)),
        b"null" => Err(format!("holds null at {}", at + 1)),
        _ => Ok(raw.get().to_owned()),
    };
    raw.iter().enumerate().map(text).collect()
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
        lists.text(0, element, cell).map(Cow::into_owned)
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
    fn what_is_no_list_or_too_short_is_said() {
        let at = Element::At { at: 1, of: 2 };
        for (cell, words) in [
            ("[1]", "a list of 1, where 2"),
            ("1,2", "not a list"),
            ("[1,2", "not a list"),
            ("", "not a list"),
            ("[1,[2]]", "at 2"),
            ("[null,1]", "null at 1"),
        ] {
            let problem = text(cell, at).unwrap_err();
            assert!(problem.contains(words), "{cell}: {problem}");
        }
        assert!(text("[\"a\"]", Element::Sum).unwrap_err().contains("at 1"));
    }
}
