//! Composition of mechanisms through their privacy loss distributions, with certified upper and lower sides.
//!
//! ```
//! use leakgauge_exact::accountant::Accountant;
//!
//! let step = leakgauge_exact::mechanism::parse("subsampled(gaussian(sigma=0.8), rate=0.01)")?;
//! let accountant = Accountant::of_mechanism(&*step, 100)?;
//! let delta = accountant.delta(1.0);
//! assert!(delta.least <= delta.most && delta.most / delta.least < 1.001);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

use crate::extreme::Extreme;
use std::sync::{Arc, OnceLock};

use leakgauge_base::error::{Error, Result};
use leakgauge_base::parallel;

use crate::mechanism::{BoundMechanism, Mechanism};
use crate::profile::{Cell, Pair};
pub use sides::Sides;

use beside::Beside;
use composed::Composed;
use contour::Contour;
use grid::{Grid, Measure, common_grids, grid};
use loss::Loss;
use sides::ToldSides;
use terms::Terms;
use window::Tilted;

mod beside;
mod closed_forms;
mod composed;
mod contour;
mod crossing;
pub(crate) mod divided;
mod enclosed;
mod fused;
mod grid;
mod lattice;
mod loss;
mod normal;
mod sides;
mod source;
mod spectrum;
mod symmetrized;
mod terms;
mod window;

/// The composition of independent steps of a mechanism, at the pairs of secrets that are told apart best.
///
/// # Formula
/// The sum of the privacy losses L = ln P(o)/Q(o) of T steps has δ(ε) = E_P\[(1 − e^(ε − L))⁺\]. Of Gaussian noise it
/// is an integral in the complex plane. Else the loss of a step is put on a grid twice: so that every δ of every composition is
/// at least the true one, and at most; then the sum of T steps has δ(ε) by Fourier transforms.
///
/// # Conditions
/// Sides include what is cut off and, by a bound that is computed with the tilted sum, the rounding of
/// the transforms; the masses of a step are evaluated in double precision.
#[derive(Debug)]
pub struct Accountant {
    steps: u64,
    /// Each direction of each pair.
    directions: Vec<Direction>,
    /// δ and 1 − δ of each at ε = 0, which several figures need.
    at_zero: OnceLock<Vec<ToldSides>>,
}

/// How the sums of the losses of one direction of a pair are computed.
#[derive(Debug)]
enum Direction {
    Grid {
        above: Terms,
        below: Terms,
    },
    Contour(Beside),
    /// Of secrets that are only bounded: a bound from above, and secrets that exist.
    Bounded {
        above: Terms,
        attained: Box<Direction>,
    },
}

/// The most different pairs of secrets, and the most pairs that are compared to find them.
const MAX_DIFFERENT: usize = 64;
const MAX_PAIRS: usize = 20_000;
/// The square of the step of the grid is this times the variance of a step of the mechanism.
const FINENESS: f64 = 1e-5;
/// The cells of the grid of one step at most.
const MAX_CELLS: f64 = 4e6;

impl Accountant {
    /// The composition of a mechanism over its declared secrets with itself.
    ///
    /// # Errors
    /// No secrets are declared or only one, no steps, or the distribution of the privacy loss is not known.
    pub fn of_mechanism(mechanism: &dyn Mechanism, steps: u64) -> Result<Accountant> {
        let losses = Self::losses(mechanism, steps)?;
        Ok(Self::of_losses(&losses, steps))
    }

    /// The composition of several mechanisms, each applied so many times to the same two secrets.
    ///
    /// # Formula
    /// The losses of all steps of all mechanisms, on grids with one step; of sums of terms the transforms are multiplied.
    ///
    /// # Errors
    /// Those of [`of_mechanism`](Self::of_mechanism); a mechanism of which several pairs of secrets matter, or pairs that
    /// differ between mechanisms.
    pub fn of_composition(terms: &[(Arc<dyn Mechanism>, u64)]) -> Result<Accountant> {
        let steps = terms
            .iter()
            .fold(0u64, |all, (_, steps)| all.saturating_add(*steps));
        check_steps(steps)?;
        check_pairs(terms)?;
        let losses: Vec<(Vec<Loss>, u64)> = terms
            .iter()
            .map(|(mechanism, steps)| {
                let mut losses = Self::losses(&**mechanism, *steps)?;
                let bound = mechanism.bind_declared()?;
                // The record, the second secret, comes first there: the same secret must be P in all terms.
                if is_of_a_record(&*bound) {
                    losses.swap(0, 1);
                }
                Ok((losses, *steps))
            })
            .collect::<Result<_>>()?;
        let directions = [0, 1].map(|way| {
            let each: Vec<(&Loss, u64)> = losses
                .iter()
                .map(|(losses, steps)| (&losses[way], *steps))
                .collect();
            Direction::on_grids(&common_grids(&each))
        });
        Ok(Accountant {
            steps,
            directions: directions.into(),
            at_zero: OnceLock::new(),
        })
    }

