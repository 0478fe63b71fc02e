//! JSON lines: an object a line. Fields of nested objects are columns by their path, `timing.total`; a
//! list is the text of itself.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::Format;
use crate::layout::MAX_COLUMNS;
use crate::open::nested;
use crate::options::ReadOptions;
use crate::records::{PROBE_BYTES, Records};
use crate::row::{Field, Row, is_absent, not_utf8};
use crate::source::{self, LONGEST_ROW};
use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::option;

/// Objects inside objects.
const DEEPEST: usize = 64;

/// Whether a file holds JSON lines: its name says so, or it says nothing and the text begins with `{`.
pub fn is_json_lines(name: &str, head: &[u8], delimiter: Option<u8>) -> bool {
    if delimiter.is_some() {
        return false;
    }
    let ending = without_packing(name).rsplit_once('.');
    match ending
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .as_deref()
    {
        Some("jsonl" | "ndjson" | "json") => true,
        Some("csv" | "tsv") => false,
        // A line of text may begin with a brace.
        Some("txt") => begins_with_field(head.trim_ascii_start()),
        _ => is_object_or_array_of_objects(head.trim_ascii_start()),
    }
}

/// Whether a text begins with an object and the name of a field in it.
fn begins_with_field(head: &[u8]) -> bool {
    let inside = head.strip_prefix(b"{");
    inside.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"\""))
}

/// A list of numbers may be the first cell of delimited text.
fn is_object_or_array_of_objects(head: &[u8]) -> bool {
    let array = head.strip_prefix(b"[");
    head.starts_with(b"{")
        || array.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"{"))
}

/// Rows of a file of JSON lines. The first rows settle which columns there are.
pub struct JsonLines {
    name: String,
    text: BufReader<Box<dyn Read + Send>>,
    columns: Columns,
    /// Whether fields that are no column are left aside; they are an error otherwise.
    selects: bool,
    /// Rows that settled the columns and were not handed out yet.
    waiting: VecDeque<Result<Line>>,
    /// Whether the lines are made of an array, or of columns.
    is_array: bool,
    is_of_columns: bool,
    /// The lists that were unfolded.
    path: nested::Path,
    probed: usize,
    row: Line,
    line: Vec<u8>,
    number: u64,
    is_begun: bool,
}

/// The columns by path, and where each was last seen.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// By column: what the row with this number holds.
    cells: Vec<(u64, Value)>,
    settled: bool,
}

/// What a field holds that is there: a text by where it stands.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Text(Range<usize>),
    /// A string that would be another value without its quotes.
    Quoted(Range<usize>),
}

/// The fields of a row that are there.
#[derive(Default)]
struct Line {
    number: u64,
    text: String,
    cells: Vec<(usize, Value)>,
}

impl JsonLines {
    /// Reads the first rows, at most so many.
    ///
    /// # Errors
    /// A line that is no object or cannot be read.
    pub fn new(
        name: &str,
        text: Box<dyn Read + Send>,
        options: &ReadOptions,
        probe: usize,
    ) -> Result<Self> {
        let mut lines = JsonLines {
            name: name.to_owned(),
            text: BufReader::with_capacity(1 << 17, text),
            columns: Columns::default(),
            selects: options.observe.is_some() || options.scores.is_some(),
            waiting: VecDeque::new(),
            is_array: false,
            is_of_columns: false,
            path: nested::Path::default(),
            probed: 0,
            row: Line::default(),
            line: Vec::new(),
            number: 0,
            is_begun: false,
        };
        let mut bytes = 0;
        while lines.waiting.len() < probe && bytes < PROBE_BYTES {
            match lines.read() {
                Ok(true) => lines.waiting.push_back(Ok(std::mem::take(&mut lines.row))),
                Ok(false) => break,
                // It may be left out, if a few rows may be bad.
                Err(error @ Error::Data { .. }) if options.skip_bad > 0 => {
                    lines.waiting.push_back(Err(error));
                }
                Err(error) => return Err(error),
            }
            bytes += lines.line.len();
        }
        lines.probed = lines.waiting.len();
        lines.columns.settled = true;
        Ok(lines)
    }

    /// The same lines, in which these lists may have been unfolded.
    pub fn unfolded(self, path: nested::Path) -> Self {
        JsonLines { path, ..self }
    }

