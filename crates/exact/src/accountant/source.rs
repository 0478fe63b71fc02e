//! Where the moments of a step come from.

use libm::{log, log1p};

use super::closed_forms::plain;
use super::loss::Loss;
use super::normal::{Normal, Order, Tilted};
use super::sides::ToldSides;
use crate::extreme::Extreme;
use crate::profile::Noise;

/// The losses of a step.
#[derive(Debug)]
pub(super) enum Source {
    /// Of Gaussian noise, by a rule on the line that is right to rounding.
    Normal(Normal),
    /// So many losses.
    Listed(Listed),
}

/// Losses with the logarithms of their masses under P, ascending. What is not listed is at infinite loss, or has none.
#[derive(Debug)]
pub(super) struct Listed(Vec<(f64, f64)>);

impl Listed {
    /// From losses, which ascend, and masses.
    pub fn new(points: Vec<(f64, f64)>) -> Listed {
        let possible = points.into_iter().filter(|(_, mass)| *mass > 0.0);
        Listed(possible.map(|(loss, mass)| (loss, log(mass))).collect())
    }
}

impl Source {
    /// The step tilted by θ, for E\[e^((θ + it)L)\] with |t| up to a limit.
    pub fn tilted(&self, theta: f64, limit: f64, steps: f64) -> Tilted {
        match self {
            Source::Normal(normal) => normal.tilted(theta, limit, steps),
            Source::Listed(Listed(points)) => {
                let tilted = |(loss, log_mass): &(f64, f64)| (*loss, log_mass + theta * loss);
                Tilted::new(points.iter().map(tilted))
            }
        }
    }

    /// The number of points for |t| up to a limit.
    pub fn points(&self, theta: f64, limit: f64, steps: f64) -> f64 {
        match self {
            Source::Normal(normal) => normal.points(theta, limit, steps),
            Source::Listed(Listed(points)) => points.len() as f64,
        }
    }

    /// How much larger than at its saddle the factor of all sums may be, by its logarithm: rounding grows with it. Of few
    /// points a line may be long.
    pub fn most_lost(&self) -> f64 {
        match self {
            Source::Normal(_) => 9.0,
            Source::Listed(_) => 3.0,
        }
    }

    /// The work that a line does whether it is needed or not: less where δ changes on shorter distances than θ tells, so that
    /// a line is long as it is.
    pub fn always_done(&self, least: f64) -> f64 {
        match self {
            Source::Normal(_) => least,
            Source::Listed(_) => 0.02 * least,
        }
    }

    /// The largest loss.
    pub fn largest_loss(&self) -> f64 {
        match self {
            Source::Normal(normal) => match normal.order {
                Order::Removed => -log1p(-normal.rate),
                Order::Added | Order::Replaced => f64::INFINITY,
            },
            Source::Listed(Listed(points)) => {
                points.last().map_or(0.0, |(loss, _)| loss.at_least(0.0))
            }
        }
    }

    /// δ(ε) of so many steps, where it has a closed form.
    pub fn known(&self, epsilon: f64, steps: u64) -> Option<ToldSides> {
        let Source::Normal(normal) = self else {
            return None;
        };
        if let Some(mu) = normal.plain() {
            return Some(plain(mu * (steps as f64).sqrt(), epsilon));
        }
        match steps {
            1 => normal.one_step(epsilon),
            _ => None,
        }
    }
}

impl Normal {
    /// The loss of a step.
    pub fn loss(self) -> Loss {
        let Normal { mu, rate, order } = self;
        match order {
            Order::Added => Loss::gaussian(mu).subsampled(rate),
            Order::Removed => Loss::gaussian(mu).subsampled(rate).reversed(),
            Order::Replaced => Loss::replaced(Noise::Gaussian(mu), rate),
        }
    }
}
