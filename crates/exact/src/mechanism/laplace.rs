//! The Laplace mechanism.

use crate::extreme::Extreme;
use std::fmt;

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};
use rand_distr::Open01;

use crate::profile::{self, Pair, ReplacedPair};

use super::location::{Located, Noise};
use super::{BoundMechanism, Build, Entry, Mechanism, NoiseShape, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "laplace",
    about: "adds Laplace noise to a number",
    parameters: &[
        Parameter::named("scale", "the scale λ of the noise, above 0"),
        Parameter::named("epsilon", "instead of scale: ε, with scale = sensitivity/ε"),
        Parameter::named("sensitivity", "with epsilon: the sensitivity; default 1"),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Adds Laplace noise: the observation of secret s is s + Laplace(0, λ).
///
/// # Formula
/// Density exp(−|x − s|/λ)/2λ. Between secrets at distance Δ: Bayes security exp(−Δ/2λ), total
/// variation −expm1(−Δ/2λ), ε = Δ/λ.
///
/// # Conditions
/// λ > 0; secrets are finite numbers. Samples are `f64`, and their last bits can reveal the secret
/// (Mironov, below): simulate logs to measure, not to protect data.
///
/// # References
/// Chatzikokolakis et al., *Bayes Security*, Proposition 3, doi:10.1109/CSF57540.2023.00011.
/// C. Dwork, F. McSherry, K. Nissim, A. Smith, *Calibrating noise to sensitivity in private data
/// analysis*, doi:10.1007/11681878_14. I. Mironov, *On significance of the least significant bits
/// for differential privacy*, doi:10.1145/2382196.2382264.
#[derive(Debug, Clone, PartialEq)]
pub struct Laplace {
    /// The scale, as given.
    pub scale: LaplaceScale,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

/// The two ways to give the scale of Laplace noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LaplaceScale {
    /// `scale=λ`.
    Scale(f64),
    /// `epsilon=ε, sensitivity=d`: λ = d/ε.
    Calibrated {
        /// ε.
        epsilon: f64,
        /// The sensitivity d.
        sensitivity: f64,
    },
}

impl LaplaceScale {
    /// The scale λ.
    pub fn scale(self) -> f64 {
        match self {
            LaplaceScale::Scale(scale) => scale,
            LaplaceScale::Calibrated {
                epsilon,
                sensitivity,
            } => sensitivity / epsilon,
        }
    }

    pub(super) fn from_arguments(arguments: &Arguments<'_>) -> Result<Self> {
        let scale = arguments.number_if_given("scale", Bounds::Above(0.0))?;
        let epsilon = arguments.number_if_given("epsilon", Bounds::Above(0.0))?;
        let sensitivity = arguments.number_if_given("sensitivity", Bounds::Above(0.0))?;
        let scale = match (scale, epsilon, sensitivity) {
            (Some(scale), None, None) => LaplaceScale::Scale(scale),
            (None, Some(epsilon), sensitivity) => LaplaceScale::Calibrated {
                epsilon,
                sensitivity: sensitivity.unwrap_or(1.0),
            },
            (None, None, _) => {
                return Err(arguments
                    .error("scale is missing")
                    .with_hint("write laplace(scale=2), or laplace(epsilon=0.5, sensitivity=1)"));
            }
            (Some(_), _, _) => {
                return Err(arguments
                    .error("scale cannot be combined with epsilon or sensitivity")
                    .with_hint(
                        "give scale, or epsilon and sensitivity: scale = sensitivity/epsilon",
                    ));
            }
        };
        if scale.scale() > 0.0 && scale.scale().is_finite() {
            Ok(scale)
        } else {
            Err(arguments.error(format!(
                "sensitivity/epsilon is {}, which is not a valid scale",
                format_number(scale.scale())
            )))
        }
    }
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(Laplace {
        scale: LaplaceScale::from_arguments(arguments)?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Laplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = secrets::suffix(self.secrets);
        match self.scale {
            LaplaceScale::Scale(scale) => {
                write!(f, "laplace(scale={}{secrets})", format_number(scale))
            }
            LaplaceScale::Calibrated {
                epsilon,
                sensitivity,
            } => write!(
                f,
                "laplace(epsilon={}, sensitivity={}{secrets})",
                format_number(epsilon),
                format_number(sensitivity)
            ),
        }
    }
}

impl Laplace {
    fn noise(&self) -> LaplaceNoise {
        LaplaceNoise {
            scale: self.scale.scale(),
        }
    }
}

impl Mechanism for Laplace {
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
            ("laplace", &self.to_string()),
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
struct LaplaceNoise {
    scale: f64,
}

impl Noise for LaplaceNoise {
    const INTEGER: bool = false;

    fn bayes_security(&self, distance: f64) -> f64 {
        exp(-0.5 * (distance / self.scale))
    }

    fn total_variation(&self, distance: f64) -> f64 {
        -expm1(-0.5 * (distance / self.scale))
    }

    fn epsilon(&self, distance: f64) -> f64 {
        distance / self.scale
    }

    /// 1 − e^((ε − Δ/λ)/2) while ε < Δ/λ.
    fn delta(&self, distance: f64, epsilon: f64) -> Option<f64> {
        Some(-expm1(0.5 * (epsilon - distance / self.scale).at_most(0.0)))
    }

    fn pair(&self, distance: f64) -> Option<Pair> {
        let distance = distance / self.scale;
        Some(Pair::Laplace { distance })
    }

    fn replacing(&self, distance: f64, rate: f64) -> Option<Pair> {
        let noise = profile::Noise::Laplace(distance / self.scale);
        Some(Pair::Replaced(ReplacedPair::new(noise, rate)))
    }

    fn distribution(&self, x: f64) -> f64 {
        let tail = 0.5 * exp(-x.abs() / self.scale);
        if x < 0.0 { tail } else { 1.0 - tail }
    }

    fn shape(&self) -> Option<NoiseShape> {
        Some(NoiseShape::Laplace { scale: self.scale })
    }

    /// The inverse distribution function of a uniform number in (0, 1).
    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let u: f64 = rng.sample(Open01);
        if u < 0.5 {
            self.scale * log(2.0 * u)
        } else {
            -self.scale * log(2.0 * (1.0 - u))
        }
    }
}
