//! JSON that holds a log by its columns: `{"secret": ["a", "b"], "time": [1, 2]}`, as frames are written. Its rows become
//! lines, so that they are read like JSON lines.

use std::io::{self, Read};

use crate::source::LONGEST_ROW;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::option;

/// What was found in a text.
pub(super) enum Found {
    /// Rows as JSON lines.
    Lines(Vec<u8>),
    /// Anything else: what was read of it.
    Other(Vec<u8>),
}

/// Looks whether a text is one object whose lists are columns. No more is read than that takes.
///
/// # Errors
/// What cannot be read; columns that differ in length, unless each is a secret (`wide`).
pub(super) fn find(
    name: &str,
    mut text: Vec<u8>,
    rest: &mut impl Read,
    wide: bool,
) -> Result<Found> {
    let mut scan = Scan::default();
    let end = loop {
        match scan.of(&text) {
            Seen::Foreign => return Ok(Found::Other(text)),
            Seen::End(end) => break end,
            Seen::Open => {}
        }
        if more(name, &mut text, rest)? == 0 {
            return Ok(Found::Other(text));
        }
    };
    while text[end..].iter().all(u8::is_ascii_whitespace) {
        if more(name, &mut text, rest)? == 0 {
            let lines = lines(name, &text[..end], wide)?;
            return Ok(lines.map_or(Found::Other(text), Found::Lines));
        }
    }
    // More than one object: each is a row.
    Ok(Found::Other(text))
}

/// An object of columns is held in memory, and its rows beside it.
const MOST_BYTES: usize = 256 << 20;

fn more(name: &str, text: &mut Vec<u8>, rest: &mut impl Read) -> Result<usize> {
    if text.len() > MOST_BYTES {
        return Err(Error::file(
            name,
            "is one JSON object of more than 256 MiB, too much to hold in memory",
        )
        .with_hint("write a row a line, as JSON lines"));
    }
    rest.take(1 << 20)
        .read_to_end(text)
        .map_err(|error: io::Error| crate::source::read_error(name, &error))
}

/// How far the first object was looked through.
#[derive(Default)]
struct Scan {
    at: usize,
    /// The brackets that are open.
    open: Vec<u8>,
    in_text: bool,
    /// Where the text began.
    from: usize,
    is_escaped: bool,
}

enum Seen {
    Open,
    /// Where the first object ends.
    End(usize),
    /// Objects in lists: they are rows themselves.
    Foreign,
}

impl Scan {
    fn of(&mut self, text: &[u8]) -> Seen {
        while let Some(&byte) = text.get(self.at) {
            self.at += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => (self.in_text, self.from) = (!self.in_text, self.at),
                // No value is so long: whoever reads rows refuses it.
                _ if self.in_text && self.at - self.from > LONGEST_ROW => return Seen::Foreign,
                _ if self.in_text => {}
                b'{' if self.open.last() == Some(&b'[') => return Seen::Foreign,
                b'{' | b'[' if self.open.is_empty() && byte == b'[' => return Seen::Foreign,
                b'{' | b'[' => self.open.push(byte),
                b'}' | b']' => {
                    self.open.pop();
                    if self.open.is_empty() {
                        return Seen::End(self.at);
                    }
                }
                byte if self.open.is_empty() && !byte.is_ascii_whitespace() => {
                    return Seen::Foreign;
                }
                _ => {}
            }
        }
        Seen::Open
    }
}

/// The parts of a list or an object, as they are written; `None` if the text is neither.
fn parts(text: &[u8], [open, close]: [u8; 2]) -> Option<Vec<&[u8]>> {
    let inside = text.trim_ascii().strip_prefix(&[open])?;
    let inside = inside.strip_suffix(&[close])?.trim_ascii();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let (mut from, mut depth, mut in_text, mut is_escaped) = (0, 0usize, false, false);
    for (at, &byte) in inside.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(inside[from..at].trim_ascii());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(inside[from..].trim_ascii());
    Some(found)
}

const LIST: [u8; 2] = *b"[]";
const OBJECT: [u8; 2] = *b"{}";

/// The fields of an object: their names, in quotes, and their values.
fn fields(text: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let field = |part: &&'_ [u8]| -> Option<usize> {
        let mut is_escaped = false;
        let mut end = None;
        for (at, &byte) in part.iter().enumerate().skip(1) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    end = Some(at + 1);
                    break;
                }
                _ => {}
            }
        }
        end
    };
    let all = parts(text, OBJECT)?;
    let split = all.into_iter().map(|part| {
        let end = part
            .first()
            .filter(|&&byte| byte == b'"')
            .and(field(&part))?;
        let value = part[end..].trim_ascii_start().strip_prefix(b":")?;
        Some((&part[..end], value.trim_ascii()))
    });
    split.collect()
}

/// A column: its name, in quotes, and its cells.
type Column<'a> = (&'a [u8], Vec<&'a [u8]>);

