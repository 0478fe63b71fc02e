//! The arguments of a call, checked against the parameters that its name has.

use super::{Call, Value, format_number};
use crate::error::{Error, Result, shorten};
use crate::suggest::nearest;

/// A parameter that a name knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: `epsilon`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether a value without a name means this parameter, if it is not given yet.
    pub positional: bool,
}

impl Parameter {
    /// A parameter that must be named.
    pub const fn named(name: &'static str, about: &'static str) -> Self {
        Parameter {
            name,
            about,
            positional: false,
        }
    }

    /// The parameter that a value without a name means.
    pub const fn positional(name: &'static str, about: &'static str) -> Self {
        Parameter {
            name,
            about,
            positional: true,
        }
    }
}

/// Where a number may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    /// This or more.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// From the first to the second, both allowed.
    Between(f64, f64),
}

impl Bounds {
    fn contain(self, number: f64) -> bool {
        match self {
            Bounds::AtLeast(least) => number >= least,
            Bounds::Above(bound) => number > bound,
            Bounds::Between(least, most) => (least..=most).contains(&number),
        }
    }

    fn describe(self) -> String {
        match self {
            Bounds::AtLeast(least) => format!("at least {}", format_number(least)),
            Bounds::Above(bound) => format!("above {}", format_number(bound)),
            Bounds::Between(least, most) => {
                format!(
                    "between {} and {}",
                    format_number(least),
                    format_number(most)
                )
            }
        }
    }
}

/// The arguments of a call by parameter: each known, and given at most once.
#[derive(Debug)]
pub struct Arguments<'a> {
    call: &'a Call,
    values: Vec<(&'static str, &'a Value)>,
}

impl<'a> Arguments<'a> {
    /// Matches the arguments of a call to parameters.
    ///
    /// # Errors
    /// A parameter that is not known or is given twice; a value without a name where none of the
    /// parameters is positional.
    pub fn new(call: &'a Call, parameters: &[Parameter]) -> Result<Self> {
        let mut arguments = Arguments {
            call,
            values: Vec::new(),
        };
        for argument in &call.arguments {
            let found = match &argument.name {
                Some(name) => parameters.iter().find(|known| known.name == name),
                None => arguments.next_positional(parameters),
            };
            let Some(parameter) = found else {
                let error = match &argument.name {
                    Some(name) => arguments.unknown(name, parameters),
                    None => arguments.bare_value(&argument.value, parameters),
                };
                return Err(error);
            };
            if arguments.value(parameter.name).is_some() {
                return Err(arguments.error(format!("{} is given twice", parameter.name)));
            }
            arguments.values.push((parameter.name, &argument.value));
        }
        Ok(arguments)
    }

    /// The first positional parameter that is not given yet, else the first.
    fn next_positional<'p>(&self, parameters: &'p [Parameter]) -> Option<&'p Parameter> {
        let positional = || parameters.iter().filter(|known| known.positional);
        positional()
            .find(|known| self.value(known.name).is_none())
            .or_else(|| positional().next())
    }

    /// The parameters that are given, in the order written, with their values.
    pub fn given(&self) -> &[(&'static str, &'a Value)] {
        &self.values
    }

    /// The value of a parameter, if it is given.
    pub fn value(&self, parameter: &str) -> Option<&'a Value> {
        self.values
            .iter()
            .find(|(name, _)| *name == parameter)
            .map(|(_, value)| *value)
    }

    /// The number of a parameter, if it is given.
    ///
    /// # Errors
    /// A value that is not a number or is out of bounds.
    pub fn number_if_given(&self, parameter: &str, bounds: Bounds) -> Result<Option<f64>> {
        let number = match self.value(parameter) {
            None => return Ok(None),
            Some(Value::Number(number)) => *number,
            Some(value) => return Err(self.not_a_number(parameter, value)),
        };
        if !bounds.contain(number) {
            return Err(self.error(format!(
                "{parameter} must be {}, got {}",
                bounds.describe(),
                format_number(number)
            )));
        }
        Ok(Some(number))
    }

    /// The number of a parameter that must be given.
    ///
    /// # Errors
    /// The parameter is missing; a value that is not a number or is out of bounds.
    pub fn number(&self, parameter: &str, bounds: Bounds) -> Result<f64> {
        self.number_if_given(parameter, bounds)?.ok_or_else(|| {
            self.error(format!("{parameter} is missing"))
                .with_hint(format!(
                    "write {}({parameter}=…); it must be a number {}",
                    self.call.name,
                    bounds.describe()
                ))
        })
    }

    /// The whole number of a parameter, if it is given.
    ///
    /// # Errors
    /// A value that is no whole number or is out of bounds.
    pub fn whole_if_given(&self, parameter: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let bounds = Bounds::Between(least as f64, most as f64);
        match self.number_if_given(parameter, bounds)? {
            Some(number) if number.fract() != 0.0 => Err(self.error(format!(
                "{parameter} must be a whole number, got {}",
                format_number(number)
            ))),
            number => Ok(number.map(|number| number as u64)),
        }
    }

    /// An error about this call.
    pub fn error(&self, problem: impl Into<String>) -> Error {
        Error::parameter(shorten(&self.call.to_string()), problem)
    }

    fn not_a_number(&self, parameter: &str, value: &Value) -> Error {
        let error = self.error(format!(
            "{parameter} must be a number, got {}",
            value.describe()
        ));
        match value {
            Value::Grid { .. } => {
                error.with_hint(format!("grids are for `bounds`; give one {parameter} here"))
            }
            Value::Range { from, to } => error.with_hint(format!(
                "a grid, for `bounds`, also says how many values: {from}..{to}:8"
            )),
            _ => error,
        }
    }

    fn unknown(&self, name: &str, parameters: &[Parameter]) -> Error {
        let names: Vec<_> = parameters.iter().map(|known| known.name).collect();
        let error = self.error(format!(
            "{} has no parameter {:?}; its parameters are {}",
            self.call.name,
            shorten(name),
            list(&names)
        ));
        match nearest(name, names) {
            Some(known) => error.with_hint(format!("did you mean {known}?")),
            None => error,
        }
    }

    fn bare_value(&self, value: &Value, parameters: &[Parameter]) -> Error {
        let names: Vec<_> = parameters.iter().map(|known| known.name).collect();
        self.error(format!(
            "{} needs a parameter name; the parameters are {}",
            value.describe(),
            list(&names)
        ))
        .with_hint(format!(
            "write {}",
            names.first().map_or_else(
                || self.call.name.clone(),
                |name| { format!("{}({name}={})", self.call.name, shorten(&value.to_string())) }
            )
        ))
    }
}

/// Names for a message: `a, b and c`; `none` if there are none.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => (*only).to_owned(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
