//! The exponential mechanism on a range of whole numbers.

use crate::extreme::Extreme;
use std::fmt;

use super::normalized_geometric::Normalized;
use super::ranged::{Range, Ranged};
use super::{BoundMechanism, Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "exponential",
    about: "outputs a whole number near the secret by the exponential mechanism",
    parameters: &[
        Parameter::positional("epsilon", "the nominal ε, at least 0"),
        Parameter::named(
            "sensitivity",
            "how much the utility can change, above 0; default: the largest distance between \
             secrets, so that ε holds between all of them",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// The exponential mechanism with utility −|o − s|. It outputs a whole number from the smallest to the largest
/// secret.
///
/// # Formula
/// P(o | s) = e^(−ε|o − s|/2d)/Z(s) with sensitivity d: geometric weights with ν = ε/2d,
/// [normalized](super::Ends::Normalized), with the same figures. The
/// reported ε is the smallest that holds between all secrets; the nominal ε holds for secrets at distance at most d.
///
/// # Conditions
/// ε ≥ 0 and finite; d > 0; secrets are whole numbers.
///
/// # References
/// F. McSherry, K. Talwar, *Mechanism design via differential privacy*,
/// doi:10.1109/FOCS.2007.66.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    /// The nominal ε, for secrets at distance at most d.
    pub epsilon: f64,
    /// The sensitivity d, if it is given.
    pub sensitivity: Option<f64>,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let mechanism = Exponential {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        sensitivity: arguments.number_if_given("sensitivity", Bounds::Above(0.0))?,
        secrets: Secrets::from_arguments(arguments)?,
    };
    match mechanism.sensitivity {
        Some(d) if !(0.5 * mechanism.epsilon / d).is_finite() => {
            Err(arguments.error("epsilon/sensitivity is too large"))
        }
        _ => Ok(Box::new(mechanism)),
    }
}

impl fmt::Display for Exponential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exponential(epsilon={}", format_number(self.epsilon))?;
        if let Some(sensitivity) = self.sensitivity {
            write!(f, ", sensitivity={}", format_number(sensitivity))?;
        }
        write!(f, "{})", secrets::suffix(self.secrets))
    }
}

impl Mechanism for Exponential {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let range = Range {
            secrets: self.secrets,
            observations: None,
            spacing: 1.0,
        };
        let (centers, low, high) = range.bind(&self.to_string(), labels)?;
        let widest = (high - low).at_least(1.0);
        let nu = 0.5 * self.epsilon / self.sensitivity.unwrap_or(widest);
        let family = Normalized { nu, low, high };
        Ok(Box::new(Ranged { family, centers }))
    }
}
