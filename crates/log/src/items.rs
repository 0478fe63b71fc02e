//! Texts of several items, `k1:22.0;k2:8.8`, `{"a": 1, "b": 2}`, `a b c`: what an attacker sees of them where whole texts
//! hardly recur and items do.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::parts::is_number;
use crate::row::MISSING;

/// Objects in objects that are followed.
const MAX_DEPTH: usize = 8;

/// How the items of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Brackets around them and commas between, as JSON and Python write objects, lists and sets; perhaps the name of a
    /// type before.
    Brackets,
    /// A character between them; a blank stands for any number of blanks. Within an item, what stands between a key
    /// and its value.
    Bare {
        /// Between items.
        separator: char,
        /// Within an item, if items are pairs.
        pair: Option<char>,
    },
}

/// One item of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'c> {
    /// The item, or its key; of objects in objects the path.
    pub key: Cow<'c, str>,
    /// Its value, if it has one.
    pub value: Option<Cow<'c, str>>,
}

impl<'c> Item<'c> {
    fn of_key(key: impl Into<Cow<'c, str>>) -> Self {
        Item {
            key: key.into(),
            value: None,
        }
    }

    /// The key with its value, as an item of its own.
    pub fn whole(&self) -> Option<String> {
        let value = self.value.as_ref()?;
        Some(format!("{}:{value}", self.key))
    }
}

impl Notation {
    /// Reads the items of a text. `false` if it is not written like this.
    pub fn read<'c>(self, cell: &'c str, items: &mut Vec<Item<'c>>) -> bool {
        items.clear();
        match self {
            Notation::Brackets => inner(cell).is_some_and(|inner| bracketed(inner, "", 0, items)),
            Notation::Bare { separator, pair } => {
                let blank = |text: &'c str| items.extend(bare(text, pair));
                match separator {
                    ' ' => cell.split_whitespace().for_each(blank),
                    _ => cell.split(separator).map(str::trim).for_each(blank),
                }
                true
            }
        }
    }

    /// How items are split, in words.
    pub fn description(self) -> String {
        match self {
            Notation::Brackets => "in brackets".to_owned(),
            Notation::Bare { separator: ' ', .. } => "between blanks".to_owned(),
            Notation::Bare { separator, .. } => format!("between `{separator}`"),
        }
    }
}

/// An item without brackets around the text.
fn bare(text: &str, pair: Option<char>) -> Option<Item<'_>> {
    if text.is_empty() {
        return None;
    }
    let found = pair.and_then(|pair| text.split_once(pair));
    Some(match found {
        Some((key, value)) if !key.trim().is_empty() => Item {
            key: key.trim().into(),
            value: Some(value.trim().into()),
        },
        _ => Item::of_key(text),
    })
}

/// What stands between the brackets of a text, those of a type's name taken off: `Counter({'a': 1})`.
fn inner(cell: &str) -> Option<&str> {
    let cell = cell.trim();
    let at = cell.find(['{', '[', '('])?;
    let (name, rest) = cell.split_at(at);
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut letters = rest.chars();
    let open = letters.next()?;
    let close = letters.next_back()?;
    let is_closed = matches!((open, close), ('{', '}') | ('[', ']') | ('(', ')'));
    if !is_closed || !name.chars().all(is_of_name) {
        return None;
    }
    let text = letters.as_str();
    match open == '(' && !name.is_empty() {
        true => Some(inner(text).unwrap_or(text)),
        false => Some(text),
    }
}

/// An item between commas, and where the text behind its key begins.
struct Piece<'c> {
    text: &'c str,
    colon: Option<usize>,
}

