//! Columns of values with their types.

use std::fmt;

use crate::fold::Interner;
use crate::number::Number;
use crate::row::{Field, NULL};

/// A value of an observation column, for [`LogBuilder::push`](crate::LogBuilder::push).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'v> {
    /// For a column of numbers, or of numbers and words.
    Number(f64),
    /// For a column of integers, of numbers, or of numbers and words.
    Integer(i64),
    /// For a column of labels, or a word for a column of numbers and words.
    Label(&'v str),
    /// No value: a label or a word of its own, `(null)`.
    Missing,
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Integer(value)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(label: &'v str) -> Self {
        Value::Label(label)
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Missing, Into::into)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Label(label) => f.write_str(label),
            Value::Missing => f.write_str(NULL),
        }
    }
}

/// Labels of rows: each distinct one once, and a number a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    texts: Interner,
    rows: Vec<Option<u32>>,
}

impl Labels {
    pub(super) fn push(&mut self, label: Option<&str>) {
        let number = label.map(|label| self.texts.intern(label));
        self.rows.push(number);
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn field(&self, row: usize) -> Field<'_> {
        match self.rows[row] {
            None => Field::Null,
            Some(number) => Field::Text(self.texts.texts()[number as usize].as_bytes()),
        }
    }
}

/// What a column of numbers and words holds in a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    Number(Number),
    Word(u32),
    Missing,
}

/// Numbers and words: each distinct word once.
#[derive(Debug, Clone, Default)]
pub(super) struct Mixed {
    words: Interner,
    rows: Vec<Entry>,
}

impl Mixed {
    pub(super) fn push(&mut self, value: &Value) {
        self.rows.push(match *value {
            Value::Number(value) => Entry::Number(Number::Float(value)),
            Value::Integer(value) => Entry::Number(Number::Integer(value)),
            Value::Label(word) => Entry::Word(self.words.intern(word)),
            Value::Missing => Entry::Missing,
        });
    }

    fn field(&self, row: usize) -> Field<'_> {
        match self.rows[row] {
            Entry::Number(number) => Field::Number(number),
            Entry::Word(word) => Field::Text(self.words.texts()[word as usize].as_bytes()),
            Entry::Missing => Field::Null,
        }
    }
}

/// The values of a column.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Numbers(Vec<Option<f64>>),
    Integers(Vec<Option<i64>>),
    Labels(Labels),
    Mixed(Mixed),
}

/// An observation column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

impl Column {
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        let name = name.to_owned();
        Column { name, kind }
    }

    pub(super) fn len(&self) -> usize {
        match &self.kind {
            Kind::Numbers(values) => values.len(),
            Kind::Integers(values) => values.len(),
            Kind::Labels(labels) => labels.len(),
            Kind::Mixed(mixed) => mixed.rows.len(),
        }
    }

    /// What the column holds, in words.
    pub(super) fn description(&self) -> &'static str {
        match self.kind {
            Kind::Numbers(_) => "numbers",
            Kind::Integers(_) => "integers",
            Kind::Labels(_) => "labels",
            Kind::Mixed(_) => "numbers and words",
        }
    }

    /// Whether a value is of the column's type.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        matches!(
            (&self.kind, value),
            (_, Value::Missing)
                | (Kind::Mixed(_), _)
                | (Kind::Numbers(_), Value::Number(_) | Value::Integer(_))
                | (Kind::Integers(_), Value::Integer(_))
                | (Kind::Labels(_), Value::Label(_))
        )
    }

    /// Whether all its numbers were given as integers.
    pub(super) fn are_integers(&self) -> bool {
        match &self.kind {
            Kind::Integers(_) => true,
            Kind::Mixed(mixed) => !mixed.rows.iter().any(|entry| {
                matches!(entry, Entry::Number(Number::Float(_) | Number::Unsigned(_)))
            }),
            Kind::Numbers(_) | Kind::Labels(_) => false,
        }
    }

    /// Adds a value that the column accepts; any other is one that is missing.
    pub(super) fn push(&mut self, value: &Value) {
        match &mut self.kind {
            Kind::Numbers(values) => values.push(match *value {
                Value::Number(value) => Some(value),
                Value::Integer(value) => Some(value as f64),
                Value::Label(_) | Value::Missing => None,
            }),
            Kind::Integers(values) => values.push(match *value {
                Value::Integer(value) => Some(value),
                _ => None,
            }),
            Kind::Mixed(mixed) => mixed.push(value),
            Kind::Labels(labels) => labels.push(match *value {
                Value::Label(label) => Some(label),
                _ => None,
            }),
        }
    }

    pub(super) fn field(&self, row: usize) -> Field<'_> {
        let number = match &self.kind {
            Kind::Labels(labels) => return labels.field(row),
            Kind::Mixed(mixed) => return mixed.field(row),
            Kind::Numbers(values) => values[row].map(Number::Float),
            Kind::Integers(values) => values[row].map(Number::Integer),
        };
        number.map_or(Field::Null, Field::Number)
    }
}
