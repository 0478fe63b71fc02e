//! Training in many steps of which some use a record, as a claim.

use std::fmt;
use std::sync::Arc;

use crate::mechanism::{Mechanism, RandomAllocation, dp_sgd};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

/// How records get into the steps of a training with Gaussian noise.
#[derive(Debug, Clone, PartialEq)]
pub enum Training {
    /// Into each with a probability (Poisson sampling).
    DpSgd {
        /// The noise multiplier σ.
        sigma: f64,
        /// The probability that a record is in a batch.
        rate: f64,
        /// The number of steps.
        steps: u64,
    },
    /// Into exactly one of each epoch, chosen at random.
    RandomAllocation {
        /// An epoch.
        epoch: RandomAllocation,
        /// How many.
        epochs: u64,
    },
}

pub(super) const DP_SGD: &[Parameter] = &[
    Parameter::named("sigma", "the noise multiplier σ, above 0"),
    Parameter::named(
        "rate",
        "the probability that a record is in a batch, above 0 and at most 1",
    ),
    Parameter::named("steps", "the number of steps, a whole number"),
];

pub(super) const RANDOM_ALLOCATION: &[Parameter] = &[
    Parameter::named("sigma", "the noise multiplier σ, between 0.1 and 1000"),
    Parameter::named("steps", "the number of steps of an epoch, a whole number"),
    Parameter::named("epochs", "the number of epochs, a whole number; default 1"),
];

/// More epochs take minutes.
const MOST_EPOCHS: f64 = 1e7;

/// A whole number, at least 1 and at most 10⁹.
fn whole(arguments: &Arguments<'_>, name: &str) -> Result<u64> {
    let number = arguments.number(name, Bounds::Between(1.0, 1e9))?;
    match number.fract() == 0.0 {
        true => Ok(number as u64),
        false => Err(arguments.error(format!("{name} must be a whole number"))),
    }
}

impl Training {
    /// `dp-sgd(sigma=…, rate=…, steps=…)`.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub(super) fn dp_sgd(arguments: &Arguments<'_>) -> Result<Training> {
        let sigma = arguments.number("sigma", Bounds::Above(0.0))?;
        let rate = arguments.number("rate", Bounds::Between(0.0, 1.0))?;
        let steps = whole(arguments, "steps")?;
        if rate == 0.0 {
            return Err(arguments.error("rate must be above 0"));
        }
        Ok(Training::DpSgd { sigma, rate, steps })
    }

    /// `random-allocation(sigma=…, steps=…, epochs=…)`.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub(super) fn random_allocation(arguments: &Arguments<'_>) -> Result<Training> {
        let (least, most) = RandomAllocation::SIGMAS;
        let sigma = arguments.number("sigma", Bounds::Between(least, most))?;
        let epochs = match arguments.value("epochs") {
            Some(_) => {
                arguments.number("epochs", Bounds::Between(1.0, MOST_EPOCHS))?;
                whole(arguments, "epochs")?
            }
            None => 1,
        };
        Ok(Training::RandomAllocation {
            epoch: RandomAllocation::new(sigma, whole(arguments, "steps")?)?,
            epochs,
        })
    }

    /// The mechanism that is repeated, and how often.
    pub fn composition(&self) -> (Arc<dyn Mechanism>, u64) {
        match self {
            Training::DpSgd { sigma, rate, steps } => (Arc::new(dp_sgd(*sigma, *rate)), *steps),
            Training::RandomAllocation { epoch, epochs } => (Arc::new(epoch.clone()), *epochs),
        }
    }
}

/// As it is written in the [grammar](leakgauge_base::grammar).
impl fmt::Display for Training {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Training::DpSgd { sigma, rate, steps } => {
                let (sigma, rate) = (format_number(*sigma), format_number(*rate));
                write!(f, "dp-sgd(sigma={sigma}, rate={rate}, steps={steps})")
            }
            Training::RandomAllocation { epoch, epochs: 1 } => epoch.fmt(f),
            Training::RandomAllocation { epoch, epochs } => {
                let text = epoch.to_string();
                let open = text.strip_suffix(')').unwrap_or(&text);
                write!(f, "{open}, epochs={epochs})")
            }
        }
    }
}
