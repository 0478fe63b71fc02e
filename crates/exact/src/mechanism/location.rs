//! Mechanisms that add noise to a number, generic over the noise distribution.

use std::borrow::Cow;
use std::fmt::Debug;

use libm::{expm1, log, log1p};
use rand::Rng;

use crate::profile::{Cell, Pair};

use super::observed::texts;
use super::{BoundMechanism, Law, MAX_LISTED, Observed, Secrets};
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::grammar::MAX_WHOLE;

/// A noise distribution that is symmetric about 0 and unimodal.
pub(super) trait Noise: Debug + Clone + Send + Sync + 'static {
    /// Whether noise and secrets are integers.
    const INTEGER: bool;

    /// Bayes security between two secrets at a distance, without cancellation near 0.
    fn bayes_security(&self, distance: f64) -> f64;

    /// Total variation between two secrets at a distance, without cancellation near 0.
    fn total_variation(&self, distance: f64) -> f64;

    /// The smallest ε of local differential privacy between two secrets at a distance.
    fn epsilon(&self, distance: f64) -> f64;

    /// The smallest δ between two secrets at a distance above 0, for this ε; it grows with the
    /// distance. `None` if there is no closed form.
    fn delta(&self, _distance: f64, _epsilon: f64) -> Option<f64> {
        None
    }

    /// The pair of secrets at a distance above 0; figures of its likelihood ratio grow with the distance. `None` if it
    /// is not known.
    fn pair(&self, _distance: f64) -> Option<Pair> {
        None
    }

    /// The pair (1 − r)·R₀ + r·R_Δ and (1 − r)·R₀ + r·R₋Δ for a distance Δ above 0, R_x being the noise around x. `None`
    /// if it is not known.
    fn replacing(&self, _distance: f64, _rate: f64) -> Option<Pair> {
        None
    }

    /// The probability of noise at most `x`.
    fn distribution(&self, x: f64) -> f64;

    /// The shape of its density; `None` for integer noise.
    fn shape(&self) -> Option<NoiseShape> {
        None
    }

    /// Draws noise.
    fn sample(&self, rng: &mut dyn Rng) -> f64;
}

/// ln(1 − r + r·e^L): the privacy loss of a record that is used with probability r against none.
pub(super) fn mixed_loss(loss: f64, rate: f64) -> f64 {
    if rate == 1.0 {
        loss
    } else if loss > 700.0 {
        loss + log(rate)
    } else {
        log1p(rate * expm1(loss))
    }
}

/// The shape of unimodal noise that is symmetric about 0.
pub enum NoiseShape {
    /// Density e^(−|x|/λ)/2λ.
    Laplace {
        /// λ.
        scale: f64,
    },
    /// The normal density.
    Gaussian {
        /// σ.
        sigma: f64,
    },
    /// A piecewise constant density, given by its distribution function.
    Steps {
        /// The distances from 0, increasing, at which the density changes; beyond the last it is negligible.
        edges: Vec<f64>,
        /// The probability of at most x, accurate for x < 0.
        distribution: Box<dyn Fn(f64) -> f64 + Send + Sync>,
    },
    /// Integer noise, given by its distribution function, accurate for x < 0.
    Integer(Box<dyn Fn(f64) -> f64 + Send + Sync>),
}

/// A noise mechanism bound to the numbers of its secrets.
#[derive(Debug)]
pub(super) struct Located<N> {
    noise: N,
    places: Places,
}

/// The numbers of the secrets.
#[derive(Debug)]
enum Places {
    Listed(Vec<f64>),
    /// All declared secrets, which are not listed: there can be up to 2^53.
    Whole(Secrets),
}

impl Places {
    fn count(&self) -> usize {
        match self {
            Places::Listed(numbers) => numbers.len(),
            Places::Whole(secrets) => usize::try_from(secrets.count()).unwrap_or(usize::MAX),
        }
    }

    fn number(&self, secret: usize) -> f64 {
        match self {
            Places::Listed(numbers) => numbers[secret],
            Places::Whole(secrets) => {
                assert!(secret < self.count(), "no secret number {secret}");
                (secrets.first() + secret as i64) as f64
            }
        }
    }
}

impl<N: Noise> Located<N> {
    /// Reads the labels as numbers.
    ///
    /// # Errors
    /// A label is not a finite number (for integer noise: not a whole number) or not a declared secret. Messages quote
    /// `mechanism`; `name` is its name without parameters.
    pub(super) fn bind(
        noise: N,
        labels: &[String],
        declared: Option<Secrets>,
        (name, mechanism): (&str, &str),
    ) -> Result<Box<dyn BoundMechanism>> {
        let number = |label: &String| {
            let kind = if N::INTEGER {
                "whole numbers"
            } else {
                "numbers"
            };
            let value = read::<N>(label).ok_or_else(|| {
                Error::parameter(
                    mechanism,
                    format!("{name} needs secrets that are {kind}; the log has the secret {:?}", shorten(label)),
                )
                .with_hint(format!(
                    "restrict the log to numeric secrets with {}, or claim a mechanism for labels, such as \
                     randomized-response",
                    leakgauge_base::naming::option("secrets")
                ))
            })?;
            match declared {
                Some(declared) if !contains(declared, value) => Err(Error::parameter(
                    mechanism,
                    format!(
                        "its secrets are the whole numbers {} to {}; the log has the secret {:?}",
                        declared.first(),
                        declared.last(),
                        shorten(label)
                    ),
                )
                .with_hint("remove secrets= to use the secrets of the log")),
                _ => Ok(value),
            }
        };
        let secrets = labels.iter().map(number).collect::<Result<Vec<_>>>()?;
        Ok(Box::new(Located {
            noise,
            places: Places::Listed(secrets),
        }))
    }