/// The pieces between the commas that stand in no brackets and no quotes; `None` if those are not closed.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let (mut all, mut from, mut colon) = (Vec::new(), 0, None);
    let (mut open, mut quote, mut is_escaped) = (Vec::new(), None, false);
    // Apostrophes within words are no quotes.
    let mut may_quote = true;
    for (at, letter) in text.char_indices() {
        if let Some(end) = quote {
            match letter {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                _ if letter == end => quote = None,
                _ => {}
            }
            continue;
        }
        match letter {
            '"' | '\'' if may_quote => quote = Some(letter),
            '{' => open.push('}'),
            '[' => open.push(']'),
            '(' => open.push(')'),
            '}' | ']' | ')' if open.pop() != Some(letter) => return None,
            ',' if open.is_empty() => {
                let text = &text[from..at];
                all.push(Piece { text, colon });
                (from, colon) = (at + 1, None);
            }
            ':' | '=' if open.is_empty() => colon = colon.or(Some(at - from)),
            _ => {}
        }
        may_quote = letter.is_whitespace() || "{[(,:=".contains(letter);
    }
    if quote.is_some() || !open.is_empty() {
        return None;
    }
    let text = &text[from..];
    if !text.trim().is_empty() {
        all.push(Piece { text, colon });
    }
    Some(all)
}

/// Reads items between brackets, their keys behind those of the objects around them.
fn bracketed<'c>(text: &'c str, path: &str, depth: usize, items: &mut Vec<Item<'c>>) -> bool {
    let Some(pieces) = pieces(text) else {
        return false;
    };
    let named = |key: &'c str| match path {
        "" => unquoted(key),
        _ => format!("{path}.{}", unquoted(key)).into(),
    };
    for piece in pieces {
        let parts = match piece.colon {
            Some(at) => Some((&piece.text[..at], &piece.text[at + 1..])),
            None => couple(piece.text),
        };
        let Some((key, value)) = parts else {
            let text = piece.text.trim();
            if text.is_empty() {
                return false;
            }
            items.push(Item::of_key(named(text)));
            continue;
        };
        let (key, value) = (named(key.trim()), value.trim());
        let nested = value.strip_prefix('{').and_then(|v| v.strip_suffix('}'));
        if let Some(nested) = nested.filter(|_| depth < MAX_DEPTH) {
            if !bracketed(nested, &key, depth + 1, items) {
                return false;
            }
            continue;
        }
        let value = Some(unquoted(value));
        items.push(Item { key, value });
    }
    true
}

/// A key and a value in brackets of their own: `('a', 1)`.
fn couple(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let is_list = text.starts_with(['(', '[']);
    let pieces = pieces(inner(text).filter(|_| is_list)?)?;
    let [key, value] = &pieces[..] else {
        return None;
    };
    Some((key.text, value.text))
}

/// A text without the quotes around it.
fn unquoted(text: &str) -> Cow<'_, str> {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote));
        let Some(inner) = inner else { continue };
        let decoded = (quote == '"' && inner.contains('\\'))
            .then(|| serde_json::from_str::<String>(text).ok())
            .flatten();
        return decoded.map_or(Cow::Borrowed(inner), Cow::Owned);
    }
    text.into()
}

/// An item that has columns of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The item or its key.
    pub text: String,
    /// What stands behind the numbers that are its values: often nothing. `None` if they are no numbers, or all the same.
    pub unit: Option<String>,
}

/// The items of a column that have columns of their own.
#[derive(Debug, PartialEq, Eq)]
pub struct Items {
    notation: Notation,
    keys: Vec<Key>,
    at: HashMap<String, usize>,
}

impl Items {
    /// Of these keys, each once.
    pub fn new(notation: Notation, keys: Vec<Key>) -> Self {
        let at = keys.iter().map(|key| key.text.clone()).zip(0..).collect();
        Items { notation, keys, at }
    }

    /// The keys, the one in most rows first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// How items are written.
    pub fn notation(&self) -> Notation {
        self.notation
    }
}

/// What is seen of a text of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The number of items.
    Length,
    /// The number of items that have no columns.
    Others,
    /// 1 where each item is no less than the one before, 0 elsewhere.
    IsSorted,
    /// How often a key occurs.
    Times(usize),
    /// The value of a key; the sum of its values where it occurs more than once.
    Value(usize),
    /// Where a key occurs first, from 1; 0 where it does not.
    Place(usize),
}

impl Seen {
    /// Its name behind that of the column.
    pub fn name(self, items: &Items) -> String {
        let key = |at: usize| &items.keys[at].text;
        match self {
            Seen::Length => ".length".to_owned(),
            Seen::Others => ".others".to_owned(),
            Seen::IsSorted => ".sorted".to_owned(),
            Seen::Times(at) => format!(".has[{}]", key(at)),
            Seen::Value(at) => format!("[{}]", key(at)),
            Seen::Place(at) => format!(".place[{}]", key(at)),
        }
    }
}

