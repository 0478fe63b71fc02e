//! The two-sided geometric mechanism, clamped to a range.

use std::fmt;

use libm::{exp, expm1};
use rand::Rng;

use super::geometric::GeometricNoise;
use super::location::Noise;
use super::ranged::{self, Monotone, Range, Ranged};
use super::{BoundMechanism, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "truncated-geometric",
    about: "adds two-sided geometric noise and clamps the sum to a range",
    parameters: &[
        Parameter::positional("nu", "the rate ν of the noise; at least 1e-12"),
        secrets::PARAMETER,
        ranged::SPACING,
        ranged::OBSERVATIONS,
    ],
    build,
};

/// Adds two-sided geometric noise to a whole number and clamps the sum to a range.
///
/// # Formula
/// With q = e^−ν and the center c of the secret: P(o | s) = (1 − q)/(1 + q)·q^|o − c| inside of the
/// range, q^(c − low)/(1 + q) at its low end and q^(high − c)/(1 + q) at its high end. All figures
/// are those of [`Geometric`](super::Geometric): the best test between two centers in the range
/// is the side of their midpoint, which clamping preserves.
///
/// # Conditions
/// ν ≥ 1e-12; centers are whole numbers in the range.
///
/// # References
/// A. Ghosh, T. Roughgarden, M. Sundararajan, *Universally utility-maximizing privacy mechanisms*,
/// section 2.3, doi:10.1137/09076828X.
#[derive(Debug, Clone, PartialEq)]
pub struct TruncatedGeometric {
    /// The rate ν.
    pub nu: f64,
    /// Secrets and observations.
    pub range: Range,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(TruncatedGeometric {
        nu: ranged::nu(arguments)?,
        range: Range::from_arguments(arguments)?,
    }))
}

impl fmt::Display for TruncatedGeometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nu, range) = (format_number(self.nu), self.range.suffix());
        write!(f, "truncated-geometric(nu={nu}{range})")
    }
}

impl Mechanism for TruncatedGeometric {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.range.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.range.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let (centers, low, high) = self.range.bind(&self.to_string(), labels)?;
        let noise = GeometricNoise { nu: self.nu };
        let family = Clamped { noise, low, high };
        Ok(Box::new(Ranged { family, centers }))
    }
}

#[derive(Debug, Clone)]
struct Clamped {
    noise: GeometricNoise,
    low: f64,
    high: f64,
}

impl Monotone for Clamped {
    fn total_variation(&self, a: f64, b: f64) -> f64 {
        self.noise.total_variation(b - a)
    }

    fn bayes_security(&self, a: f64, b: f64) -> f64 {
        self.noise.bayes_security(b - a)
    }

    fn epsilon(&self, a: f64, b: f64) -> f64 {
        self.noise.epsilon(b - a)
    }

    fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn probability(&self, center: f64, observation: f64) -> f64 {
        let (nu, distance) = (self.noise.nu, (observation - center).abs());
        let inside = match () {
            () if self.low == self.high => return 1.0,
            () if observation == self.low || observation == self.high => 1.0,
            () => -expm1(-nu),
        };
        inside * exp(-nu * distance) / (1.0 + exp(-nu))
    }

    fn distribution(&self, center: f64, x: f64) -> f64 {
        self.noise.distribution(x - center)
    }

    fn sample(&self, center: f64, rng: &mut dyn Rng) -> f64 {
        (center + self.noise.sample(rng)).clamp(self.low, self.high)
    }
}
