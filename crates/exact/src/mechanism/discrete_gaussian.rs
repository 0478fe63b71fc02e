//! The discrete Gaussian mechanism.

use crate::extreme::Extreme;
use std::fmt;
use std::sync::Arc;

use libm::{exp, expm1};
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use crate::profile::Pair;

use super::location::{Located, Noise};
use super::{BoundMechanism, Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "discrete-gaussian",
    about: "adds discrete Gaussian noise to a whole number",
    parameters: &[
        Parameter::positional(
            "sigma",
            "σ: noise z has weight exp(-z²/2σ²); between 1e-3 and 1e5",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Adds discrete Gaussian noise: whole number o has weight e^(−(o − s)²/2σ²) under secret s.
///
/// # Formula
/// With T(j) = P(z ≥ j): between secrets at distance Δ Bayes security is T(Δ/2) + T(Δ/2 + 1) for
/// even Δ and 2T((Δ + 1)/2) for odd Δ. T is summed from its smallest term. ε = ∞ unless all secrets are
/// equal.
///
/// # Conditions
/// 1e-3 ≤ σ ≤ 1e5, because the sums are kept in memory; secrets are whole numbers within ±2^52. σ is the parameter
/// of the distribution; for small σ it slightly exceeds the standard deviation. Draws invert the distribution
/// function, with error 2^−53; this is not the exact sampler of the paper.
///
/// # References
/// C. L. Canonne, G. Kamath, T. Steinke, *The discrete Gaussian for differential privacy*,
/// doi:10.29012/jpc.784, arXiv:2004.00010.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscreteGaussian {
    /// σ.
    pub sigma: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(DiscreteGaussian {
        sigma: arguments.number("sigma", Bounds::Between(1e-3, 1e5))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for DiscreteGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sigma, secrets) = (format_number(self.sigma), secrets::suffix(self.secrets));
        write!(f, "discrete-gaussian(sigma={sigma}{secrets})")
    }
}

impl DiscreteGaussian {
    fn noise(&self) -> DiscreteGaussianNoise {
        DiscreteGaussianNoise {
            sums: Arc::new(Sums::new(self.sigma)),
        }
    }
}

impl Mechanism for DiscreteGaussian {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let name = ("discrete-gaussian", self.to_string());
        Located::bind(self.noise(), labels, self.secrets, (name.0, &name.1))
    }

    /// Does not list the secrets: there can be up to 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        match self.secrets {
            None => self.bind(&super::listed_secrets(self)?),
            Some(secrets) => Located::declared(self.noise(), secrets, &self.to_string()),
        }
    }
}

#[derive(Debug, Clone)]
struct DiscreteGaussianNoise {
    sums: Arc<Sums>,
}

/// Cumulative probabilities, up to where they underflow.
#[derive(Debug)]
struct Sums {
    /// P(z ≥ j) for j from 0.
    tail: Vec<f64>,
    /// P(0 < z ≤ j) for j from 0.
    inner: Vec<f64>,
    /// P(0).
    center: f64,
    sigma: f64,
}

impl Sums {
    fn new(sigma: f64) -> Self {
        // Beyond 39σ weights are below the smallest f64.
        let last = (39.0 * sigma).ceil() as usize + 1;
        let weight = |z: usize| {
            let x = z as f64 / sigma;
            exp(-0.5 * x * x)
        };
        let mut tail = vec![0.0; last + 1];
        let mut sum = Compensated::default();
        for z in (0..=last).rev() {
            sum.add(weight(z));
            tail[z] = sum.value();
        }
        let total = 2.0 * tail[0] - 1.0;
        let mut inner = vec![0.0; last + 1];
        let mut sum = Compensated::default();
        for (z, inner) in inner.iter_mut().enumerate().skip(1) {
            sum.add(weight(z));
            *inner = sum.value() / total;
        }
        tail.iter_mut().for_each(|tail| *tail /= total);
        Sums {
            tail,
            inner,
            center: 1.0 / total,
            sigma,
        }
    }

    /// P(z ≥ j), j ≥ 0.
    fn tail(&self, j: f64) -> f64 {
        self.tail.get(j as usize).copied().unwrap_or(0.0)
    }

    /// P(0 < z ≤ j), j ≥ 0.
    fn inner(&self, j: f64) -> f64 {
        self.inner[(j as usize).min(self.inner.len() - 1)]
    }
}

/// A compensated sum (Neumaier summation).
#[derive(Default)]
struct Compensated {
    sum: f64,
    dropped: f64,
}

impl Compensated {
    /// One step of Neumaier summation: the rounding error of the addition goes to `dropped`.
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.dropped += if self.sum.abs() >= x.abs() {
            (self.sum - sum) + x
        } else {
            (x - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.dropped
    }
}

impl Noise for DiscreteGaussianNoise {
    const INTEGER: bool = true;

    fn bayes_security(&self, distance: f64) -> f64 {
        let half = (0.5 * distance).ceil();
        match half {
            0.0 => 1.0,
            _ if distance < 2.0 * half => 2.0 * self.sums.tail(half),
            _ => self.sums.tail(half) + self.sums.tail(half + 1.0),
        }
    }

    /// The probability of the whole numbers z with −Δ/2 < z ≤ Δ/2.
    fn total_variation(&self, distance: f64) -> f64 {
        let half = (0.5 * distance).ceil();
        match half {
            0.0 => 0.0,
            _ if distance < 2.0 * half => self.sums.center + 2.0 * self.sums.inner(half - 1.0),
            _ => self.sums.center + self.sums.inner(half - 1.0) + self.sums.inner(half),
        }
    }

    fn epsilon(&self, distance: f64) -> f64 {
        if distance > 0.0 { f64::INFINITY } else { 0.0 }
    }

    /// Σ P(z)·(1 − e^(ε − L(z))) over z below Δ/2 − εσ²/Δ, where the privacy loss L(z) = (Δ² − 2Δz)/2σ² exceeds ε.
    fn delta(&self, distance: f64, epsilon: f64) -> Option<f64> {
        let square = self.sums.sigma * self.sums.sigma;
        let loss = |z: f64| distance * (0.5 * distance - z) / square;
        let first = (0.5 * distance - epsilon * square / distance).ceil() - 1.0;
        let reach = self.sums.tail.len() as f64;
        let mut sum = Compensated::default();
        let mut z = first.at_most(reach);
        while z >= -reach {
            let x = z / self.sums.sigma;
            sum.add(-exp(-0.5 * x * x) * expm1((epsilon - loss(z)).at_most(0.0)));
            z -= 1.0;
        }
        Some((sum.value() * self.sums.center).at_most(1.0))
    }

    fn pair(&self, distance: f64) -> Option<Pair> {
        let sigma = self.sums.sigma;
        Some(Pair::DiscreteGaussian { sigma, distance })
    }

    fn replacing(&self, distance: f64, rate: f64) -> Option<Pair> {
        Some(Pair::DiscreteReplaced {
            sigma: self.sums.sigma,
            distance,
            rate,
        })
    }

    fn distribution(&self, x: f64) -> f64 {
        match x.floor() {
            z if z < 0.0 => self.sums.tail(-z),
            z => 1.0 - self.sums.tail(z + 1.0),
        }
    }

    /// Draws |z| by inverting P(|z| ≥ j) = 2T(j), then a sign.
    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let u: f64 = rng.sample(OpenClosed01);
        let reached = self.sums.tail[1..].partition_point(|&tail| 2.0 * tail >= u);
        let size = reached as f64;
        if rng.random() { size } else { -size }
    }
}
