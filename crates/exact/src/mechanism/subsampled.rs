//! A mechanism that uses a record only with a certain probability.

use crate::extreme::Extreme;
use std::fmt;

use libm::{expm1, log, log1p};
use rand::{Rng, RngExt};

use crate::profile::{Cell, Pair};

use super::entry::{Build, Reader, component};
use super::law::mixed;
use super::observed::texts;
use super::{BoundMechanism, Entry, Gaussian, Law, Mechanism, Observed, Replaced};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, Value, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "subsampled",
    about: "applies a mechanism to a record that is used only with a certain probability (Poisson sampling)",
    parameters: &[
        Parameter::positional(
            "mechanism",
            "the mechanism; its worst pair of secrets is the one without and with the record, 0 and 1, or the points 0;0 and 1;0, unless declared",
        ),
        Parameter::named(
            "rate",
            "the probability that the record is used, above 0 and at most 1",
        ),
        Parameter::named(
            "relation",
            "add-or-remove (default): secrets are without and with the record; replace, for noise on a number: secrets are two records in the same place, -1 and 1",
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
    let rate = arguments.number("rate", Bounds::Between(0.0, 1.0))?;
    if rate == 0.0 {
        return Err(arguments.error("rate must be above 0: else the record is never used"));
    }
    let mechanism = component(arguments, "mechanism", read)?;
    match arguments.value("relation") {
        None => {}
        Some(Value::Word(word)) if word == "add-or-remove" => {}
        Some(Value::Word(word)) if word == "replace" => {
            return Ok(Box::new(Replaced { mechanism, rate }));
        }
        Some(value) => {
            return Err(arguments.error(format!(
                "relation must be add-or-remove or replace, got {}",
                value.describe()
            )));
        }
    }
    Ok(Box::new(Subsampled { mechanism, rate }))
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
        Ok(Box::new(Bound {
            base,
            pair,
            rate: self.rate,
            uses,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    base: Box<dyn BoundMechanism>,
    /// The secrets of the mechanism without and with the record.
    pair: (usize, usize),
    rate: f64,
    /// Whether each secret is the one with the record.
    uses: Vec<bool>,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.uses.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.uses[a] == self.uses[b] {
            0.0
        } else {
            self.rate * self.base.total_variation(self.pair.0, self.pair.1)
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.uses[a] == self.uses[b] {
            1.0
        } else {
            (1.0 - self.rate) + self.rate * self.base.bayes_security(self.pair.0, self.pair.1)
        }
    }

    fn law(&self, secret: usize) -> Law {
        let without = self.base.law(self.pair.0);
        if self.uses[secret] {
            mixed(without, self.base.law(self.pair.1), self.rate)
        } else {
            without
        }
    }

    fn subsampled(&self) -> Option<(&dyn BoundMechanism, (usize, usize), f64)> {
        Some((&*self.base, self.pair, self.rate))
    }

    /// ln(1 − q + q·e^ε).
    fn epsilon(&self) -> f64 {
        let epsilon = self.base.epsilon();
        if self
            .worst_pair()
            .is_none_or(|(a, b)| self.uses[a] == self.uses[b])
        {
            0.0
        } else if epsilon > 700.0 {
            epsilon + log(self.rate)
        } else {
            log1p(self.rate * expm1(epsilon))
        }
    }

    fn columns(&self) -> &'static [&'static str] {
        self.base.columns()
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let used = self.uses[secret] && rng.random::<f64>() < self.rate;
        let (without, with) = self.pair;
        self.base.draw(if used { with } else { without }, rng)
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        if self.uses[a] == self.uses[b] {
            return Some(Pair::Cells(vec![Cell::new(1.0, 1.0)]));
        }
        let (without, with) = self.pair;
        Some(Pair::Subsampled {
            base: Box::new(self.base.pair(with, without)?),
            rate: self.rate,
            reversed: self.uses[b],
        })
    }

    /// Both orders.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?, self.pair(b, a)?])
    }

    fn capacity(&self) -> Option<f64> {
        Some(
            1.0 + self
                .worst_pair()
                .map_or(0.0, |(a, b)| self.total_variation(a, b)),
        )
    }

    fn delta(&self, epsilon: f64) -> Option<f64> {
        if self
            .worst_pair()
            .is_none_or(|(a, b)| self.uses[a] == self.uses[b])
        {
            return Some(0.0);
        }
        let raised = if epsilon > 700.0 {
            epsilon - log(self.rate)
        } else {
            log1p(expm1(epsilon) / self.rate)
        };
        let present = self.rate * self.base.delta(raised)?;
        // 1 − e^ε(1 − q) is q times 1 − less; of a rate of 1 the other order of the pair is the same.
        let less = expm1(epsilon) * (1.0 - self.rate) / self.rate;
        let absent = if less < 1.0 {
            self.rate * (1.0 - less) * self.base.delta((epsilon - log1p(-less)).at_least(0.0))?
        } else {
            0.0
        };
        Some(present.at_least(absent))
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
