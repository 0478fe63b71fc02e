//! Randomized response over k secrets.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use libm::{exp, expm1};
use rand::{Rng, RngExt};

use super::{BoundMechanism, Entry, Law, Mechanism, Secrets, secrets};
use crate::error::{Error, Result, shorten};
use crate::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "randomized-response",
    about: "tells the true label with weight e^ε, every other label with weight 1",
    parameters: &[
        Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
        secrets::PARAMETER,
    ],
    build,
};

/// Above this many labels the law is given by its distribution function.
const MAX_LAW_LABELS: u64 = 1_000_000;

/// Randomized response over k labels: the observation is one of the labels.
///
/// # Formula
/// P(s | s) = e^ε/(e^ε + k − 1), P(o | s) = 1/(e^ε + k − 1) for o ≠ s. Between two secrets: total
/// variation (e^ε − 1)/(e^ε + k − 1), Bayes security k/(e^ε + k − 1). Computed through e^−ε.
///
/// # Conditions
/// ε ≥ 0 and finite. k is the number of declared secrets, else the number of labels bound. With
/// declared secrets a log may hold some of them only. A declared *count* also fits as many labels
/// of any kind.
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
        let mut seen = HashSet::with_capacity(labels.len());
        if let Some(twice) = labels.iter().find(|&label| !seen.insert(label)) {
            return Err(self.problem(format!("the secret {twice:?} appears twice")));
        }
        let named = || Domain::Labels(labels.into());
        let (domain, positions) = match self.secrets {
            None => (named(), Positions::All(labels.len() as u64)),
            Some(secrets) => {
                let found: std::result::Result<Vec<u64>, &String> = labels
                    .iter()
                    .map(|label| secrets.position(label).ok_or(label))
                    .collect();
                match (found, secrets) {
                    (Ok(positions), _) => (Domain::Whole(secrets), Positions::Some(positions)),
                    (Err(_), Secrets::Count(count)) if count == labels.len() as u64 => {
                        (named(), Positions::All(count))
                    }
                    (Err(label), _) => return Err(self.excluded(label, secrets)),
                }
            }
        };
        Ok(Box::new(Bound::new(self.epsilon, domain, positions)))
    }

    /// Never lists the secrets: their number is limited only by 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        match self.secrets {
            None => self.bind(&super::listed_secrets(self)?),
            Some(secrets) => Ok(Box::new(Bound::new(
                self.epsilon,
                Domain::Whole(secrets),
                Positions::All(secrets.count()),
            ))),
        }
    }
}

impl RandomizedResponse {
    fn problem(&self, problem: String) -> Error {
        Error::parameter(self.to_string(), problem)
    }

    fn excluded(&self, label: &str, secrets: Secrets) -> Error {
        self.problem(format!(
            "its secrets are the whole numbers {} to {}; the log has the secret {:?}",
            secrets.first(),
            secrets.last(),
            shorten(label)
        ))
        .with_hint(
            "leave secrets= out to take the secrets of the log, or declare a range that has them \
             all, secrets=1..10",
        )
    }
}

/// The labels that can be observed.
#[derive(Debug)]
enum Domain {
    Labels(Arc<[String]>),
    Whole(Secrets),
}

impl Domain {
    fn label(&self, position: u64) -> String {
        match self {
            Domain::Labels(labels) => labels[position as usize].clone(),
            Domain::Whole(secrets) => (secrets.first() + position as i64).to_string(),
        }
    }
}

/// Where in the domain the bound secrets are.
#[derive(Debug)]
enum Positions {
    /// All of the domain, in its order.
    All(u64),
    Some(Vec<u64>),
}

#[derive(Debug)]
struct Bound {
    epsilon: f64,
    /// The number k of labels in the domain.
    size: u64,
    domain: Domain,
    positions: Positions,
}

impl Bound {
    fn new(epsilon: f64, domain: Domain, positions: Positions) -> Self {
        let size = match &domain {
            Domain::Labels(labels) => labels.len() as u64,
            Domain::Whole(secrets) => secrets.count(),
        };
        Bound {
            epsilon,
            size,
            domain,
            positions,
        }
    }

    fn position(&self, secret: usize) -> u64 {
        assert!(secret < self.secret_count(), "no secret number {secret}");
        match &self.positions {
            Positions::All(_) => secret as u64,
            Positions::Some(positions) => positions[secret],
        }
    }

    /// (e^ε + k − 1)·e^−ε.
    fn total_weight(&self) -> f64 {
        1.0 + (self.size as f64 - 1.0) * exp(-self.epsilon)
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
        match &self.positions {
            Positions::All(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Positions::Some(positions) => positions.len(),
        }
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.position(a) == self.position(b) {
            0.0
        } else {
            self.variation()
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.position(a) == self.position(b) {
            1.0
        } else {
            self.light(self.size as f64)
        }
    }

    /// All labels with their probabilities; for more than a million declared secrets, which are
    /// whole numbers, their distribution function.
    fn law(&self, secret: usize) -> Law {
        let truth = self.position(secret);
        let (heavy, light) = (1.0 / self.total_weight(), self.light(1.0));
        match &self.domain {
            Domain::Whole(secrets) if self.size > MAX_LAW_LABELS => {
                let (first, size) = (secrets.first() as f64, self.size as f64);
                Law::Integer(Box::new(move |x| {
                    let below = (x.floor() - first + 1.0).clamp(0.0, size);
                    if below > truth as f64 {
                        1.0 - (size - below) * light
                    } else {
                        below * light
                    }
                }))
            }
            domain => Law::Labels(
                (0..self.size)
                    .map(|o| (domain.label(o), if o == truth { heavy } else { light }))
                    .collect(),
            ),
        }
    }

    fn epsilon(&self) -> f64 {
        if self.secret_count() < 2 {
            0.0
        } else {
            self.epsilon
        }
    }

    /// The truth with probability tv, else any label alike: the truth then has tv + β/k, the
    /// others β/k each.
    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> String {
        let truth = self.position(secret);
        let keep = rng.random::<f64>() < self.variation();
        let told = if keep {
            truth
        } else {
            rng.random_range(0..self.size)
        };
        self.domain.label(told)
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        (self.secret_count() >= 2).then_some((0, 1))
    }

    /// 1 + (n − 1)·tv over n of the k secrets.
    fn capacity(&self) -> Option<f64> {
        let others = self.secret_count().saturating_sub(1);
        Some(1.0 + others as f64 * self.variation())
    }
}
