//! Distributions of the privacy loss of one run.

use std::sync::Arc;

use libm::{erfc, exp, expm1, log, log1p};

use super::normal::{Normal, Order};
use crate::extreme::Extreme;
use crate::mechanism::{BoundMechanism, NoiseShape};
use crate::profile::Noise;
use crate::profile::{Cell, Pair, PlanarPair};
use leakgauge_base::error::{Error, Result};

/// The smallest part of all records that a batch of a fixed size may be, where steps are composed.
const LEAST_RATE: f64 = 1e-4;

/// What is computed of a loss alone, for the masses on both sides of it.
pub(super) type Mark = [f64; 4];
type Marking = Box<dyn Fn(f64) -> Mark + Send + Sync>;
/// The masses of P and Q where the privacy loss ln P/Q is between two marks.
type Masses = Box<dyn Fn(&Mark, &Mark) -> (f64, f64) + Send + Sync>;

/// An observation, or several with the same privacy loss ln(p/q).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom {
    pub p: f64,
    pub q: f64,
    /// ln(p/q), where it is known with more digits than the masses have, and where one of them underflows.
    pub known: Option<f64>,
}

impl Atom {
    /// From the masses.
    pub fn new(p: f64, q: f64) -> Atom {
        Atom { p, q, known: None }
    }

    /// From the masses and the loss.
    pub fn known(p: f64, q: f64, loss: f64) -> Atom {
        let known = Some(loss);
        Atom { p, q, known }
    }

    /// So much of it.
    pub fn part(&self, part: f64) -> Atom {
        Atom {
            p: part * self.p,
            q: part * self.q,
            known: self.known,
        }
    }

    /// The same in the other order of the pair.
    pub fn reversed(&self) -> Atom {
        Atom {
            p: self.q,
            q: self.p,
            known: self.known.map(|loss| -loss),
        }
    }

    /// ln(p/q), ±∞ where one is 0.
    pub fn loss(&self) -> f64 {
        self.known.unwrap_or_else(|| {
            // The difference of masses that are next to each other is exact.
            let above = (self.p - self.q) / self.q;
            if above.abs() < 0.5 {
                log1p(above)
            } else {
                log(self.p) - log(self.q)
            }
        })
    }

    /// Whether Q has more than the smallest numbers, whose digits are lost.
    pub fn has_digits(&self) -> bool {
        self.q >= f64::MIN_POSITIVE
    }
}

/// The privacy loss L = ln P/Q of two secrets: atoms, and a part with a density.
pub(super) struct Loss {
    pub atoms: Vec<Atom>,
    pub smooth: Option<Smooth>,
    /// The same where it is that of Gaussian noise.
    pub normal: Option<Normal>,
    /// The masses of P and Q that are left out, whose losses are far out.
    pub cut: (f64, f64),
    /// The loss of secrets that exist, where this one only bounds all of them.
    pub attained: Option<Box<Loss>>,
    /// Whether atoms are so many that those of neighboring losses stand for a density.
    pub are_dense: bool,
}

/// The part of a privacy loss that has a density.
pub(super) struct Smooth {
    /// The ends of its support; may be infinite.
    pub ends: (f64, f64),
    /// Of a loss, to be handed to `masses`: cells that follow each other share an end.
    pub mark: Marking,
    /// The masses of P and Q between two marked losses, with small relative errors.
    pub masses: Masses,
}

impl Smooth {
    /// The masses of P and Q between two losses, with small relative errors.
    pub fn between(&self, from: f64, to: f64) -> (f64, f64) {
        (self.masses)(&(self.mark)(from), &(self.mark)(to))
    }

    /// The same as another one.
    pub fn shared(other: Arc<Smooth>) -> Smooth {
        let of_marks = other.clone();
        Smooth {
            ends: other.ends,
            mark: Box::new(move |loss| (other.mark)(loss)),
            masses: Box::new(move |from, to| (of_marks.masses)(from, to)),
        }
    }

    /// Of masses that share nothing between cells.
    pub fn new(
        ends: (f64, f64),
        between: impl Fn(f64, f64) -> (f64, f64) + Send + Sync + 'static,
    ) -> Smooth {
        Smooth {
            ends,
            mark: Box::new(|loss| [loss, 0.0, 0.0, 0.0]),
            masses: Box::new(move |from, to| between(from[0], to[0])),
        }
    }
}

