//! Mechanisms that output a whole number of a range, more likely near the secret.

use crate::extreme::Extreme;
use std::fmt::Debug;

use rand::Rng;

use crate::profile::{Cell, Pair};

use super::location::{mixed_loss, outermost};
use super::observed::texts;
use super::{BoundMechanism, Law, Observed, Probabilities, Secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, MAX_WHOLE, Parameter, format_number};

/// The parameter `spacing`.
pub(super) const SPACING: Parameter = Parameter::named(
    "spacing",
    "the secret s stands for the number s·spacing; a whole number, default 1",
);

/// The parameter `observations`.
pub(super) const OBSERVATIONS: Parameter = Parameter::named(
    "observations",
    "the possible outputs: a count n, meaning 0 to n-1, or a range a..b; default: from the \
     smallest to the largest secret",
);

/// The secrets and observations of a mechanism on a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The declared secrets.
    pub secrets: Option<Secrets>,
    /// The declared observations.
    pub observations: Option<Secrets>,
    /// The secret s stands for the number s·spacing.
    pub spacing: f64,
}

impl Range {
    pub(super) fn from_arguments(arguments: &Arguments<'_>) -> Result<Self> {
        let range = Range {
            secrets: Secrets::from_arguments(arguments)?,
            observations: Secrets::read(arguments, "observations")?,
            spacing: arguments
                .whole_if_given("spacing", 1, MAX_WHOLE as u64)?
                .unwrap_or(1) as f64,
        };
        if let (Some(secrets), Some(told)) = (range.secrets, range.observations) {
            let ends = [secrets.first(), secrets.last()].map(|end| end as f64 * range.spacing);
            if ends[0] < told.first() as f64 || ends[1] > told.last() as f64 {
                let problem = format!(
                    "the secrets stand for the numbers {} to {}; observations must include them",
                    ends[0], ends[1]
                );
                return Err(arguments.error(problem));
            }
        }
        Ok(range)
    }

    /// The text of these parameters, after the first parameter.
    pub(super) fn suffix(&self) -> String {
        let mut text = super::secrets::suffix(self.secrets);
        if self.spacing != 1.0 {
            text += &format!(", spacing={}", format_number(self.spacing));
        }
        if let Some(observations) = self.observations {
            text += &format!(", observations={observations}");
        }
        text
    }

    /// The numbers that the labels stand for, and the smallest and the largest observation.
    ///
    /// # Errors
    /// A label is not a whole number, is not declared, or stands for a number outside the observations.
    pub(super) fn bind(&self, mechanism: &str, labels: &[String]) -> Result<(Vec<f64>, f64, f64)> {
        let most = (MAX_WHOLE / 2) as f64;
        let read = |label: &String| {
            let wrong = |problem: String| Error::parameter(mechanism, problem);
            let value =
                label.trim().parse().ok().filter(|value: &f64| {
                    value.fract() == 0.0 && (value * self.spacing).abs() <= most
                });
            let value = value.ok_or_else(|| {
                wrong(format!(
                    "its secrets are whole numbers; the log has the secret {label:?}"
                ))
            })?;
            let declared = self.secrets.is_none_or(|secrets| {
                (secrets.first() as f64..=secrets.last() as f64).contains(&value)
            });
            if !declared {
                return Err(wrong(format!("{label:?} is not one of its secrets"))
                    .with_hint("remove secrets= to use the secrets of the log"));
            }
            let center = value * self.spacing;
            match self.observations {
                Some(told) if !(told.first() as f64..=told.last() as f64).contains(&center) => {
                    Err(wrong(format!(
                        "its observations are {} to {}, which does not include the secret {label:?}",
                        told.first(),
                        told.last()
                    )))
                }
                _ => Ok(center),
            }
        };
        let centers = labels.iter().map(read).collect::<Result<Vec<f64>>>()?;
        let ends = match (self.observations, self.secrets) {
            (Some(told), _) => (told.first() as f64, told.last() as f64),
            (None, Some(secrets)) => (
                secrets.first() as f64 * self.spacing,
                secrets.last() as f64 * self.spacing,
            ),
            (None, None) => centers
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
                    (x.at_most(low), x.at_least(high))
                }),
        };
        Ok((centers, ends.0, ends.1))
    }
}

/// A family of distributions on a range of whole numbers with monotone likelihood ratios: of two centers, the
/// smaller is more likely up to a point between them, and the larger beyond it.
pub(super) trait Monotone: Debug + Clone + Send + Sync + 'static {
    /// Total variation between centers a < b.
    fn total_variation(&self, a: f64, b: f64) -> f64;

    /// 1 − total variation between centers a < b, without cancellation.
    fn bayes_security(&self, a: f64, b: f64) -> f64;

    /// ε between centers a < b.
    fn epsilon(&self, a: f64, b: f64) -> f64;

    /// The smallest and the largest observation.
    fn ends(&self) -> (f64, f64);

    /// ln of the probability of an observation with center a over that with center b.
    fn loss(&self, a: f64, b: f64, observation: f64) -> f64;

    /// The probability of a whole number in the range.
    fn probability(&self, center: f64, observation: f64) -> f64;

    /// The probability of at most x, a whole number in the range.
    fn distribution(&self, center: f64, x: f64) -> f64;

    /// Draws an observation.
    fn sample(&self, center: f64, rng: &mut dyn Rng) -> f64;
}

