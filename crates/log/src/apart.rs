//! Columns whose cells are taken apart without being asked: bits, lists of numbers, words and numbers together. As labels
//! that never recur they would show nothing.
//!
//! The decision reads the texts of the first rows alone, as the types of columns do. It sees no secret, so that no row
//! both chooses and judges, and whatever it decides, an attack sees a function of the observation.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::layout::Layout;
use crate::lists::Element;
use crate::options::ReadOptions;
use crate::parts::{Split, is_number};
use crate::recognize_cells::{self, Reading};
use crate::row::{Row, is_absent};
use crate::typing;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;

/// Characters that may stand between items, the likeliest first.
const SEPARATORS: [char; 4] = ['/', '|', ';', ','];
/// Different words of a column, at most; and different numbers with decimals, more than these.
const FEW: usize = 20;
/// Cells seen so often on average are labels that tell enough.
const OFTEN: u64 = 5;
/// Numbers in a cell that become columns, at most.
const MAX_NUMBERS: usize = 100;

/// Replaces each observation column whose cells hold several things by these: those that are asked for, and those
/// that the first rows show. Returns a sentence for each, for the report.
///
/// # Errors
/// A column that is to be taken apart, with cells that no separator splits.
pub fn expand(
    layout: &mut Layout,
    elements: &mut Vec<Option<Element>>,
    rows: &[Row],
    options: &ReadOptions,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let (mut observe, mut apart) = (Vec::new(), Vec::new());
    for (&position, element) in layout.observe.iter().zip(elements.iter()) {
        let name = &layout.names[position];
        let found = match element {
            Some(Element::Apart) => {
                let split = asked(layout, position, rows, options)?;
                Some(Reading::mixed(name, split, true))
            }
            Some(Element::AskedItems) => Some(asked_items(layout, position, rows, options)?),
            None if is_in_bins(layout, position, options) => {
                recognize_cells::of_lists_in_bins(name, &cells(rows, position))
            }
            None if may_be_apart(layout, position, options) => {
                let cells = cells(rows, position);
                let occurrences = typing::occurrences(rows, layout.count);
                let found = recognize_cells::of(name, &cells, occurrences, options.timed);
                let found = found.or_else(|| {
                    let split = mixed(&cells, occurrences)?;
                    Some(Reading::mixed(name, split, false))
                });
                found.or_else(|| recognize_cells::of_items(name, &cells, occurrences))
            }
            _ => None,
        };
        let Some(found) = found else {
            observe.push(position);
            apart.push(element.clone());
            continue;
        };
        observe.extend(std::iter::repeat_n(position, found.elements.len()));
        apart.extend(found.elements.into_iter().map(Some));
        notes.push(found.note);
    }
    layout.observe = observe;
    *elements = apart;
    Ok(notes)
}

/// Whether nothing is said about a column that does not go with taking it apart.
fn may_be_apart(layout: &Layout, position: usize, options: &ReadOptions) -> bool {
    let mut said = options.categorical.iter().chain(&options.numeric);
    !options.is_blocked()
        && options.scores.is_none()
        && !said.any(|wanted| layout.is_named(position, wanted))
}

/// Whether numbers of a column, and of nothing in it, are seen in bins.
fn is_in_bins(layout: &Layout, position: usize, options: &ReadOptions) -> bool {
    let mut resolutions = options.resolution.iter();
    may_be_apart(layout, position, options)
        && resolutions.any(|(wanted, _)| layout.is_named(position, wanted))
}

/// The texts of a column.
fn cells(rows: &[Row], position: usize) -> Vec<Cow<'_, str>> {
    let texts = rows.iter().filter_map(|row| row.text(position));
    texts.filter(|text| !is_absent(text.trim())).collect()
}

