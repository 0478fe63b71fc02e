//! Local randomizers whose messages are shuffled: the blanket of a mechanism and the resulting bounds.

use crate::extreme::Extreme;
use std::borrow::Cow;

use serde::Serialize;

use super::bounds::clone_bound;
use super::game::{Game, Success};
use super::law::RatioLaw;
use super::planar;
use super::quadrature::Sum;
use super::real::Segment;
use crate::mechanism::{BoundMechanism, Mechanism, NoiseShape, Probabilities, listed_secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

/// The largest number of cells for integer or piecewise constant noise.
const MAX_CELLS: f64 = 2e7;

/// A mechanism that every user applies before messages are shuffled.
#[derive(Debug)]
pub struct Randomizer {
    name: String,
    inputs: Vec<String>,
    bound: Box<dyn BoundMechanism>,
    finite: Option<Probabilities>,
}

/// The messages of one input against the blanket.
#[derive(Debug, Clone, PartialEq)]
pub struct InputLaw {
    /// The input x₁.
    pub input: String,
    /// γ, the mass of the blanket, the part that the message distributions of all inputs share.
    pub blanket_mass: f64,
    /// The likelihood ratio of R(x₁) against the blanket distribution.
    pub law: RatioLaw,
    epsilon: f64,
    /// Whether the ratio grows without limit where the table of the law, which is finite, ends.
    unbounded: bool,
}

/// The upper bounds for one game.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShuffleBounds {
    /// The number n of users.
    pub n: u64,
    /// The number k of guesses.
    pub guesses: u64,
    /// The bound for any ε-differentially private randomizer, from the clone decomposition.
    pub clone: f64,
    /// ψ of the blanket decomposition: the best bound from a decomposition (Theorem 9).
    pub blanket: f64,
    /// The limit of `clone`, min(k e^ε/n, 1) (Theorem 8); `None` if ε is infinite.
    pub limit: Option<f64>,
    /// The limit of `blanket`, min(kM/n, 1) (Theorem 10); `None` if M is infinite.
    pub blanket_limit: Option<f64>,
}

impl Randomizer {
    /// A mechanism over given inputs or, without them, over those that its parameters declare.
    ///
    /// If the mechanism adds noise to a number, the blanket is that of all numbers between the outermost inputs: the
    /// noise is unimodal and symmetric, so inf_x R(x)(y) is attained at one of the two. If it adds noise to a point,
    /// the blanket is that of the convex hull of the inputs, and the bounds are slightly above the best ones.
    ///
    /// # Errors
    /// There are no inputs, the mechanism cannot take one, or it has no finite matrix and does not add noise to a
    /// number or a point.
    pub fn new(mechanism: &dyn Mechanism, inputs: Option<&[String]>) -> Result<Randomizer> {
        let (inputs, bound) = match inputs {
            Some(inputs) => (inputs.to_vec(), mechanism.bind(inputs)?),
            None => (listed_secrets(mechanism)?, mechanism.bind_declared()?),
        };
        let name = mechanism.to_string();
        if inputs.is_empty() {
            return Err(Error::parameter(name, "needs at least one input"));
        }
        let finite = bound.probabilities();
        if finite.is_none() && bound.located().is_none() && bound.planar().is_none() {
            return Err(Error::parameter(
                name,
                "its blanket is unknown: it has no finite matrix and does not add noise to a number or point",
            )
            .with_hint("with fewer secrets the matrix may be small enough"));
        }
        Ok(Randomizer {
            name,
            inputs,
            bound,
            finite,
        })
    }

    /// The inputs.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The position (from 0) of an input.
    ///
    /// # Errors
    /// There is no such input.
    pub fn number(&self, input: &str) -> Result<usize> {
        let found = self.inputs.iter().position(|known| known == input);
        found.ok_or_else(|| {
            Error::setting("input", input, format!("is not an input of {}", self.name)).with_hint(format!(
                "if the mechanism adds noise to a number, give the outermost inputs with {}; any input between \
                 them is then possible",
                option("inputs")
            ))
        })
    }

    /// Whether some inputs have the same blanket as all inputs: they are all inputs, or noise is added to numbers and
    /// they include the outermost ones.
    ///
    /// # Errors
    /// One of them is not an input.
    pub fn same_blanket(&self, some: &[String]) -> Result<bool> {
        if some.len() == self.inputs.len() {
            return Ok(true);
        }
        let Some((_, centers)) = self.bound.located() else {
            return Ok(false);
        };
        let some = some.iter().map(|input| Ok(centers[self.number(input)?]));
        let some: Vec<f64> = some.collect::<Result<_>>()?;
        let low = some.iter().copied().fold(f64::INFINITY, f64::at_most);
        let high = some.iter().copied().fold(f64::NEG_INFINITY, f64::at_least);
        Ok(centers.iter().all(|center| (low..=high).contains(center)))
    }

