//! Gaussian noise that is so rarely used that a few losses are far larger than most.

use libm::{erfc, exp, expm1, log1p};

use super::contour::Contour;
use super::normal::{Normal, Order};
use super::sides::{Sides, ToldSides};
use super::source::{Listed, Source};
use crate::extreme::Extreme;
use crate::profile::integral_between;

/// The composition of a step whose losses end at a point, once at least as large as they are and once at most.
///
/// # Formula
/// The line of observations is cut into cells, in each of which the loss rises. From above, the mass of a cell goes to the
/// losses at its two ends so that both P and Q keep theirs; the tail above has infinite loss, and that below the smallest one.
/// From below, a cell is one observation, with the loss ln P/Q of its masses; the tail above has the loss at which it begins,
/// and that below none.
///
/// # References
/// V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, *Connect the dots: tighter discrete approximations
/// of privacy loss distributions*, doi:10.56553/popets-2022-0122.
#[derive(Debug)]
pub(super) struct Enclosed {
    above: Contour,
    below: Contour,
    /// What the tails of all steps together have.
    infinite: f64,
    dropped: f64,
}

/// By how much the part of a cell that goes up may be wrong. Cells in which the loss rises by a smaller part of itself are
/// flat.
const ROUNDING: f64 = 1e-6;
const FLAT: f64 = 1e-9;
/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// A place and its loss.
type Edge = (f64, f64);

/// The masses of P and Q in a cell, and (P − e^l·Q)/e^l, with the loss l at its beginning.
struct Masses {
    p: f64,
    q: f64,
    gain: f64,
}

impl Enclosed {
    /// Tails of one step have at most so much. Cells have a width, in units of the noise over its distance where that is above
    /// 1: variances of sums are wrong by a twelfth of the square.
    pub fn new(normal: Normal, steps: u64, (cut, width): (f64, f64)) -> Enclosed {
        let last = first_below(cut, normal.mu, |x| normal.tail(x));
        let first = -first_below(cut, normal.mu, |x| normal.tail_below(x));
        let cells = ((last - first) * normal.mu.at_least(1.0) / width).ceil();
        let edge = |at: f64| {
            let x = first + (last - first) * (at / cells);
            (x, normal.rising(x).0)
        };
        let beyond = (normal.tail_below(-first), normal.tail(last));
        let mut from = edge(0.0);
        let mut above = vec![(raised(from.1), beyond.0)];
        let mut below = Vec::new();
        for at in 1..=cells as u64 {
            let to = edge(at as f64);
            let masses = Masses::between(normal, from, to);
            let up = masses.part_up(from, to);
            if let Some(last) = above.last_mut() {
                last.1 += masses.p - up;
            }
            above.push((raised(to.1), up));
            below.push((lowered(masses.loss(from, to)), masses.p));
            from = to;
        }
        below.push((lowered(from.1), beyond.1));
        let of = |points| Contour::of(Source::Listed(Listed::new(points)), steps);
        let times = steps as f64 * (1.0 + 1e-9);
        Enclosed {
            above: of(above),
            below: of(below),
            infinite: times * beyond.1,
            dropped: times * beyond.0,
        }
    }

    /// Both sides of δ(ε) and 1 − δ(ε).
    pub fn told(&self, epsilon: f64) -> ToldSides {
        let most = self.above.told(epsilon, 0.0).most;
        let least = self.below.told(epsilon, 0.0).least;
        ToldSides {
            most: (
                (most.0 + self.infinite).at_most(1.0),
                (most.1 - self.infinite).at_least(0.0),
            ),
            least: (
                (least.0 - self.dropped).at_least(0.0),
                (least.1 + self.dropped).at_most(1.0),
            ),
        }
    }

    /// Both sides of the ε at which δ(ε) is a value.
    pub fn epsilon(&self, delta: f64) -> Sides {
        let rest = delta - self.infinite;
        Sides {
            least: self.below.epsilon(delta + self.dropped, 0.0).least,
            most: match rest > 0.0 {
                true => self.above.epsilon(rest, 0.0).most,
                false => f64::INFINITY,
            },
        }
    }

    /// The upper sides of δ at ascending ε, up to the first that is negligible.
    pub fn deltas(&self, epsilons: &[f64], negligible: f64) -> Vec<f64> {
        let each = self.above.deltas(epsilons, negligible, &[]);
        let with_tail = |(most, _): (f64, f64)| (most + self.infinite).at_most(1.0);
        each.into_iter().map(with_tail).collect()
    }
}

impl Normal {
    /// The loss, and ln of the density of P over that of N(0, 1), at a place of a line along which the loss rises.
    fn rising(&self, x: f64) -> (f64, f64) {
        match self.order {
            Order::Removed => self.at(-x),
            Order::Added | Order::Replaced => self.at(x),
        }
    }

    /// The mass of P above a place of that line, and that below the negative of one.
    fn tail(&self, x: f64) -> f64 {
        match self.order {
            Order::Removed => beyond(x),
            Order::Added | Order::Replaced => self.mixed(x, self.mu),
        }
    }

    fn tail_below(&self, x: f64) -> f64 {
        match self.order {
            Order::Removed => beyond(x),
            Order::Added | Order::Replaced => self.mixed(x, -self.mu),
        }
    }

    fn mixed(&self, x: f64, center: f64) -> f64 {
        (1.0 - self.rate) * beyond(x) + self.rate * beyond(x - center)
    }
}

/// The mass of N(0, 1) above a place.
fn beyond(x: f64) -> f64 {
    0.5 * erfc(x * std::f64::consts::FRAC_1_SQRT_2)
}

impl Masses {
    /// Of the cell between two places. All that is added up is positive.
    fn between(normal: Normal, from: Edge, to: Edge) -> Masses {
        let density = |x: f64, log_ratio: f64| {
            exp(log_ratio - 0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt()
        };
        let ends = (from.0, to.0);
        let of_p = |x: f64| density(x, normal.rising(x).1);
        let of_q = |x: f64| {
            let (loss, log_ratio) = normal.rising(x);
            density(x, log_ratio - loss)
        };
        let gain = |x: f64| {
            let loss = normal.rising(x).0;
            of_q(x) * expm1((loss - from.1).at_least(0.0))
        };
        Masses {
            p: integral_between(ends, 1, of_p),
            q: integral_between(ends, 1, of_q),
            gain: integral_between(ends, 1, gain),
        }
    }

    /// The mass of P that goes to the loss at the end, at least.
    fn part_up(&self, from: Edge, to: Edge) -> f64 {
        if is_flat(from, to) {
            return self.p;
        }
        let up = exp(from.1) * self.gain / -expm1(from.1 - to.1);
        (up * (1.0 + ROUNDING)).clamp(0.0, self.p)
    }

    /// ln P/Q, at most.
    fn loss(&self, from: Edge, to: Edge) -> f64 {
        match is_flat(from, to) {
            true => from.1,
            false => from.1 + log1p((1.0 - ROUNDING) * self.gain / self.q),
        }
    }
}

fn is_flat(from: Edge, to: Edge) -> bool {
    to.1 - from.1 <= FLAT * from.1.abs()
}

/// A loss with what rounding may have taken from it, or added to it.
fn raised(loss: f64) -> f64 {
    loss + 16.0 * UNIT * loss.abs()
}

fn lowered(loss: f64) -> f64 {
    loss - 16.0 * UNIT * loss.abs()
}

/// The first place at which a tail, which falls from 0 on, has at most so much.
fn first_below(most: f64, mu: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0 + mu);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if tail(middle) > most {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