/// The largest distance of secrets in units of the noise. Beyond it the privacy losses have squares that no sum keeps, and
/// secrets are told apart for certain.
const FARTHEST: f64 = 1e6;

/// The mass at an end of a table of integer noise that is left out.
const NEGLIGIBLE: f64 = 1e-40;
/// The widest tables of integer noise.
const MAX_CELLS: f64 = 2e7;

impl Loss {
    /// N(0, 1) against N(μ, 1): L is normal with mean μ²/2 under P, −μ²/2 under Q, and variance μ² under both.
    pub fn gaussian(mu: f64) -> Loss {
        let mark = move |loss: f64| {
            let [p, q] = [-0.5 * mu, 0.5 * mu].map(|shift| loss / mu + shift);
            [p, tail(p), q, tail(q)]
        };
        let masses = |from: &Mark, to: &Mark| {
            let mass = |at: usize| normal_between((from[at], from[at + 1]), (to[at], to[at + 1]));
            (mass(0), mass(2))
        };
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms: Vec::new(),
            smooth: Some(Smooth {
                ends: (f64::NEG_INFINITY, f64::INFINITY),
                mark: Box::new(mark),
                masses: Box::new(masses),
            }),
            normal: Some(Normal {
                mu,
                rate: 1.0,
                order: Order::Added,
            }),
        }
    }

    /// Laplace noise with secrets at t = Δ/λ: losses ±t with the masses ½ and ½e^−t, and a density in between.
    fn laplace(t: f64) -> Loss {
        let between = move |from: f64, to: f64| {
            let (from, to) = (from.clamp(-t, t), to.clamp(-t, t));
            let rise = -0.5 * expm1(0.5 * (from - to));
            (rise * exp(0.5 * (to - t)), rise * exp(-0.5 * (from + t)))
        };
        let (most, least) = (0.5, 0.5 * exp(-t));
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms: vec![Atom::new(most, least), Atom::new(least, most)],
            smooth: Some(Smooth::new((-t, t), between)),
            normal: None,
        }
    }

    /// Planar Laplace noise around two points.
    fn planar(pair: PlanarPair) -> Loss {
        let most = pair.epsilon();
        if most == 0.0 {
            return Loss::table(&[1.0], &[1.0]);
        }
        let between = move |from: f64, to: f64| pair.between(from, to);
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms: Vec::new(),
            smooth: Some(Smooth::new((-most, most), between)),
            normal: None,
        }
    }

    /// Noise on a record that is used with a probability, against that on another in its place.
    pub fn replaced(noise: Noise, rate: f64) -> Loss {
        let most = noise.most(rate);
        let between = move |from: f64, to: f64| {
            let place = |loss: f64| noise.place(loss.clamp(-most, most), rate);
            noise.masses(place(from), place(to), rate)
        };
        let mut atoms = Vec::new();
        if most.is_finite() {
            // Beyond the records the likelihood ratio of Laplace noise is constant.
            let (p, q) = noise.masses(noise.distance(), f64::INFINITY, rate);
            atoms = vec![Atom::new(p, q), Atom::new(q, p)];
        }
        let normal = match noise {
            Noise::Gaussian(mu) => Some(Normal {
                mu,
                rate,
                order: Order::Replaced,
            }),
            Noise::Laplace(_) => None,
        };
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms,
            smooth: Some(Smooth::new((-most, most), between)),
            normal,
        }
    }

    /// Integer noise around 0 against around `distance`, cut where the tails are negligible. Tails whose likelihood ratio does
    /// not change any more, as those of geometric noise, are one observation each. Where noise is small beside the distance, the
    /// masses of one side underflow: `known` tells the losses then, as no loss is infinite.
    fn integer(
        distribution: &dyn Fn(f64) -> f64,
        distance: f64,
        known: &dyn Fn(f64) -> Option<f64>,
    ) -> Option<Loss> {
        let mut reach = 1.0;
        while distribution(-reach) > NEGLIGIBLE {
            reach *= 2.0;
            if reach > MAX_CELLS {
                return None;
            }
        }
        let mass = |x: f64| distribution(-x.abs()) - distribution(-x.abs() - 1.0);
        let cells = (0..=(distance + 2.0 * reach) as u64).map(|i| i as f64 - reach);
        let atom = |x: f64| Atom {
            p: mass(x),
            q: mass(x - distance),
            known: known(x),
        };
        let (inner, outer) = (
            distribution(-reach - 1.0),
            distribution(-reach - 1.0 - distance),
        );
        let tails = [(inner, outer), (outer, inner)].map(|(p, q)| Atom::new(p, q));
        let middle = (0.5 * reach).floor();
        let is_constant = (atom(-reach).loss() - atom(-middle).loss()).abs() <= 1e-9;
        let mut atoms: Vec<Atom> = cells.map(atom).collect();
        let cut = match is_constant {
            true => (0.0, 0.0),
            false => (inner + outer, inner + outer),
        };
        if is_constant {
            atoms.extend(tails);
        }
        Some(Loss {
            cut,
            attained: None,
            are_dense: false,
            atoms,
            smooth: None,
            normal: None,
        })
    }

    /// Noise with a piecewise constant density around 0 against around `distance`.
    fn steps(edges: &[f64], distribution: &dyn Fn(f64) -> f64, distance: f64) -> Loss {
        let mut cuts: Vec<f64> = edges
            .iter()
            .flat_map(|&e| [-e, e])
            .flat_map(|e| [e, e + distance])
            .collect();
        cuts.sort_by(f64::total_cmp);
        // Edges of both that are one but for rounding have no cell of their own between them.
        let outermost = edges.last().copied().unwrap_or(0.0) + distance;
        let mut slivers = Vec::new();
        cuts.dedup_by(|next, last| {
            let is_one = *next - *last <= 1e-13 * outermost;
            if is_one {
                slivers.push((*last, *next));
            }
            is_one
        });
        let mass = |from: f64, to: f64| {
            if from >= 0.0 {
                distribution(-from) - distribution(-to)
            } else if to <= 0.0 {
                distribution(to) - distribution(from)
            } else {
                1.0 - distribution(from) - distribution(-to)
            }
        };
        let cells = cuts.windows(2).map(|cut| {
            let (p, q) = (
                mass(cut[0], cut[1]),
                mass(cut[0] - distance, cut[1] - distance),
            );
            Atom::new(p, q)
        });
        let (first, last) = (distance - outermost, outermost);
        let of_slivers = |by: f64| {
            let each = slivers.iter().map(|(from, to)| mass(from - by, to - by));
            each.fold(0.0, |sum, mass| sum + mass.at_least(0.0))
        };
        Loss {
            attained: None,
            are_dense: false,
            cut: (
                distribution(first) + distribution(-last) + of_slivers(0.0),
                distribution(first - distance)
                    + distribution(distance - last)
                    + of_slivers(distance),
            ),
            atoms: cells.collect(),
            smooth: None,
            normal: None,
        }
    }

    /// From the probabilities of two secrets.
    fn table(p: &[f64], q: &[f64]) -> Loss {
        let pairs = p.iter().zip(q);
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms: pairs.map(|(&p, &q)| Atom::new(p, q)).collect(),
            smooth: None,
            normal: None,
        }
    }

    /// From all likelihood ratios of a pair.
    pub fn cells(cells: &[Cell]) -> Loss {
        let atoms = cells.iter().map(|cell| Atom {
            p: cell.p,
            q: cell.q,
            known: Some(cell.loss),
        });
        Loss {
            cut: (0.0, 0.0),
            attained: None,
            are_dense: false,
            atoms: atoms.collect(),
            smooth: None,
            normal: None,
        }
    }

    /// The loss between two secrets of a mechanism.
    ///
    /// # Errors
    /// The mechanism has neither a finite matrix, few likelihood ratios nor noise on numbers.
    pub fn of(mechanism: &dyn BoundMechanism, name: &str, pair: (usize, usize)) -> Result<Loss> {
        let unknown = || {
            Error::parameter(name, "the distribution of its privacy loss is not known")
                .with_hint("repetition is possible for noise on numbers and for mechanisms with a finite matrix")
        };
        if let Some(loss) = Loss::of_a_record(mechanism, name)? {
            return Ok(loss);
        }
        let in_reach = |distance: f64| {
            let problem = "its noise is too small beside the distance of its secrets for a sum of privacy losses";
            if distance.abs() <= FARTHEST {
                return Ok(distance);
            }
            Err(Error::parameter(name, problem)
                .with_hint("one run tells the secrets apart for certain; more noise is needed"))
        };
        if let Some(replaced) = mechanism.replaced() {
            return match &replaced {
                Pair::Replaced(pair) => {
                    let (noise, rate) = pair.parts();
                    in_reach(noise.distance())?;
                    Ok(Loss::replaced(noise, rate))
                }
                _ => replaced.cells().map(within_reach).ok_or_else(unknown),
            };
        }
        // Of many secrets only the two matter, and they need not be listed.
        match mechanism.pair(pair.0, pair.1) {
            Some(Pair::Gaussian { mu }) => return Ok(Loss::gaussian(in_reach(mu)?)),
            Some(Pair::Laplace { distance }) => return Ok(Loss::laplace(in_reach(distance)?)),
            Some(Pair::PlanarLaplace(pair)) => {
                in_reach(pair.epsilon())?;
                return Ok(Loss::planar(pair));
            }
            _ => {}
        }
        if let Some((shape, centers)) = mechanism.located() {
            let distance = (centers[pair.0] - centers[pair.1]).abs();
            if distance == 0.0 {
                return Ok(Loss::table(&[1.0], &[1.0]));
            }
            return match &shape {
                NoiseShape::Gaussian { sigma } => Ok(Loss::gaussian(in_reach(distance / sigma)?)),
                NoiseShape::Laplace { scale } => Ok(Loss::laplace(in_reach(distance / scale)?)),
                NoiseShape::Steps {
                    edges,
                    distribution,
                } => Ok(match mechanism.pair(pair.0, pair.1) {
                    Some(Pair::Cells(cells)) if are_complete(&cells) => Loss::cells(&cells),
                    _ => Loss::steps(edges, distribution, distance),
                }),
                NoiseShape::Integer(distribution) => {
                    let known = |x: f64| match mechanism.pair(pair.0, pair.1) {
                        Some(Pair::DiscreteGaussian { sigma, distance }) => {
                            Some(distance * (0.5 * distance - x) / (sigma * sigma))
                        }
                        _ => None,
                    };
                    Loss::integer(distribution, distance, &known).ok_or_else(unknown)
                }
            };
        }
        if let Some(table) = mechanism.probabilities() {
            return Ok(Loss::table(&table.rows[pair.0], &table.rows[pair.1]));
        }
        // Observations too many to list, with few likelihood ratios.
        match mechanism.pair(pair.0, pair.1) {
            Some(Pair::Cells(cells)) => Ok(Loss::cells(&cells)),
            _ => Err(unknown()),
        }
    }

    /// The loss of a record that not every run uses, against none or another one; `None` if there is no such record.
    fn of_a_record(mechanism: &dyn BoundMechanism, name: &str) -> Result<Option<Loss>> {
        if let Some([above, below]) = mechanism.enclosing() {
            return Ok(Some(Loss {
                attained: Some(Box::new(Loss {
                    are_dense: true,
                    ..Loss::cells(below)
                })),
                ..Loss::cells(above)
            }));
        }
        let of = |base: &dyn BoundMechanism, (without, with), rate| {
            let loss = Loss::of(base, name, (with, without))?;
            Ok(loss.subsampled(rate))
        };
        if let Some((base, pair, rate)) = mechanism.subsampled() {
            return of(base, pair, rate).map(Some);
        }
        match mechanism.fixed_size() {
            // Sides of rarer records are far apart, and take minutes.
            Some((.., rate)) if rate < LEAST_RATE => Err(Error::parameter(
                name,
                format!("a record is in a batch with probability {rate:e}, and compositions are known from {LEAST_RATE:e} on"),
            )
            .with_hint("Poisson sampling of this rate has figures: rate=… in place of batch and records")),
            Some((base, pair, rate)) => of(base, pair, rate).map(|loss| Some(loss.symmetrized())),
            None => Ok(None),
        }
    }

    /// The loss of the pair in the other order.
    pub fn reversed(self) -> Loss {
        let smooth = self.smooth.map(|Smooth { ends, mark, masses }| Smooth {
            ends: (-ends.1, -ends.0),
            mark: Box::new(move |loss| mark(-loss)),
            masses: Box::new(move |from, to| {
                let (p, q) = masses(to, from);
                (q, p)
            }),
        });
        let atoms = self.atoms.iter();
        Loss {
            attained: self.attained.map(|loss| Box::new(loss.reversed())),
            are_dense: self.are_dense,
            cut: (self.cut.1, self.cut.0),
            atoms: atoms.map(Atom::reversed).collect(),
            smooth,
            normal: self.normal.map(Normal::reversed),
        }
    }

    /// (1 − r)·Q + r·P against Q: the record of the secret is used with probability r. The loss becomes
    /// ln(1 − r + r·e^L).
    pub fn subsampled(self, rate: f64) -> Loss {
        if rate == 1.0 {
            return self;
        }
        let mixed = move |p: f64, q: f64| (1.0 - rate) * q + rate * p;
        let map = move |loss: f64| {
            if loss > 600.0 {
                loss + log(rate) + log1p((1.0 - rate) / rate * exp(-loss))
            } else {
                log1p(rate * expm1(loss))
            }
        };
        let back = move |loss: f64| {
            let rest = expm1(loss) / rate;
            if loss > 30.0 {
                loss - log(rate) + log1p(-(1.0 - rate) * exp(-loss))
            } else if rest <= -1.0 {
                f64::NEG_INFINITY
            } else {
                log1p(rest)
            }
        };
        let smooth = self.smooth.map(|Smooth { ends, mark, masses }| Smooth {
            ends: (map(ends.0), map(ends.1)),
            mark: Box::new(move |loss| mark(back(loss))),
            masses: Box::new(move |from, to| {
                let (p, q) = masses(from, to);
                (mixed(p, q), q)
            }),
        });
        let atoms = self.atoms.iter();
        Loss {
            attained: None,
            are_dense: false,
            cut: (mixed(self.cut.0, self.cut.1), self.cut.1),
            atoms: atoms
                .map(|atom| Atom {
                    p: mixed(atom.p, atom.q),
                    q: atom.q,
                    // Of rare use the masses are one but for their last digits.
                    known: Some(map(atom.loss())),
                })
                .collect(),
            smooth,
            normal: self.normal.map(|normal| Normal { rate, ..normal }),
        }
    }
}