/// How a column of mixed cells is split, and the most numbers in one; `None` if it is not clearly one.
///
/// Every item is a finite number or one of at most 20 different words; half of the cells have several items; there are
/// more than 20 different numbers with decimals; and cells are seen less than five times on average. Where no brackets
/// make a list, words are needed, and no word has a digit or a character of addresses, times and versions.
fn mixed(cells: &[Cow<str>], occurrences: u64) -> Option<(Split, usize)> {
    let different: HashSet<&str> = cells.iter().map(|cell| cell.trim()).collect();
    if different.len() <= FEW || occurrences >= OFTEN * different.len() as u64 {
        return None;
    }
    let separators = SEPARATORS.map(Split::At);
    let splits = std::iter::once(Split::List).chain(separators);
    splits
        .filter_map(|split| Some((split, numbers_if_mixed(cells, split)?)))
        .next()
}

fn numbers_if_mixed(cells: &[Cow<str>], split: Split) -> Option<usize> {
    let mut words = HashSet::new();
    let mut decimals = HashSet::new();
    let (mut several, mut most) = (0, 0);
    for cell in cells {
        let items = split.items(cell)?;
        several += usize::from(items.len() > 1);
        let mut numbers = 0;
        for item in items {
            if is_number(item) {
                numbers += 1;
                let has_decimals = item.contains(['.', 'e', 'E']);
                if has_decimals && decimals.len() <= FEW {
                    decimals.insert(item.parse::<f64>().ok()?.to_bits());
                }
            } else if !words.contains(item) {
                if words.len() == FEW || !is_word(item, split) {
                    return None;
                }
                words.insert(item.to_owned());
            }
        }
        most = most.max(numbers);
    }
    let has_words = !words.is_empty() || split == Split::List;
    let is_mixed = has_words && decimals.len() > FEW && 2 * several >= cells.len();
    (is_mixed && most <= MAX_NUMBERS).then_some(most)
}

/// Whether a text between separators is a word, and no piece of an address, a time, a version or a number in another
/// notation.
fn is_word(item: &str, split: Split) -> bool {
    let is_of_word = |c: char| match c {
        '_' | '-' | ' ' => true,
        c if c.is_ascii_punctuation() => false,
        c => !c.is_numeric() && !c.is_control(),
    };
    split == Split::List || (!item.is_empty() && item.chars().all(is_of_word))
}

/// How a column is split that is to be taken apart: as lists if all its cells are, else at the first separator that any
/// cell has.
fn asked(
    layout: &Layout,
    position: usize,
    rows: &[Row],
    options: &ReadOptions,
) -> Result<(Split, usize)> {
    let name = shorten(&layout.names[position]);
    let cells = cells(rows, position);
    let option = || setting("lists", format!("{name}=parts"));
    refuse_type(layout, position, options, option())?;
    let is_list = |cell: &Cow<str>| Split::List.items(cell).is_some();
    let split = if !cells.is_empty() && cells.iter().all(is_list) {
        Some(Split::List)
    } else {
        let separators = SEPARATORS.into_iter();
        let mut found = separators.filter(|&c| cells.iter().any(|cell| cell.contains(c)));
        found.next().map(Split::At)
    };
    let Some(split) = split else {
        let problem = "none of its first cells is a list or has one of / | ; , between items";
        return Err(Error::parameter(option(), problem).with_hint("leave it out"));
    };
    let numbers = |cell: &Cow<str>| split.apart(cell, MAX_NUMBERS).1.len();
    Ok((split, cells.iter().map(numbers).max().unwrap_or(0)))
}

/// How a column is read whose frequent items are asked for.
fn asked_items(
    layout: &Layout,
    position: usize,
    rows: &[Row],
    options: &ReadOptions,
) -> Result<Reading> {
    let name = shorten(&layout.names[position]);
    let option = || setting("lists", format!("{name}=items"));
    refuse_type(layout, position, options, option())?;
    recognize_cells::of_asked_items(&layout.names[position], &cells(rows, position)).ok_or_else(
        || {
            let problem = "its first cells hold no items that recur";
            Error::parameter(option(), problem).with_hint("leave it out")
        },
    )
}

