//! A random choice between two kinds of noise on the line.

use std::collections::BinaryHeap;
use std::f64::consts::{LN_2, TAU};

use libm::{exp, expm1, log};
use rand::{Rng, RngExt};

use super::law::mixed;
use super::observed::texts;
use super::{BoundMechanism, Law, NoiseShape, Observed};
use crate::extreme::Extreme;

/// Laplace or Gaussian noise, or one of both at random, around the numbers of the secrets.
///
/// # Formula
/// Both are symmetric and unimodal around the same number, so that the nearest secret has the largest density under both:
/// total variation, Bayes security and capacity are the weighted means. With the density f, the likelihood ratio of secrets
/// at the distance Δ is f(x)/f(x − Δ). It falls between the secrets, is at most 1 beyond the second one, and on a cell
/// left of the first one it lies between f(left)/f(right − Δ) and f(right)/f(left − Δ), because both densities rise there.
/// δ(ε) is the sum over cells where the ratio is above e^ε, and cells where it may be are halved: what is left of
/// them counts by the larger side. ε is found in the same way. With two Laplace laws the ratio, a mean of e^(Δ/λ) with weights
/// that move to the smaller scale, is largest at the first secret. With one Laplace law it comes near e^(Δ/λ) far out.
#[derive(Debug)]
pub(super) struct NoiseMixture {
    first: Box<dyn BoundMechanism>,
    second: Box<dyn BoundMechanism>,
    /// The probability of the first.
    weight: f64,
    parts: [Part; 2],
    centers: Vec<f64>,
}

/// One of both kinds of noise.
#[derive(Debug, Clone, Copy)]
enum Part {
    Laplace(f64),
    Gaussian(f64),
}

impl Part {
    fn of(bound: &dyn BoundMechanism) -> Option<(Part, Vec<f64>)> {
        let (shape, centers) = bound.located()?;
        let part = match shape {
            NoiseShape::Laplace { scale } => Part::Laplace(scale),
            NoiseShape::Gaussian { sigma } => Part::Gaussian(sigma),
            NoiseShape::Steps { .. } | NoiseShape::Integer(_) => return None,
        };
        Some((part, centers.to_vec()))
    }

    fn log_density(self, x: f64) -> f64 {
        match self {
            Part::Laplace(scale) => -x.abs() / scale - LN_2 - log(scale),
            Part::Gaussian(sigma) => -0.5 * (x / sigma) * (x / sigma) - 0.5 * log(TAU) - log(sigma),
        }
    }

    /// The probability of less than −x, x at least 0.
    fn tail(self, x: f64) -> f64 {
        match self {
            Part::Laplace(scale) => 0.5 * exp(-x / scale),
            Part::Gaussian(sigma) => 0.5 * libm::erfc(x / sigma * std::f64::consts::FRAC_1_SQRT_2),
        }
    }
}

/// The most cells that are looked at.
const MOST_CELLS: usize = 20_000;
/// How near an upper side comes to what it bounds, relative to it.
const NEAR: f64 = 1e-8;

impl NoiseMixture {
    /// `None` unless both are Laplace or Gaussian noise around the same numbers.
    pub(super) fn of(
        first: Box<dyn BoundMechanism>,
        second: Box<dyn BoundMechanism>,
        weight: f64,
    ) -> Result<NoiseMixture, [Box<dyn BoundMechanism>; 2]> {
        let both = Part::of(&*first).zip(Part::of(&*second));
        match both {
            Some(((one, centers), (other, others))) if centers == others => Ok(NoiseMixture {
                first,
                second,
                weight,
                parts: [one, other],
                centers,
            }),
            _ => Err([first, second]),
        }
    }

    fn mean(&self, of: impl Fn(&dyn BoundMechanism) -> f64) -> f64 {
        self.weight * of(&*self.first) + (1.0 - self.weight) * of(&*self.second)
    }

    /// The parts with their weights, without those that have none.
    fn weighted(&self) -> impl Iterator<Item = (f64, Part)> {
        let weights = [self.weight, 1.0 - self.weight];
        let both = weights.into_iter().zip(self.parts);
        both.filter(|(weight, _)| *weight > 0.0)
    }