    /// The same lines, made of an array.
    pub fn of_array(self) -> Self {
        JsonLines {
            is_array: true,
            ..self
        }
    }

    /// The same lines, made of columns.
    pub fn of_columns(self) -> Self {
        JsonLines {
            is_of_columns: true,
            ..self
        }
    }

    /// Reads the next line that is not blank into `row`; false behind the last.
    fn read(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let mut text = (&mut self.text).take(LONGEST_ROW as u64 + 1);
            let n = text
                .read_until(b'\n', &mut self.line)
                .map_err(|error| source::read_error(&self.name, &error))?;
            if n == 0 {
                return Ok(false);
            }
            self.number += 1;
            if n > LONGEST_ROW {
                let problem = format!("is longer than {} MiB", LONGEST_ROW >> 20);
                return Err(Error::data(self.place(), problem).with_hint(ONE_A_LINE));
            }
            if !self.line.trim_ascii().is_empty() {
                return self.parse().map(|()| true);
            }
        }
    }

    fn place(&self) -> Place {
        Place::file(&self.name).row(self.number)
    }

    fn parse(&mut self) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        let parsed = match std::str::from_utf8(&line) {
            Ok(text) => self.flatten(text.trim_end()),
            Err(_) => Err(not_utf8(self.place())),
        };
        self.line = line;
        parsed
    }

    fn flatten(&mut self, text: &str) -> Result<()> {
        self.row.number = self.number;
        self.row.text.clear();
        self.row.cells.clear();
        let mut path = String::new();
        let mut fields = Fields {
            place: Place::file(&self.name).row(self.number),
            columns: &mut self.columns,
            row: &mut self.row,
            selects: self.selects,
            probed: self.probed,
        };
        fields.object(text, &mut path, 0)
    }
}

impl Records for JsonLines {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        match self.is_array {
            true => Format::JsonArray,
            false => Format::JsonLines,
        }
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn note(&self) -> Option<String> {
        if self.is_of_columns {
            return Some("Each list of its JSON object is a column.".to_owned());
        }
        let path = self.path.get()?;
        Some(format!(
            "Field {path} holds lists of objects, each of which is a row, with the fields around its list. Rows of one list may \
             depend on each other."
        ))
    }

    fn resumes(&self) -> bool {
        true
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !self.is_begun {
            self.is_begun = true;
            let names = self.columns.names.iter();
            names.for_each(|name| row.push_text(name.as_bytes()));
            return Ok(!self.columns.names.is_empty());
        }
        match self.waiting.pop_front() {
            Some(waiting) => self.row = waiting?,
            None if self.read()? => {}
            None => return Ok(false),
        }
        self.columns.fill(&self.row, row);
        row.set_position(self.row.number - 1);
        Ok(true)
    }
}

impl Columns {
    /// Writes a row's cells in the order of columns.
    fn fill(&mut self, line: &Line, row: &mut Row) {
        for (column, value) in &line.cells {
            self.cells[*column] = (line.number, value.clone());
        }
        let text = |range: &Range<usize>| line.text[range.clone()].as_bytes();
        for (number, value) in &self.cells {
            row.push(match value {
                _ if *number != line.number => Field::Missing,
                Value::Null => Field::Null,
                Value::Text(range) => Field::Text(text(range)),
                Value::Quoted(range) => Field::Quoted(text(range)),
            });
        }
    }

    /// The number of a column; a new one while columns are not settled.
    fn position(&mut self, path: &str) -> Option<usize> {
        if let Some(&at) = self.index.get(path) {
            return Some(at);
        }
        if self.settled {
            return None;
        }
        self.index.insert(path.to_owned(), self.names.len());
        self.names.push(path.to_owned());
        self.cells.push((0, Value::Null));
        Some(self.names.len() - 1)
    }
}

/// Takes an object apart.
struct Fields<'r> {
    place: Place,
    columns: &'r mut Columns,
    row: &'r mut Line,
    selects: bool,
    probed: usize,
}

const ONE_A_LINE: &str =
    "a row is one JSON object on one line; `jq -c` writes them so (`jq -c '.[]'` from a list)";

