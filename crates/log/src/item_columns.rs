//! Which items of a column of texts become columns, by what its first rows show: how items are written, and which of them
//! are frequent. No secret is looked at, so that no row both chooses and judges.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::items::{self, Item, Items, Key, Notation, Seen};
use crate::lists::Element;
use crate::units::{Suffix, Unit};

/// Keys that become columns, at most.
const MAX_KEYS: usize = 64;
/// … and whose places do, where the order of items varies.
const MAX_PLACES: usize = 16;
/// Different items of the first rows, at most: more are no vocabulary.
const MAX_DIFFERENT: usize = 100_000;
/// Rows that a key is in at least. Fewer tell nothing.
const MIN_ROWS: usize = 5;
/// Letters of a key at most.
const MAX_LETTERS: usize = 100;
/// Characters between items without brackets, the surest first.
const SEPARATORS: [char; 4] = [';', '|', ',', ' '];

/// The columns that texts of items become.
pub struct ItemColumns {
    items: Arc<Items>,
    seen: Vec<Seen>,
    are_pairs: bool,
}

/// What the first rows say of one item.
#[derive(Default)]
struct OfItem {
    /// Rows that have it.
    rows: usize,
    /// How often it occurs with a value.
    values: usize,
    /// Values that are numbers, by their unit; and whether they differ.
    numbers: HashMap<String, (usize, Option<String>, bool)>,
}

/// What the first rows say of all items.
#[derive(Default)]
struct Survey<'c> {
    of: HashMap<Cow<'c, str>, OfItem>,
    cells: usize,
    /// Cells with several items.
    several: usize,
    occurrences: usize,
    /// … of items that begin like numbers.
    like_numbers: usize,
    /// … of items with a value.
    pairs: usize,
    /// The most items in a cell, and whether all have so many.
    most: usize,
    least: Option<usize>,
    /// Whether an item is in a cell twice.
    repeats: bool,
    /// Whether all items are whole numbers.
    are_ids: bool,
}

impl ItemColumns {
    /// Columns of texts of words, or of keys with values.
    pub fn of_words(cells: &[Cow<str>]) -> Option<Self> {
        // Most columns have one word or number in a cell, and end here.
        let may_be_several = |cell: &&Cow<str>| cell.contains(SEPARATORS) || is_bracketed(cell);
        let several = cells.iter().filter(may_be_several).count();
        (20 * several >= cells.len()).then_some(())?;
        notations(cells).into_iter().find_map(|notation| {
            let survey = Survey::of(cells, notation)?;
            survey.is_of_words(notation).then_some(())?;
            survey.columns(cells, notation)
        })
    }

    /// Columns of lists of whole numbers that are names of things: none is in a list twice, and they recur in others.
    /// `parts` numbers of an item, a name and a value where it is two.
    pub fn of_ids(cells: &[Cow<str>], parts: usize) -> Option<Self> {
        notations(cells).into_iter().find_map(|notation| {
            let survey = Survey::of(cells, notation)?;
            let is_fixed = survey.least == Some(survey.most);
            let has_values = survey.pairs == survey.occurrences;
            let fits = match parts {
                1 => survey.pairs == 0,
                2 => has_values,
                _ => false,
            };
            let is_clear = fits && survey.are_ids && !survey.repeats && survey.most >= 3;
            (is_clear && survey.recurs()).then_some(())?;
            let found = survey.columns(cells, notation)?;
            // Elements of lists of one length have meanings of their own, unless any may stand anywhere.
            let is_moving = || found.seen.contains(&Seen::IsSorted);
            (!is_fixed || is_moving() && !survey.is_all_in_all_rows()).then_some(found)
        })
    }

    /// Columns of texts of items of any kind.
    pub fn of_asked(cells: &[Cow<str>]) -> Option<Self> {
        notations(cells).into_iter().find_map(|notation| {
            let survey = Survey::of(cells, notation)?;
            (survey.several > 0 && survey.recurs()).then_some(())?;
            survey.columns(cells, notation)
        })
    }

    /// The elements that a column becomes, but for its length where something else says it; `is_all` if other
    /// elements say all that the texts say.
    pub fn elements(&self, with_length: bool, is_all: bool) -> impl Iterator<Item = Element> {
        let seen = self.seen.iter().copied();
        let seen = seen.filter(move |seen| with_length || *seen != Seen::Length);
        seen.map(move |seen| Element::Item {
            seen,
            of: self.items.clone(),
            is_all,
        })
    }

    /// How items are written, in words.
    pub fn kind(&self) -> String {
        let how = self.items.notation().description();
        match self.are_pairs {
            true => format!("items with values {how}"),
            false => format!("items {how}"),
        }
    }