/// The columns of an object, if it has two or more.
fn columns(text: &[u8]) -> Option<Vec<Column<'_>>> {
    let all = fields(text)?;
    let of = |name: &[u8]| {
        all.iter()
            .find(|field| field.0 == name)
            .map(|field| field.1)
    };
    if let (Some(names), Some(data)) = (of(b"\"columns\""), of(b"\"data\"")) {
        return by_rows(names, data);
    }
    let lists: Vec<Column> = all
        .iter()
        .filter_map(|&(name, value)| Some((name, parts(value, LIST)?)))
        .collect();
    if lists.len() > 1 {
        return Some(lists);
    }
    // A frame by its columns, whose rows have names of their own.
    let objects = all.iter().map(|&(name, value)| {
        let cells = fields(value)?;
        Some((name, cells))
    });
    let objects: Vec<_> = objects.collect::<Option<_>>()?;
    let names = |at: usize| {
        objects.get(at).map(|object: &(&[u8], Vec<_>)| {
            object
                .1
                .iter()
                .map(|cell: &(&[u8], &[u8])| cell.0)
                .collect::<Vec<_>>()
        })
    };
    let rows = names(0).filter(|rows| rows.len() > 1 && objects.len() > 1)?;
    let are_alike = (1..objects.len()).all(|at| names(at).as_ref() == Some(&rows));
    are_alike.then(|| {
        let cells = |cells: Vec<(_, _)>| cells.into_iter().map(|cell| cell.1).collect();
        objects
            .into_iter()
            .map(|(name, all)| (name, cells(all)))
            .collect()
    })
}

/// The columns of rows that stand below their names once.
fn by_rows<'a>(names: &'a [u8], data: &'a [u8]) -> Option<Vec<Column<'a>>> {
    let names = parts(names, LIST)?;
    if names.len() < 2 || !names.iter().all(|name| name.starts_with(b"\"")) {
        return None;
    }
    let mut columns: Vec<Column> = names.into_iter().map(|name| (name, Vec::new())).collect();
    for row in parts(data, LIST)? {
        let cells = parts(row, LIST).filter(|cells| cells.len() == columns.len())?;
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.1.push(cell);
        }
    }
    Some(columns)
}

/// The rows of an object whose lists are columns, as JSON lines. `None` if it is a row itself.
fn lines(name: &str, text: &[u8], wide: bool) -> Result<Option<Vec<u8>>> {
    let Some(columns) = columns(text) else {
        return Ok(None);
    };
    let rows = columns
        .iter()
        .map(|column| column.1.len())
        .max()
        .unwrap_or(0);
    let short = columns.iter().find(|column| column.1.len() < rows);
    let long = columns.iter().find(|column| column.1.len() == rows);
    if rows < 2 {
        return Ok(None);
    }
    if let (Some(short), Some(long), false) = (short, long, wide) {
        let of = |column: &Column| {
            let name = String::from_utf8_lossy(column.0);
            format!("{} of {}", column.1.len(), shorten(name.trim_matches('"')))
        };
        let problem = format!(
            "has columns of different lengths: {}, {}",
            of(long),
            of(short)
        );
        return Err(Error::file(name, problem).with_hint(format!(
            "every row needs a value in each; if each column holds the observations of one secret, say {}",
            option("wide")
        )));
    }
    let mut lines = Vec::with_capacity(2 * text.len());
    for row in 0..rows {
        let mut separator = b'{';
        for (name, cells) in &columns {
            lines.push(separator);
            separator = b',';
            lines.extend(*name);
            lines.push(b':');
            // Rows end lines.
            let cell = cells.get(row).copied().unwrap_or(b"null");
            lines.extend(cell.iter().map(|&byte| match byte {
                b'\n' | b'\r' => b' ',
                byte => byte,
            }));
        }
        lines.extend(b"}\n");
    }
    Ok(Some(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, wide: bool) -> Result<Found> {
        let (head, mut rest) = text.as_bytes().split_at(text.len() / 2);
        find("x", head.to_vec(), &mut rest, wide)
    }

    #[test]
    fn columns_become_lines() {
        let lines = "{\"s\":\"a,]\",\"t\":1}\n{\"s\":\"b\\\"\",\"t\":[2, 3]}\n";
        for text in [
            "{\"s\": [\"a,]\", \"b\\\"\"],\n \"t\": [1, [2, 3]]}\n",
            "{\"n\": 2, \"s\": [\"a,]\", \"b\\\"\"], \"t\": [1, [2, 3]]}",
            "{\"s\": {\"0\": \"a,]\", \"1\": \"b\\\"\"}, \"t\": {\"0\": 1, \"1\": [2, 3]}}",
            "{\"columns\": [\"s\", \"t\"], \"index\": [0, 1], \"data\": [[\"a,]\", 1], [\"b\\\"\", [2, 3]]]}",
        ] {
            let Found::Lines(found) = found(text, false).unwrap() else {
                panic!("{text}");
            };
            assert_eq!(String::from_utf8(found).unwrap(), lines, "{text}");
        }
    }

    #[test]
    fn rows_stay_what_they_are() {
        for text in [
            "{\"s\": \"a\", \"t\": [1, 2]}\n{\"s\": \"b\", \"t\": [3, 4]}\n",
            "{\"s\": [1, 2], \"t\": [1, 2]}\n{\"s\": [1, 2], \"t\": [3, 4]}\n",
            "{\"runs\": [{\"s\": 1}, {\"s\": 2}]}",
            "{\"s\": {\"x\": 1}, \"t\": {\"y\": 1}}",
            "{\"s\": \"a\", \"t\": [1, 2]}",
            "{\"s\": [1], \"t\": [2]}",
            "{",
        ] {
            match found(text, false).unwrap() {
                Found::Other(all) => assert!(text.as_bytes().starts_with(&all)),
                Found::Lines(_) => panic!("{text}"),
            }
        }
    }

    #[test]
    fn columns_of_different_lengths_are_secrets_or_refused() {
        let text = "{\"in\": [1, 2, 3], \"out\": [4, 5]}";
        let error = found(text, false).err().unwrap();
        assert!(error.problem().contains("3 of in, 2 of out"), "{error}");
        let Found::Lines(lines) = found(text, true).unwrap() else {
            panic!("no lines");
        };
        assert!(lines.ends_with(b"{\"in\":3,\"out\":null}\n"));
    }
}
