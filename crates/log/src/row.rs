//! Rows of a log: fields with their types, and where in the file each row stands.

use std::borrow::Cow;

use csv::{ByteRecord, Position};

use crate::number::Number;
use leakgauge_base::error::{Error, Place};

/// The text of a field that a row does not have.
pub const MISSING: &str = "(missing)";
/// The text of a field that holds nothing, as distinct from an empty text.
pub const NULL: &str = "(null)";

/// What a row holds in one column.
///
/// The types only say how a value is stored. What a column means (numbers or labels) is decided by its
/// values, in the same way for every format: the number 1.5 and the text `1.5` mean the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'r> {
    /// A text. Formats of text give numbers as texts too, because the text says how many decimals were written.
    /// It may be no UTF-8: the reader of the column refuses it.
    Text(&'r [u8]),
    /// A text in quotes that would be another value of the format without them: the strings `"1"` and `"null"` of
    /// JSON. It means what the text means, but it is not written like it.
    Quoted(&'r [u8]),
    /// A number that the format stores in binary.
    Number(Number),
    /// A field that is there and holds nothing.
    Null,
    /// A field that the row does not have.
    Missing,
}

impl<'r> Field<'r> {
    /// The text of the field: of a number the shortest, [`NULL`] and [`MISSING`] where there is no value. Bytes
    /// that are no UTF-8 are replaced.
    pub fn text(self) -> Cow<'r, str> {
        match self {
            Field::Text(bytes) | Field::Quoted(bytes) => String::from_utf8_lossy(bytes),
            Field::Number(number) => number.to_string().into(),
            Field::Null => NULL.into(),
            Field::Missing => MISSING.into(),
        }
    }

    /// Whether the field is a number, finite or not, or a text that is written as one.
    pub fn is_number(self) -> bool {
        match self {
            Field::Text(bytes) | Field::Quoted(bytes) => {
                std::str::from_utf8(bytes).is_ok_and(is_number)
            }
            Field::Number(_) => true,
            Field::Null | Field::Missing => false,
        }
    }
}

/// Whether a text is written as a number, finite or not.
pub fn is_number(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok()
}

/// Whether a text stands for no value.
pub(crate) fn is_absent(text: &str) -> bool {
    matches!(text, "" | MISSING | NULL)
}

/// Whether a text is what programs write for a number that there is not.
pub(crate) fn is_not_a_number(text: &str) -> bool {
    text.trim_start_matches(['+', '-'])
        .eq_ignore_ascii_case("nan")
}

/// What a field is, where it is not a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Quoted,
    Number(Number),
    Null,
    Missing,
}

/// One row: its fields in the order of the columns, and its position in the file.
///
/// ```
/// use leakgauge_log::{Field, Number, Row};
///
/// let mut row = Row::new();
/// row.push(Field::Text(b"alice"));
/// row.push(Field::Number(Number::Float(1.5)));
/// assert_eq!(row.len(), 2);
/// assert_eq!(row.get(1), Some(Field::Number(Number::Float(1.5))));
/// assert_eq!(row.text(1).as_deref(), Some("1.5"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The texts, an empty one for a field that is none. The position is the row's.
    texts: ByteRecord,
    /// What each field is; empty as long as all are texts, so that rows of text files cost nothing more.
    kinds: Vec<Kind>,
}

impl Row {
    /// A row without fields.
    pub fn new() -> Self {
        Row::default()
    }

