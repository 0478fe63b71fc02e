//! The staircase mechanism.

use std::fmt;

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use crate::profile::{Cell, Pair};

use super::location::{Located, Noise};
use super::{BoundMechanism, Build, Entry, Mechanism, NoiseShape, Secrets, secrets};
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
    build: Build::Alone(build),
};

/// The most periods between two secrets for which δ is summed.
const MAX_CELLS: f64 = 1e6;

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

impl Staircase {
    fn noise(&self) -> StaircaseNoise {
        let half = exp(-0.5 * self.epsilon);
        StaircaseNoise {
            epsilon: self.epsilon,
            width: self.sensitivity,
            gamma: self.gamma.unwrap_or(half / (1.0 + half)),
        }
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
        let name = ("staircase", self.to_string());
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

    /// a, the density at 0.
    fn height(&self) -> f64 {
        let b = exp(-self.epsilon);
        let kept = self.gamma + b * (1.0 - self.gamma);
        -expm1(-self.epsilon) / (2.0 * self.width * kept)
    }

    /// How many steps the density at a point lies below that at 0.
    fn step(&self, x: f64) -> f64 {
        let scaled = x.abs() / self.width;
        let k = scaled.floor();
        if scaled - k < self.gamma { k } else { k + 1.0 }
    }

    /// The points between two ends, included, at which the density around 0 or around a distance changes.
    fn cuts(&self, from: f64, to: f64, distance: f64) -> Vec<f64> {
        let (period, edge) = (self.width, self.gamma * self.width);
        let shift = distance % period;
        let offsets = [edge, -edge, 0.0].map(|e| [e, e + shift]);
        let mut cuts: Vec<f64> = vec![from, to];
        let (first, last) = ((from / period).floor() - 2.0, (to / period).ceil() + 2.0);
        for offset in offsets.iter().flatten() {
            let each = (0..=(last - first) as u64).map(|k| (first + k as f64) * period + offset);
            cuts.extend(each.filter(|cut| *cut > from && *cut < to));
        }
        cuts.sort_by(f64::total_cmp);
        cuts
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

    /// ∫ max(f(x) − e^ε′ f(x − Δ), 0) dx, a sum over the pieces on which both densities are constant. Left of both
    /// peaks the pieces repeat with period d and the factor b, a geometric series; right of them f is the smaller.
    fn delta(&self, distance: f64, epsilon: f64) -> Option<f64> {
        let (period, edge) = (self.width, self.gamma * self.width);
        if distance / period > MAX_CELLS || epsilon >= self.epsilon(distance) {
            return (epsilon >= self.epsilon(distance)).then_some(0.0);
        }
        let piece = |from: f64, to: f64| {
            let middle = 0.5 * (from + to);
            let (near, far) = (self.step(middle), self.step(middle - distance));
            let beyond = (epsilon - self.epsilon * (far - near)).min(0.0);
            -self.height() * exp(-self.epsilon * near) * expm1(beyond) * (to - from)
        };
        let pieces = |from: f64, to: f64| {
            let cuts = self.cuts(from, to, distance);
            cuts.windows(2)
                .map(|cut| piece(cut[0], cut[1]))
                .sum::<f64>()
        };
        let tail = pieces(-edge - period, -edge) / -expm1(-self.epsilon);
        Some((tail + pieces(-edge, distance + edge)).min(1.0))
    }

    /// The pieces on which both densities are constant; in both tails they repeat with the factor b.
    fn pair(&self, distance: f64) -> Option<Pair> {
        let (period, edge) = (self.width, self.gamma * self.width);
        if distance / period > MAX_CELLS {
            return None;
        }
        let cuts = self.cuts(-edge - period, distance + edge + period, distance);
        let pieces = cuts.windows(2).map(|cut| {
            let (from, to) = (cut[0], cut[1]);
            let middle = 0.5 * (from + to);
            let (near, far) = (self.step(middle), self.step(middle - distance));
            let tail = middle < -edge || middle > distance + edge;
            let repeats = if tail {
                -1.0 / expm1(-self.epsilon)
            } else {
                1.0
            };
            let mass =
                |step: f64| repeats * self.height() * exp(-self.epsilon * step) * (to - from);
            Cell::with_loss(mass(near), mass(far), self.epsilon * (far - near))
        });
        Some(Pair::Cells(pieces.collect()))
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