    /// What is observed, in words.
    pub fn observed(&self, column: &str) -> String {
        let keys = self.items.keys();
        let first = keys.first().map_or("", |key| key.text.as_str());
        let named = |seen: fn(usize) -> Seen| {
            let is_it = |&&other: &&Seen| {
                std::mem::discriminant(&other) == std::mem::discriminant(&seen(0))
            };
            let found = self.seen.iter().find(is_it);
            found.map(|found| format!("{column}{}", found.name(&self.items)))
        };
        let mut words = match keys.len() {
            1 => format!("how often `{first}` occurs"),
            count => format!("how often each of the {count} most frequent occurs"),
        };
        words += &named(Seen::Times).map_or(String::new(), |name| format!(" ({name})"));
        if let Some(name) = named(Seen::Value) {
            words += &format!(", its number, 0 where it is absent ({name})");
        }
        if let Some(name) = named(Seen::Place) {
            words += &format!(", where it stands ({name})");
        }
        words + ", and how many others there are"
    }
}

fn is_bracketed(cell: &str) -> bool {
    cell.trim().ends_with(['}', ']', ')'])
}

/// How texts may be written.
fn notations(cells: &[Cow<str>]) -> Vec<Notation> {
    let mut items = Vec::new();
    let bracketed = cells.iter().filter(|cell| is_bracketed(cell)).count();
    if 10 * bracketed >= 9 * cells.len() {
        let read = |cell: &&Cow<str>| Notation::Brackets.read(cell, &mut Vec::new());
        let are_read = 20 * cells.iter().filter(read).count() >= 19 * cells.len();
        return are_read.then_some(Notation::Brackets).into_iter().collect();
    }
    let mut all = Vec::new();
    for separator in SEPARATORS {
        let pair = [':', '='].into_iter().find(|&pair| {
            let notation = Notation::Bare {
                separator,
                pair: Some(pair),
            };
            let (mut count, mut pairs) = (0, 0);
            for cell in cells {
                notation.read(cell, &mut items);
                count += items.len();
                let is_pair =
                    |item: &&Item| item.value.as_ref().is_some_and(|v| !v.starts_with("//"));
                pairs += items.iter().filter(is_pair).count();
            }
            10 * pairs >= 9 * count
        });
        all.push(Notation::Bare { separator, pair });
    }
    all
}

impl<'c> Survey<'c> {
    /// `None` where different items are too many.
    fn of(cells: &'c [Cow<str>], notation: Notation) -> Option<Self> {
        let mut survey = Survey {
            are_ids: true,
            ..Survey::default()
        };
        let mut items = Vec::new();
        let mut own: HashSet<Cow<str>> = HashSet::new();
        for cell in cells {
            if !notation.read(cell, &mut items) {
                continue;
            }
            survey.cells += 1;
            survey.several += usize::from(items.len() > 1);
            survey.most = survey.most.max(items.len());
            survey.least = Some(
                survey
                    .least
                    .map_or(items.len(), |least| least.min(items.len())),
            );
            own.clear();
            for item in items.drain(..) {
                survey.add(item, &mut own);
            }
            if survey.of.len() > MAX_DIFFERENT {
                return None;
            }
        }
        Some(survey)
    }

    /// Adds an item of a cell that has these already.
    fn add(&mut self, item: Item<'c>, own: &mut HashSet<Cow<'c, str>>) {
        let is_new = own.insert(item.key.clone());
        self.occurrences += 1;
        self.pairs += usize::from(item.value.is_some());
        self.repeats |= !is_new;
        self.are_ids &= item.key.parse::<u64>().is_ok();
        let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
        self.like_numbers += usize::from(item.key.starts_with(is_of_number));
        let whole = item.whole();
        let of = self.of.entry(item.key).or_default();
        of.rows += usize::from(is_new);
        let Some(value) = item.value else { return };
        of.values += 1;
        let unit = Suffix::of(&value).map_or(String::new(), |unit| unit.text().to_owned());
        if let Some(number) = items::number(&value, &unit) {
            let (times, first, differ) = of.numbers.entry(unit).or_default();
            *times += 1;
            let first = first.get_or_insert_with(|| number.to_owned());
            *differ |= *first != number;
        } else if let Some(whole) = whole {
            // A word that is a value: the key with it is an item of its own.
            let is_new = own.insert(whole.clone().into());
            self.of.entry(whole.into()).or_default().rows += usize::from(is_new);
        }
    }

    /// Whether texts without brackets are of words, and not of numbers, times and dates.
    fn is_of_words(&self, notation: Notation) -> bool {
        let is_bare = matches!(notation, Notation::Bare { .. });
        let least = match is_bare && 10 * self.pairs < 9 * self.occurrences {
            true => self.cells.div_ceil(2),
            false => self.cells.div_ceil(10),
        };
        let are_words = !is_bare || 10 * self.like_numbers <= self.occurrences;
        self.several >= least.max(1) && are_words && self.recurs()
    }