    /// All declared secrets, without listing them.
    ///
    /// # Errors
    /// Of integer noise: a secret is beyond ±2^52.
    pub(super) fn declared(
        noise: N,
        secrets: Secrets,
        mechanism: &str,
    ) -> Result<Box<dyn BoundMechanism>> {
        let most = (MAX_WHOLE / 2) as u64;
        if N::INTEGER
            && secrets
                .first()
                .unsigned_abs()
                .max(secrets.last().unsigned_abs())
                > most
        {
            let problem = "its secrets must be within ±2^52, so that noise can be added";
            return Err(Error::parameter(mechanism, problem));
        }
        Ok(Box::new(Located {
            noise,
            places: Places::Whole(secrets),
        }))
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        (self.places.number(a) - self.places.number(b)).abs()
    }
}

/// A label as a number. Whole numbers are limited to half of the range that `f64` represents exactly, so that noise
/// can be added.
fn read<N: Noise>(label: &str) -> Option<f64> {
    let value: f64 = label.trim().parse().ok()?;
    let whole = value.fract() == 0.0 && value.abs() <= (MAX_WHOLE / 2) as f64;
    (value.is_finite() && (whole || !N::INTEGER)).then_some(value)
}

fn contains(declared: Secrets, value: f64) -> bool {
    let range = declared.first() as f64..=declared.last() as f64;
    value.fract() == 0.0 && range.contains(&value)
}

impl<N: Noise> BoundMechanism for Located<N> {
    fn secret_count(&self) -> usize {
        self.places.count()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.noise.total_variation(self.distance(a, b))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.noise.bayes_security(self.distance(a, b))
    }

    fn law(&self, secret: usize) -> Law {
        let (noise, center) = (self.noise.clone(), self.places.number(secret));
        let distribution = Box::new(move |x: f64| noise.distribution(x - center));
        if N::INTEGER {
            Law::Integer(distribution)
        } else {
            Law::Real(distribution)
        }
    }

    fn located(&self) -> Option<(NoiseShape, Cow<'_, [f64]>)> {
        let shape = if N::INTEGER {
            let noise = self.noise.clone();
            NoiseShape::Integer(Box::new(move |x| noise.distribution(x)))
        } else {
            self.noise.shape()?
        };
        let numbers = match &self.places {
            Places::Listed(numbers) => Cow::Borrowed(numbers.as_slice()),
            Places::Whole(secrets) if secrets.count() > MAX_LISTED => return None,
            Places::Whole(secrets) => Cow::Owned(
                (secrets.first()..=secrets.last())
                    .map(|s| s as f64)
                    .collect(),
            ),
        };
        Some((shape, numbers))
    }

    fn epsilon(&self) -> f64 {
        self.worst_pair()
            .map_or(0.0, |(a, b)| self.noise.epsilon(self.distance(a, b)))
    }

    /// The δ of the two outermost secrets.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        let distance = self.worst_pair().map_or(0.0, |(a, b)| self.distance(a, b));
        if distance == 0.0 {
            return Some(0.0);
        }
        self.noise.delta(distance, epsilon)
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        match self.distance(a, b) {
            0.0 => Some(Pair::Cells(vec![Cell::new(1.0, 1.0)])),
            distance => self.noise.pair(distance),
        }
    }

    fn replacing(&self, (a, b): (usize, usize), none: usize, rate: f64) -> Option<Pair> {
        let distance = self.distance(a, none);
        (distance > 0.0 && distance == self.distance(b, none))
            .then(|| self.noise.replacing(distance, rate))
            .flatten()
    }

    /// The two outermost secrets.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let value = self.places.number(secret) + self.noise.sample(rng);
        // Adding 0 turns -0 into 0.
        vec![Observed::Number(value.clamp(f64::MIN, f64::MAX) + 0.0)]
    }

    /// The two outermost secrets: Bayes security falls with the distance.
    fn worst_pair(&self) -> Option<(usize, usize)> {
        match &self.places {
            Places::Listed(numbers) => outermost(numbers),
            Places::Whole(_) => self
                .places
                .count()
                .checked_sub(1)
                .filter(|&last| last > 0)
                .map(|last| (0, last)),
        }
    }

    /// 1 + Σ total variation of neighbors: for symmetric unimodal noise, the nearest
    /// secret has the largest density at a point, so Σ_o max_s telescopes over neighbors.
    fn capacity(&self) -> Option<f64> {
        let mut sorted = match &self.places {
            Places::Listed(numbers) => numbers.clone(),
            Places::Whole(secrets) => {
                let gaps = (secrets.count() - 1) as f64;
                return Some(1.0 + gaps * self.noise.total_variation(1.0));
            }
        };
        sorted.sort_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        Some(1.0 + gaps.map(|gap| self.noise.total_variation(gap)).sum::<f64>())
    }
}

/// The first pair of numbers that are farthest apart; `None` if there are fewer than two.
pub(super) fn outermost(numbers: &[f64]) -> Option<(usize, usize)> {
    let by_value = |x: &(usize, &f64), y: &(usize, &f64)| x.1.total_cmp(y.1);
    let least = numbers.iter().enumerate().min_by(by_value)?.0;
    let most = numbers.iter().enumerate().rev().max_by(by_value)?.0;
    match (least.min(most), least.max(most)) {
        _ if numbers.len() < 2 => None,
        (a, b) if numbers[a] == numbers[b] => Some((0, 1)),
        pair => Some(pair),
    }
}
