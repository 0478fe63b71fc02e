//! Functions of the secret.

use std::collections::HashMap;
use std::fmt;

use rand::Rng;

use super::{BoundMechanism, Entry, Law, Mechanism, Probabilities, Secrets, secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, MAX_WHOLE, Parameter};

pub(super) const ENTRY: Entry = Entry {
    name: "deterministic",
    about: "tells a function of the secret: itself, a quotient, a remainder",
    parameters: &[
        Parameter::named("modulus", "tells the remainder modulo this, at least 1"),
        Parameter::named(
            "width",
            "tells the bin of this width, at least 1, before any modulus",
        ),
        secrets::PARAMETER,
    ],
    build,
};

/// Tells ⌊s/width⌋ mod modulus of a whole number s; without either, the label itself.
///
/// # Formula
/// Total variation between two secrets is 0 if they are told alike, else 1; Σ_o max_s P(o | s) is
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
    /// What is told of a label.
    fn told(&self, label: &str) -> Result<String> {
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
            let problem = format!("{label:?} is none of its secrets");
            return Err(Error::parameter(self.to_string(), problem)
                .with_hint("leave secrets= out to take the secrets of the log"));
        }
        let bin = value.div_euclid(self.width.unwrap_or(1) as i64);
        let told = self
            .modulus
            .map_or(bin, |modulus| bin.rem_euclid(modulus as i64));
        Ok(told.to_string())
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
        let mut told = Vec::with_capacity(labels.len());
        for label in labels {
            let observation = self.told(label)?;
            let number = *numbers.entry(observation.clone()).or_insert_with(|| {
                observations.push(observation);
                observations.len() - 1
            });
            told.push(number);
        }
        Ok(Box::new(Bound { told, observations }))
    }
}

#[derive(Debug)]
struct Bound {
    /// The number of the observation of each secret.
    told: Vec<usize>,
    observations: Vec<String>,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.told.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        f64::from(u8::from(self.told[a] != self.told[b]))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        1.0 - self.total_variation(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        let row = self.observations.iter().enumerate();
        let p = |o| f64::from(u8::from(o == self.told[secret]));
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
        vec![self.observations[self.told[secret]].clone()]
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        let first = self.told.first()?;
        let other = self.told.iter().position(|told| told != first);
        (self.told.len() >= 2).then(|| (0, other.unwrap_or(1)))
    }

    fn capacity(&self) -> Option<f64> {
        (!self.told.is_empty()).then_some(self.observations.len() as f64)
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Probabilities::write_out(
            self.told.len(),
            self.observations.len() as u64,
            |o| self.observations[o as usize].clone(),
            |secret, o| f64::from(u8::from(o as usize == self.told[secret])),
        )
    }
}
