//! The staircase mechanism.

use std::fmt;

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use crate::profile::{Cell, Pair};

use super::location::{Located, Noise, mixed_loss};
use super::{BoundMechanism, Build, Entry, Mechanism, NoiseShape, Secrets, secrets};
use crate::extreme::Extreme;
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

/// The smallest γ above 0 that is told from others: as a part of a period, no distance between secrets is this small.
const NARROWEST: f64 = 1e-290;

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
    let epsilon = arguments.number("epsilon", Bounds::Above(0.0))?;
    if !epsilon.recip().is_finite() {
        let epsilon = format_number(epsilon);
        return Err(arguments.error(format!(
            "epsilon is {epsilon}, and 1/epsilon is too large for a number"
        )));
    }
    Ok(Box::new(Staircase {
        epsilon,
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
        let b = exp(-self.epsilon);
        let (gamma, high) = match self.gamma {
            // (1 − γ)/γ is e^(ε/2).
            None => {
                let half = exp(-0.5 * self.epsilon);
                (
                    (half / (1.0 + half)).at_least(NARROWEST),
                    1.0 / (1.0 + half),
                )
            }
            Some(0.0) => (0.0, 0.0),
            Some(gamma) => {
                let gamma = gamma.at_least(NARROWEST);
                (gamma, 1.0 / (1.0 + b * (1.0 - gamma) / gamma))
            }
        };
        let low = match self.gamma {
            None => exp(-0.5 * self.epsilon) * high,
            Some(0.0) => 1.0,
            Some(gamma) => b * (1.0 - gamma) / gamma.at_least(NARROWEST) * high,
        };
        StaircaseNoise {
            epsilon: self.epsilon,
            width: self.sensitivity,
            gamma,
            high,
            low,
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

/// The narrowest step of a density around a record that is replaced, relative to its distance and the period.
const NARROWEST_STEP: f64 = 1e-4;

#[derive(Debug, Clone)]
struct StaircaseNoise {
    epsilon: f64,
    /// The sensitivity.
    width: f64,
    gamma: f64,
    /// The shares γ and b(1 − γ) of the high and the low part of a period in their sum, b = e^−ε, which may underflow
    /// where the shares do not.
    high: f64,
    low: f64,
}

impl StaircaseNoise {
    /// The cell k that contains a distance from 0, and the mass of the cell on one side of 0 before and after that
    /// point, divided by b^k: (k, before, after).
    fn cell(&self, x: f64) -> (f64, f64, f64) {
        let scaled = (x / self.width).at_most(f64::MAX);
        let k = scaled.floor();
        let place = scaled - k;
        let half = -0.5 * expm1(-self.epsilon);
        let (high, low) = (self.before(place), self.after(place));
        (k, half * high, half * low)
    }

    /// The share of a period's mass before a place in it.
    fn before(&self, place: f64) -> f64 {
        self.share(0.0, place)
    }

    /// The share of a period's mass after a place in it.
    fn after(&self, place: f64) -> f64 {
        self.share(place, 1.0)
    }

    /// The share of a period's mass between two places in it, 0 ≤ from ≤ to ≤ 1.
    fn share(&self, from: f64, to: f64) -> f64 {
        let gamma = self.gamma;
        let part = |mass: f64, from: f64, to: f64, length: f64| {
            if to > from {
                mass * ((to - from) / length)
            } else {
                0.0
            }
        };
        part(self.high, from, to.at_most(gamma), gamma)
            + part(self.low, from.at_least(gamma), to, 1.0 - gamma)
    }

    /// The mass between two points, between which the density around 0 is constant.
    fn mass(&self, from: f64, to: f64) -> f64 {
        let middle = (0.5 * (from + to)).abs() / self.width;
        let k = middle.floor();
        let (mass, length) = if middle - k < self.gamma {
            (self.high, self.gamma)
        } else {
            (self.low, 1.0 - self.gamma)
        };
        let half = -0.5 * expm1(-self.epsilon);
        half * exp(-self.epsilon * k) * mass * ((to - from) / self.width / length)
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
        (2.0 * self.tail(0.5 * distance)).at_most(1.0)
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
            let beyond = (epsilon - self.epsilon * (far - near)).at_most(0.0);
            -self.mass(from, to) * expm1(beyond)
        };
        let pieces = |from: f64, to: f64| {
            let cuts = self.cuts(from, to, distance);
            cuts.windows(2)
                .map(|cut| piece(cut[0], cut[1]))
                .sum::<f64>()
        };
        let tail = pieces(-edge - period, -edge) / -expm1(-self.epsilon);
        Some((tail + pieces(-edge, distance + edge)).at_most(1.0))
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
            let p = repeats * self.mass(from, to);
            let q = repeats * self.mass(from - distance, to - distance);
            Cell::with_loss(p, q, self.epsilon * (far - near))
        });
        Some(Pair::Cells(pieces.collect()))
    }

    /// The pieces on which all three densities are constant; in both tails they repeat with the factor b.
    fn replacing(&self, distance: f64, rate: f64) -> Option<Pair> {
        let (period, edge) = (self.width, self.gamma * self.width);
        // Steps must be wide beside the rounding of places.
        let narrowest = NARROWEST_STEP * (distance + period);
        let is_told = |width: f64| width == 0.0 || width >= narrowest;
        if distance / period > MAX_CELLS || !is_told(edge) || !is_told(period - edge) {
            return None;
        }
        let far = distance + edge;
        // Records a whole number of periods apart, up to rounding, have the same ends of pieces.
        let periods = (distance / period).round();
        let whole = (distance / period - periods).abs() <= 1e-12 * periods;
        let shift = if whole { 0.0 } else { distance };
        let mut cuts = self.cuts(-far - period, far + period, shift);
        cuts.extend(cuts.clone().iter().map(|cut| -cut));
        cuts.sort_by(f64::total_cmp);
        // Ends that meet and do not, by rounding, enclose nothing.
        let hair = 16.0 * f64::EPSILON * (distance + period);
        cuts.dedup_by(|b, a| *b - *a <= hair);
        let pieces = cuts.windows(2).map(|cut| {
            let middle = 0.5 * (cut[0] + cut[1]);
            let repeats = if middle.abs() > far {
                -1.0 / expm1(-self.epsilon)
            } else {
                1.0
            };
            let none = repeats * self.mass(cut[0], cut[1]);
            // What the density around a record, a whole number of steps above or below, is over that around 0.
            let mixed = |center: f64| {
                let steps = self.step(middle) - self.step(middle - center);
                mixed_loss(self.epsilon * steps, rate)
            };
            let (p, q) = (mixed(distance), mixed(-distance));
            let mass = |center: f64| {
                let record = repeats * self.mass(cut[0] - center, cut[1] - center);
                (1.0 - rate) * none + rate * record
            };
            Cell::with_loss(mass(distance), mass(-distance), p - q)
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
        let gamma = self.gamma;
        let u: f64 = rng.sample(OpenClosed01);
        let cell = (-log(u) / self.epsilon).floor();
        let high = rng.random::<f64>() < self.high;
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
