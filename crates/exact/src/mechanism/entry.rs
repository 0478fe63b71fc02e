//! An entry of the registry of mechanisms.

use super::Mechanism;
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Call, Parameter, Value};

/// Builds the mechanism that a call describes.
pub(super) type Reader = fn(&Call) -> Result<Box<dyn Mechanism>>;

/// A mechanism in the registry: its name, description and parameters.
#[derive(Debug)]
pub struct Entry {
    /// The name: `laplace`.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    pub(super) build: Build,
}

/// How a mechanism is built. One around another mechanism is handed what reads mechanisms: the registry lists its
/// entry, so it cannot know the registry.
#[derive(Debug)]
pub(super) enum Build {
    /// From its arguments alone.
    Alone(fn(&Arguments<'_>) -> Result<Box<dyn Mechanism>>),
    /// From arguments some of which are mechanisms.
    Around(fn(&Arguments<'_>, Reader) -> Result<Box<dyn Mechanism>>),
}

impl Entry {
    /// Builds the mechanism from a call of this name; `read` builds those in its arguments.
    ///
    /// # Errors
    /// An argument is invalid.
    pub(super) fn build(&self, call: &Call, read: Reader) -> Result<Box<dyn Mechanism>> {
        let arguments = Arguments::new(call, self.parameters)?;
        match self.build {
            Build::Alone(build) => build(&arguments),
            Build::Around(build) => build(&arguments, read),
        }
    }
}

/// Reads a parameter that is a mechanism.
pub(super) fn component(
    arguments: &Arguments<'_>,
    parameter: &str,
    read: Reader,
) -> Result<Box<dyn Mechanism>> {
    match arguments.value(parameter) {
        Some(Value::Call(call)) => read(call),
        Some(Value::Word(name)) => read(&Call {
            name: name.clone(),
            arguments: Vec::new(),
        }),
        Some(value) => Err(arguments.error(format!(
            "{parameter} must be a mechanism, got {}",
            value.describe()
        ))),
        None => Err(arguments
            .error(format!("{parameter} is missing"))
            .with_hint("write a mechanism inside the mechanism, as in mixture(randomized-response(1), identity(0.5), weight=0.9)")),
    }
}
