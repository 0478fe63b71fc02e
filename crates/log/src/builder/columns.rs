//! Columns of values with their types.

use std::fmt;

use crate::fold::Interner;
use crate::number::Number;
use crate::row::{Field, NULL};

/// A value of an observation column, for [`LogBuilder::push`](crate::LogBuilder::push).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'v> {
    /// For a column of numbers.
    Number(f64),
    /// For a column of integers or of numbers.
    Integer(i64),
    /// For a column of labels.
    Label(&'v str),
    /// No value: a label of its own in a column of labels, an error in a column of numbers when the log is built.
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

/// The values of a column.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Numbers(Vec<Option<f64>>),
    Integers(Vec<Option<i64>>),
    Labels(Labels),
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
        }
    }

    /// What the column holds, in words.
    pub(super) fn description(&self) -> &'static str {
        match self.kind {
            Kind::Numbers(_) => "numbers",
            Kind::Integers(_) => "integers",
            Kind::Labels(_) => "labels",
        }
    }

    /// Whether a value is of the column's type.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        matches!(
            (&self.kind, value),
            (_, Value::Missing)
                | (Kind::Numbers(_), Value::Number(_) | Value::Integer(_))
                | (Kind::Integers(_), Value::Integer(_))
                | (Kind::Labels(_), Value::Label(_))
        )
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
            Kind::Labels(labels) => labels.push(match *value {
                Value::Label(label) => Some(label),
                _ => None,
            }),
        }
    }

    pub(super) fn field(&self, row: usize) -> Field<'_> {
        let number = match &self.kind {
            Kind::Labels(labels) => return labels.field(row),
            Kind::Numbers(values) => values[row].map(Number::Float),
            Kind::Integers(values) => values[row].map(Number::Integer),
        };
        number.map_or(Field::Null, Field::Number)
    }
}