    /// The smallest ε of local differential privacy over the inputs.
    pub fn epsilon(&self) -> f64 {
        self.bound.epsilon()
    }

    /// The messages of an input, given by its position, against the blanket.
    ///
    /// # Errors
    /// The tails of the noise are too heavy for a table.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input(&self, number: usize) -> Result<InputLaw> {
        let (law, blanket_mass) = match &self.finite {
            Some(finite) => finite_blanket(finite, &finite.rows[number])?,
            None => match self.bound.planar() {
                Some((scale, points)) => planar::against_blanket(scale, points, number),
                None => self.located_blanket(number)?,
            },
        };
        Ok(InputLaw {
            input: self.inputs[number].clone(),
            blanket_mass,
            law,
            epsilon: self.epsilon(),
            // Of noise on numbers the ratio of two inputs is monotone: if it has no bound, then far out. The blanket
            // is that of both outermost inputs, so this holds for every input.
            unbounded: self.finite.is_none() && self.epsilon() == f64::INFINITY,
        })
    }

    /// The messages of one input against those of another: the game in which all other users have that other input.
    /// Its success is a lower bound for every valid upper bound.
    ///
    /// # Errors
    /// As [`Randomizer::input`].
    ///
    /// # Panics
    /// If there is no such input.
    pub fn versus(&self, target: usize, others: usize) -> Result<RatioLaw> {
        if let Some(finite) = &self.finite {
            return RatioLaw::from_weights(&finite.rows[target], &finite.rows[others]);
        }
        let (shape, centers) = self.noise()?;
        let other = centers[others];
        against_blanket(&shape, centers[target], other, other)
            .map(|(law, _)| law)
            .map_err(|problem| Error::parameter(&self.name, problem))
    }

    fn noise(&self) -> Result<(NoiseShape, Cow<'_, [f64]>)> {
        let located = self.bound.located();
        located.ok_or_else(|| Error::parameter(&self.name, "does not add noise to a number"))
    }

    /// A random input, with one weight per input, against the blanket of the mechanism, which random inputs do not
    /// change (section VI-C).
    ///
    /// # Errors
    /// The weights are not a distribution over the inputs, or the mechanism has no finite matrix.
    pub fn random_input(&self, weights: &[f64]) -> Result<InputLaw> {
        let finite = self.finite.as_ref().ok_or_else(|| {
            Error::parameter(
                &self.name,
                "random inputs need a mechanism with a finite matrix",
            )
        })?;
        if weights.len() != self.inputs.len() {
            return Err(Error::parameter(
                "input weights",
                format!(
                    "there are {} for {} inputs",
                    weights.len(),
                    self.inputs.len()
                ),
            ));
        }
        if let Some(problem) = crate::channel::RowProblem::find(weights) {
            return Err(Error::parameter("input weights", problem.to_string()));
        }
        let column = |o: usize| {
            let terms = finite.rows.iter().zip(weights);
            Sum::of(terms.map(|(row, &weight)| weight * row[o]))
        };
        let row: Vec<f64> = (0..finite.observations.len()).map(column).collect();
        let (law, blanket_mass) = finite_blanket(finite, &row)?;
        Ok(InputLaw {
            input: "random".to_owned(),
            blanket_mass,
            law,
            epsilon: self.epsilon(),
            unbounded: false,
        })
    }

    fn located_blanket(&self, number: usize) -> Result<(RatioLaw, f64)> {
        let (shape, centers) = self.noise()?;
        let low = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
        let high = centers
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::at_least);
        against_blanket(&shape, centers[number], low, high)
            .map_err(|problem| Error::parameter(&self.name, problem))
    }
}

impl InputLaw {
    /// M = sup_y R(x₁)(y)/inf_x R(x)(y): the upper bound and the limit of the multiplicative advantage (Theorem 10).
    /// Infinite if some message of x₁ is impossible under another input, or if ratios grow without limit in the tails.
    pub fn max_ratio(&self) -> f64 {
        if self.law.certain_mass() + self.law.nearly_certain_mass() > 0.0 || self.unbounded {
            f64::INFINITY
        } else {
            self.law.max_ratio() / self.blanket_mass
        }
    }