    /// A row of texts, without a position.
    pub fn of_texts<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        Row {
            texts: texts.into_iter().collect(),
            kinds: Vec::new(),
        }
    }

    /// Removes all fields and the position.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.texts.set_position(None);
        self.kinds.clear();
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether the row has no fields.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, field: Field) {
        match field {
            Field::Text(text) => self.push_text(text),
            Field::Quoted(text) => self.push_kind(Kind::Quoted, text),
            Field::Number(number) => self.push_kind(Kind::Number(number), b""),
            Field::Null => self.push_kind(Kind::Null, b""),
            Field::Missing => self.push_kind(Kind::Missing, b""),
        }
    }

    /// Adds a text behind the other fields.
    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        self.texts.push_field(text);
        if !self.kinds.is_empty() {
            self.kinds.push(Kind::Text);
        }
    }

    fn push_kind(&mut self, kind: Kind, text: &[u8]) {
        if self.kinds.is_empty() {
            self.kinds.resize(self.texts.len(), Kind::Text);
        }
        self.texts.push_field(text);
        self.kinds.push(kind);
    }

    /// The field in a column, counted from 0.
    #[inline]
    pub fn get(&self, column: usize) -> Option<Field<'_>> {
        match self.kinds.get(column) {
            None | Some(Kind::Text) => self.texts.get(column).map(Field::Text),
            Some(Kind::Quoted) => self.texts.get(column).map(Field::Quoted),
            Some(&Kind::Number(number)) => Some(Field::Number(number)),
            Some(Kind::Null) => Some(Field::Null),
            Some(Kind::Missing) => Some(Field::Missing),
        }
    }

    /// The text of the field in a column; see [`Field::text`].
    pub fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        self.get(column).map(Field::text)
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        (0..self.len()).filter_map(|column| self.get(column))
    }

    /// The texts of all fields, between commas.
    pub fn joined(&self) -> String {
        let texts: Vec<Cow<'_, str>> = self.fields().map(Field::text).collect();
        texts.join(",")
    }

    /// How many rows of the file stand before this one; `None` if it is no single row of a file.
    pub fn position(&self) -> Option<u64> {
        self.texts.position().map(Position::record)
    }

    /// Says how many rows of the file stand before this one.
    pub fn set_position(&mut self, rows_before: u64) {
        let mut position = Position::new();
        position.set_record(rows_before);
        self.texts.set_position(Some(position));
    }

    /// The same position as another row.
    pub(crate) fn stands_at(&mut self, other: &Row) {
        self.texts.set_position(other.texts.position().cloned());
    }

    /// The row of a file that this is; the file, if it is no single row of it.
    pub fn place(&self, file: &str) -> Place {
        match self.position() {
            Some(before) => Place::file(file).row(before + 1),
            None => Place::file(file),
        }
    }

    /// The bytes of its texts, which is about what it takes.
    pub fn bytes(&self) -> usize {
        self.texts.as_slice().len() + self.kinds.len() * size_of::<Number>()
    }

    /// A copy that takes no more memory than its own fields. A clone would be as large as the largest row that
    /// this one has held.
    pub(crate) fn compact(&self) -> Row {
        let mut texts = ByteRecord::with_capacity(self.texts.as_slice().len(), self.texts.len());
        self.texts.iter().for_each(|text| texts.push_field(text));
        texts.set_position(self.texts.position().cloned());
        Row {
            texts,
            kinds: self.kinds.clone(),
        }
    }

    /// A row of texts only, to be written into.
    pub(crate) fn texts_mut(&mut self) -> &mut ByteRecord {
        self.kinds.clear();
        &mut self.texts
    }

    /// The first column that holds bytes that are no UTF-8.
    pub(crate) fn not_utf8(&self) -> Option<usize> {
        self.texts
            .iter()
            .position(|text| std::str::from_utf8(text).is_err())
    }
}

/// The error of a cell that is no text.
pub fn not_utf8(place: Place) -> Error {
    Error::data(place, "is not UTF-8 text")
        .with_hint("convert the file, for instance with `iconv -f latin1 -t utf-8`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_types_whatever_stands_before_them() {
        let fields = [
            Field::Text(b"a"),
            Field::Null,
            Field::Number(Number::Integer(-7)),
            Field::Text(b""),
            Field::Quoted(b"1"),
            Field::Missing,
        ];
        let mut row = Row::new();
        row.set_position(4);
        fields.iter().for_each(|&field| row.push(field));
        assert_eq!(row.fields().collect::<Vec<_>>(), fields);
        assert_eq!(row.compact(), row);
        let texts: Vec<Cow<str>> = row.fields().map(Field::text).collect();
        assert_eq!(texts, ["a", NULL, "-7", "", "1", MISSING]);
        assert_eq!(row.place("log").to_string(), "log, row 5");
        row.clear();
        assert!(row.is_empty() && row.position().is_none() && row.get(0).is_none());
        row.push(Field::Text(b"b"));
        assert_eq!(row, Row::of_texts(["b"]));
    }
}
