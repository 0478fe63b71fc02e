//! The planar Laplace mechanism.

use std::f64::consts::PI;
use std::fmt;

use libm::log;
use rand::{Rng, RngExt};
use rand_distr::OpenClosed01;

use crate::profile::{Pair, PlanarPair};

use super::laplace::LaplaceScale;
use super::nearest;
use super::observed::texts;
use super::points::{self, Grid};
use super::{BoundMechanism, Build, Entry, Law, Mechanism, Observed};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "planar-laplace",
    about: "adds planar Laplace noise to a point",
    parameters: &[
        Parameter::named("scale", "the scale λ, above 0"),
        Parameter::named(
            "epsilon",
            "instead of scale: ε per unit of distance, scale = sensitivity/ε",
        ),
        Parameter::named(
            "sensitivity",
            "with epsilon: the unit of distance; default 1",
        ),
        points::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Adds planar Laplace noise: the observation of the point s has density e^(−d/λ)/2πλ² at distance
/// d from it. The observation has two columns, x and y.
///
/// # Formula
/// Between secrets at distance Δ, with u = Δ/2λ: the nearer secret is more likely, so Bayes security is twice
/// the probability that one coordinate of the noise exceeds Δ/2,
/// (2/π)·∫₀^∞ (1/cosh t + u) e^(−u cosh t) dt = (2/π)(Ki₁(u) + u K₀(u)); total variation
/// (2/π)·∫₀^∞ (1 − (1 + z)e^(−z))/cosh t dt with z = u cosh t. ε = Δ/λ, over all secrets that
/// of the farthest two.
///
/// # Conditions
/// λ > 0; secrets are points with finite coordinates. The integrands are analytic, so that the
/// trapezoidal rule is exact to rounding. Samples are `f64`: see [`Laplace`](super::Laplace).
///
/// # References
/// M. E. Andrés, N. E. Bordenabe, K. Chatzikokolakis, C. Palamidessi, *Geo-indistinguishability*,
/// doi:10.1145/2508859.2516735. L. N. Trefethen, J. A. C. Weideman, *The exponentially convergent
/// trapezoidal rule*, doi:10.1137/130932132.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanarLaplace {
    /// The scale, as given.
    pub scale: LaplaceScale,
    /// The declared secrets.
    pub secrets: Option<Grid>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(PlanarLaplace {
        scale: LaplaceScale::from_arguments(arguments)?,
        secrets: Grid::read(arguments, "secrets")?,
    }))
}

impl fmt::Display for PlanarLaplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = super::secrets::suffix(self.secrets.map(|grid| grid.0));
        let number = format_number;
        match self.scale {
            LaplaceScale::Scale(scale) => {
                write!(f, "planar-laplace(scale={}{secrets})", number(scale))
            }
            LaplaceScale::Calibrated {
                epsilon,
                sensitivity,
            } => write!(
                f,
                "planar-laplace(epsilon={}, sensitivity={}{secrets})",
                number(epsilon),
                number(sensitivity)
            ),
        }
    }
}

impl Mechanism for PlanarLaplace {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Grid::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Grid::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let secrets = points::bind(&self.to_string(), labels, self.secrets)?;
        let of_grid = |grid: Grid| (0..grid.count()).map(move |number| grid.point(number));
        let whole = self
            .secrets
            .filter(|&grid| of_grid(grid).eq(secrets.iter().copied()));
        Ok(Box::new(Bound {
            scale: self.scale.scale(),
            side: whole.map(|grid| grid.0.count()),
            secrets,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    scale: f64,
    /// The points along a side, if the secrets are a whole grid.
    side: Option<u64>,
    secrets: Vec<[f64; 2]>,
}

/// The probability that a coordinate of the noise is at most x.
///
/// # Formula
/// For x ≤ 0 half of the Bayes security at u = |x|/λ: the noise is beyond |x| on one side.
fn coordinate(x: f64) -> f64 {
    let tail = 0.5 * PlanarPair::new(x.abs()).bayes_security();
    if x < 0.0 { tail } else { 1.0 - tail }
}

impl Bound {
    fn between(&self, a: usize, b: usize) -> PlanarPair {
        PlanarPair::new(0.5 * (points::distance(self.secrets[a], self.secrets[b]) / self.scale))
    }

    /// The positions of the secrets along a line, if they are collinear.
    fn on_a_line(&self) -> Option<Vec<f64>> {
        let (a, b) = self.worst_pair()?;
        let (from, to) = (self.secrets[a], self.secrets[b]);
        let along = [to[0] - from[0], to[1] - from[1]];
        let place = |point: &[f64; 2]| {
            let step = [point[0] - from[0], point[1] - from[1]];
            let beside = step[0] * along[1] - step[1] * along[0];
            (beside == 0.0).then(|| {
                let side = step[0] * along[0] + step[1] * along[1];
                points::distance(*point, from).copysign(side)
            })
        };
        self.secrets.iter().map(place).collect()
    }
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.secrets.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.between(a, b).total_variation()
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.between(a, b).bayes_security()
    }

    fn law(&self, secret: usize) -> Law {
        let law = |center: f64| {
            let scale = self.scale;
            Law::Real(Box::new(move |x: f64| coordinate((x - center) / scale)))
        };
        Law::Coordinates(self.secrets[secret].map(law).into())
    }

    fn planar(&self) -> Option<(f64, &[[f64; 2]])> {
        Some((self.scale, &self.secrets))
    }

    fn epsilon(&self) -> f64 {
        self.worst_pair()
            .map_or(0.0, |(a, b)| self.between(a, b).epsilon())
    }

    /// That of the farthest two secrets.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        Some(
            self.worst_pair()
                .map_or(0.0, |(a, b)| self.between(a, b).delta(epsilon)),
        )
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::PlanarLaplace(self.between(a, b)))
    }

    /// The two outermost points.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn columns(&self) -> &'static [&'static str] {
        points::COLUMNS
    }

    /// Draws a direction, and a distance with density r·e^(−r/λ)/λ², the sum of two exponential numbers.
    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let angle = 2.0 * PI * rng.random::<f64>();
        let exponential = |rng: &mut dyn Rng| -log(rng.sample::<f64, _>(OpenClosed01));
        let radius = self.scale * (exponential(rng) + exponential(rng));
        let step = [radius * libm::cos(angle), radius * libm::sin(angle)];
        let field = |(center, step): (f64, f64)| {
            Observed::Number((center + step).clamp(f64::MIN, f64::MAX) + 0.0)
        };
        self.secrets[secret]
            .into_iter()
            .zip(step)
            .map(field)
            .collect()
    }

    /// The farthest two secrets, because Bayes security decreases with the distance.
    fn worst_pair(&self) -> Option<(usize, usize)> {
        points::outermost(&self.secrets)
    }

    /// 1 + Σ total variation of neighbors, for two secrets or several on a line: the nearest
    /// secret is the most likely one, on strips across the line. Otherwise the mass of the cells of nearest secrets;
    /// `None` if there are too many, and they are no grid.
    fn capacity(&self) -> Option<f64> {
        if self.secrets.len() == 1 {
            return Some(1.0);
        }
        let Some(mut places) = self.on_a_line() else {
            return match self.side {
                Some(side) => Some(nearest::grid_capacity(side, 1.0 / self.scale)),
                None => nearest::capacity(&self.secrets, self.scale),
            };
        };
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        let steps = gaps.map(|gap| PlanarPair::new(0.5 * gap / self.scale).total_variation());
        Some(1.0 + steps.sum::<f64>())
    }
}