/// Such a family, bound to the centers of its secrets.
#[derive(Debug)]
pub(super) struct Ranged<K> {
    pub(super) family: K,
    pub(super) centers: Vec<f64>,
}

/// The widest range whose observations are listed to compare two centers.
const MAX_LISTED: f64 = 1e6;

impl<K: Monotone> Ranged<K> {
    /// Every observation, for the secrets a and b; `None` if there are too many.
    fn cells(&self, a: usize, b: usize) -> Option<Vec<Cell>> {
        let ((low, high), a, b) = (self.family.ends(), self.centers[a], self.centers[b]);
        let cell = |o: u64| {
            let o = low + o as f64;
            let both = [a, b].map(|center| self.family.probability(center, o));
            Cell::with_loss(both[0], both[1], self.family.loss(a, b, o))
        };
        (high - low < MAX_LISTED).then(|| (0..=(high - low) as u64).map(cell).collect())
    }

    fn ends_of(&self, a: usize, b: usize) -> Option<(f64, f64)> {
        let (a, b) = (self.centers[a], self.centers[b]);
        (a != b).then(|| (a.at_most(b), a.at_least(b)))
    }
}

impl<K: Monotone> BoundMechanism for Ranged<K> {
    fn secret_count(&self) -> usize {
        self.centers.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.ends_of(a, b)
            .map_or(0.0, |(a, b)| self.family.total_variation(a, b))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.ends_of(a, b)
            .map_or(1.0, |(a, b)| self.family.bayes_security(a, b))
    }

    fn law(&self, secret: usize) -> Law {
        let (family, center) = (self.family.clone(), self.centers[secret]);
        let (low, high) = family.ends();
        Law::Integer(Box::new(move |x| match x.floor() {
            x if x < low => 0.0,
            x if x >= high => 1.0,
            x => family.distribution(center, x),
        }))
    }

    fn epsilon(&self) -> f64 {
        let pair = self.worst_pair().and_then(|(a, b)| self.ends_of(a, b));
        pair.map_or(0.0, |(a, b)| self.family.epsilon(a, b))
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let told = self.family.sample(self.centers[secret], rng);
        // Adding 0 turns -0 into 0.
        vec![Observed::Number(told + 0.0)]
    }

    /// The outermost centers: with monotone likelihood ratios the distributions are stochastically ordered and the
    /// best test is a half-line, so total variation grows as centers move apart.
    fn worst_pair(&self) -> Option<(usize, usize)> {
        outermost(&self.centers)
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::Cells(self.cells(a, b)?))
    }

    fn replacing(&self, records: (usize, usize), none: usize, rate: f64) -> Option<Pair> {
        let (low, high) = self.family.ends();
        let [a, b, none] = [records.0, records.1, none].map(|secret| self.centers[secret]);
        let cell = |o: u64| {
            let o = low + o as f64;
            let mixed = |center: f64| {
                let [with, without] = [center, none].map(|x| self.family.probability(x, o));
                let loss = mixed_loss(self.family.loss(center, none, o), rate);
                ((1.0 - rate) * without + rate * with, loss)
            };
            let (p, q) = (mixed(a), mixed(b));
            Cell::with_loss(p.0, q.0, p.1 - q.1)
        };
        let count = (high - low < MAX_LISTED).then_some((high - low) as u64)?;
        Some(Pair::Cells((0..=count).map(cell).collect()))
    }

    fn pairs(&self) -> Option<Vec<Pair>> {
        let n = self.centers.len();
        let (low, high) = self.family.ends();
        if (n * n) as f64 * (high - low + 1.0) > super::MAX_PAIR_CELLS as f64 {
            return None;
        }
        let ordered = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let pairs = ordered
            .filter(|(a, b)| a != b)
            .map(|(a, b)| self.pair(a, b));
        pairs.collect()
    }

    /// 1 + Σ total variation of neighbors: the intervals in which each center is the most likely
    /// are in the order of the centers, so Σ_o max_s telescopes.
    fn capacity(&self) -> Option<f64> {
        let mut sorted = self.centers.clone();
        sorted.sort_by(f64::total_cmp);
        let neighbors = sorted.windows(2).filter(|pair| pair[0] < pair[1]);
        let steps = neighbors.map(|pair| self.family.total_variation(pair[0], pair[1]));
        Some(1.0 + steps.sum::<f64>())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        let (low, high) = self.family.ends();
        let count = if low <= high { high - low + 1.0 } else { 0.0 };
        let told = |o: u64| low + o as f64;
        Probabilities::tabulate(
            self.centers.len(),
            count as u64,
            |o| format!("{}", told(o) + 0.0),
            |secret, o| self.family.probability(self.centers[secret], told(o)),
        )
    }
}

/// The parameter ν of geometric weights.
pub(super) fn nu(arguments: &Arguments<'_>) -> Result<f64> {
    arguments.number("nu", Bounds::AtLeast(super::geometric::MIN_NU))
}
