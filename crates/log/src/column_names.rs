//! Names of columns that are not their own.

use std::collections::{HashMap, HashSet};

use crate::row::Row;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::setting;

/// How a column is named that no column is called as: a field of the objects of a list, where there is such a list.
pub(crate) fn named_in_list(
    names: &[String],
    example: Option<&Row>,
    field: &str,
    wanted: &str,
) -> String {
    let Some((list, _)) = list_of_objects(names, example) else {
        return "use a name, or a number from 1".to_owned();
    };
    let list = shorten(list);
    format!(
        "column `{list}` holds lists of objects: with the name of one of their fields, such as {}, each object is a row",
        setting(field, format_args!("{list}.{}", shorten(wanted)))
    )
}

/// A column that holds lists of objects, with its cell in a row.
fn list_of_objects<'n>(names: &'n [String], example: Option<&Row>) -> Option<(&'n str, String)> {
    let mut columns = names.iter().enumerate();
    columns.find_map(|(at, name)| {
        let text = example?.text(at)?;
        let is_list = text.starts_with("[{");
        is_list.then(|| (name.as_str(), text.into_owned()))
    })
}

/// How the secret is named where the objects of a list are rows: by a field that holds words, if there is one.
pub(crate) fn secret_in_list(names: &[String], example: Option<&Row>) -> Option<String> {
    /// Fields that are named.
    const FIELDS: usize = 8;
    let (list, text) = list_of_objects(names, example)?;
    let objects: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(&text).ok()?;
    let fields = || objects.first().into_iter().flatten();
    let is_word = |field: &(&String, &serde_json::Value)| field.1.is_string();
    let (secret, _) = fields().find(is_word).or_else(|| fields().next())?;
    let list = shorten(list);
    let named: Vec<String> = fields()
        .take(FIELDS)
        .map(|field| shorten(field.0))
        .collect();
    Some(format!(
        "column `{list}` holds lists of objects, each of which can be a row: say which of their fields is the secret, such as {} (fields: {})",
        setting("secret", format_args!("{list}.{}", shorten(secret))),
        named.join(", ")
    ))
}

/// The words of a name, in lower case: `responseTime`, `response_time` and `Response time (ms)` are of a response and a
/// time.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            let last = words.last_mut().expect("one word at least");
            last.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Words by which columns of persons are called, whom nobody sees on a wire.
const PERSONS: [&str; 9] = [
    "account",
    "customer",
    "participant",
    "patient",
    "person",
    "subject",
    "user",
    "username",
    "visitor",
];

/// Words by which columns of devices are called.
const DEVICES: [&str; 9] = [
    "board", "chip", "client", "device", "host", "hostname", "machine", "run", "session",
];

/// Words behind these.
const BEHIND_UNITS: [&str; 4] = ["id", "name", "number", "no"];

/// Whether a column is called as one of users or devices: `user`, `client_id`, `meta.device`.
pub fn is_of_units(name: &str) -> bool {
    is_of_persons(name) || is_called_as(name, &DEVICES)
}

/// Whether it is called as one of persons: `user`, `customer_no`.
pub(crate) fn is_of_persons(name: &str) -> bool {
    is_called_as(name, &PERSONS)
}

fn is_called_as(name: &str, known: &[&str]) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).rev();
    let last = words.find(|word| !BEHIND_UNITS.contains(word));
    last.is_some_and(|word| known.contains(&word))
}

/// The names of columns, each once: of several equal ones, `x (1)`, `x (2)`, …
pub(crate) fn numbered(names: Vec<String>) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *times.entry(name).or_default() += 1;
    }
    if times.len() == names.len() {
        return names;
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut given: HashMap<&str, usize> = HashMap::new();
    let mut unique = Vec::with_capacity(names.len());
    for name in &names {
        if times[name.as_str()] == 1 {
            unique.push(name.clone());
            continue;
        }
        let number = given.entry(name).or_default();
        unique.push(loop {
            *number += 1;
            let own = format!("{name} ({number})");
            if taken.insert(own.clone()) {
                break own;
            }
        });
    }
    unique
}
