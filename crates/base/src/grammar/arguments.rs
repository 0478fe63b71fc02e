//! The arguments of a call, checked against the parameters that its name has.

use super::{Argument, Call, Value, format_number};
use crate::error::{Error, Result, shorten};
use crate::suggest::nearest;

/// A parameter that a name knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: `epsilon`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether a value without a name sets this parameter. Such values set positional parameters in order.
    pub positional: bool,
}

/// Letters and short forms of parameters, as papers write them.
const LETTERS: [(&[&str], &str); 8] = [
    (&["eps", "ε", "e"], "epsilon"),
    (&["del", "δ", "d"], "delta"),
    (&["σ"], "sigma"),
    (&["μ", "µ"], "mu"),
    (&["ρ"], "rho"),
    (&["α"], "alpha"),
    (&["λ", "b"], "scale"),
    (&["ν"], "nu"),
];

impl Parameter {
    /// A parameter that must be named.
    pub const fn named(name: &'static str, about: &'static str) -> Self {
        Parameter {
            name,
            about,
            positional: false,
        }
    }

    /// A parameter that a value without a name can set.
    pub const fn positional(name: &'static str, about: &'static str) -> Self {
        Parameter {
            name,
            about,
            positional: true,
        }
    }
}

/// The numbers that a parameter allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    /// This or more.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// From the first to the second, both included.
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

/// The arguments of a call, matched to parameters: each is known and is given at most once.
///
/// Borrows the call; the values are in the order written.
#[derive(Debug)]
pub struct Arguments<'a> {
    call: &'a Call,
    values: Vec<(&'static str, &'a Value)>,
}

impl<'a> Arguments<'a> {
    /// Matches the arguments of a call to parameters.
    ///
    /// # Errors
    /// [`Error::Call`]: a parameter is unknown or given twice, or a value has no name and no parameter is
    /// positional.
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
                if argument.name.is_none() {
                    return Err(arguments.another_bare_value(&argument.value, parameters));
                }
                let problem = format!("{} is given twice", parameter.name);
                return Err(arguments.parameter_error(parameter.name, problem));
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
            let problem = format!(
                "{parameter} must be {}, got {}",
                bounds.describe(),
                format_number(number)
            );
            let error = self.parameter_error(parameter, problem);
            let is_percent = bounds == Bounds::Between(0.0, 1.0) && number > 1.0 && number <= 100.0;
            return Err(match is_percent {
                true => error.with_hint(format!(
                    "it is a share: {} is {} %",
                    format_number(number / 100.0),
                    format_number(number)
                )),
                false => error,
            });
        }
        Ok(Some(number))
    }

    /// The number of a parameter that must be given.
    ///
    /// # Errors
    /// The parameter is missing; a value that is not a number or is out of bounds.
    pub fn number(&self, parameter: &str, bounds: Bounds) -> Result<f64> {
        self.number_if_given(parameter, bounds)?.ok_or_else(|| {
            self.parameter_error(parameter, format!("{parameter} is missing"))
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
    /// A value that is not a whole number or is out of bounds.
    pub fn whole_if_given(&self, parameter: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let bounds = Bounds::Between(least as f64, most as f64);
        match self.number_if_given(parameter, bounds)? {
            Some(number) if number.fract() != 0.0 => {
                let problem = format!(
                    "{parameter} must be a whole number, got {}",
                    format_number(number)
                );
                Err(self.parameter_error(parameter, problem))
            }
            number => Ok(number.map(|number| number as u64)),
        }
    }

    /// An error about this call as a whole: [`Error::Call`].
    pub fn error(&self, problem: impl Into<String>) -> Error {
        Error::call(&self.call.to_string(), None, problem)
    }

    /// An error about one parameter of this call: [`Error::Call`] with its name.
    pub fn parameter_error(&self, parameter: &str, problem: impl Into<String>) -> Error {
        Error::call(&self.call.to_string(), Some(parameter), problem)
    }

    fn not_a_number(&self, parameter: &str, value: &Value) -> Error {
        let problem = format!("{parameter} must be a number, got {}", value.describe());
        let error = self.parameter_error(parameter, problem);
        match value {
            Value::Grid { .. } => {
                error.with_hint(format!("only `bounds` takes grids; give one {parameter} here"))
            }
            Value::Range { from, to } => error.with_hint(format!(
                "give one number; for a grid, which only `bounds` takes, add the number of values: {from}..{to}:8"
            )),
            _ => error,
        }
    }

    fn unknown(&self, name: &str, parameters: &[Parameter]) -> Error {
        let names: Vec<_> = parameters.iter().map(|known| known.name).collect();
        let problem = format!(
            "{} has no parameter {:?}; its parameters are {}",
            self.call.name,
            shorten(name),
            list(&names)
        );
        let error = self.parameter_error(name, problem);
        let letter = LETTERS.iter().find(|(letters, _)| letters.contains(&name));
        let letter = letter
            .map(|(_, known)| *known)
            .filter(|known| names.contains(known));
        match letter.or_else(|| nearest(name, names)) {
            Some(known) => error.with_hint(format!("did you mean {known}?")),
            None => error,
        }
    }

    /// A value without a name beyond those that may stand so.
    fn another_bare_value(&self, value: &Value, parameters: &[Parameter]) -> Error {
        let positional = parameters.iter().filter(|known| known.positional).count();
        let which = match positional {
            1 => "only the first value may stand without its name".to_owned(),
            many => format!("only the first {many} values may stand without their names"),
        };
        let error = self.error(format!("{which}, and {} is another", value.describe()));
        match self.with_names(parameters) {
            Some(call) => error.with_hint(format!("write {call}; decimals have a point: 1.5")),
            None => error.with_hint("decimals have a point: 0.1"),
        }
    }

    /// The call with all names, where its values are as many as its parameters or fewer.
    fn with_names(&self, parameters: &[Parameter]) -> Option<String> {
        let named: Vec<&str> = self
            .call
            .arguments
            .iter()
            .filter_map(|argument| argument.name.as_deref())
            .collect();
        let mut free = parameters
            .iter()
            .map(|known| known.name)
            .filter(|name| !named.contains(name));
        let written = |argument: &Argument| {
            let name = match &argument.name {
                Some(name) => name.as_str(),
                None => free.next()?,
            };
            Some(format!("{name}={}", argument.value))
        };
        let arguments: Option<Vec<String>> = self.call.arguments.iter().map(written).collect();
        Some(format!("{}({})", self.call.name, arguments?.join(", ")))
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
