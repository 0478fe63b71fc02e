//! What a mechanism shows, field by field.

use std::fmt;

/// A field of an observation: a number as it is, or a label.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// A finite number, in the unit of the mechanism's secrets.
    Number(f64),
    /// A label.
    Label(String),
}

/// As a log records it: a number by its shortest text, without an exponent.
impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observed::Number(value) => value.fmt(f),
            Observed::Label(label) => f.write_str(label),
        }
    }
}

/// The texts of an observation.
pub(super) fn texts(observed: Vec<Observed>) -> Vec<String> {
    observed.iter().map(Observed::to_string).collect()
}