impl Fields<'_> {
    fn object(&mut self, text: &str, path: &mut String, depth: usize) -> Result<()> {
        if depth == DEEPEST {
            let problem = format!("objects are nested more than {DEEPEST} deep");
            return Err(Error::data(self.at(path), problem));
        }
        let mut fields = Vec::new();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = ObjectOf(&mut fields).deserialize(&mut deserializer);
        if let Err(error) = read.and_then(|()| deserializer.end()) {
            let last = fields.pop().map(|(key, _): (Cow<str>, _)| key);
            return Err(self.not_json(text, path, last.as_deref(), &error));
        }
        let length = path.len();
        for (key, value) in fields {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&key);
            // What could not be read is an error above.
            if let Some(value) = value {
                self.value(value.get(), path, depth)?;
            }
            path.truncate(length);
        }
        Ok(())
    }

    fn value(&mut self, raw: &str, path: &mut String, depth: usize) -> Result<()> {
        if raw.starts_with('{') && raw[1..].trim_start() != "}" {
            return self.object(raw, path, depth + 1);
        }
        let Some(column) = self.columns.position(path) else {
            return if self.selects {
                Ok(())
            } else {
                let problem = format!(
                    "is a field that none of the first {} rows has, which settled the columns",
                    self.probed
                );
                Err(Error::data(self.at(path), problem).with_hint(format!(
                    "name the observation columns with {}; other fields are then left aside",
                    option("observe")
                )))
            };
        };
        if self.columns.names.len() > MAX_COLUMNS {
            let problem = format!("there are more than {MAX_COLUMNS} different fields");
            return Err(Error::data(self.at(path), problem)
                .with_hint("names of fields should not hold what is observed"));
        }
        if self.columns.cells[column].0 == self.row.number {
            return Err(Error::data(self.at(path), "the row has this field twice")
                .with_hint("leave one of the two out"));
        }
        let text = text(raw).map_err(|error| self.not_json(raw, path, None, &error))?;
        let start = self.row.text.len();
        let value = text.map_or(Value::Null, |text| {
            self.row.text.push_str(&text);
            let range = start..self.row.text.len();
            match raw.starts_with('"') && is_other_without_quotes(&text) {
                true => Value::Quoted(range),
                false => Value::Text(range),
            }
        });
        self.columns.cells[column] = (self.row.number, value.clone());
        self.row.cells.push((column, value));
        Ok(())
    }

    fn at(&self, path: &str) -> Place {
        if path.is_empty() {
            self.place.clone()
        } else {
            self.place.clone().column(path)
        }
    }

    fn not_json(
        &self,
        text: &str,
        path: &str,
        last: Option<&str>,
        error: &serde_json::Error,
    ) -> Error {
        let column = match (path, last) {
            (path, None) => path.to_owned(),
            ("", Some(last)) => last.to_owned(),
            (path, Some(last)) => format!("{path}.{last}"),
        };
        let byte = error.column().min(text.len());
        let character = String::from_utf8_lossy(&text.as_bytes()[..byte])
            .chars()
            .count();
        let problem = if error.is_eof() {
            format!(
                "the line ends at character {character} inside a value: it is truncated, or the object goes on in the next line"
            )
        } else if error.is_data() {
            format!("is not a JSON object: {}", shorten(text))
        } else {
            // Its own words, without the position: the row is said already.
            let words = error.to_string();
            let words = words.split(" at line ").next().unwrap_or_default();
            format!("is not JSON at character {character}: {words}")
        };
        Error::data(self.at(&column), problem).with_hint(ONE_A_LINE)
    }
}

/// The text of a value that is not an object with fields; `None` for null. A number is the text that it is
/// written as: that says how many decimals it has.
fn text(raw: &str) -> serde_json::Result<Option<Cow<'_, str>>> {
    Ok(Some(match raw.as_bytes() {
        [b'"', .., b'"'] if !raw.contains('\\') => raw[1..raw.len() - 1].into(),
        [b'"', ..] => serde_json::from_str::<String>(raw)?.into(),
        // Without the blanks that a writer may or may not put between elements.
        [b'[' | b'{', ..] => serde_json::from_str::<serde_json::Value>(raw)?
            .to_string()
            .into(),
        b"null" => return Ok(None),
        _ => raw.into(),
    }))
}

/// Whether a string without its quotes would be a value of another kind, or what stands for no value.
fn is_other_without_quotes(text: &str) -> bool {
    let may_be = |&byte: &u8| byte.is_ascii_digit() || b"-tfn[{(".contains(&byte);
    if !text.as_bytes().first().is_some_and(may_be) {
        return false;
    }
    is_absent(text)
        || text.starts_with(['[', '{'])
        || matches!(text, "true" | "false" | "null")
        || text.parse::<f64>().is_ok()
}