    /// Whether more than a half of all items are some that recur.
    fn recurs(&self) -> bool {
        let frequent = self.of.iter().filter(|(_, of)| of.rows >= MIN_ROWS);
        // Keys with words for values are counted twice.
        let all: usize = self.of.values().map(|of| of.rows).sum();
        2 * frequent.map(|(_, of)| of.rows).sum::<usize>() > all
    }

    /// Whether all items are in all cells.
    fn is_all_in_all_rows(&self) -> bool {
        self.of.values().all(|of| of.rows == self.cells)
    }

    /// The columns of the most frequent keys; `None` where nothing is to be told of them.
    fn columns(&self, cells: &[Cow<str>], notation: Notation) -> Option<ItemColumns> {
        let may_be_column = |(key, of): &(&Cow<str>, &OfItem)| {
            of.rows >= MIN_ROWS && key.chars().count() <= MAX_LETTERS
        };
        let mut frequent: Vec<(&Cow<str>, &OfItem)> =
            self.of.iter().filter(may_be_column).collect();
        frequent.sort_by(|(one, a), (next, b)| b.rows.cmp(&a.rows).then(one.cmp(next)));
        frequent.truncate(MAX_KEYS);
        let key = |(text, of): &(&Cow<str>, &OfItem)| Key {
            text: text.to_string(),
            unit: of.unit(),
        };
        let keys: Vec<Key> = frequent.iter().map(key).collect();
        let order = Order::of(cells, notation, &keys);
        let count = keys.len();
        let are_told = keys
            .iter()
            .map(|key| key.unit.is_some())
            .collect::<Vec<_>>();
        let mut seen = vec![Seen::Length];
        seen.extend((0..count).map(Seen::Times));
        seen.extend((0..count).filter(|&at| are_told[at]).map(Seen::Value));
        if order.varies {
            seen.push(Seen::IsSorted);
            seen.extend((0..count.min(MAX_PLACES)).map(Seen::Place));
        }
        seen.push(Seen::Others);
        (count > 0).then(|| ItemColumns {
            items: Arc::new(Items::new(notation, keys)),
            seen,
            are_pairs: 2 * self.pairs >= self.occurrences,
        })
    }
}

impl OfItem {
    /// The unit of the values, where most of them are different numbers.
    fn unit(&self) -> Option<String> {
        let most = self
            .numbers
            .iter()
            .max_by(|(one, a), (next, b)| a.0.cmp(&b.0).then(next.cmp(one)));
        let (unit, (times, _, differ)) = most?;
        (*differ && 2 * times >= self.values).then(|| unit.clone())
    }
}

/// Whether the same items stand in different orders.
struct Order {
    varies: bool,
}

impl Order {
    fn of(cells: &[Cow<str>], notation: Notation, keys: &[Key]) -> Self {
        let keys = &keys[..keys.len().min(MAX_PLACES)];
        let mut before = vec![[false; MAX_PLACES]; MAX_PLACES];
        let mut items = Vec::new();
        let (mut places, mut is_sorted) = (Vec::new(), [false; 2]);
        for cell in cells {
            if !notation.read(cell, &mut items) {
                continue;
            }
            is_sorted[usize::from(items::are_sorted(&items))] = true;
            let place = |item: &Item| keys.iter().position(|key| key.text == item.key);
            places.clear();
            for next in items.iter().filter_map(place) {
                for &one in &places {
                    let one: usize = one;
                    before[one][next] |= one != next;
                }
                if !places.contains(&next) {
                    places.push(next);
                }
            }
        }
        let both = |one: usize, next: usize| before[one][next] && before[next][one];
        Order {
            varies: is_sorted[0] && (0..MAX_PLACES).any(|one| (0..one).any(|next| both(one, next))),
        }
    }
}