    /// ψ: an upper bound on the success of any adversary in re-identifying this input's message (Theorem 7).
    ///
    /// # Errors
    /// The blanket mass is not in \[0, 1\].
    pub fn psi(&self, game: &Game) -> Result<Success> {
        Ok(self.law.success(&game.thinned(self.blanket_mass)?))
    }

    /// The bounds for several games, computed in parallel.
    ///
    /// # Errors
    /// The blanket mass is not in \[0, 1\], or ε is negative.
    pub fn bounds(&self, games: &[Game]) -> Result<Vec<ShuffleBounds>> {
        let thinned = games.iter().map(|game| game.thinned(self.blanket_mass));
        let psi = self.law.grid(&thinned.collect::<Result<Vec<_>>>()?);
        let finite = |x: f64| (x < f64::INFINITY).then_some(x);
        let row = |(game, psi): (&Game, &Success)| {
            let share = game.guesses() as f64 / game.messages() as f64;
            Ok(ShuffleBounds {
                n: game.messages(),
                guesses: game.guesses(),
                clone: clone_bound(self.epsilon, game)?,
                blanket: psi.success,
                limit: finite(self.epsilon).map(|e| (libm::exp(e) * share).at_most(1.0)),
                blanket_limit: finite(self.max_ratio()).map(|m| (m * share).at_most(1.0)),
            })
        };
        games.iter().zip(&psi).map(row).collect()
    }
}

/// A row against the column minima, and the mass of the minima.
fn finite_blanket(finite: &Probabilities, row: &[f64]) -> Result<(RatioLaw, f64)> {
    let least = |o: usize| {
        finite
            .rows
            .iter()
            .fold(f64::INFINITY, |m, row| m.at_most(row[o]))
    };
    let blanket: Vec<f64> = (0..finite.observations.len()).map(least).collect();
    let mass = Sum::of(blanket.iter().copied());
    if mass == 0.0 {
        return Ok((RatioLaw::from_sorted(&[(1.0, 0.0)]), 0.0));
    }
    Ok((RatioLaw::from_weights(row, &blanket)?, mass.at_most(1.0)))
}

type Problem = &'static str;

/// Noise around x₁ against the blanket of all centers between two numbers, and the mass of that blanket.
fn against_blanket(
    shape: &NoiseShape,
    target: f64,
    low: f64,
    high: f64,
) -> std::result::Result<(RatioLaw, f64), Problem> {
    let half = 0.5 * (high - low);
    match shape {
        NoiseShape::Laplace { .. } | NoiseShape::Gaussian { .. } => {
            let mass = 2.0 * distribution(shape, -half);
            if mass == 0.0 {
                return Ok((RatioLaw::from_sorted(&[(1.0, 0.0)]), 0.0));
            }
            let segments = segments(shape, target, low, high, mass);
            let law = RatioLaw::from_segments(&segments)
                .map_err(|_| "its blanket is too small for quadrature")?;
            Ok((law, mass.at_most(1.0)))
        }
        NoiseShape::Steps {
            edges,
            distribution,
        } => {
            let offsets = edges.iter().flat_map(|&e| [-e, e]);
            let centers = [target, low, high];
            let mut cuts: Vec<f64> = offsets
                .flat_map(|e| centers.map(|c| c + e))
                .chain([0.5 * (low + high)])
                .collect();
            cuts.sort_by(f64::total_cmp);
            // Steps that should meet and do not, by rounding, enclose no cell.
            let hair = 1e-10 * edges.last().map_or(1.0, |far| far / edges.len() as f64);
            cuts.dedup_by(|b, a| *b - *a <= hair);
            let cells = cuts.windows(2).map(|cut| {
                let mass = |c: f64| mass_between(distribution, cut[0] - c, cut[1] - c);
                (mass(target), mass(low).at_most(mass(high)))
            });
            Ok(from_cells(cells.collect()))
        }
        NoiseShape::Integer(distribution) => {
            let reach =
                integer_reach(distribution).ok_or("the tails of its noise are too heavy")?;
            if high - low + 2.0 * reach > MAX_CELLS {
                return Err(
                    "the tails of its noise are too heavy, or its inputs are too far apart",
                );
            }
            let mass = |x: f64| distribution(-x.abs()) - distribution(-x.abs() - 1.0);
            let cells = (0..=(high - low + 2.0 * reach) as u64).map(|i| {
                let at = low - reach + i as f64;
                (mass(at - target), mass(at - low).at_most(mass(at - high)))
            });
            Ok(from_cells(cells.collect()))
        }
    }
}