/// Fields in their order; behind an error the last one has no value.
type FieldList<'t> = Vec<(Cow<'t, str>, Option<&'t RawValue>)>;

struct ObjectOf<'f, 't>(&'f mut FieldList<'t>);

impl<'t> DeserializeSeed<'t> for ObjectOf<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(
        self,
        deserializer: D,
    ) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'t> Visitor<'t> for ObjectOf<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            self.0.push((key, None));
            let value = map.next_value()?;
            self.0.last_mut().expect("pushed above").1 = Some(value);
        }
        Ok(())
    }
}

/// A key, borrowed where it is written without escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{MISSING, NULL};

    fn rows(text: &str, options: &ReadOptions, probe: usize) -> Result<Vec<Vec<String>>> {
        let text = Box::new(std::io::Cursor::new(text.to_owned()));
        let mut lines = JsonLines::new("log.jsonl", text, options, probe)?;
        let mut row = Row::new();
        let mut rows = Vec::new();
        while lines.next(&mut row)? {
            rows.push(
                row.fields()
                    .map(|field| field.text().into_owned())
                    .collect(),
            );
        }
        Ok(rows)
    }

    #[test]
    fn nested_fields_are_columns_by_path_and_what_is_absent_is_said() {
        let text = "{\"user\":{\"id\":\"a\\u0062\"},\"t\":1.50}\n\n{\"t\":null,\"list\":[1, -1],\"user\":{\"id\":\"\"}}\r\n{}";
        let rows = rows(text, &ReadOptions::default(), 10).unwrap();
        assert_eq!(rows[0], ["user.id", "t", "list"]);
        assert_eq!(rows[1], ["ab", "1.50", MISSING]);
        assert_eq!(rows[2], ["", NULL, "[1,-1]"]);
        assert_eq!(rows[3], [MISSING; 3]);
    }

    #[test]
    fn a_late_field_is_an_error_unless_columns_were_named() {
        let text = "{\"a\":1}\n{\"a\":2,\"b\":3}\n";
        let error = rows(text, &ReadOptions::default(), 1)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("row 2, column b") && error.contains("`observe`"),
            "{error}"
        );
        let observe = ReadOptions {
            observe: Some(vec!["a".into()]),
            ..ReadOptions::default()
        };
        assert_eq!(rows(text, &observe, 1).unwrap(), [["a"], ["1"], ["2"]]);
    }

    #[test]
    fn what_is_no_object_is_named_with_its_row_and_place_in_it() {
        for (text, words) in [
            (
                "{\"a\":1}\n{\"a\":{\"b\":\"x",
                "row 2, column a: the line ends at character 12",
            ),
            ("{\"a\":1}\n[1,2]", "row 2: is not a JSON object: [1,2]"),
            (
                "{\"a\":1 \"b\":2}",
                "row 1, column a: is not JSON at character 8",
            ),
            ("{\"a\":1}{\"a\":2}", "row 1"),
            ("{\"a\":1,\"a\":2}", "twice"),
            (
                "{\"a.b\":1,\"a\":{\"b\":2}}",
                "row 1, column a.b: the row has this field twice",
            ),
            ("{\"a\":\"\\ud800\"}", "row 1, column a"),
            ("{", "the line ends at character 1"),
        ] {
            let error = rows(text, &ReadOptions::default(), 10)
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        assert!(rows(&deep, &ReadOptions::default(), 10).is_err());
        let lists = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(rows(&lists, &ReadOptions::default(), 10).is_err());
    }

    #[test]
    fn the_name_or_the_first_character_tells() {
        assert!(is_json_lines("x.jsonl.zst", b"", None));
        assert!(is_json_lines("-", b" \n{\"a\":1}", None));
        assert!(!is_json_lines("x.csv", b"{\"a\":1}", None));
        assert!(is_json_lines("x.txt", b"{\"a\":1}", None));
        assert!(!is_json_lines("x.txt", b"{a},1", None));
        assert!(!is_json_lines("-", b"a,b", None));
        assert!(!is_json_lines("x.json", b"a,b", Some(b',')));
    }
}
