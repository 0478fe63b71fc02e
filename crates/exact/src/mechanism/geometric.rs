//! The two-sided geometric mechanism.

use crate::extreme::Extreme;
use std::fmt;

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use crate::profile::{Cell, Pair};

use super::location::{Located, Noise, mixed_loss};
use super::{BoundMechanism, Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

/// The smallest ν; for a smaller one, noise exceeds the whole numbers that `f64` represents exactly.
pub(super) const MIN_NU: f64 = 1e-12;

pub(super) const ENTRY: Entry = Entry {
    name: "geometric",
    about: "adds two-sided geometric noise to a whole number",
    parameters: &[
        Parameter::positional(
            "nu",
            "the rate ν: noise z has weight exp(-ν·|z|); at least 1e-12",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Adds two-sided geometric noise: integer o has probability (1 − q)/(1 + q) · q^|o − s| under
/// secret s, with q = e^−ν.
///
/// # Formula
/// Between secrets at distance Δ: Bayes security q^(Δ/2) for even Δ and 2q^((Δ+1)/2)/(1 + q) for
/// odd Δ; ε = νΔ.
///
/// # Conditions
/// ν ≥ 1e-12; secrets are whole numbers within ±2^52. The support is all integers: nothing is truncated or clamped
/// to a range.
///
/// # References
/// A. Ghosh, T. Roughgarden, M. Sundararajan, *Universally utility-maximizing privacy mechanisms*,
/// doi:10.1137/09076828X (the mechanism). The Bayes security is the sum of the smaller of two
/// probabilities, a geometric series on each side of the middle.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometric {
    /// The rate ν.
    pub nu: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(Geometric {
        nu: arguments.number("nu", Bounds::AtLeast(MIN_NU))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Geometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = secrets::suffix(self.secrets);
        write!(f, "geometric(nu={}{secrets})", format_number(self.nu))
    }
}

impl Geometric {
    fn noise(&self) -> GeometricNoise {
        GeometricNoise { nu: self.nu }
    }
}

impl Mechanism for Geometric {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        Located::bind(
            self.noise(),
            labels,
            self.secrets,
            ("geometric", &self.to_string()),
        )
    }

    /// Does not list the secrets: there can be up to 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        match self.secrets {
            None => self.bind(&super::listed_secrets(self)?),
            Some(secrets) => Located::declared(self.noise(), secrets, &self.to_string()),
        }
    }
}

/// The widest distance at which every whole number between two secrets is listed.
const MAX_BETWEEN: f64 = 1e6;

#[derive(Debug, Clone)]
pub(super) struct GeometricNoise {
    pub(super) nu: f64,
}

impl GeometricNoise {
    /// The integer part of half the distance, and whether the distance is odd. For even distances q^half is Bayes
    /// security.
    fn half(distance: f64) -> (f64, bool) {
        let half = (distance / 2.0).floor();
        (half, distance > 2.0 * half)
    }
}

impl Noise for GeometricNoise {
    const INTEGER: bool = true;

    fn bayes_security(&self, distance: f64) -> f64 {
        match Self::half(distance) {
            (half, false) => exp(-self.nu * half),
            (half, true) => 2.0 * exp(-self.nu * (half + 1.0)) / (1.0 + exp(-self.nu)),
        }
    }

    /// For odd distances ((1 − q^(h+1)) + q(1 − q^h))/(1 + q), h = (Δ − 1)/2.
    fn total_variation(&self, distance: f64) -> f64 {
        let q = exp(-self.nu);
        match Self::half(distance) {
            (half, false) => -expm1(-self.nu * half),
            (half, true) => {
                (-expm1(-self.nu * (half + 1.0)) - q * expm1(-self.nu * half)) / (1.0 + q)
            }
        }
    }

    fn epsilon(&self, distance: f64) -> f64 {
        self.nu * distance
    }

    /// F(m − 1) − e^ε F(m − 1 − Δ): the nearer secret is e^ε times as likely below m, the whole
    /// number at or above (Δ − ε/ν)/2. That is ((1 − q^m) + q(1 − e^(ε − ν(Δ − m))))/(1 + q), for m = 1 simply
    /// (1 − e^(ε − νΔ))/(1 + q).
    fn delta(&self, distance: f64, epsilon: f64) -> Option<f64> {
        if epsilon >= self.nu * distance {
            return Some(0.0);
        }
        let m = (0.5 * (distance - epsilon / self.nu)).ceil();
        let q = exp(-self.nu);
        let told = if m <= 1.0 {
            -expm1(epsilon - self.nu * distance)
        } else {
            -expm1(-self.nu * m) - q * expm1(epsilon - self.nu * (distance - m))
        };
        Some((told / (1.0 + q)).at_least(0.0))
    }

    /// Both tails, and every whole number between the secrets.
    fn pair(&self, distance: f64) -> Option<Pair> {
        if distance > MAX_BETWEEN {
            return None;
        }
        let (nu, q) = (self.nu, exp(-self.nu));
        let outer = Cell {
            p: 1.0 / (1.0 + q),
            q: exp(-nu * distance) / (1.0 + q),
            difference: -expm1(-nu * distance) / (1.0 + q),
            loss: nu * distance,
        };
        let center = -expm1(-nu) / (1.0 + q);
        let between = (1..distance as u64).map(|x| {
            let (near, far) = (x as f64, distance - x as f64);
            let p = center * exp(-nu * near);
            Cell::with_loss(p, center * exp(-nu * far), nu * (far - near))
        });
        let mut cells = vec![outer, outer.swapped()];
        cells.extend(between);
        Some(Pair::Cells(cells))
    }

    /// What is at least Δ, what is at most −Δ, and every whole number in between.
    fn replacing(&self, distance: f64, rate: f64) -> Option<Pair> {
        if distance > MAX_BETWEEN {
            return None;
        }
        let (nu, q) = (self.nu, exp(-self.nu));
        // ln of the mixture with the record at Δ over the noise around 0.
        let above = |x: f64| mixed_loss(nu * (2.0 * x - distance).clamp(-distance, distance), rate);
        let beyond = (1.0 - rate) * exp(-nu * distance) / (1.0 + q);
        let (most, least) = (
            rate / (1.0 + q) + beyond,
            rate * exp(-2.0 * nu * distance) / (1.0 + q) + beyond,
        );
        let loss = mixed_loss(nu * distance, rate) - mixed_loss(-nu * distance, rate);
        let outer = Cell::with_loss(most, least, loss);
        let center = -expm1(-nu) / (1.0 + q);
        let count = 2 * distance as u64 - 1;
        let inner = (0..count).map(|i| {
            let x = i as f64 + 1.0 - distance;
            let none = center * exp(-nu * x.abs());
            let (p, q) = (above(x), above(-x));
            Cell::with_loss(none * exp(p), none * exp(q), p - q)
        });
        let mut cells = vec![outer, outer.swapped()];
        cells.extend(inner);
        Some(Pair::Cells(cells))
    }

    fn distribution(&self, x: f64) -> f64 {
        let (z, q) = (x.floor(), exp(-self.nu));
        if z < 0.0 {
            exp(self.nu * z) / (1.0 + q)
        } else {
            1.0 - exp(-self.nu * (z + 1.0)) / (1.0 + q)
        }
    }

    /// The difference of two geometric numbers, each the integer part of an exponential number.
    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let mut geometric = || {
            let u: f64 = rng.sample(OpenClosed01);
            (-log(u) / self.nu).floor()
        };
        geometric() - geometric()
    }
}