    fn log_density(&self, x: f64) -> f64 {
        let logs = || {
            self.weighted()
                .map(move |(w, part)| log(w) + part.log_density(x))
        };
        let most = logs().fold(f64::NEG_INFINITY, f64::at_least);
        most + log(logs().map(|log| exp(log - most)).sum())
    }

    /// The mass between two numbers, of which none is on the other side of 0.
    fn mass(&self, from: f64, to: f64) -> f64 {
        let (near, far) = if to <= 0.0 { (-to, -from) } else { (from, to) };
        let of = |(w, part): (f64, Part)| w * (part.tail(near) - part.tail(far));
        self.weighted().map(of).sum::<f64>().at_least(0.0)
    }

    /// The privacy loss on a cell: at least, and at most.
    fn losses(&self, (from, to): (f64, f64), distance: f64) -> (f64, f64) {
        let log = |x: f64| self.log_density(x);
        if to <= 0.0 {
            let low = log(from) - log(to - distance);
            let high = log(to) - log(from - distance);
            (low, high)
        } else {
            (
                log(to) - log(to - distance),
                log(from) - log(from - distance),
            )
        }
    }

    /// Where less than 1e-300 of all mass is left on one side.
    fn reach(&self) -> f64 {
        let of = |part: Part| match part {
            Part::Laplace(scale) => 690.0 * scale,
            Part::Gaussian(sigma) => 37.1 * sigma,
        };
        self.weighted()
            .map(|(_, part)| of(part))
            .fold(0.0, f64::at_least)
    }

    /// Cells to begin with, narrow near the first secret.
    fn cells(&self, distance: f64) -> Vec<(f64, f64)> {
        let reach = self.reach();
        let mut cuts: Vec<f64> = (0..60).map(|k| -reach * exp(-0.5 * f64::from(k))).collect();
        cuts.extend((0..=16).map(|k| distance * f64::from(k) / 16.0));
        cuts.windows(2).map(|cut| (cut[0], cut[1])).collect()
    }

    /// An upper side of δ(ε) that exceeds it by 1e-8 of it, or more where ratios are nearly e^ε in many places.
    fn delta_at(&self, distance: f64, epsilon: f64) -> f64 {
        let mut open = BinaryHeap::new();
        let (mut sure, mut doubtful) = (0.0, self.mass(f64::NEG_INFINITY, -self.reach()));
        let beyond = doubtful;
        let mut looked_at = 0;
        let look = |cell: (f64, f64), open: &mut BinaryHeap<Cell>, sure: &mut f64| {
            let (low, high) = self.losses(cell, distance);
            let p = self.mass(cell.0, cell.1);
            if high <= epsilon {
                return 0.0;
            }
            if low >= epsilon {
                let q = self.mass(cell.0 - distance, cell.1 - distance);
                *sure += (p - exp(epsilon + log(q))).at_least(0.0);
                return 0.0;
            }
            let most = -p * expm1(epsilon - high);
            open.push(Cell { most, ends: cell });
            most
        };
        for cell in self.cells(distance) {
            doubtful += look(cell, &mut open, &mut sure);
        }
        while looked_at < MOST_CELLS {
            if doubtful <= NEAR * sure + beyond {
                // The running difference loses what is far smaller than it was.
                doubtful = beyond + open.iter().map(|cell| cell.most).sum::<f64>();
                if doubtful <= NEAR * sure + beyond {
                    break;
                }
            }
            let Some(Cell { most, ends }) = open.pop() else {
                break;
            };
            let middle = 0.5 * (ends.0 + ends.1);
            if middle <= ends.0 || middle >= ends.1 {
                sure += most;
            } else {
                for half in [(ends.0, middle), (middle, ends.1)] {
                    doubtful += look(half, &mut open, &mut sure);
                }
            }
            doubtful -= most;
            looked_at += 1;
        }
        let rest: f64 = open.iter().map(|cell| cell.most).sum();
        (sure + rest + beyond).at_most(1.0)
    }

