//! The staircase mechanism.

use std::cmp::Ordering;
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

/// A number of periods that is whole up to rounding.
fn whole(periods: f64) -> Option<f64> {
    let nearest = periods.round();
    ((periods - nearest).abs() <= 1e-12 * nearest).then_some(nearest)
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

/// A place in a period: the sum of one that is told, and γ, −γ or 0, which may be far below its last digit.
#[derive(Debug, Clone, Copy)]
struct Place {
    base: f64,
    offset: f64,
}

impl Place {
    fn new(base: f64, offset: f64) -> Place {
        Place { base, offset }
    }

    fn order(&self, other: &Place) -> Ordering {
        let (own, others) = (self.base + self.offset, other.base + other.offset);
        own.total_cmp(&others)
            .then(self.offset.total_cmp(&other.offset))
    }

    fn minus(&self, other: &Place) -> f64 {
        (self.base - other.base) + (self.offset - other.offset)
    }
}

/// A part of a period on which both densities are constant.
struct Part {
    from: Place,
    width: f64,
    /// Whether the density around the first number is low.
    is_low: bool,
}

impl Part {
    fn is_before(&self, place: &Place) -> bool {
        self.from.order(place) == Ordering::Less
    }
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

    /// The shares of a period's mass in cells that start at 0 and end at these places, in their order.
    fn parts(&self, places: &[Place]) -> Vec<Part> {
        let mut places = places.to_vec();
        places.extend([Place::new(0.0, 0.0), Place::new(1.0, 0.0)]);
        places.sort_by(Place::order);
        let is_low = |place: &Place| Place::new(0.0, self.gamma).order(place) != Ordering::Greater;
        let parts = places.windows(2).map(|ends| Part {
            from: ends[0],
            width: ends[1].minus(&ends[0]).at_least(0.0),
            is_low: is_low(&ends[0]),
        });
        parts.filter(|part| part.width > 0.0).collect()
    }

    /// The share of a period's mass that so much of its high or its low part has.
    fn share_of(&self, width: f64, is_low: bool) -> f64 {
        match is_low {
            true => self.low * (width / (1.0 - self.gamma)),
            false => self.high * (width / self.gamma),
        }
    }

    /// The cell of a part of period `near` around the first number, which is in the high or the low part of period
    /// `far` around the other. Its masses are taken `repeats` times, for all periods that have the same losses.
    fn cell_of(
        &self,
        part: &Part,
        near: f64,
        (far, far_is_low): (f64, bool),
        repeats: f64,
    ) -> Cell {
        let half = -0.5 * repeats * expm1(-self.epsilon);
        let mass = |k: f64, is_low: bool| {
            half * exp(-self.epsilon * k) * self.share_of(part.width, is_low)
        };
        let level = |k: f64, is_low: bool| k + f64::from(u8::from(is_low));
        let steps = level(far, far_is_low) - level(near, part.is_low);
        let (p, q) = (mass(near, part.is_low), mass(far, far_is_low));
        Cell::with_loss(p, q, self.epsilon * steps)
    }

    /// The cells between two numbers m + f periods apart, m whole and 0 ≤ f < 1.
    ///
    /// # Formula
    /// At a place u of period k the other number is m − k + f − u periods away: up to u = f it is in period m − k of
    /// the noise around that, then in the one before. Its low part ends where γ is left of a period.
    fn cells_between(&self, m: f64, f: f64) -> Vec<Cell> {
        let gamma = self.gamma;
        let middle = Place::new(f, 0.0);
        let rise = match f >= gamma {
            true => Place::new(f, -gamma),
            false => Place::new(1.0 + f, -gamma),
        };
        let parts = self.parts(&[Place::new(0.0, gamma), middle, rise]);
        let periods = 0..=m as u64;
        let of_period = |k: u64| {
            let k = k as f64;
            let cell = move |part: &Part| {
                let is_first = part.is_before(&middle);
                let is_low = match (f >= gamma, is_first) {
                    (true, false) => true,
                    (false, true) => false,
                    (true, true) | (false, false) => part.is_before(&rise),
                };
                let far = if is_first { m - k } else { m - k - 1.0 };
                (far >= 0.0).then(|| self.cell_of(part, k, (far, is_low), 1.0))
            };
            parts.iter().filter_map(cell).collect::<Vec<Cell>>()
        };
        periods.flat_map(of_period).collect()
    }

    /// The cells beyond the first of two numbers m + f periods apart. From period to period they fall by the factor b.
    fn cells_beyond(&self, m: f64, f: f64) -> Vec<Cell> {
        let gamma = self.gamma;
        let next = Place::new(1.0 - f, 0.0);
        let fall = match f >= gamma {
            true => Place::new(1.0 - f, gamma),
            false => Place::new(-f, gamma),
        };
        let parts = self.parts(&[Place::new(0.0, gamma), next, fall]);
        let cell = |part: &Part| {
            let is_first = part.is_before(&next);
            let is_low = match (f >= gamma, is_first) {
                (true, true) => true,
                (false, false) => false,
                (true, false) | (false, true) => !part.is_before(&fall),
            };
            let far = if is_first { m } else { m + 1.0 };
            self.cell_of(part, 0.0, (far, is_low), -1.0 / expm1(-self.epsilon))
        };
        parts.iter().map(cell).collect()
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
        self.epsilon * whole(steps).unwrap_or(steps.ceil())
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

    /// The pieces on which both densities are constant; in both tails they repeat with the factor b. No mass is a
    /// difference of rounded places, which a narrow high part would not survive.
    fn pair(&self, distance: f64) -> Option<Pair> {
        let periods = distance / self.width;
        if periods > MAX_CELLS {
            return None;
        }
        let (m, f) = match whole(periods) {
            Some(m) => (m, 0.0),
            None => (periods.floor(), periods.fract()),
        };
        let beyond = self.cells_beyond(m, f);
        let mut cells = self.cells_between(m, f);
        cells.extend(beyond.iter().map(|cell| cell.swapped()));
        cells.extend(beyond);
        Some(Pair::Cells(cells))
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
        let shift = match whole(distance / period) {
            Some(_) => 0.0,
            None => distance,
        };
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

#[cfg(test)]
mod tests;
