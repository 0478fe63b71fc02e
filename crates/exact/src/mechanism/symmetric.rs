//! Mechanisms that are symmetric in the labels: any two secrets have the same total variation.

use std::fmt::{Debug, Display};

use rand::Rng;

use super::alphabet::Alphabet;
use super::{BoundMechanism, Law, Mechanism, Probabilities, Secrets, listed_secrets};
use leakgauge_base::error::Result;

/// The largest number of observations for which a distribution is listed.
const MAX_LAW: u64 = 1_000_000;

/// The parameters of a mechanism that is symmetric in the labels.
pub(super) trait Symmetric: Debug + Display + Send + Sync {
    /// The randomizer for an alphabet of known size.
    type Randomizer: Randomizer + 'static;

    /// The declared secrets.
    fn secrets(&self) -> Option<Secrets>;

    /// The randomizer for this alphabet.
    fn randomizer(&self, alphabet: &Alphabet) -> Result<Self::Randomizer>;
}

/// A randomizer of labels, which are given by their positions in the alphabet.
pub(super) trait Randomizer: Debug + Send + Sync {
    /// Total variation between two different secrets.
    fn total_variation(&self) -> f64;

    /// 1 − total variation, without cancellation.
    fn bayes_security(&self) -> f64;

    /// ε between two different secrets.
    fn epsilon(&self) -> f64;

    /// Multiplicative capacity over the bound secrets, at least one.
    fn capacity(&self, alphabet: &Alphabet) -> Option<f64>;

    /// The number of observations; `None` if it does not fit.
    fn observations(&self) -> Option<u64>;

    /// The label of an observation, numbered below [`Randomizer::observations`].
    fn observation(&self, number: u64, alphabet: &Alphabet) -> String;

    /// The probability of observation `number` under the secret at a position.
    fn probability(&self, position: u64, number: u64) -> f64;

    /// Draws an observation under the secret at a position.
    fn sample(&self, position: u64, alphabet: &Alphabet, rng: &mut dyn Rng) -> String;
}

impl<T: Symmetric> Mechanism for T {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets().map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets().map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let alphabet = Alphabet::bind(&self.to_string(), labels, self.secrets())?;
        let randomizer = self.randomizer(&alphabet)?;
        Ok(Box::new(Bound {
            randomizer,
            alphabet,
        }))
    }

    /// Does not list the secrets: there can be up to 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        let Some(secrets) = self.secrets() else {
            return self.bind(&listed_secrets(self)?);
        };
        let alphabet = Alphabet::declared(secrets);
        let randomizer = self.randomizer(&alphabet)?;
        Ok(Box::new(Bound {
            randomizer,
            alphabet,
        }))
    }
}

#[derive(Debug)]
struct Bound<R> {
    randomizer: R,
    alphabet: Alphabet,
}

impl<R: Randomizer> BoundMechanism for Bound<R> {
    fn secret_count(&self) -> usize {
        self.alphabet.count()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            0.0
        } else {
            self.randomizer.total_variation()
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            1.0
        } else {
            self.randomizer.bayes_security()
        }
    }

    fn law(&self, secret: usize) -> Law {
        let position = self.alphabet.position(secret);
        let count = self.randomizer.observations();
        match count.filter(|&count| count <= MAX_LAW) {
            None => Law::Unknown("there are too many possible observations to list"),
            Some(count) => Law::Labels(
                (0..count)
                    .map(|number| {
                        (
                            self.randomizer.observation(number, &self.alphabet),
                            self.randomizer.probability(position, number),
                        )
                    })
                    .collect(),
            ),
        }
    }

    fn epsilon(&self) -> f64 {
        if self.secret_count() < 2 {
            0.0
        } else {
            self.randomizer.epsilon()
        }
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        let position = self.alphabet.position(secret);
        vec![self.randomizer.sample(position, &self.alphabet, rng)]
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        (self.secret_count() >= 2).then_some((0, 1))
    }

    fn capacity(&self) -> Option<f64> {
        match self.secret_count() {
            0 => None,
            1 => Some(1.0),
            _ => self.randomizer.capacity(&self.alphabet),
        }
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Probabilities::tabulate(
            self.secret_count(),
            self.randomizer.observations()?,
            |number| self.randomizer.observation(number, &self.alphabet),
            |secret, number| {
                self.randomizer
                    .probability(self.alphabet.position(secret), number)
            },
        )
    }
}