    /// The composition with itself of a pair with finitely many likelihood ratios that is alike in both orders.
    ///
    /// # Errors
    /// No steps, or too many.
    pub(crate) fn of_symmetric_cells(cells: &[Cell], steps: u64) -> Result<Accountant> {
        check_steps(steps)?;
        Ok(Self::of_losses(&[Loss::cells(cells)], steps))
    }

    fn of_losses(losses: &[Loss], steps: u64) -> Accountant {
        Accountant {
            steps,
            directions: parallel::map(losses.len(), |at| Direction::new(&losses[at], steps)),
            at_zero: OnceLock::new(),
        }
    }

    /// The number of steps.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// For each ε, which ascend, a δ with which the composition of a mechanism with itself is (ε, δ)-private: the
    /// certified upper side. It ends after the first δ that is at most `negligible`, which serves for all later ε.
    ///
    /// # Errors
    /// Those of [`of_mechanism`](Self::of_mechanism).
    pub fn deltas_at_most(
        mechanism: &dyn Mechanism,
        steps: u64,
        epsilons: &[f64],
        negligible: f64,
    ) -> Result<Vec<f64>> {
        let losses = Self::losses(mechanism, steps)?;
        let mut of_directions: Vec<Vec<f64>> = Vec::new();
        let mut floors = vec![0.0; epsilons.len()];
        for loss in losses {
            let normal = loss.normal;
            if let Some(normal) = normal.filter(|normal| beside::is_hopeless(*normal, steps)) {
                let enclosed = beside::enclosed(normal, steps, negligible.at_least(1e-240));
                of_directions.push(enclosed.deltas(epsilons, negligible));
                continue;
            }
            if let Some(contour) = normal.and_then(|normal| Contour::new(normal, steps)) {
                let sides = contour.deltas(epsilons, negligible, &floors);
                let known = floors.iter_mut().zip(&sides);
                known.for_each(|(floor, side)| *floor = floor.at_least(side.1));
                of_directions.push(sides.into_iter().map(|side| side.0).collect());
                continue;
            }
            let terms = Terms::of(Measure::above(&loss, grid(&loss, steps)), steps);
            of_directions.push(Composed::new(&terms, 1.0).deltas(epsilons, negligible));
        }
        let longest = of_directions.iter().map(Vec::len).max().unwrap_or(0);
        // A direction that ended earlier keeps its last δ.
        let at = |deltas: &[f64], at: usize| deltas.get(at).or(deltas.last()).copied();
        let largest = |point: usize| {
            let deltas = of_directions.iter().filter_map(|deltas| at(deltas, point));
            deltas.fold(0.0, f64::at_least)
        };
        Ok((0..longest).map(largest).collect())
    }

    /// The privacy losses of a step, both ways at every pair that matters.
    fn losses(mechanism: &dyn Mechanism, steps: u64) -> Result<Vec<Loss>> {
        check_steps(steps)?;
        let bound = mechanism.bind_declared()?;
        let name = mechanism.to_string();
        if let Some(losses) = listed(&*bound) {
            return Ok(losses);
        }
        let mut losses = Vec::new();
        for pair in pairs(&*bound, &name)? {
            losses.push(Loss::of(&*bound, &name, pair)?);
            losses.push(Loss::of(&*bound, &name, pair)?.reversed());
        }
        Ok(losses)
    }

    /// The smallest δ with which the composition is (ε, δ)-private.
    pub fn delta(&self, epsilon: f64) -> Sides {
        self.delta_and_rest(epsilon).0
    }

    /// Total variation δ(0) of the composition, and its Bayes security, 1 − δ(0), without cancellation.
    pub fn total_variation_and_bayes_security(&self) -> (Sides, Sides) {
        self.delta_and_rest(0.0)
    }