/// Whether no mass is lost to the rounding of ends of cells. Then losses that are known are better than those of
/// masses, whose rounding hides that all of them are multiples of one step.
fn are_complete(cells: &[Cell]) -> bool {
    let sum = |of: fn(&Cell) -> f64| cells.iter().map(of).sum::<f64>();
    [sum(|cell| cell.p), sum(|cell| cell.q)]
        .into_iter()
        .all(|sum| (sum - 1.0).abs() <= 1e-12)
}

/// The loss of cells without those at both ends that have at most so much of both masses together as tables of noise
/// leave out.
fn within_reach(mut cells: Vec<Cell>) -> Loss {
    cells.sort_by(|x, y| x.loss.total_cmp(&y.loss));
    let outer = |cells: &mut dyn Iterator<Item = &Cell>| {
        let (mut number, mut cut) = (0, (0.0, 0.0));
        for cell in cells {
            let more: (f64, f64) = (cut.0 + cell.p, cut.1 + cell.q);
            if more.0.at_least(more.1) > NEGLIGIBLE {
                break;
            }
            (number, cut) = (number + 1, more);
        }
        (number, cut)
    };
    let (first, low) = outer(&mut cells.iter());
    let (last, high) = outer(&mut cells[first..].iter().rev());
    Loss {
        cut: (low.0 + high.0, low.1 + high.1),
        ..Loss::cells(&cells[first..cells.len() - last])
    }
}

/// The probability that a standard normal number is farther from 0 than this, on one side.
fn tail(x: f64) -> f64 {
    0.5 * erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2)
}

/// The probability of a standard normal number between two numbers, each given with its tail, without cancellation.
fn normal_between((from, beyond_from): (f64, f64), (to, beyond_to): (f64, f64)) -> f64 {
    if from >= 0.0 {
        beyond_from - beyond_to
    } else if to <= 0.0 {
        beyond_to - beyond_from
    } else {
        1.0 - beyond_from - beyond_to
    }
}
