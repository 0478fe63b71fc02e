//! Lists of objects inside JSON objects, unfolded where somebody asks for what they hold, or where there is nothing beside
//! them: a row for each object of the list, with the fields around it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;

use crate::source::LONGEST_ROW;

/// Lists in lists that are unfolded.
const DEEPEST: usize = 4;
/// Objects in objects that are looked into.
const DEEPEST_OBJECT: usize = 8;

/// Bytes that a line may become: what stands around a list stands in each of its rows.
const MOST_BYTES: usize = 1 << 28;

/// Where a list of objects stands in a line.
struct Found<'t> {
    path: String,
    raw: &'t str,
}

/// Which lists were unfolded, once that is known.
pub(super) type Path = Arc<OnceLock<String>>;

/// Reads lines of JSON objects: each line whose object holds one list of objects becomes a line for each of these, which
/// stands in the place of the list, if a column inside is wanted or the object is nothing but the list. The first line
/// decides whether there are any. Other lines stay as they are.
pub(super) struct Unfolded<R> {
    lines: BufReader<R>,
    path: Path,
    /// Names of columns that were asked for.
    wanted: Vec<String>,
    /// Whether lines are unfolded; not known before the first.
    unfolds: Option<bool>,
    line: Vec<u8>,
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read> Unfolded<R> {
    pub(super) fn new(text: R, path: Path, wanted: Vec<String>) -> Self {
        Unfolded {
            lines: BufReader::with_capacity(1 << 17, text),
            path,
            wanted,
            unfolds: None,
            line: Vec::new(),
            ready: Vec::new(),
            at: 0,
        }
    }

    fn unfold(&mut self) {
        let text = std::str::from_utf8(&self.line).unwrap_or_default();
        let first = self.unfolds.is_none() && !text.trim().is_empty();
        let mut paths = Vec::new();
        let unfolded = match self.unfolds {
            Some(false) => None,
            Some(true) | None => rows(text.trim(), DEEPEST, &self.wanted, &mut paths),
        };
        if first {
            self.unfolds = Some(unfolded.is_some());
            if unfolded.is_some() {
                self.path.get_or_init(|| paths.join(", in it "));
            }
        }
        match unfolded {
            Some(rows) => {
                for row in rows {
                    self.ready.extend_from_slice(row.as_bytes());
                    self.ready.push(b'\n');
                }
            }
            None => std::mem::swap(&mut self.ready, &mut self.line),
        }
    }
}

impl<R: Read> Read for Unfolded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unfolds == Some(false) && self.at == self.ready.len() {
            return self.lines.read(buffer);
        }
        while self.at == self.ready.len() {
            self.ready.clear();
            self.at = 0;
            self.line.clear();
            let mut part = (&mut self.lines).take(LONGEST_ROW as u64 + 1);
            if part.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(0);
            }
            // A line that is too long is the reader's to refuse.
            match self.line.len() > LONGEST_ROW {
                true => {
                    self.unfolds = Some(false);
                    std::mem::swap(&mut self.ready, &mut self.line);
                }
                false => self.unfold(),
            }
        }
        let n = buffer.len().min(self.ready.len() - self.at);
        buffer[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// The rows of an object; `None` if it holds no list of objects that is wanted, or several beside each other, so that none
/// can be meant more than the others.
fn rows(
    text: &str,
    deepest: usize,
    wanted: &[String],
    paths: &mut Vec<String>,
) -> Option<Vec<String>> {
    let found = list(text)?;
    let inside = format!("{}.", found.path);
    let is_alone = || fields(text).is_some_and(|fields| fields.len() == 1) && paths.is_empty();
    if !wanted.iter().any(|name| name.starts_with(&inside)) && !is_alone() {
        return None;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(found.raw).ok()?;
    let start = found.raw.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (&text[..start], &text[start + found.raw.len()..]);
    if elements.len().saturating_mul(before.len() + after.len()) > MOST_BYTES {
        return None;
    }
    if !paths.contains(&found.path) {
        paths.push(found.path);
    }
    let mut all = Vec::with_capacity(elements.len());
    for element in elements {
        let row = format!("{before}{}{after}", element.get());
        match rows(&row, deepest.checked_sub(1)?, wanted, paths) {
            Some(deeper) => all.extend(deeper),
            None => all.push(row),
        }
    }
    Some(all)
}

/// The one list of objects that stands in the fewest objects; none where two stand in as many.
fn list(text: &str) -> Option<Found<'_>> {
    let mut level = vec![(String::new(), text)];
    for _ in 0..DEEPEST_OBJECT {
        let mut lists = Vec::new();
        let mut next = Vec::new();
        for (path, object) in level {
            for (key, value) in fields(object)? {
                let path = match path.is_empty() {
                    true => key,
                    false => format!("{path}.{key}"),
                };
                if is_list_of_objects(value) {
                    lists.push(Found { path, raw: value });
                } else if value.starts_with('{') {
                    next.push((path, value));
                }
            }
        }
        match lists.len() {
            0 => level = next,
            1 => return lists.pop(),
            _ => return None,
        }
    }
    None
}

/// The fields of an object with their texts, which are parts of its own.
fn fields(object: &str) -> Option<Vec<(String, &str)>> {
    let map: BTreeMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let mut fields: Vec<(String, &str)> = map
        .into_iter()
        .map(|(key, value)| (key, value.get()))
        .collect();
    // In the order in which they stand.
    fields.sort_by_key(|field| field.1.as_ptr() as usize);
    Some(fields)
}

fn is_list_of_objects(value: &str) -> bool {
    let inside = value.strip_prefix('[');
    inside.is_some_and(|inside| inside.trim_start().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfolded(text: &str, wanted: &[&str]) -> (Vec<String>, Option<String>) {
        let path = Path::default();
        let mut read = String::new();
        Unfolded::new(
            text.as_bytes(),
            path.clone(),
            wanted.iter().map(|name| (*name).into()).collect(),
        )
        .read_to_string(&mut read)
        .expect("text");
        (
            read.lines().map(str::to_owned).collect(),
            path.get().cloned(),
        )
    }

    #[test]
    fn every_object_of_a_list_is_a_row_with_what_stands_around_it() {
        let (rows, path) = unfolded(
            "{\"run\": 1, \"tests\": [{\"t\": 0.5}, {\"t\": 2}], \"on\": \"x\"}\n{\"run\": 2, \"tests\": [{\"t\": 3}]}\n",
            &["run", "tests.t"],
        );
        let expected = [
            "{\"run\": 1, \"tests\": {\"t\": 0.5}, \"on\": \"x\"}",
            "{\"run\": 1, \"tests\": {\"t\": 2}, \"on\": \"x\"}",
            "{\"run\": 2, \"tests\": {\"t\": 3}}",
        ];
        assert_eq!(rows, expected);
        assert_eq!(path.as_deref(), Some("tests"));
    }

    #[test]
    fn lists_in_objects_and_in_lists_are_unfolded_too() {
        let (rows, path) = unfolded(
            "{\"a\": {\"runs\": [{\"k\": 1, \"tests\": [{\"t\": 1}, {\"t\": 2}]}]}}",
            &["a.runs.tests.t"],
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(
            rows[1],
            "{\"a\": {\"runs\": {\"k\": 1, \"tests\": {\"t\": 2}}}}"
        );
        assert_eq!(path.as_deref(), Some("a.runs, in it a.runs.tests"));
    }

    /// Events of a session that nobody asked for are no rows; a list and nothing else is the log.
    #[test]
    fn a_list_that_nobody_asked_for_stays_unless_it_is_all() {
        let text = "{\"user\": 1, \"events\": [{\"t\": 1}, {\"t\": 2}]}";
        assert_eq!(unfolded(text, &["user"]).0, [text]);
        let (rows, path) = unfolded("{\"runs\": [{\"t\": 1}, {\"t\": 2}]}", &[]);
        assert_eq!((rows.len(), path.as_deref()), (2, Some("runs")));
    }

    #[test]
    fn what_holds_no_such_list_or_several_stays_as_it_is() {
        for text in [
            "{\"a\": [1, 2], \"b\": {}}\n{\"a\": [3]}\n",
            "{\"a\": [{\"x\": 1}], \"b\": [{\"y\": 2}]}\n",
            "no json\n{\"a\": [{\"x\": 1}]}\n",
            "",
        ] {
            let (rows, path) = unfolded(text, &["a.x", "b.y"]);
            assert_eq!(rows, text.lines().collect::<Vec<_>>());
            assert_eq!(path, None);
        }
    }
}