    fn delta_and_rest(&self, epsilon: f64) -> (Sides, Sides) {
        let told = self.told(epsilon);
        let delta = Sides {
            least: told
                .iter()
                .map(|told| told.least.0)
                .fold(0.0, f64::at_least),
            most: told.iter().map(|told| told.most.0).fold(0.0, f64::at_least),
        };
        let rest = Sides {
            least: told.iter().map(|told| told.most.1).fold(1.0, f64::at_most),
            most: told.iter().map(|told| told.least.1).fold(1.0, f64::at_most),
        };
        (delta, rest)
    }

    /// The smallest ε with which the composition is (ε, δ)-private; infinite where there is none.
    pub fn epsilon(&self, delta: f64) -> Sides {
        let mut found = Sides {
            least: 0.0,
            most: 0.0,
        };
        for direction in &self.directions {
            let sides = direction.epsilon(delta, found.least);
            found.least = found.least.at_least(sides.least);
            found.most = found.most.at_least(sides.most);
        }
        found
    }

    fn told(&self, epsilon: f64) -> Vec<ToldSides> {
        if epsilon == 0.0 {
            return self.at_zero.get_or_init(|| self.each(0.0)).clone();
        }
        self.each(epsilon)
    }

    fn each(&self, epsilon: f64) -> Vec<ToldSides> {
        let is_grid = |direction: &Direction| matches!(direction, Direction::Grid { .. });
        if self.directions.iter().all(is_grid) {
            return parallel::map(self.directions.len(), |at| {
                self.directions[at].told(epsilon, 0.0)
            });
        }
        // What a direction allows at least need not be known of others better than that they allow less.
        let mut floor = 0.0;
        let mut all = Vec::new();
        for direction in &self.directions {
            let told = direction.told(epsilon, floor);
            floor = told.least.0.at_least(floor);
            all.push(told);
        }
        // Total variation is the same both ways.
        if let (true, [first, second]) = (epsilon == 0.0, &all[..]) {
            return vec![first.with(second); 2];
        }
        all
    }
}

impl Direction {
    fn new(loss: &Loss, steps: u64) -> Direction {
        if let Some(attained) = &loss.attained {
            return Direction::Bounded {
                above: Terms::of(Measure::above(loss, grid(loss, steps)), steps),
                attained: Box::new(Direction::new(attained, steps)),
            };
        }
        match loss.normal.and_then(|normal| Beside::new(normal, steps)) {
            Some(beside) => Direction::Contour(beside),
            None => Direction::on_grid(loss, steps),
        }
    }

    fn on_grid(loss: &Loss, steps: u64) -> Direction {
        Direction::on_grids(&[(loss, grid(loss, steps), steps)])
    }

    /// The composition of losses, each so many times, on grids with the same step.
    fn on_grids(losses: &[(&Loss, Grid, u64)]) -> Direction {
        let terms = |measure: fn(&Loss, Grid) -> Measure| {
            let each = losses.iter();
            Terms::new(
                each.map(|(loss, grid, steps)| (measure(loss, *grid), *steps))
                    .collect(),
            )
        };
        let (above, below) = parallel::both(|| terms(Measure::above), || terms(Measure::below));
        Direction::Grid { above, below }
    }

    /// Both sides of δ(ε). Where it is no larger than `floor` they may be far apart.
    fn told(&self, epsilon: f64, floor: f64) -> ToldSides {
        match self {
            Direction::Contour(beside) => beside.told(epsilon, floor),
            Direction::Grid { above, below } => {
                let (most, least) = parallel::both(
                    || Composed::new(above, 1.0).delta(epsilon),
                    || Composed::new(below, -1.0).delta(epsilon),
                );
                ToldSides { most, least }
            }
            Direction::Bounded { above, attained } => ToldSides {
                most: Composed::new(above, 1.0).delta(epsilon),
                least: attained.told(epsilon, floor).least,
            },
        }
    }

    /// Both sides of ε(δ). Where it is no larger than `floor` they may be far apart.
    fn epsilon(&self, delta: f64, floor: f64) -> Sides {
        match self {
            Direction::Contour(beside) => beside.epsilon(delta, floor),
            Direction::Bounded { above, attained } => Sides {
                least: attained.epsilon(delta, floor).least,
                most: epsilon_at(above, delta, 1.0),
            },
            Direction::Grid { above, below } => {
                let of = |terms: &Terms, sign: f64| epsilon_at(terms, delta, sign);
                let (most, least) = parallel::both(|| of(above, 1.0), || of(below, -1.0));
                Sides { least, most }
            }
        }
    }
}