/// The distance beyond which integer noise has mass below 1e-30.
fn integer_reach(distribution: &dyn Fn(f64) -> f64) -> Option<f64> {
    let mut reach = 1.0;
    while distribution(-reach) > 1e-30 {
        reach *= 2.0;
        if reach > MAX_CELLS {
            return None;
        }
    }
    Some(reach)
}

fn from_cells(cells: Vec<(f64, f64)>) -> (RatioLaw, f64) {
    let (p, q): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
    let mass = Sum::of(q.iter().copied());
    let law = RatioLaw::from_weights(&p, &q);
    law.map_or_else(
        |_| (RatioLaw::from_sorted(&[(1.0, 0.0)]), 0.0),
        |law| (law, mass.at_most(1.0)),
    )
}

/// The distribution function of smooth noise at x, accurate for x < 0.
pub(in crate::shuffle) fn distribution(shape: &NoiseShape, x: f64) -> f64 {
    match shape {
        NoiseShape::Laplace { scale } => {
            let tail = 0.5 * libm::exp(-x.abs() / scale);
            if x < 0.0 { tail } else { 1.0 - tail }
        }
        NoiseShape::Gaussian { sigma } => leakgauge_stats::special::normal_cdf(x / sigma),
        NoiseShape::Steps { distribution, .. } | NoiseShape::Integer(distribution) => {
            distribution(x)
        }
    }
}

/// The probability of symmetric continuous noise between two numbers, without cancellation in a tail.
pub(in crate::shuffle) fn mass_between(
    distribution: impl Fn(f64) -> f64,
    from: f64,
    to: f64,
) -> f64 {
    let mass = if to <= 0.0 {
        distribution(to) - distribution(from)
    } else if from >= 0.0 {
        distribution(-from) - distribution(-to)
    } else {
        1.0 - distribution(from) - distribution(-to)
    };
    mass.at_least(0.0)
}

/// The segments on which the ratio of the noise around the target to the blanket is monotone.
fn segments<'a>(
    shape: &'a NoiseShape,
    target: f64,
    low: f64,
    high: f64,
    blanket: f64,
) -> Vec<Segment<'a>> {
    let middle = low + 0.5 * (high - low);
    let mut cuts = vec![f64::NEG_INFINITY, middle, f64::INFINITY];
    if let NoiseShape::Laplace { .. } = shape {
        cuts.extend([low, high, target]);
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let segment = |cut: &[f64]| {
        let (from, to) = (cut[0], cut[1]);
        // Left of the middle, the highest center has the smallest density.
        let other = if to <= middle { high } else { low };
        let at = match (from.is_finite(), to.is_finite()) {
            (true, true) => 0.5 * (from + to),
            (true, false) => from + 1.0,
            (false, true) => to - 1.0,
            (false, false) => 0.0,
        };
        let (value, slope) = log_ratio(shape, at, target, other);
        let value = value + blanket.ln();
        let end = |y: f64| {
            if slope == 0.0 {
                value
            } else {
                value + slope * (y - at)
            }
        };
        Segment {
            from,
            to,
            ends: (end(from), end(to)),
            place: Box::new(move |level| at + (level - value) / slope),
            p_mass: Box::new(move |a, b| {
                mass_between(|x| distribution(shape, x), a - target, b - target)
            }),
            q_mass: Box::new(move |a, b| {
                mass_between(|x| distribution(shape, x), a - other, b - other) / blanket
            }),
        }
    };
    cuts.windows(2).map(segment).collect()
}

/// The logarithm of the ratio of two densities of smooth noise, and its slope there.
fn log_ratio(shape: &NoiseShape, y: f64, target: f64, other: f64) -> (f64, f64) {
    match shape {
        NoiseShape::Laplace { scale } => {
            let (p, q) = (y - target, y - other);
            let slope = if (p > 0.0) == (q > 0.0) {
                0.0
            } else {
                2.0 * q.signum()
            };
            // On one side of both centers the ratio depends on their distance alone.
            let value = if slope == 0.0 {
                (target - other) * p.signum()
            } else {
                q.abs() - p.abs()
            };
            (value / scale, slope / scale)
        }
        NoiseShape::Gaussian { sigma } => {
            let slope = (target - other) / (sigma * sigma);
            (slope * (y - 0.5 * (target + other)), slope)
        }
        NoiseShape::Steps { .. } | NoiseShape::Integer(_) => (0.0, 0.0),
    }
}