/// What one text says of a key.
#[derive(Debug, Clone, Default)]
struct OfKey {
    times: usize,
    place: usize,
    value: Value,
}

#[derive(Debug, Clone, Default)]
enum Value {
    #[default]
    None,
    Written(String),
    Sum(f64),
}

/// What is seen of one text.
#[derive(Debug, Default)]
pub struct Told {
    length: usize,
    others: usize,
    is_sorted: bool,
    keys: Vec<OfKey>,
}

impl Told {
    /// Reads a text; `false` if it is not written like the others.
    pub fn read(&mut self, of: &Items, cell: &str) -> bool {
        let mut items = Vec::new();
        if !of.notation.read(cell, &mut items) && !cell.trim().is_empty() {
            return false;
        }
        self.keys.clear();
        self.keys.resize(of.keys.len(), OfKey::default());
        self.length = items.len();
        self.others = 0;
        self.is_sorted = are_sorted(&items);
        for (item, place) in items.iter().zip(1..) {
            let key = of.at.get(item.key.as_ref());
            let whole = item.whole().and_then(|whole| of.at.get(&whole));
            self.others += usize::from(key.is_none() && whole.is_none());
            for &at in key.into_iter().chain(whole) {
                let told = &mut self.keys[at];
                told.times += 1;
                if told.times == 1 {
                    told.place = place;
                }
                if let (Some(unit), Some(value)) = (&of.keys[at].unit, &item.value) {
                    told.value.add(value, unit);
                }
            }
        }
        true
    }

    /// What was seen in the text that was read last; [`MISSING`] for the value of a key that it has not.
    pub fn text(&self, seen: Seen) -> Cow<'_, str> {
        match seen {
            Seen::Length => self.length.to_string().into(),
            Seen::Others => self.others.to_string().into(),
            Seen::IsSorted => u8::from(self.is_sorted).to_string().into(),
            Seen::Times(at) => self.keys[at].times.to_string().into(),
            Seen::Place(at) => self.keys[at].place.to_string().into(),
            Seen::Value(at) => match &self.keys[at].value {
                Value::None => MISSING.into(),
                Value::Written(text) => text.into(),
                // With an exponent: rounding leaves decimals that no one wrote.
                Value::Sum(sum) => format!("{sum:e}").into(),
            },
        }
    }
}

impl Value {
    /// Adds a value; one that is no number is a word, quoted so that it looks like none.
    fn add(&mut self, text: &str, unit: &str) {
        let number = number(text, unit);
        let sum = match (&self, number) {
            (Value::None, Some(number)) => {
                *self = Value::Written(number.to_owned());
                return;
            }
            (Value::None, None) => {
                *self = Value::Written(format!("{text:?}"));
                return;
            }
            (Value::Sum(sum), _) => Some(*sum),
            (Value::Written(before), _) => before.parse().ok(),
        };
        let added = number.and_then(|number| number.parse::<f64>().ok());
        if let (Some(sum), Some(added)) = (sum, added) {
            *self = Value::Sum((sum + added).clamp(-f64::MAX, f64::MAX));
        }
    }
}

/// The number of a text that ends with a unit.
pub fn number<'t>(text: &'t str, unit: &str) -> Option<&'t str> {
    let number = text.strip_suffix(unit)?.trim_end();
    is_number(number).then_some(number)
}