/// One side of the ε at which δ(ε) crosses a value.
fn epsilon_at(terms: &Terms, delta: f64, sign: f64) -> f64 {
    let composed = Composed::new(terms, sign);
    composed.epsilon(delta, composed.delta(0.0).0)
}

/// An upper bound on E\[(Σ X_i)⁺\] over n independent values of a distribution (value, probability) with a negative
/// mean.
///
/// # Formula
/// Values are spread to a grid, which no mean of a convex function survives smaller. The sum is tilted so that its mean
/// is 0: the bound is e^(nK(θ)) times the tilted mean of S⁺·e^(−θS). The steps of the grid are `coarseness` times as wide as
/// usual: the bound is larger and costs less.
pub(crate) fn mean_excess(law: &[(f64, f64)], n: u64, coarseness: f64) -> f64 {
    let positive = law.iter().any(|(x, p)| *x > 0.0 && *p > 0.0);
    // What underflows is still above 0.
    let least = if positive { f64::MIN_POSITIVE } else { 0.0 };
    if let Some(mean) = of_few_sums(law, n) {
        return mean.at_least(least);
    }
    let widest = law.iter().map(|(x, _)| x.abs()).fold(0.0, f64::at_least);
    if widest > WIDEST {
        let unit = widest / WIDEST;
        let scaled: Vec<(f64, f64)> = law.iter().map(|(x, p)| (x / unit, *p)).collect();
        return (unit * scaled_excess(&scaled, n, coarseness)).at_least(least);
    }
    scaled_excess(law, n, coarseness).at_least(least)
}

/// Sums that are gone through one by one.
const MAX_SUMS: f64 = 4e6;

/// The same from all sums, where they are few; a grid for a few steps of a wide law would have millions of cells.
fn of_few_sums(law: &[(f64, f64)], n: u64) -> Option<f64> {
    let count = (law.len() as f64).powf(n as f64);
    if count.is_nan() || count > MAX_SUMS {
        return None;
    }
    // Sums, those of absolute values, and probabilities.
    let mut sums = vec![(0.0, 0.0, 1.0)];
    for _ in 0..n {
        let more = |&(sum, size, p): &(f64, f64, f64)| {
            let one = move |(x, q): &(f64, f64)| (sum + x, size + x.abs(), p * q);
            law.iter().map(one)
        };
        sums = sums.iter().flat_map(more).collect();
    }
    let unit = f64::EPSILON * (n as f64 + 1.0);
    let excess = |&(sum, size, p): &(f64, f64, f64)| (sum + unit * size).at_least(0.0) * p;
    let mean: f64 = sums.iter().map(excess).sum();
    Some(mean * (1.0 + (count + n as f64 + 1.0) * f64::EPSILON))
}

/// Exponentials of values up to this size do not overflow.
const WIDEST: f64 = 300.0;

fn scaled_excess(law: &[(f64, f64)], n: u64, coarseness: f64) -> f64 {
    let mean: f64 = law.iter().map(|(x, p)| x * p).sum();
    let variance: f64 = law.iter().map(|(x, p)| p * (x - mean) * (x - mean)).sum();
    let ends = |better: fn(f64, f64) -> f64| law.iter().map(|law| law.0).fold(0.0, better);
    let width = ends(f64::at_least) - ends(f64::at_most);
    if width == 0.0 {
        return 0.0;
    }
    let step = coarseness * (FINENESS * variance).sqrt().at_least(width / MAX_CELLS);
    let measure = Measure::spread_out(law, step);
    let Some(tilted) = Tilted::new(&Terms::of(measure, n), 0.0) else {
        return 0.0;
    };
    let sums = tilted.cells.iter().enumerate().map(|(at, mass)| {
        let sum = tilted.start + at as f64 * step;
        if sum > 0.0 {
            mass * sum * (-tilted.theta * sum).exp()
        } else {
            0.0
        }
    });
    // S·e^(−θS) is at most 1/(eθ).
    let most = 1.0 / (std::f64::consts::E * tilted.theta.at_least(f64::MIN_POSITIVE));
    tilted.scale.exp() * (sums.sum::<f64>() + tilted.error * most)
}

/// The largest number of steps.
const MAX_STEPS: u64 = 1_000_000_000;

fn check_steps(steps: u64) -> Result<()> {
    if steps == 0 || steps > MAX_STEPS {
        let problem = format!("must be between 1 and {MAX_STEPS}");
        return Err(Error::setting("repeat", steps, problem));
    }
    Ok(())
}

