//! A mechanism that uses a record only with a certain probability.

use std::fmt;

use super::entry::{Build, Reader, component};
use super::used::Used;
use super::{BoundMechanism, Entry, FixedSize, Gaussian, Mechanism, Replaced};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, MAX_WHOLE, Parameter, Value, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "subsampled",
    about: "applies a mechanism to a record that is used only with a certain probability (Poisson sampling), or to a batch of a \
            fixed size (without replacement)",
    parameters: &[
        Parameter::positional(
            "mechanism",
            "the mechanism; its worst pair of secrets is the one without and with the record, 0 and 1, or the points 0;0 and 1;0, unless declared; \
             with batch, records are -1 and 1, or -1;0 and 1;0",
        ),
        Parameter::named(
            "rate",
            "the probability that the record is used, above 0 and at most 1",
        ),
        Parameter::named(
            "batch",
            "instead of rate: how many records a batch has, each at most once",
        ),
        Parameter::named(
            "records",
            "with batch: how many records there are, of two databases of different sizes in the larger one",
        ),
        Parameter::named(
            "relation",
            "add-or-remove (default with rate): secrets are without and with the record; replace (default with batch), with rate for noise on a \
             number: secrets are two records in the same place, -1 and 1",
        ),
    ],
    build: Build::Around(build),
};

/// Applies a mechanism to a record that is used with probability q, else to no record.
///
/// # Formula
/// Secret 0, without the record, has the observation Q of the mechanism; secret 1, with it, (1 − q)·Q + q·P. Total
/// variation is q times that of P and Q. With δ₀ that of the mechanism, δ(ε) is the larger of
/// q·δ₀(ln(1 + (e^ε − 1)/q)) and, while s = 1 − e^ε(1 − q) is positive, s·δ₀(ln(q·e^ε/s)).
///
/// # Conditions
/// 0 < q ≤ 1. The mechanism declares its secrets or takes the numbers 0 and 1, or the points (0, 0) and (1, 0).
///
/// # References
/// B. Balle, G. Barthe, M. Gaboardi, *Privacy amplification by subsampling*, theorem 8, arXiv:1807.01647. M. Abadi et
/// al., *Deep learning with differential privacy*, doi:10.1145/2976749.2978318.
#[derive(Debug)]
pub struct Subsampled {
    /// The mechanism.
    pub mechanism: Box<dyn Mechanism>,
    /// The probability q.
    pub rate: f64,
}

/// One step of DP-SGD with noise multiplier σ, a record being in a batch with probability q.
pub fn dp_sgd(sigma: f64, rate: f64) -> Subsampled {
    Subsampled {
        mechanism: Box::new(Gaussian {
            sigma,
            secrets: None,
        }),
        rate,
    }
}

fn build(arguments: &Arguments<'_>, read: Reader) -> Result<Box<dyn Mechanism>> {
    let replaces = match arguments.value("relation") {
        None => None,
        Some(Value::Word(word)) if word == "add-or-remove" => Some(false),
        Some(Value::Word(word)) if word == "replace" => Some(true),
        Some(value) => {
            return Err(arguments.error(format!(
                "relation must be add-or-remove or replace, got {}",
                value.describe()
            )));
        }
    };
    let sized = ["batch", "records"].map(|name| arguments.value(name).is_some());
    if sized != [false; 2] {
        if arguments.value("rate").is_some() {
            return Err(arguments.error("give either rate, or batch and records"));
        }
        return fixed_size(arguments, replaces.unwrap_or(true), read);
    }
    let rate = arguments.number("rate", Bounds::Between(0.0, 1.0))?;
    if rate == 0.0 {
        return Err(arguments.error("rate must be above 0: else the record is never used"));
    }
    let mechanism = component(arguments, "mechanism", read)?;
    Ok(match replaces {
        Some(true) => Box::new(Replaced { mechanism, rate }),
        _ => Box::new(Subsampled { mechanism, rate }),
    })
}

fn fixed_size(
    arguments: &Arguments<'_>,
    replaces: bool,
    read: Reader,
) -> Result<Box<dyn Mechanism>> {
    let whole = |name: &str| {
        let number = arguments.number(name, Bounds::Between(1.0, MAX_WHOLE as f64))?;
        match number.fract() == 0.0 {
            true => Ok(number as u64),
            false => Err(arguments.error(format!("{name} must be a whole number"))),
        }
    };
    let (batch, records) = (whole("batch")?, whole("records")?);
    if batch > records {
        return Err(arguments.error("batch must be at most records"));
    }
    Ok(Box::new(FixedSize {
        mechanism: component(arguments, "mechanism", read)?,
        batch,
        records,
        replaces,
    }))
}

impl fmt::Display for Subsampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "subsampled({}, rate={})",
            self.mechanism,
            format_number(self.rate)
        )
    }
}

impl Mechanism for Subsampled {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        Some(vec!["0".to_owned(), "1".to_owned()])
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let number = |label: &String| match label.trim() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => {
                let problem = format!(
                    "its secrets are 0, without the record, and 1, with it; the log has {label:?}"
                );
                Err(Error::parameter(self.to_string(), problem))
            }
        };
        let uses = labels.iter().map(number).collect::<Result<Vec<bool>>>()?;
        let base = match self.mechanism.declared_count() {
            Some(_) => self.mechanism.bind_declared()?,
            None => {
                let record = |labels: [&str; 2]| self.mechanism.bind(&labels.map(str::to_owned));
                record(["0", "1"]).or_else(|error| record(["0;0", "1;0"]).map_err(|_| error))?
            }
        };
        let pair = base.worst_pair().ok_or_else(|| {
            Error::parameter(self.to_string(), "its mechanism has only one secret")
        })?;
        Ok(Box::new(Used::new(base, pair, self.rate, uses)))
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::parse;

    /// A record moves a point by 1, as it does a number.
    #[test]
    fn a_record_moves_a_point_by_one() {
        let of = |text: &str| parse(text).unwrap().bind_declared().unwrap();
        for (text, declared) in [
            (
                "planar-laplace(scale=2",
                "planar-laplace(scale=2, secrets=2",
            ),
            (
                "planar-geometric(nu=0.7, observations=-3..3",
                "planar-geometric(nu=0.7, secrets=0..1, observations=-3..3",
            ),
        ] {
            let found = of(&format!("subsampled({text}), rate=0.1)"));
            let base = of(&format!("{declared})"));
            // (0, 0) and (1, 0) of the four points.
            let expected = 0.1 * base.total_variation(0, 2);
            assert!(
                (found.total_variation(0, 1) - expected).abs() < 1e-15,
                "{text}"
            );
            assert!(
                found
                    .delta(0.01)
                    .is_some_and(|delta| delta > 0.0 && delta < expected)
            );
        }
    }
}