/// Refuses a type of a column that is taken apart.
fn refuse_type(
    layout: &Layout,
    position: usize,
    options: &ReadOptions,
    option: String,
) -> Result<()> {
    let mut other = options.numeric.iter().chain(&options.categorical);
    match other.any(|wanted| layout.is_named(position, wanted)) {
        true => {
            let problem = "the same column is also asked to be numeric or categorical";
            Err(Error::parameter(option, problem).with_hint("leave one of the two out"))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in 60 cells.
    fn found(cell: impl Fn(usize) -> String) -> Option<(Split, usize)> {
        let cells: Vec<Cow<str>> = (0..60).map(|at| cell(at).into()).collect();
        mixed(&cells, 60)
    }

    /// A number with decimals.
    fn number(at: usize) -> String {
        format!("{}.{}", at % 7, 10 + at)
    }

    #[test]
    fn words_and_numbers_together_are_taken_apart() {
        let slash = Some((Split::At('/'), 1));
        assert_eq!(found(|at| format!("below/{}/stop", number(at))), slash);
        let transcript = |at: usize| "below/".repeat(at % 5) + &number(at) + "/stop";
        assert_eq!(found(transcript), slash);
        assert_eq!(
            found(|at| format!("⊥|{}|⊤", number(at))),
            Some((Split::At('|'), 1))
        );
        let sometimes = |at: usize| match at % 3 {
            0 => "timeout".to_owned(),
            _ => format!("ok; {}; {}", number(at), at),
        };
        assert_eq!(found(sometimes), Some((Split::At(';'), 2)));
        let list = |at: usize| format!(r#"["top", {}, null]"#, number(at));
        assert_eq!(found(list), Some((Split::List, 1)));
        let numbers = |at: usize| format!("[{}]", vec![number(at); at % 4 + 1].join(","));
        assert_eq!(found(numbers), Some((Split::List, 4)));
    }

    #[test]
    fn ordinary_texts_are_not() {
        type Ordinary = (&'static str, fn(usize) -> String);
        let ordinary: [Ordinary; 18] = [
            ("URL", |at| format!("https://example.org/a/{}", number(at))),
            ("URL without scheme", |at| {
                format!("example.org/{}/x", number(at))
            }),
            ("absolute path", |at| format!("/usr/{}/lib", number(at))),
            ("path", |at| format!("usr/share{at}/{}", number(at))),
            ("date", |at| format!("2026/{}/{}", at % 12 + 1, at % 28 + 1)),
            ("date with a month", |at| format!("{at}/Jan/2026")),
            ("time", |at| format!("12:{at}/8.{at}/late")),
            ("network", |at| format!("10.0.0.{at}/24")),
            ("version", |at| format!("1.2.{at}")),
            ("user agent", |at| format!("Mozilla/5.0 (X11; rv {at})")),
            ("agents", |at| format!("curl/8.{}.{at}", at % 9)),
            ("ratio", |at| format!("{}/{}", number(at), number(at + 1))),
            ("integers", |at| format!("below/{at}/stop")),
            ("name", |at| format!("Smith{at}, {}", number(at))),
            ("words", |at| {
                format!("{}/x", ["a", "b", "c"][at % 3].repeat(at))
            }),
            ("decimal commas", |at| format!("3,{at};4,{at}")),
            ("list of integers", |at| format!("[1,{at},-1]")),
            ("list of words", |at| format!(r#"["a","w{at}",0.5]"#)),
        ];
        for (what, cell) in ordinary {
            assert_eq!(found(cell), None, "{what}: {}", cell(3));
        }
        // Labels that recur tell enough as they are.
        let cells: Vec<Cow<str>> = (0..60)
            .map(|at| format!("a/{}", number(at)).into())
            .collect();
        assert!(mixed(&cells, 60).is_some());
        assert_eq!(mixed(&cells, 300), None);
    }
}