    /// An upper side of the largest privacy loss that exceeds it by 1e-8 of it.
    fn largest_loss(&self, distance: f64) -> f64 {
        let at_first = self.log_density(0.0) - self.log_density(distance);
        let parts: Vec<(f64, Part)> = self.weighted().collect();
        let scale = parts.iter().find_map(|(_, part)| match part {
            Part::Laplace(scale) => Some(*scale),
            Part::Gaussian(_) => None,
        });
        let sigma = parts.iter().find_map(|(_, part)| match part {
            Part::Gaussian(sigma) => Some(*sigma),
            Part::Laplace(_) => None,
        });
        let (scale, sigma) = match (scale, sigma) {
            (None, _) => return f64::INFINITY,
            (_, None) => return at_first,
            (Some(scale), Some(sigma)) => (scale, sigma),
        };
        // Beyond, the Gaussian part adds less than 1e-18 to e^(Δ/λ).
        let at_center = |is_laplace: bool| {
            let mut of_kind = parts
                .iter()
                .filter(|(_, part)| matches!(part, Part::Laplace(_)) == is_laplace);
            let of = of_kind
                .next()
                .map(|(w, part)| log(*w) + part.log_density(0.0));
            of.unwrap_or(0.0)
        };
        let ahead = at_center(false) - at_center(true);
        let share = sigma / scale;
        let far = 41.5 + 0.5 * share * share + ahead.at_least(0.0);
        let last = sigma * (share + (2.0 * far).sqrt());
        let mut best = at_first.at_least(distance / scale);
        let mut open = BinaryHeap::new();
        let loss = |x: f64| self.log_density(x) - self.log_density(x - distance);
        let cell = |ends: (f64, f64)| {
            let (least, most) = slopes(ends, distance, [scale, sigma], ahead);
            // The loss is an integral of slopes, and changes by their differences.
            let half = 0.5 * (ends.1 - ends.0);
            let by_middle = loss(ends.1 - half) + half * (most - least);
            let high = self.losses(ends, distance).1;
            Cell {
                most: high.at_most(distance * most).at_most(by_middle),
                ends,
            }
        };
        // Narrow near the first secret: the parts may have scales of their own.
        let cuts = (0..64).map(|k| -last * exp(-0.5 * f64::from(k)));
        let cuts: Vec<f64> = cuts.chain([0.0]).collect();
        open.extend(cuts.windows(2).map(|cut| cell((cut[0], cut[1]))));
        for _ in 0..MOST_CELLS {
            let Some(Cell { most, ends }) = open.pop() else {
                break;
            };
            if most <= best * (1.0 + NEAR) {
                return best.at_least(most);
            }
            let middle = 0.5 * (ends.0 + ends.1);
            best = best.at_least(loss(middle));
            open.extend([cell((ends.0, middle)), cell((middle, ends.1))]);
        }
        open.peek().map_or(best, |cell| best.at_least(cell.most))
    }

    /// The distance of the outermost secrets.
    fn width(&self) -> f64 {
        self.worst_pair()
            .map_or(0.0, |(a, b)| (self.centers[a] - self.centers[b]).abs())
    }
}

/// The least and the largest slope of the log density of a mixture of Laplace and Gaussian noise, up to `distance` below a
/// cell that is not above 0. `ahead` is by how much the Gaussian part is more likely at 0, as a logarithm.
///
/// # Formula
/// At |x| = u the slopes are 1/λ and u/σ², weighted by how likely the parts are there, whose log ratio is
/// −`ahead` − u/λ + u²/(2σ²): least at u = σ²/λ.
fn slopes(ends: (f64, f64), distance: f64, [scale, sigma]: [f64; 2], ahead: f64) -> (f64, f64) {
    let (near, far) = (-ends.1, distance - ends.0);
    let ratio = |u: f64| -ahead + u * (0.5 * u / sigma / sigma - 1.0 / scale);
    let lowest = ratio((sigma / scale * sigma).at_least(near).at_most(far));
    let highest = ratio(near).at_least(ratio(far));
    // Both terms may be far larger than their difference.
    let rounding = 8.0 * f64::EPSILON * (far / scale + 0.5 * (far / sigma) * (far / sigma));
    let ratios = [lowest - rounding, highest + rounding];
    let at = |u: f64| {
        ratios.map(|ratio| {
            let laplace = 1.0 / (1.0 + exp(-ratio));
            laplace / scale + (1.0 - laplace) * (u / sigma / sigma)
        })
    };
    let ([a, b], [c, d]) = (at(near), at(far));
    (a.at_most(b), c.at_least(d))
}

