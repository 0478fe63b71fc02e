//! Deterministic mechanisms: functions of the secret.

use std::collections::HashMap;
use std::fmt;

use rand::Rng;

use super::{BoundMechanism, Entry, Law, Mechanism, Probabilities, Secrets, secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, MAX_WHOLE, Parameter};

pub(super) const ENTRY: Entry = Entry {
    name: "deterministic",
    about: "outputs a function of the secret: the secret, a quotient or a remainder",
    parameters: &[
        Parameter::named(
            "modulus",
            "output the remainder modulo this number, at least 1",
        ),
        Parameter::named(
            "width",
            "output the number of the bin of this width, at least 1, before any modulus",
        ),
        secrets::PARAMETER,
    ],
    build,
};

/// Outputs ⌊s/width⌋ mod modulus for a whole number s; without both parameters, the label itself.
///
/// # Formula
/// Total variation between two secrets is 0 if their outputs are equal, else 1; Σ_o max_s P(o | s) is
/// the number of different observations; ε is 0 or infinite.
///
/// # Conditions
/// With `modulus` or `width` secrets are whole numbers within ±2^53. Remainders and quotients are
/// those of floored division: −1 mod 3 is 2.
///
/// # References
/// G. Smith, *On the foundations of quantitative information flow*,
/// doi:10.1007/978-3-642-00596-1_21 (deterministic channels).
#[derive(Debug, Clone, PartialEq)]
pub struct Deterministic {
    /// The modulus, if any.
    pub modulus: Option<u64>,
    /// The width of bins, if any.
    pub width: Option<u64>,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(Deterministic {
        modulus: arguments.whole_if_given("modulus", 1, MAX_WHOLE as u64)?,
        width: arguments.whole_if_given("width", 1, MAX_WHOLE as u64)?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Deterministic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = [
            ("modulus", self.modulus.map(|modulus| modulus.to_string())),
            ("width", self.width.map(|width| width.to_string())),
            ("secrets", self.secrets.map(|secrets| secrets.to_string())),
        ];
        let given: Vec<_> = given
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?)))
            .collect();
        write!(f, "deterministic({})", given.join(", "))
    }
}

impl Deterministic {
    /// The output for a label.
    fn output(&self, label: &str) -> Result<String> {
        if self.modulus.is_none() && self.width.is_none() && self.secrets.is_none() {
            return Ok(label.to_owned());
        }
        let value: f64 = label.trim().parse().unwrap_or(f64::NAN);
        if value.fract() != 0.0 || value.abs() > MAX_WHOLE as f64 {
            let problem =
                format!("its secrets are whole numbers; the log has the secret {label:?}");
            return Err(Error::parameter(self.to_string(), problem));
        }
        let value = value as i64;
        let declared = self
            .secrets
            .is_none_or(|secrets| (secrets.first()..=secrets.last()).contains(&value));
        if !declared {
            let problem = format!("{label:?} is not one of its secrets");
            return Err(Error::parameter(self.to_string(), problem)
                .with_hint("remove secrets= to use the secrets of the log"));
        }
        let bin = value.div_euclid(self.width.unwrap_or(1) as i64);
        let outputs = self
            .modulus
            .map_or(bin, |modulus| bin.rem_euclid(modulus as i64));
        Ok(outputs.to_string())
    }
}

impl Mechanism for Deterministic {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut observations = Vec::new();
        let mut outputs = Vec::with_capacity(labels.len());
        for label in labels {
            let observation = self.output(label)?;
            let number = *numbers.entry(observation.clone()).or_insert_with(|| {
                observations.push(observation);
                observations.len() - 1
            });
            outputs.push(number);
        }
        Ok(Box::new(Bound {
            outputs,
            observations,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    /// The number of the observation of each secret.
    outputs: Vec<usize>,
    observations: Vec<String>,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.outputs.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        f64::from(u8::from(self.outputs[a] != self.outputs[b]))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        1.0 - self.total_variation(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        let row = self.observations.iter().enumerate();
        let p = |o| f64::from(u8::from(o == self.outputs[secret]));
        Law::Labels(row.map(|(o, label)| (label.clone(), p(o))).collect())
    }

    fn epsilon(&self) -> f64 {
        if self.observations.len() > 1 {
            f64::INFINITY
        } else {
            0.0
        }
    }

    fn sample(&self, secret: usize, _: &mut dyn Rng) -> Vec<String> {
        vec![self.observations[self.outputs[secret]].clone()]
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        let first = self.outputs.first()?;
        let other = self.outputs.iter().position(|output| output != first);
        (self.outputs.len() >= 2).then(|| (0, other.unwrap_or(1)))
    }

    fn capacity(&self) -> Option<f64> {
        (!self.outputs.is_empty()).then_some(self.observations.len() as f64)
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Probabilities::tabulate(
            self.outputs.len(),
            self.observations.len() as u64,
            |o| self.observations[o as usize].clone(),
            |secret, o| f64::from(u8::from(o as usize == self.outputs[secret])),
        )
    }
}
