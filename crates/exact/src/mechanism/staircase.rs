//! The staircase mechanism.

use std::fmt;

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use super::location::{Located, Noise};
use super::{BoundMechanism, Entry, Mechanism, NoiseShape, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "staircase",
    about: "adds noise whose density falls in steps of e^ε",
    parameters: &[
        Parameter::positional(
            "epsilon",
            "the ε for secrets within the sensitivity, above 0",
        ),
        Parameter::named("sensitivity", "the sensitivity d, above 0; default 1"),
        Parameter::named(
            "gamma",
            "the position of the step within d, between 0 and 1; default 1/(1 + e^(ε/2)), which \
             minimizes the mean absolute noise",
        ),
        secrets::PARAMETER,
    ],
    build,
};

/// Adds staircase noise: its density is constant between the points ±(k + γ)d and falls by the
/// factor e^−ε at each.
///
/// # Formula
/// With b = e^−ε and a = (1 − b)/(2d(γ + b(1 − γ))): density a·b^k for |x| in [kd, (k + γ)d) and
/// a·b^(k+1) for |x| in [(k + γ)d, (k + 1)d). Between secrets at distance Δ: Bayes security
/// 2P(x > Δ/2), privacy parameter ε⌈Δ/d⌉.
///
/// # Conditions
/// ε > 0; d > 0; 0 ≤ γ ≤ 1; secrets are finite numbers. Samples are `f64`: see
/// [`Laplace`](super::Laplace).
///
/// # References
/// Q. Geng, P. Viswanath, *The optimal noise-adding mechanism in differential privacy*,
/// doi:10.1109/TIT.2015.2504967 (theorem 4: the γ with the smallest mean absolute noise).
#[derive(Debug, Clone, PartialEq)]
pub struct Staircase {
    /// The ε of secrets within the sensitivity.
    pub epsilon: f64,
    /// The sensitivity d.
    pub sensitivity: f64,
    /// γ, if given.
    pub gamma: Option<f64>,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let sensitivity = arguments.number_if_given("sensitivity", Bounds::Above(0.0))?;
    Ok(Box::new(Staircase {
        epsilon: arguments.number("epsilon", Bounds::Above(0.0))?,
        sensitivity: sensitivity.unwrap_or(1.0),
        gamma: arguments.number_if_given("gamma", Bounds::Between(0.0, 1.0))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for Staircase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "staircase(epsilon={}", format_number(self.epsilon))?;
        if self.sensitivity != 1.0 {
            write!(f, ", sensitivity={}", format_number(self.sensitivity))?;
        }
        if let Some(gamma) = self.gamma {
            write!(f, ", gamma={}", format_number(gamma))?;
        }
        write!(f, "{})", secrets::suffix(self.secrets))
    }
}

impl Mechanism for Staircase {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let half = exp(-0.5 * self.epsilon);
        let noise = StaircaseNoise {
            epsilon: self.epsilon,
            width: self.sensitivity,
            gamma: self.gamma.unwrap_or(half / (1.0 + half)),
        };
        let name = ("staircase", self.to_string());
        Located::bind(noise, labels, self.secrets, (name.0, &name.1))
    }
}

#[derive(Debug, Clone)]
struct StaircaseNoise {
    epsilon: f64,
    /// The sensitivity.
    width: f64,
    gamma: f64,
}

impl StaircaseNoise {
    /// The cell k that contains a distance from 0, and the mass of the cell on one side of 0 before and after that
    /// point, divided by b^k: (k, before, after).
    fn cell(&self, x: f64) -> (f64, f64, f64) {
        let (b, gamma) = (exp(-self.epsilon), self.gamma);
        let scaled = (x / self.width).min(f64::MAX);
        let k = scaled.floor();
        let place = scaled - k;
        let height = -0.5 * expm1(-self.epsilon) / (gamma + b * (1.0 - gamma));
        let before = height * (place.min(gamma) + b * (place - gamma).max(0.0));
        let after = height * ((gamma - place).max(0.0) + b * (1.0 - place.max(gamma)));
        (k, before, after)
    }

    /// The probability of noise above x ≥ 0.
    fn tail(&self, x: f64) -> f64 {
        let (k, _, after) = self.cell(x);
        exp(-self.epsilon * k) * (after + 0.5 * exp(-self.epsilon))
    }
}

impl Noise for StaircaseNoise {
    const INTEGER: bool = false;

    fn bayes_security(&self, distance: f64) -> f64 {
        if distance == 0.0 {
            return 1.0;
        }
        (2.0 * self.tail(0.5 * distance)).min(1.0)
    }

    fn total_variation(&self, distance: f64) -> f64 {
        let (k, before, _) = self.cell(0.5 * distance);
        2.0 * exp(-self.epsilon * k) * before - expm1(-self.epsilon * k)
    }

    /// ε times the number of steps within a distance. A distance that is a multiple of the sensitivity up to rounding
    /// counts as that multiple.
    fn epsilon(&self, distance: f64) -> f64 {
        let steps = distance / self.width;
        let nearest = steps.round();
        let whole = (steps - nearest).abs() <= 1e-12 * nearest;
        self.epsilon * if whole { nearest } else { steps.ceil() }
    }

    fn distribution(&self, x: f64) -> f64 {
        if x < 0.0 {
            self.tail(-x)
        } else {
            1.0 - self.tail(x)
        }
    }

    /// The steps up to a tail of e^−80; `None` if ε is so small that there are more than a million.
    fn shape(&self) -> Option<NoiseShape> {
        let cells = (80.0 / self.epsilon).ceil();
        let noise = self.clone();
        (cells <= 5e5).then(|| NoiseShape::Steps {
            edges: (0..=cells as u64)
                .flat_map(|k| {
                    let k = k as f64;
                    [k * self.width, (k + self.gamma) * self.width]
                })
                .collect(),
            distribution: Box::new(move |x| noise.distribution(x)),
        })
    }

    /// Draws a sign, a geometric cell, its higher or lower part, and a position there.
    fn sample(&self, rng: &mut dyn Rng) -> f64 {
        let (b, gamma) = (exp(-self.epsilon), self.gamma);
        let u: f64 = rng.sample(OpenClosed01);
        let cell = (-log(u) / self.epsilon).floor();
        let high = rng.random::<f64>() * (gamma + b * (1.0 - gamma)) < gamma;
        let place: f64 = rng.random();
        let place = if high {
            gamma * place
        } else {
            gamma + (1.0 - gamma) * place
        };
        let size = (cell + place) * self.width;
        if rng.random() { size } else { -size }
    }
}
