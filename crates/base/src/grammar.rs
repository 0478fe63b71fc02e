//! The grammar of mechanisms and claims: `name(parameter=value, …)`.
//!
//! [`Call::parse`] reads the text. [`Arguments`] checks the values and hands them to the code that knows the
//! name. This module does not know which names exist.
//!
//! ```text
//! call     := name [ '(' [ argument { ',' argument } ] ')' ]
//! argument := [ name '=' ] value
//! value    := number | range | grid | measure | word | text | call with parentheses
//! range    := whole '..' whole              0..9          the whole numbers from 0 to 9
//! grid     := number '..' number ':' count  0.5..4:8      8 values, ends included
//! measure  := number name               1.5ns         a number with a unit
//! text     := any characters but quotes in quotes   "cache miss"   the same as a word
//! name     := a letter or '_', then letters, digits, '_', '-', '/' or '.' (never '..')
//! ```
//!
//! White space between these is ignored. Calls nest at most [`MAX_DEPTH`] deep.

use std::fmt;

use crate::error::{Error, Result, shorten};

mod arguments;
mod parser;

pub use arguments::list;
pub use arguments::{Arguments, Bounds, Parameter};

/// How deep calls may nest.
pub const MAX_DEPTH: usize = 16;

/// The largest whole number in a range, 2^53: every whole number up to it is exact as an `f64`.
pub const MAX_WHOLE: i64 = 1 << 53;

/// A name with arguments, as the user wrote them.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name: `laplace`.
    pub name: String,
    /// The arguments in the order written.
    pub arguments: Vec<Argument>,
}

/// One argument of a [`Call`].
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The name of the parameter; `None` for a value without a name.
    pub name: Option<String>,
    /// Its value.
    pub value: Value,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// `from..to`: the whole numbers from one to the other, both included.
    Range {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
    /// `from..to:points`: evenly spaced numbers, both ends included.
    Grid {
        /// The first.
        from: f64,
        /// The last.
        to: f64,
        /// How many.
        points: usize,
    },
    /// A call inside the call.
    Call(Box<Call>),
    /// `1ns`: a number with a unit.
    Measure {
        /// The number.
        number: f64,
        /// The unit: a name.
        unit: String,
    },
    /// Anything else that looks like a name, or stands in quotes.
    Word(String),
}

impl Call {
    /// Reads a call.
    ///
    /// ```
    /// use leakgauge_base::grammar::{Call, Value};
    ///
    /// let call = Call::parse("laplace(scale = 2, secrets=0..9)")?;
    /// assert_eq!(call.name, "laplace");
    /// assert_eq!(call.arguments[1].value, Value::Range { from: 0, to: 9 });
    /// assert_eq!(call.to_string(), "laplace(scale=2, secrets=0..9)");
    /// # Ok::<(), leakgauge_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Grammar`], which quotes the text and points at the character.
    pub fn parse(text: &str) -> Result<Call> {
        parser::parse(text)
    }

    /// One call for every combination of the values of its grids, in lexicographic order: the last grid varies
    /// fastest. A call without grids gives itself. Grids inside nested calls are expanded too.
    ///
    /// # Errors
    /// There are more than `limit` combinations.
    pub fn expand_grids(&self, limit: usize) -> Result<Vec<Call>> {
        let mut calls = vec![Call {
            name: self.name.clone(),
            arguments: Vec::new(),
        }];
        for argument in &self.arguments {
            let values = argument.value.expand(limit)?;
            if calls.len().saturating_mul(values.len()) > limit {
                return Err(self.too_many_points(limit));
            }
            calls = calls
                .iter()
                .flat_map(|call| values.iter().map(|value| call.with(argument, value)))
                .collect();
        }
        Ok(calls)
    }

    /// This call with one more argument.
    fn with(&self, argument: &Argument, value: &Value) -> Call {
        let mut call = self.clone();
        call.arguments.push(Argument {
            name: argument.name.clone(),
            value: value.clone(),
        });
        call
    }

    fn too_many_points(&self, limit: usize) -> Error {
        Error::parameter(
            shorten(&self.to_string()),
            format!("its grids have more than {limit} combinations"),
        )
        .with_hint("use fewer points: a..b:n has n points")
    }
}

impl Value {
    /// The values of a grid; any other value as it is.
    fn expand(&self, limit: usize) -> Result<Vec<Value>> {
        match self {
            Value::Grid { points, .. } if *points > limit => Err(Error::parameter(
                self.to_string(),
                format!("a grid can have at most {limit} points, this one has {points}"),
            )),
            Value::Grid { from, to, points } => Ok(grid(*from, *to, *points)
                .into_iter()
                .map(Value::Number)
                .collect()),
            Value::Call(call) => Ok(call
                .expand_grids(limit)?
                .into_iter()
                .map(|call| Value::Call(Box::new(call)))
                .collect()),
            _ => Ok(vec![self.clone()]),
        }
    }

    /// The value with its kind, for messages: `the word same`.
    pub fn describe(&self) -> String {
        let kind = match self {
            Value::Number(_) => "the number",
            Value::Range { .. } => "the range",
            Value::Grid { .. } => "the grid",
            Value::Call(_) => "the call",
            Value::Measure { .. } => "the measure",
            Value::Word(_) => "the word",
        };
        format!("{kind} {}", shorten(&self.to_string()))
    }
}

/// Evenly spaced points. Both ends are exact.
fn grid(from: f64, to: f64, points: usize) -> Vec<f64> {
    let last = points.saturating_sub(1);
    (0..points)
        .map(|i| {
            if i == last {
                to
            } else {
                from + (to - from) * i as f64 / last as f64
            }
        })
        .collect()
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if i == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.arguments.is_empty() { "" } else { ")" })
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        self.value.fmt(f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => f.write_str(&format_number(*number)),
            Value::Range { from, to } => write!(f, "{from}..{to}"),
            Value::Grid { from, to, points } => {
                let (from, to) = (format_number(*from), format_number(*to));
                write!(f, "{from}..{to}:{points}")
            }
            Value::Call(call) if call.arguments.is_empty() => write!(f, "{call}()"),
            Value::Call(call) => call.fmt(f),
            Value::Measure { number, unit } => write!(f, "{}{unit}", format_number(*number)),
            Value::Word(word) if parser::is_name(word) => f.write_str(word),
            Value::Word(word) => write!(f, "\"{word}\""),
        }
    }
}

/// The shortest text that reads back as the same number: `2`, `0.5`, `1e-5`.
pub fn format_number(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        format!("{number}")
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests;