/// Whether texts are dates, durations or numbers with a unit, and no texts of items.
pub fn are_times(cells: &[Cow<str>]) -> bool {
    Unit::of(cells.iter().map(|cell| cell.trim())).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(cell: impl Fn(usize) -> String) -> Vec<Cow<'static, str>> {
        (0..400).map(|at| cell(at).into()).collect()
    }

    fn names(found: Option<ItemColumns>) -> Vec<String> {
        let found = found.map(|found| found.elements(true, false).collect::<Vec<_>>());
        let elements = found.unwrap_or_default();
        elements.iter().map(|element| element.name("x")).collect()
    }

    /// Keys of a row, in the order of the alphabet: `a` is in most rows.
    fn keys(at: usize) -> Vec<&'static str> {
        let all = ["a", "b", "c", "d"].into_iter().enumerate();
        all.filter(|(key, _)| *key == 0 || !(at * 7919 % 101).is_multiple_of(key + 2))
            .map(|(_, key)| key)
            .collect()
    }

    fn joined(at: usize, separator: &str, item: impl Fn(&str) -> String) -> String {
        let items: Vec<String> = keys(at).into_iter().map(item).collect();
        items.join(separator)
    }

    #[test]
    fn keys_with_numbers_have_a_presence_and_a_value() {
        let value = |at: usize| format!("{}.5", at * 31 % 97);
        for (open, pair, separator, close) in [
            ("", ":", ";", ""),
            ("", "=", " ", ""),
            ("", ": ", ", ", ""),
            ("", "=", "|", ""),
            ("{", ": ", ", ", "}"),
            ("Counter({", ": ", ", ", "})"),
        ] {
            let cell = |at: usize| {
                let item = |key: &str| format!("{key}{pair}{}", value(at + key.len()));
                format!("{open}{}{close}", joined(at, separator, item))
            };
            let found = names(ItemColumns::of_words(&cells(cell)));
            let all = [
                "x.length", "x.has[a]", "x.has[d]", "x.has[c]", "x.has[b]", "x[a]", "x[d]", "x[c]",
                "x[b]", "x.others",
            ];
            assert_eq!(found, all, "{}", cell(3));
        }
        // Values that are words make items of their own, those that are all the same tell nothing.
        let words = |at: usize| format!("a:{};b:1;c:{}", ["red", "green"][at % 2], at);
        let found = names(ItemColumns::of_words(&cells(words)));
        for name in ["x.has[a:red]", "x.has[a:green]", "x.has[b]", "x[c]"] {
            assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
        }
        assert!(!found.contains(&"x[b]".to_owned()) && !found.contains(&"x[a]".to_owned()));
        let units = |at: usize| format!("a={at}ms b={at}");
        assert!(names(ItemColumns::of_words(&cells(units))).contains(&"x[a]".to_owned()));
    }

    #[test]
    fn words_have_places_where_their_order_varies() {
        let sorted = |at| joined(at, " ", str::to_owned);
        let found = names(ItemColumns::of_words(&cells(sorted)));
        assert!(
            found.contains(&"x.has[a]".to_owned()) && !found.contains(&"x.place[a]".to_owned())
        );
        let turned = |at: usize| {
            let mut all = keys(at);
            let by = at % all.len();
            all.rotate_left(by);
            format!("{all:?}")
        };
        let found = names(ItemColumns::of_words(&cells(turned)));
        for name in ["x.has[a]", "x.sorted", "x.place[a]", "x.others"] {
            assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
        }
    }

    #[test]
    fn rare_items_are_counted_together_and_columns_are_bounded() {
        let cell = |at: usize| format!("a b w{at} v{}", at % 80);
        let found = names(ItemColumns::of_words(&cells(cell)));
        assert_eq!(
            found.iter().filter(|name| name.contains("has[")).count(),
            MAX_KEYS
        );
        assert!(!found.iter().any(|name| name.contains("[w")));
    }

    #[test]
    fn numbers_that_are_names_are_told_from_measurements() {
        let ids = |at: usize| {
            let all = (0..12).filter(|id| (at * 7919 % (id + 5)).is_multiple_of(3));
            let all: Vec<String> = all.map(|id| (id * 7).to_string()).collect();
            all.join(" ")
        };
        assert!(names(ItemColumns::of_ids(&cells(ids), 1)).contains(&"x.has[7]".to_owned()));
        for other in [
            |at: usize| format!("{} {} {}", at, at + 400, at + 1000),
            |at: usize| format!("{} 60 60 {}", 60 + at % 3, at % 5),
            |at: usize| format!("0.5 {} {}", at % 7, 10 + at % 7),
            |at: usize| format!("{} {} {}", at % 5, 10 + at % 7, 20 + at % 11),
        ] {
            assert_eq!(
                names(ItemColumns::of_ids(&cells(other), 1)),
                [""; 0],
                "{}",
                other(3)
            );
        }
    }

    #[test]
    fn ordinary_texts_are_not() {
        let ordinary: [fn(usize) -> String; 12] = [
            |at| format!("w{at} v{at}"),
            |at| format!("https://example.org/a?x={at}&y=1"),
            |at| format!("2026-11-{:02} 10:00:{:02}", at % 28 + 1, at % 60),
            |at| format!("12:{}:{}", at % 60, at % 50),
            |at| format!("user {at}, 3 visits"),
            |at| format!("Smith{at}, {}", at % 7),
            |at| format!("{at} ms"),
            |at| format!("1,{:03}", at),
            |at| format!("10.0.0.{at}"),
            |at| format!("[\"w{at}\"]"),
            |at| format!("{{\"w{at}\": 1, \"v{at}\": 2}}"),
            |at| format!("word{at}"),
        ];
        for cell in ordinary {
            let found = names(ItemColumns::of_words(&cells(cell)));
            assert_eq!(found, [""; 0], "{}", cell(3));
        }
    }
}
