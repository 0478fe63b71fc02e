//! The Gaussian mechanism.

use std::f64::consts::SQRT_2;
use std::fmt;

use libm::{erf, erfc};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::location::{Located, Noise};
use super::{BoundMechanism, Entry, Mechanism, Secrets, secrets};
use crate::error::Result;
use crate::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "gaussian",
    about: "adds Gaussian noise to a number",
    parameters: &[
        Parameter::positional("sigma", "the standard deviation σ of the noise, above 0"),
        secrets::PARAMETER,
    ],
    build,
};

/// Adds Gaussian noise: the observation of secret s is s + N(0, σ²).
///
/// # Formula
/// Between secrets at distance Δ: Bayes security 2Φ(−Δ/2σ) = erfc(Δ/(2√2 σ)), total variation
/// erf(Δ/(2√2 σ)). No ε of pure differential privacy unless all secrets are equal: ε = ∞.
///
/// # Conditions
/// σ > 0; secrets are finite numbers. Samples are `f64`: their last bits can tell secrets apart,
/// so a simulated log is for measuring, not for protecting anything.
///
/// # References
/// Chatzikokolakis et al., *Bayes Security*, Proposition 4, doi:10.1109/CSF57540.2023.00011.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// The standard deviation σ.
    pub sigma: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(Gaussian {
        sigma: arguments.number("sigma", Bounds::Above(0.0))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Gaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = secrets::suffix(self.secrets);
        write!(f, "gaussian(sigma={}{secrets})", format_number(self.sigma))
    }
}

impl Mechanism for Gaussian {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let noise = GaussianNoise { sigma: self.sigma };
        Located::bind(noise, labels, self.secrets, ("gaussian", &self.to_string()))
    }
}

#[derive(Debug, Clone)]
struct GaussianNoise {
    sigma: f64,
}

impl Noise for GaussianNoise {
    const INTEGER: bool = false;

    fn bayes_security(&self, distance: f64) -> f64 {
        erfc(distance / self.sigma / (2.0 * SQRT_2))
    }

    fn total_variation(&self, distance: f64) -> f64 {
        erf(distance / self.sigma / (2.0 * SQRT_2))
    }

    fn epsilon(&self, distance: f64) -> f64 {
        if distance > 0.0 { f64::INFINITY } else { 0.0 }
    }

    fn distribution(&self, x: f64) -> f64 {
        0.5 * erfc(-x / self.sigma / SQRT_2)
    }

    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let z: f64 = rng.sample(StandardNormal);
        self.sigma * z
    }
}