/// Whether each item is no less than the one before: numbers by what they are, others by their letters.
pub fn are_sorted(items: &[Item]) -> bool {
    items.is_sorted_by(|one, next| {
        let numbers = (one.key.parse::<f64>(), next.key.parse::<f64>());
        match numbers {
            (Ok(one), Ok(next)) => one <= next,
            _ => one.key <= next.key,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(notation: Notation, cell: &str) -> Option<Vec<(String, Option<String>)>> {
        let mut items = Vec::new();
        let is_read = notation.read(cell, &mut items);
        let owned = |item: Item| {
            (
                item.key.into_owned(),
                item.value.map(std::borrow::Cow::into_owned),
            )
        };
        is_read.then(|| items.into_iter().map(owned).collect())
    }

    fn pairs(of: &[(&str, &str)]) -> Option<Vec<(String, Option<String>)>> {
        let pair = |&(key, value): &(&str, &str)| (key.to_owned(), Some(value.to_owned()));
        Some(of.iter().map(pair).collect())
    }

    fn words(of: &[&str]) -> Option<Vec<(String, Option<String>)>> {
        Some(of.iter().map(|&key| (key.to_owned(), None)).collect())
    }

    #[test]
    fn objects_and_lists_are_read_as_json_and_python_write_them() {
        for cell in [
            r#"{"a": 1, "b": "x"}"#,
            "{'a': 1, 'b': 'x'}",
            "{a: 1, b: x}",
            "{a=1, b=x}",
            "Counter({'a': 1, 'b': 'x'})",
            "OrderedDict([('a', 1), ('b', 'x')])",
            "[('a', 1), ('b', 'x')]",
            "{'a': 1, 'b': 'x',}",
        ] {
            let found = read(Notation::Brackets, cell);
            assert_eq!(found, pairs(&[("a", "1"), ("b", "x")]), "{cell}");
        }
        for cell in [
            r#"["a","b,c"]"#,
            "['a', 'b,c']",
            "{'a', 'b,c'}",
            "frozenset({'a', 'b,c'})",
        ] {
            let found = read(Notation::Brackets, cell);
            assert_eq!(found, words(&["a", "b,c"]), "{cell}");
        }
        let nested = r#"{"a": {"b": 1, "c": {"d": 2}}, "it's": [1, 2]}"#;
        assert_eq!(
            read(Notation::Brackets, nested),
            pairs(&[("a.b", "1"), ("a.c.d", "2"), ("it's", "[1, 2]")])
        );
        assert_eq!(
            read(Notation::Brackets, "[don't, do]"),
            words(&["don't", "do"])
        );
        assert_eq!(read(Notation::Brackets, "{}"), words(&[]));
        assert_eq!(read(Notation::Brackets, "set()"), words(&[]));
        for broken in [
            "",
            "a",
            "{",
            "{a",
            "{]",
            "{'a: 1}",
            "[a](b)c]x",
            "{a,,b}",
            "a b {c}",
        ] {
            assert_eq!(read(Notation::Brackets, broken), None, "{broken}");
        }
    }

    #[test]
    fn bare_items_stand_between_separators() {
        let with = |separator, pair| Notation::Bare { separator, pair };
        let found = read(with(';', Some(':')), "k1:22.0; k2 : 8.8;;rare");
        let mut expected = pairs(&[("k1", "22.0"), ("k2", "8.8")]).unwrap_or_default();
        expected.extend(words(&["rare"]).unwrap_or_default());
        assert_eq!(found, Some(expected));
        assert_eq!(read(with(' ', None), " a  b\tc "), words(&["a", "b", "c"]));
        assert_eq!(read(with(',', None), ""), words(&[]));
    }

    #[test]
    fn presence_values_and_order_are_told() {
        let key = |text: &str, unit: Option<&str>| Key {
            text: text.to_owned(),
            unit: unit.map(str::to_owned),
        };
        let keys = vec![
            key("a", Some("")),
            key("b", None),
            key("c", Some("ms")),
            key("b:red", None),
        ];
        let notation = Notation::Bare {
            separator: ';',
            pair: Some(':'),
        };
        let items = Items::new(notation, keys);
        let mut told = Told::default();
        assert!(told.read(&items, "b:red;z:1;a:0.50;c:7 ms;a:2"));
        let all = [
            (Seen::Length, "5"),
            (Seen::Others, "1"),
            (Seen::IsSorted, "0"),
            (Seen::Times(0), "2"),
            (Seen::Times(1), "1"),
            (Seen::Times(3), "1"),
            (Seen::Value(0), "2.5e0"),
            (Seen::Value(2), "7"),
            (Seen::Place(0), "3"),
        ];
        for (seen, text) in all {
            assert_eq!(told.text(seen), text, "{}", seen.name(&items));
        }
        assert!(told.read(&items, "a:x"));
        assert_eq!(told.text(Seen::Value(0)), "\"x\"");
        assert_eq!(told.text(Seen::Value(2)), MISSING);
        assert!(told.read(&items, ""));
        assert_eq!(told.text(Seen::Times(0)), "0");
    }
}
