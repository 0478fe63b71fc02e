//! The Gaussian mechanism.

use std::f64::consts::SQRT_2;
use std::fmt;

use libm::{erf, erfc, log, sqrt};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use crate::profile::{self, Pair, ReplacedPair};

use super::location::{Located, Noise};
use super::{BoundMechanism, Build, Entry, Mechanism, NoiseShape, Secrets, secrets};
use crate::hockey_stick;
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "gaussian",
    about: "adds Gaussian noise to a number",
    parameters: &[
        Parameter::positional("sigma", "the standard deviation σ of the noise, above 0"),
        Parameter::named(
            "epsilon",
            "instead of sigma: ε of (ε, δ)-differential privacy, above 0 and at most 1",
        ),
        Parameter::named("delta", "with epsilon: δ, above 0 and below 1"),
        Parameter::named("sensitivity", "with epsilon: the sensitivity; default 1"),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Adds Gaussian noise: the observation of secret s is s + N(0, σ²).
///
/// # Formula
/// Between secrets at distance Δ: Bayes security 2Φ(−Δ/2σ) = erfc(Δ/(2√2 σ)), total variation
/// erf(Δ/(2√2 σ)). ε = ∞ unless all secrets are equal.
/// Calibrated to (ε, δ) and sensitivity d, σ = d√(2 ln(1.25/δ))/ε.
///
/// # Conditions
/// σ > 0; secrets are finite numbers. Samples are `f64`, and their last bits can reveal the secret:
/// simulate logs to measure, not to protect data.
///
/// # References
/// Chatzikokolakis et al., *Bayes Security*, Proposition 4 and section VI-C (calibration),
/// doi:10.1109/CSF57540.2023.00011. C. Dwork, A. Roth, *The algorithmic foundations of
/// differential privacy*, Theorem A.1 (calibration, proved for ε < 1), doi:10.1561/0400000042.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// The standard deviation σ.
    pub sigma: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(Gaussian {
        sigma: sigma(arguments)?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

/// σ as given, or calibrated from ε, δ and the sensitivity.
fn sigma(arguments: &Arguments<'_>) -> Result<f64> {
    let calibrated = ["epsilon", "delta", "sensitivity"];
    let given = calibrated
        .iter()
        .find(|name| arguments.value(name).is_some());
    let Some(name) = given else {
        return arguments.number("sigma", Bounds::Above(0.0));
    };
    if arguments.value("sigma").is_some() {
        return Err(arguments.error(format!("give either sigma or {name}, not both")));
    }
    // A number above 0 is at least the smallest positive one.
    let epsilon = arguments.number("epsilon", Bounds::Between(f64::MIN_POSITIVE, 1.0))?;
    let delta = arguments.number("delta", Bounds::Between(f64::MIN_POSITIVE, 1.0))?;
    let sensitivity = arguments.number_if_given("sensitivity", Bounds::Above(0.0))?;
    let sigma = sensitivity.unwrap_or(1.0) * sqrt(2.0 * log(1.25 / delta)) / epsilon;
    if sigma > 0.0 && sigma.is_finite() {
        Ok(sigma)
    } else {
        Err(arguments.error("epsilon and sensitivity give no finite sigma"))
    }
}

impl fmt::Display for Gaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = secrets::suffix(self.secrets);
        write!(f, "gaussian(sigma={}{secrets})", format_number(self.sigma))
    }
}

impl Gaussian {
    fn noise(&self) -> GaussianNoise {
        GaussianNoise { sigma: self.sigma }
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
        Located::bind(
            self.noise(),
            labels,
            self.secrets,
            ("gaussian", &self.to_string()),
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

    /// Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ), Balle and Wang 2018, arXiv:1805.06530, theorem 8.
    fn delta(&self, distance: f64, epsilon: f64) -> Option<f64> {
        Some(hockey_stick::gaussian(distance / self.sigma, epsilon))
    }

    fn pair(&self, distance: f64) -> Option<Pair> {
        let mu = distance / self.sigma;
        Some(Pair::Gaussian { mu })
    }

    fn replacing(&self, distance: f64, rate: f64) -> Option<Pair> {
        let noise = profile::Noise::Gaussian(distance / self.sigma);
        Some(Pair::Replaced(ReplacedPair::new(noise, rate)))
    }

    fn distribution(&self, x: f64) -> f64 {
        0.5 * erfc(-x / self.sigma / SQRT_2)
    }

    fn shape(&self) -> Option<NoiseShape> {
        Some(NoiseShape::Gaussian { sigma: self.sigma })
    }

    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let z: f64 = rng.sample(StandardNormal);
        self.sigma * z
    }
}