/// A part of the line, by the most that it may add.
struct Cell {
    most: f64,
    ends: (f64, f64),
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.most.total_cmp(&other.most).is_eq()
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.most.total_cmp(&other.most)
    }
}

impl BoundMechanism for NoiseMixture {
    fn secret_count(&self) -> usize {
        self.centers.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.mean(|part| part.total_variation(a, b))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.mean(|part| part.bayes_security(a, b))
    }

    fn law(&self, secret: usize) -> Law {
        mixed(self.second.law(secret), self.first.law(secret), self.weight)
    }

    fn epsilon(&self) -> f64 {
        match self.width() {
            0.0 => 0.0,
            distance => self.largest_loss(distance),
        }
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        if rng.random::<f64>() < self.weight {
            self.first.draw(secret, rng)
        } else {
            self.second.draw(secret, rng)
        }
    }

    /// The two outermost secrets, as of both parts.
    fn worst_pair(&self) -> Option<(usize, usize)> {
        self.first.worst_pair()
    }

    fn capacity(&self) -> Option<f64> {
        let (one, other) = self.first.capacity().zip(self.second.capacity())?;
        Some(self.weight * one + (1.0 - self.weight) * other)
    }

    /// δ of the two outermost secrets: where f(x) exceeds f(x − Δ′) of a smaller distance Δ′, x is nearer to 0 than to Δ′, and
    /// so f(x − Δ) is at most f(x − Δ′).
    fn delta(&self, epsilon: f64) -> Option<f64> {
        match self.width() {
            0.0 => Some(0.0),
            _ if epsilon == 0.0 => self.worst_pair().map(|(a, b)| self.total_variation(a, b)),
            distance => {
                let at_most = self.worst_pair().map(|(a, b)| self.total_variation(a, b));
                Some(
                    self.delta_at(distance, epsilon)
                        .at_most(at_most.unwrap_or(1.0)),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::parse;

    /// By quadrature between the places where f(x) = e^ε·f(x − Δ), which are found first, with 25 digits (mpmath 1.3): total
    /// variation, δ at 0.1, 0.5 and 1.2, and the largest of 24,000 privacy losses up to 12 left of the first secret.
    #[test]
    fn figures_are_those_of_the_densities() {
        for (text, variation, deltas, epsilon) in [
            (
                "mixture(laplace(scale=1, secrets=0..1), gaussian(sigma=1, secrets=0..1))",
                0.388_197_131_417_7,
                [
                    0.357_202_432_906_87,
                    0.225_555_348_377_02,
                    0.024_076_074_941_347,
                ],
                1.439_413_519_58,
            ),
            (
                "mixture(laplace(scale=1, secrets=0..2), laplace(scale=3, secrets=0..2), weight=0.7)",
                0.527_524_998_007_85,
                [
                    0.503_185_789_517_91,
                    0.389_815_678_219_38,
                    0.140_248_736_568_92,
                ],
                1.700_481_885_54,
            ),
            (
                "mixture(gaussian(sigma=1, secrets=0..2), gaussian(sigma=3, secrets=0..2), weight=0.4)",
                0.429_746_188_636_72,
                [
                    0.400_501_068_817_96,
                    0.267_733_493_117_03,
                    0.016_374_645_862_274,
                ],
                f64::INFINITY,
            ),
        ] {
            let bound = parse(text).unwrap().bind_declared().unwrap();
            let (a, b) = bound.worst_pair().unwrap();
            let found = bound.total_variation(a, b);
            assert!((found - variation).abs() < 1e-13, "{text}: {found}");
            assert!(
                (bound.bayes_security(a, b) - 1.0 + variation).abs() < 1e-13,
                "{text}"
            );
            for (at, delta) in [0.1, 0.5, 1.2].into_iter().zip(deltas) {
                let found = bound.delta(at).unwrap();
                let above = found / delta - 1.0;
                assert!(
                    (-1e-12..3e-8).contains(&above),
                    "{text}, {at}: {found} {delta}"
                );
            }
            let found = bound.epsilon();
            let is_near = found == epsilon || (-1e-11..1e-6).contains(&(found / epsilon - 1.0));
            assert!(is_near, "{text}: {found} {epsilon}");
        }
    }

    fn mass(bound: &dyn BoundMechanism, secret: usize, from: f64, to: f64) -> f64 {
        let Law::Real(distribution) = bound.law(secret) else {
            panic!("noise on the line has a distribution function");
        };
        distribution(to) - distribution(from)
    }

    /// No noise on the line is private where the other one is not: figures are between those of both, and no sum over many
    /// places exceeds δ.
    #[test]
    fn hostile_parameters_are_bounded_from_above() {
        for (one, other, weight) in [
            ("laplace(scale=1e-3", "gaussian(sigma=10", 0.5),
            ("laplace(scale=100", "gaussian(sigma=0.01", 0.999),
            ("gaussian(sigma=1e-6", "gaussian(sigma=1", 1e-9),
            ("laplace(scale=1", "laplace(scale=1", 0.3),
            ("laplace(scale=0.2", "gaussian(sigma=3", 1.0),
            ("laplace(scale=0.2", "gaussian(sigma=3", 0.0),
        ] {
            let of = |text: &str| parse(text).unwrap().bind_declared().unwrap();
            let text = format!("mixture({one}, secrets=2), {other}, secrets=2), weight={weight})");
            let bound = of(&text);
            let parts = [one, other].map(|part| of(&format!("{part}, secrets=2)")));
            let mean = |figure: [f64; 2]| weight * figure[0] + (1.0 - weight) * figure[1];
            for epsilon in [0.0, 1e-3, 0.2, 2.0, 30.0] {
                let found = bound.delta(epsilon).unwrap();
                // δ is convex in the channel.
                let most = mean([0, 1].map(|at: usize| parts[at].delta(epsilon).unwrap()));
                assert!(
                    found <= most * (1.0 + 1e-7) + 1e-12,
                    "{text}, {epsilon}: {found} {most}"
                );
                // Whoever sees cells tells less apart.
                let cells = (-400..=420).map(|i| 0.05 * f64::from(i));
                let of_cell = |x: f64| {
                    let [p, q] = [0, 1].map(|secret| mass(&*bound, secret, x, x + 0.05));
                    (p - f64::exp(epsilon) * q).at_least(0.0)
                };
                let least: f64 = cells.map(of_cell).sum();
                assert!(found >= least - 1e-12, "{text}, {epsilon}: {found} {least}");
            }
            let most = parts[0].epsilon().at_least(parts[1].epsilon());
            let is_single = weight == 0.0 || weight == 1.0;
            assert!(
                is_single || bound.epsilon() <= most * (1.0 + 1e-7),
                "{text}: {}",
                bound.epsilon()
            );
            assert!(bound.epsilon() > 0.0, "{text}");
        }
    }

    /// Parts whose scales are far apart, by mpmath: the largest of ln p(x)/p(x − 1) over x ≤ 0, and δ at 0.9 of two values
    /// of which one part has nearly no weight.
    #[test]
    fn scales_that_are_far_apart_have_near_sides() {
        let bound = |text: &str| parse(text).unwrap().bind_declared().unwrap();
        for (text, exact) in [
            (
                "mixture(laplace(scale=0.001, secrets=2), gaussian(sigma=100, secrets=2))",
                1999.9999471143188,
            ),
            (
                "mixture(laplace(scale=1, secrets=2), gaussian(sigma=100, secrets=2), weight=0.999999)",
                1.9971065974051497,
            ),
        ] {
            let epsilon = bound(text).epsilon();
            assert!(
                epsilon >= exact * (1.0 - 1e-9) && epsilon <= exact * (1.0 + 1e-6),
                "{text}: {epsilon} {exact}"
            );
        }
        let far =
            bound("mixture(laplace(scale=1e-150, secrets=2), laplace(scale=1e150, secrets=2))");
        assert!(far.delta(1.0).unwrap() <= far.total_variation(0, 1));
    }
}
