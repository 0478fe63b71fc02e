//! The identity with probability p: truth or noise.

use std::fmt;

use libm::log1p;
use rand::{Rng, RngExt};

use super::alphabet::Alphabet;
use super::symmetric::{Randomizer, Symmetric};
use super::{Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, Value, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "identity",
    about: "outputs the secret with probability p, else a random label or a fixed word",
    parameters: &[
        Parameter::positional("p", "the probability of the secret; default 1"),
        Parameter::named(
            "otherwise",
            "the output otherwise: uniform (the default), a random label, which may be the true one; \
             or any other word",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// The output of [`Identity`] when it is not the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Otherwise {
    /// A uniformly random label, which may be the true one.
    Uniform,
    /// A fixed word.
    Word(String),
}

/// Outputs the true label with probability p, else something that does not depend on it.
///
/// # Formula
/// Between two secrets total variation p, Bayes security 1 − p; over n secrets
/// Σ_o max_s P(o | s) = 1 + (n − 1)p. ε = ln(1 + kp/(1 − p)) over k labels with
/// [`Otherwise::Uniform`]; infinite with a fixed word, unless p = 0.
///
/// # Conditions
/// 0 ≤ p ≤ 1; the fixed word is not a label.
///
/// # References
/// With a fixed word this is the erasure channel, for two secrets the (0, δ) mechanism of
/// Chatzikokolakis et al., *Bayes Security*, Proposition 2, doi:10.1109/CSF57540.2023.00011.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The probability p of the true label.
    pub p: f64,
    /// The output otherwise.
    pub otherwise: Otherwise,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let p = arguments.number_if_given("p", Bounds::Between(0.0, 1.0))?;
    let otherwise = match arguments.value("otherwise") {
        None => Otherwise::Uniform,
        Some(Value::Word(word)) if word == "uniform" => Otherwise::Uniform,
        Some(Value::Word(word)) => Otherwise::Word(word.clone()),
        Some(value) => {
            let problem = format!("otherwise must be a word, got {}", value.describe());
            return Err(arguments.error(problem));
        }
    };
    Ok(Box::new(Identity {
        p: p.unwrap_or(1.0),
        otherwise,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "identity(p={}", format_number(self.p))?;
        if let Otherwise::Word(word) = &self.otherwise {
            write!(f, ", otherwise={word}")?;
        }
        write!(f, "{})", secrets::suffix(self.secrets))
    }
}

impl Symmetric for Identity {
    type Randomizer = BoundIdentity;

    fn secrets(&self) -> Option<Secrets> {
        self.secrets
    }

    fn randomizer(&self, alphabet: &Alphabet) -> Result<BoundIdentity> {
        let word = match &self.otherwise {
            Otherwise::Uniform => None,
            Otherwise::Word(word) => Some(word.clone()),
        };
        if let Some(word) = &word
            && alphabet.whole_numbers().is_none()
            && (0..alphabet.size()).any(|position| alphabet.label(position) == *word)
        {
            let problem = format!("otherwise={word} is one of the secrets");
            return Err(Error::parameter(self.to_string(), problem)
                .with_hint("choose a word that is not a secret"));
        }
        Ok(BoundIdentity {
            p: self.p,
            word,
            size: alphabet.size(),
        })
    }
}

/// The identity over an alphabet of known size.
#[derive(Debug)]
pub(super) struct BoundIdentity {
    p: f64,
    /// The fixed word; `None` for a random label.
    word: Option<String>,
    /// The number k of labels.
    size: u64,
}

impl Randomizer for BoundIdentity {
    fn total_variation(&self) -> f64 {
        self.p
    }

    fn bayes_security(&self) -> f64 {
        1.0 - self.p
    }

    fn epsilon(&self) -> f64 {
        let k = self.size as f64;
        match self.word {
            _ if self.p == 0.0 => 0.0,
            Some(_) => f64::INFINITY,
            None => log1p(k * self.p / (1.0 - self.p)),
        }
    }

    fn capacity(&self, alphabet: &Alphabet) -> Option<f64> {
        Some(1.0 + (alphabet.count() as f64 - 1.0) * self.p)
    }

    fn observations(&self) -> Option<u64> {
        Some(self.size + u64::from(self.word.is_some()))
    }

    fn observation(&self, number: u64, alphabet: &Alphabet) -> String {
        match &self.word {
            Some(word) if number == self.size => word.clone(),
            _ => alphabet.label(number),
        }
    }

    fn probability(&self, position: u64, number: u64) -> f64 {
        let told = if number == position { self.p } else { 0.0 };
        match &self.word {
            None => told + (1.0 - self.p) / self.size as f64,
            Some(_) if number == self.size => 1.0 - self.p,
            Some(_) => told,
        }
    }

    /// What is told, without what is drawn at random.
    fn deviation(&self, position: u64, number: u64) -> Option<f64> {
        Some(if number == position { self.p } else { 0.0 })
    }

    fn sample(&self, position: u64, alphabet: &Alphabet, rng: &mut dyn Rng) -> String {
        match &self.word {
            _ if rng.random::<f64>() < self.p => alphabet.label(position),
            None => alphabet.label(rng.random_range(0..self.size)),
            Some(word) => word.clone(),
        }
    }
}
