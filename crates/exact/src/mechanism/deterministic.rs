//! Deterministic mechanisms: functions of the secret.

use std::collections::HashMap;
use std::fmt;

use rand::Rng;

use super::{BoundMechanism, Build, Entry, Law, Mechanism, Probabilities, Secrets, secrets};
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
    build: Build::Alone(build),
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

    fn declared_range(&self) -> Option<Secrets> {
        self.secrets
    }

    /// Does not list the secrets.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        match self.secrets {
            None => self.bind(&super::listed_secrets(self)?),
            Some(secrets) => Ok(Box::new(Declared {
                secrets,
                modulus: self.modulus,
                width: self.width.unwrap_or(1) as i64,
            })),
        }
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

/// Bound to secrets that are a range: nothing is listed. Outputs are numbered as they first come up, which is in
/// turns: secrets in a row have bins in a row.
#[derive(Debug)]
struct Declared {
    secrets: Secrets,
    modulus: Option<u64>,
    width: i64,
}

impl Declared {
    fn bin(&self, value: i64) -> i64 {
        value.div_euclid(self.width)
    }

    fn outputs(&self) -> u64 {
        let bins = (self.bin(self.secrets.last()) - self.bin(self.secrets.first())) as u64 + 1;
        self.modulus.map_or(bins, |modulus| bins.min(modulus))
    }

    /// The number of the output of a secret.
    fn output(&self, secret: usize) -> u64 {
        assert!((secret as u64) < self.secrets.count(), "no such secret");
        let first = self.secrets.first();
        let bins = (self.bin(first + secret as i64) - self.bin(first)) as u64;
        self.modulus.map_or(bins, |modulus| bins % modulus)
    }

    fn label(&self, output: u64) -> String {
        let bin = self.bin(self.secrets.first()) + output as i64;
        self.modulus
            .map_or(bin, |modulus| bin.rem_euclid(modulus as i64))
            .to_string()
    }
}

impl BoundMechanism for Declared {
    fn secret_count(&self) -> usize {
        self.secrets.count() as usize
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        f64::from(u8::from(self.output(a) != self.output(b)))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        1.0 - self.total_variation(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        let own = self.output(secret);
        let p = |o| f64::from(u8::from(o == own));
        Law::Labels((0..self.outputs()).map(|o| (self.label(o), p(o))).collect())
    }

    fn epsilon(&self) -> f64 {
        if self.outputs() > 1 {
            f64::INFINITY
        } else {
            0.0
        }
    }

    fn sample(&self, secret: usize, _: &mut dyn Rng) -> Vec<String> {
        vec![self.label(self.output(secret))]
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        let first = self.secrets.first();
        // The first secret of the next bin, if there is another output.
        let next = (self.bin(first) + 1) * self.width - first;
        (self.secrets.count() >= 2).then(|| (0, if self.outputs() > 1 { next as usize } else { 1 }))
    }

    fn capacity(&self) -> Option<f64> {
        Some(self.outputs() as f64)
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Probabilities::tabulate(
            self.secret_count(),
            self.outputs(),
            |o| self.label(o),
            |secret, o| f64::from(u8::from(o == self.output(secret))),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::{BoundMechanism, Law, parse};

    fn labels(bound: &dyn BoundMechanism, secret: usize) -> Vec<(String, f64)> {
        match bound.law(secret) {
            Law::Labels(labels) => labels,
            _ => panic!("outputs are labels"),
        }
    }

    #[test]
    fn secrets_that_are_not_listed_are_those_that_are() {
        for text in [
            "deterministic(secrets=7)",
            "deterministic(secrets=-5..5, modulus=3)",
            "deterministic(secrets=-5..5, width=4)",
            "deterministic(secrets=3..40, width=4, modulus=5)",
            "deterministic(secrets=3..5, width=10)",
            "deterministic(secrets=9, modulus=1)",
            "deterministic(secrets=1)",
        ] {
            let mechanism = parse(text).unwrap();
            let listed = mechanism
                .bind(&mechanism.declared_secrets().unwrap())
                .unwrap();
            let declared = mechanism.bind_declared().unwrap();
            let n = listed.secret_count();
            assert_eq!(n, declared.secret_count(), "{text}");
            for a in 0..n {
                assert_eq!(labels(&*listed, a), labels(&*declared, a), "{text}");
                for b in 0..n {
                    assert_eq!(listed.total_variation(a, b), declared.total_variation(a, b));
                }
            }
            assert_eq!(listed.worst_pair(), declared.worst_pair(), "{text}");
            assert_eq!(listed.capacity(), declared.capacity(), "{text}");
            assert_eq!(listed.epsilon(), declared.epsilon(), "{text}");
        }
    }
}