/// Whether its two secrets are databases that differ in one record, which not every run uses.
fn is_of_a_record(bound: &dyn BoundMechanism) -> bool {
    bound.subsampled().is_some()
        || bound.replaced().is_some()
        || bound.fixed_size().is_some()
        || bound.enclosing().is_some()
}

/// The losses of a mechanism without a matrix whose pairs of secrets have finitely many likelihood ratios, both ways.
fn listed(bound: &dyn BoundMechanism) -> Option<Vec<Loss>> {
    let (a, b) = bound.worst_pair()?;
    let is_noise = matches!(
        bound.pair(a, b),
        Some(Pair::Gaussian { .. } | Pair::Laplace { .. } | Pair::PlanarLaplace(_))
    );
    if is_noise || bound.located().is_some() || is_of_a_record(bound) {
        return None;
    }
    if bound.probabilities().is_some() {
        return None;
    }
    let pairs = bound.pairs()?;
    let of_pair = |pair: &Pair| match pair {
        Pair::Cells(cells) => Some([Loss::cells(cells), Loss::cells(cells).reversed()]),
        _ => None,
    };
    let losses: Option<Vec<_>> = pairs.iter().map(of_pair).collect();
    losses.map(|losses| losses.into_iter().flatten().collect())
}

/// Refuses mechanisms of which no one pair of secrets is the worst of all together.
fn check_pairs(terms: &[(Arc<dyn Mechanism>, u64)]) -> Result<()> {
    let mut worst = Vec::new();
    for (mechanism, _) in terms {
        let (bound, name) = (mechanism.bind_declared()?, mechanism.to_string());
        let found = match listed(&*bound) {
            Some(losses) => losses.len() / 2,
            None => pairs(&*bound, &name)?.len(),
        };
        let is_of_two = bound.secret_count() == 2;
        if found != 1 && !is_of_two || found == 0 {
            let problem =
                format!("{found} pairs of its secrets differ, and only one can be composed");
            return Err(Error::parameter(name, problem).with_hint("give it two secrets, secrets=2"));
        }
        // Labels are few there; of more secrets their number must agree.
        let labels = mechanism.declared_secrets().filter(|_| is_of_two);
        let pair = (!is_of_two).then(|| (bound.secret_count(), bound.worst_pair()));
        worst.push((name, (pair, labels)));
    }
    let first = worst[0].1.clone();
    match worst.iter().find(|(_, pair)| *pair != first) {
        Some((name, _)) => Err(Error::parameter(
            name.clone(),
            format!(
                "its secrets are others than those of {}, or told apart best at another pair",
                worst[0].0
            ),
        )
        .with_hint("give all mechanisms the same secrets, or two each, secrets=2")),
        None => Ok(()),
    }
}

/// The pairs of secrets that matter: one where all pairs are alike or the worst one is worst in every respect.
fn pairs(bound: &dyn BoundMechanism, name: &str) -> Result<Vec<(usize, usize)>> {
    let Some((a, b)) = bound.worst_pair() else {
        return Err(Error::parameter(
            name,
            "leakage is between two secrets, and secrets= gives one",
        )
        .with_hint("give two secrets or more, secrets=2"));
    };
    if bound.located().is_some() || is_of_a_record(bound) {
        return Ok(vec![(a, b)]);
    }
    let Some(table) = bound.probabilities() else {
        return Ok(vec![(a, b)]);
    };
    let secrets = table.rows.len();
    if secrets * (secrets - 1) / 2 > MAX_PAIRS {
        let problem = format!("{secrets} secrets are too many to compose each pair of them");
        return Err(Error::parameter(name, problem).with_hint("give fewer secrets"));
    }
    let mut seen: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut found = Vec::new();
    for a in 0..secrets {
        for b in a + 1..secrets {
            let both = table.rows[a]
                .iter()
                .copied()
                .zip(table.rows[b].iter().copied());
            let mut cells: Vec<(f64, f64)> = both.filter(|cell| *cell != (0.0, 0.0)).collect();
            cells.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
            if !seen.contains(&cells) {
                seen.push(cells);
                found.push((a, b));
            }
            if found.len() > MAX_DIFFERENT {
                let problem = format!("more than {MAX_DIFFERENT} pairs of its secrets differ");
                return Err(Error::parameter(name, problem).with_hint("give fewer secrets"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod far_tests;
#[cfg(test)]
mod fixed_size_tests;
#[cfg(test)]
mod tests;
