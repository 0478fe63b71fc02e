//! Randomized response over k secrets.

use crate::extreme::Extreme;
use std::fmt;

use libm::{exp, expm1};
use rand::{Rng, RngExt};

use crate::profile::{Cell, Pair};

use super::alphabet::Alphabet;
use super::{
    BoundMechanism, Build, Entry, Law, LikelihoodClass, Mechanism, Probabilities, Secrets, secrets,
};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "randomized-response",
    about: "outputs the true label with weight e^ε, every other label with weight 1",
    parameters: &[
        Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// The largest number of labels for which the distribution is listed.
const MAX_LAW_LABELS: u64 = 1_000_000;

/// Randomized response over k labels: the observation is one of the labels.
///
/// # Formula
/// P(s | s) = e^ε/(e^ε + k − 1), P(o | s) = 1/(e^ε + k − 1) for o ≠ s. Between two secrets: total
/// variation (e^ε − 1)/(e^ε + k − 1), Bayes security k/(e^ε + k − 1). Computed through e^−ε.
///
/// # Conditions
/// ε ≥ 0 and finite. k is the number of declared secrets or, without them, of bound labels. A log
/// may contain only some of the declared secrets. A declared *count* also accepts that many labels of any kind.
///
/// # References
/// Chatzikokolakis et al., *Bayes Security*, equation (7), where n is the number of secrets,
/// doi:10.1109/CSF57540.2023.00011. S. L. Warner, *Randomized response*,
/// doi:10.1080/01621459.1965.10480775.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomizedResponse {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(RandomizedResponse {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for RandomizedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (epsilon, secrets) = (format_number(self.epsilon), secrets::suffix(self.secrets));
        write!(f, "randomized-response(epsilon={epsilon}{secrets})")
    }
}

impl Mechanism for RandomizedResponse {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        Ok(Box::new(Bound {
            epsilon: self.epsilon,
            alphabet: Alphabet::bind(&self.to_string(), labels, self.secrets)?,
        }))
    }

    fn declared_range(&self) -> Option<Secrets> {
        self.secrets
    }

    /// Does not list the secrets: there can be up to 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        match self.secrets {
            None => self.bind(&super::listed_secrets(self)?),
            Some(secrets) => Ok(Box::new(Bound {
                epsilon: self.epsilon,
                alphabet: Alphabet::declared(secrets),
            })),
        }
    }
}

#[derive(Debug)]
struct Bound {
    epsilon: f64,
    alphabet: Alphabet,
}

impl Bound {
    fn size(&self) -> u64 {
        self.alphabet.size()
    }

    /// (e^ε + k − 1)·e^−ε.
    fn total_weight(&self) -> f64 {
        1.0 + (self.size() as f64 - 1.0) * exp(-self.epsilon)
    }

    /// `factor`·e^−ε over the total weight, in two halves so that e^−ε does not vanish too early.
    fn light(&self, factor: f64) -> f64 {
        let half = exp(-0.5 * self.epsilon);
        factor * half * half / self.total_weight()
    }

    /// Total variation between two different secrets.
    fn variation(&self) -> f64 {
        -expm1(-self.epsilon) / self.total_weight()
    }
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.alphabet.count()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            0.0
        } else {
            self.variation()
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            1.0
        } else {
            self.light(self.size() as f64)
        }
    }

    /// The secret itself, and all other labels.
    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        let (k, light) = (self.size() as f64, self.light(1.0));
        let whole = self.alphabet.count() as u64 == self.size() && self.size() > 1;
        let same = LikelihoodClass {
            own: 1.0 / self.total_weight(),
            mean: 1.0 / k,
            least: light,
        };
        let other = LikelihoodClass {
            own: (k - 1.0) * light,
            mean: (k - 1.0) / k,
            least: (k - 1.0) * light,
        };
        whole.then(|| vec![same, other])
    }

    /// All labels with their probabilities; for more than a million declared secrets, which are
    /// whole numbers, their distribution function.
    fn law(&self, secret: usize) -> Law {
        let truth = self.alphabet.position(secret);
        let (heavy, light) = (1.0 / self.total_weight(), self.light(1.0));
        if self.size() <= MAX_LAW_LABELS {
            return Law::Labels(
                (0..self.size())
                    .map(|o| {
                        (
                            self.alphabet.label(o),
                            if o == truth { heavy } else { light },
                        )
                    })
                    .collect(),
            );
        }
        let Some(secrets) = self.alphabet.whole_numbers() else {
            return Law::Unknown("there are too many possible observations to list");
        };
        let (first, size) = (secrets.first() as f64, self.size() as f64);
        Law::Integer(Box::new(move |x| {
            let below = (x.floor() - first + 1.0).clamp(0.0, size);
            if below > truth as f64 {
                1.0 - (size - below) * light
            } else {
                below * light
            }
        }))
    }

    fn epsilon(&self) -> f64 {
        if self.secret_count() < 2 {
            0.0
        } else {
            self.epsilon
        }
    }

    /// The true label with probability tv, else a uniform label: the true label then has probability tv + β/k, every
    /// other label β/k.
    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        let truth = self.alphabet.position(secret);
        let keep = rng.random::<f64>() < self.variation();
        let told = if keep {
            truth
        } else {
            rng.random_range(0..self.size())
        };
        vec![self.alphabet.label(told)]
    }

    /// P(s | s) − e^ε′ P(s | t) = (1 − e^(ε′ − ε))·P(s | s) below ε.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        let beyond = (epsilon - self.epsilon()).at_most(0.0);
        // Without the addition it is −0 from ε on.
        Some(-expm1(beyond) / self.total_weight() + 0.0)
    }

    /// The labels of both secrets, and all others.
    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            return Some(Pair::Cells(vec![Cell::new(1.0, 1.0)]));
        }
        let own = Cell {
            p: 1.0 / self.total_weight(),
            q: self.light(1.0),
            difference: self.variation(),
            loss: self.epsilon,
        };
        let rest = self.light((self.size() - 2) as f64);
        Some(Pair::Cells(vec![own, Cell::new(rest, rest), own.swapped()]))
    }

    /// The worst pair: all pairs are alike.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        (self.secret_count() >= 2).then_some((0, 1))
    }

    /// 1 + (n − 1)·tv over n of the k secrets.
    fn capacity(&self) -> Option<f64> {
        let others = self.secret_count().saturating_sub(1);
        Some(1.0 + others as f64 * self.variation())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        let (heavy, light) = (1.0 / self.total_weight(), self.light(1.0));
        Probabilities::tabulate(
            self.secret_count(),
            self.size(),
            |o| self.alphabet.label(o),
            |secret, o| {
                if self.alphabet.position(secret) == o {
                    heavy
                } else {
                    light
                }
            },
        )
    }

    /// The shared row is that of an observation that any other secret has: P(o | s) less e^−ε over the total weight.
    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        let written = self.probabilities()?;
        let above = |s: usize, o: usize| {
            if self.alphabet.position(s) == o as u64 {
                self.variation()
            } else {
                0.0
            }
        };
        let row = |s| {
            (0..written.observations.len())
                .map(|o| above(s, o))
                .collect()
        };
        Some((0..self.secret_count()).map(row).collect())
    }
}
