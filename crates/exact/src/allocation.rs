//! The likelihood ratio of a record that one of t steps uses, chosen at random.
//!
//! With Gaussian noise of σ in every step the ratio is S/t, S the sum of t independent numbers e^(μz − μ²/2), μ = 1/σ and z
//! standard normal: under Q, without the record, all of them have the mean 1; P has S/t times the density of Q.
//!
//! # Formula
//! δ(ε) of both orders is the mean of a convex function of S under Q, (S/t − e^ε)⁺ and (1 − e^ε·S/t)⁺, and so is that of all
//! compositions. Where a law is replaced by another one that is spread out from it without moving the mean, no such mean
//! becomes smaller; where masses are merged at their mean, none becomes larger. Sums of independent numbers keep that order. So the
//! law of S is doubled again and again, each time put on a new grid: from above by moving the mass of a cell to its ends,
//! from below to its mean. No number is rounded but by double precision. Mass beyond the largest number of a grid goes to infinity,
//! where P has what its mean was and Q nothing.
//!
//! # References
//! V. Feldman, M. Shenfeld, *Privacy amplification by random allocation*, arXiv:2502.08202, and L. Chua, B. Ghazi, C. Harrison,
//! E. Leeman, P. Kamath, R. Kumar, P. Manurangsi, A. Sinha, C. Zhang, *Balls-and-bins sampling for DP-SGD*, arXiv:2412.16802 (the
//! pair of distributions). M. Shaked, J. G. Shanthikumar, *Stochastic orders*, theorem 3.A.12, doi:10.1007/978-0-387-34675-5 (sums
//! keep the convex order).

use libm::{erfc, exp, log};

use crate::extreme::Extreme;
use crate::profile::Cell;
use leakgauge_base::parallel;

/// The cells of a grid.
const CELLS: usize = 3000;
/// Cells that are merged, and bins of their sums, to choose the next grid.
const COARSE: usize = 250;
const BINS: usize = 8192;
/// What both ends of a law may have of the mean of S, as a part of it, or of the mass of Q.
const TAIL: f64 = 1e-25;
/// So many standard deviations off there is less than [`TAIL`].
const FAR: f64 = 10.5;

/// From above or from below.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
}

/// A law of a sum of at least one number: values that ascend with their masses, and the mean that is at infinity.
struct Sum {
    values: Vec<f64>,
    masses: Vec<f64>,
    infinite: f64,
}

impl Sum {
    /// Makes masses sum to 1, and the mean what it is known to be: else each doubling would double what rounding changed.
    fn normalize(&mut self, mean: f64) {
        let mass: f64 = self.masses.iter().sum();
        self.masses.iter_mut().for_each(|p| *p /= mass);
        let each = self.values.iter().zip(&self.masses);
        let found: f64 = each.map(|(x, p)| x * p).sum::<f64>() + self.infinite;
        self.values.iter_mut().for_each(|x| *x *= mean / found);
        self.infinite *= mean / found;
    }
}

/// What lies in a cell: its mass, and the mean of its distance from the lower end times the mass.
#[derive(Debug, Clone, Copy, Default)]
struct Content {
    mass: f64,
    moment: f64,
}

/// The masses of P, with the record, and Q, without, of a pair that tells at least as much, and of one that tells at most as
/// much. μ is between 0.001 and 10, t at least 1.
pub(crate) fn sides(mu: f64, steps: u64) -> [Vec<Cell>; 2] {
    let of = |side: Side| cells(&sum(mu, steps, side), steps);
    let (above, below) = parallel::both(|| of(Side::Above), || of(Side::Below));
    [above, below]
}

fn cells(sum: &Sum, steps: u64) -> Vec<Cell> {
    let each = sum.values.iter().zip(&sum.masses);
    let each = each.filter(|(_, mass)| **mass > 0.0);
    let mut cells: Vec<Cell> = each
        .map(|(value, &mass)| {
            let ratio = value / steps as f64;
            Cell::with_loss(ratio * mass, mass, log(ratio))
        })
        .map(|cell| match cell.p == 0.0 {
            true => Cell::new(0.0, cell.q),
            false => cell,
        })
        .collect();
    if sum.infinite > 0.0 {
        cells.push(Cell::new(sum.infinite / steps as f64, 0.0));
    }
    cells
}

/// The law of t numbers, from the highest binary digit of t on.
fn sum(mu: f64, steps: u64, side: Side) -> Sum {
    let one = one(mu, side);
    let digits = u64::BITS - steps.leading_zeros();
    let mut all: Option<Sum> = None;
    for digit in (0..digits.saturating_sub(1)).rev() {
        let mut next = added(all.as_ref().unwrap_or(&one), None, side);
        if steps >> digit & 1 == 1 {
            next = added(&next, Some(&one), side);
        }
        next.normalize((steps >> digit) as f64);
        all = Some(next);
    }
    all.unwrap_or(one)
}

/// The probability of a standard normal number above this.
fn above(x: f64) -> f64 {
    0.5 * erfc(x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Between two numbers, without cancellation.
fn between(from: f64, to: f64) -> f64 {
    if from >= 0.0 {
        above(from) - above(to)
    } else if to <= 0.0 {
        above(-to) - above(-from)
    } else {
        1.0 - above(-from) - above(to)
    }
}

/// e^(μz − μ²/2), in cells between evenly spaced z.
fn one(mu: f64, side: Side) -> Sum {
    let width = (2.0 * FAR + mu) / CELLS as f64;
    let place = |at: usize| -FAR + width * at as f64;
    let value = |z: f64| exp(mu * (z - 0.5 * mu));
    let mut ends = vec![0.0];
    ends.extend((0..=CELLS).map(|at| value(place(at))));
    // The mean of a stretch is its mass where z has the mean μ.
    let content = |low: f64, from: f64, to: f64| {
        let mass = between(from, to);
        let mean = between(from - mu, to - mu);
        Content {
            mass,
            moment: (mean - low * mass).at_least(0.0),
        }
    };
    let mut contents = vec![content(0.0, f64::NEG_INFINITY, place(0))];
    contents.extend((0..CELLS).map(|at| content(ends[at + 1], place(at), place(at + 1))));
    let beyond = content(ends[CELLS + 1], place(CELLS), f64::INFINITY);
    put(&ends, &contents, beyond, side)
}

/// The law of what lies in the cells between ends that ascend, and beyond the last.
fn put(ends: &[f64], contents: &[Content], beyond: Content, side: Side) -> Sum {
    let last = ends[ends.len() - 1];
    match side {
        Side::Above => {
            let mut masses = vec![0.0; ends.len()];
            for (at, content) in contents.iter().enumerate() {
                let up = content.moment / (ends[at + 1] - ends[at]);
                let up = up.at_most(content.mass);
                masses[at] += content.mass - up;
                masses[at + 1] += up;
            }
            masses[ends.len() - 1] += beyond.mass;
            Sum {
                values: ends.to_vec(),
                masses,
                infinite: beyond.moment,
            }
        }
        Side::Below => {
            let cells = contents.iter().zip(ends);
            let all = cells.chain([(&beyond, &last)]);
            let (values, masses) = all
                .filter(|(content, _)| content.mass > 0.0)
                .map(|(content, low)| (low + content.moment / content.mass, content.mass))
                .unzip();
            Sum {
                values,
                masses,
                infinite: 0.0,
            }
        }
    }
}

/// The law of a sum of two independent sums, or of one with another of the same law.
fn added(one: &Sum, other: Option<&Sum>, side: Side) -> Sum {
    let ends = ends(one, other.unwrap_or(one));
    let last = ends.len() - 1;
    let mut contents = vec![Content::default(); last];
    let mut beyond = Content::default();
    let (values, masses) = match other {
        Some(other) => (&other.values, &other.masses),
        None => (&one.values, &one.masses),
    };
    for (i, (x, p)) in one.values.iter().zip(&one.masses).enumerate() {
        // Of two sums of one law the smaller comes first, and each pair of different ones stands for two.
        let from = if other.is_none() { i } else { 0 };
        let twice = if other.is_none() { 2.0 * p } else { *p };
        let mut add = |at: &mut usize, y: f64, mass: f64| {
            let sum = x + y;
            while *at < last && ends[*at + 1] <= sum {
                *at += 1;
            }
            let content = match *at < last {
                true => &mut contents[*at],
                false => &mut beyond,
            };
            content.mass += mass;
            content.moment += mass * (sum - ends[*at]);
        };
        let Some(first) = values.get(from) else {
            continue;
        };
        let mut at = ends
            .partition_point(|end| *end <= x + first)
            .saturating_sub(1);
        let mut rest = from;
        if other.is_none() {
            add(&mut at, *first, p * p);
            rest += 1;
        }
        for (y, q) in values[rest..].iter().zip(&masses[rest..]) {
            add(&mut at, *y, twice * q);
        }
    }
    let mut sum = put(&ends, &contents, beyond, side);
    sum.infinite += one.infinite + other.unwrap_or(one).infinite;
    sum
}

/// Stretches of a law, so many at most, each at its mean.
fn merged(sum: &Sum) -> Vec<(f64, f64)> {
    let together = sum.values.len().div_ceil(COARSE);
    let parts = sum.values.chunks(together).zip(sum.masses.chunks(together));
    let stretch = |(values, masses): (&[f64], &[f64])| {
        let mass: f64 = masses.iter().sum();
        let mean: f64 = values.iter().zip(masses).map(|(x, p)| x * p).sum();
        (mean / mass, mass)
    };
    parts.map(stretch).filter(|(_, mass)| *mass > 0.0).collect()
}

/// The ends of cells for a sum: 0, and numbers that are near each other where P or Q has much of its mass. With the density f
/// the error Σ f·h³ of cells of the width h is least where h is f^(−1/3). A third of them are spread evenly over the logarithm.
fn ends(one: &Sum, other: &Sum) -> Vec<f64> {
    let (one, other) = (merged(one), merged(other));
    let mut sums: Vec<(f64, f64)> = one
        .iter()
        .flat_map(|(x, p)| other.iter().map(move |(y, q)| (x + y, p * q)))
        .filter(|(sum, _)| *sum > 0.0)
        .collect();
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean: f64 = sums.iter().map(|(x, p)| x * p).sum();
    let reached = |mut sums: Box<dyn Iterator<Item = &(f64, f64)> + '_>, limit: f64, size: bool| {
        let mut tail = 0.0;
        let found = sums.find(|(x, p)| {
            tail += if size { x * p } else { *p };
            tail > limit
        });
        found.map(|found| found.0)
    };
    let low = reached(Box::new(sums.iter()), TAIL, false).unwrap_or(1.0);
    let high = reached(Box::new(sums.iter().rev()), TAIL * mean, true).unwrap_or(low);
    // Stretches were merged: their ends lie farther off.
    let (low, high) = (log(low * 0.99), log(high * 1.01));
    let width = (high - low) / BINS as f64;
    let mut bins = vec![(0.0, 0.0); BINS];
    for (x, p) in sums {
        let at = ((log(x) - low) / width).clamp(0.0, (BINS - 1) as f64) as usize;
        bins[at].0 += p;
        bins[at].1 += p * x;
    }
    let mut weights = vec![0.0; BINS];
    for part in 0..2 {
        let weight = |at: usize| {
            let (q, p) = bins[at];
            let size = width * exp(low + width * (at as f64 + 0.5));
            (if part == 0 { q } else { p } / size).cbrt() * size
        };
        let all: f64 = (0..BINS).map(weight).sum();
        (0..BINS).for_each(|at| weights[at] += weight(at) / all / 3.0);
    }
    weights
        .iter_mut()
        .for_each(|weight| *weight += 1.0 / (3 * BINS) as f64);
    let mut ends = vec![0.0];
    let (mut reached, mut at) = (0.0, 0);
    for k in 0..=CELLS {
        let wanted = k as f64 / CELLS as f64;
        while at < BINS - 1 && reached + weights[at] < wanted {
            reached += weights[at];
            at += 1;
        }
        let part = ((wanted - reached) / weights[at])
            .at_most(1.0)
            .at_least(0.0);
        let end = exp(low + width * (at as f64 + part));
        if end > ends[ends.len() - 1] {
            ends.push(end);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::{Accountant, Sides};
    use crate::mechanism::RandomAllocation;
    use crate::profile::Cells;

    type Both = [Vec<Cell>; 2];

    /// δ(ε) of both orders, from below and from above.
    fn deltas(both: &Both, epsilon: f64) -> [(f64, f64); 2] {
        let of = |cells: &[Cell]| {
            let swapped: Vec<Cell> = cells.iter().map(|cell| cell.swapped()).collect();
            [cells, &swapped].map(|cells| Cells(cells).delta(epsilon))
        };
        let [most, least] = [of(&both[0]), of(&both[1])];
        [(least[0], most[0]), (least[1], most[1])]
    }

    fn check((least, most): (f64, f64), exact: f64, near: f64, what: &str) {
        assert!(
            least <= exact * (1.0 + 1e-11) && exact <= most * (1.0 + 1e-11),
            "{what}: {least:e} {exact:e} {most:e}"
        );
        assert!(
            most - least <= near * exact,
            "{what}: {least:e} {exact:e} {most:e}"
        );
    }

    /// One step by its closed form, two by an integral over the noise of the first with 20 digits (mpmath 1.4).
    #[test]
    fn one_and_two_steps_are_their_integrals() {
        for (sigma, epsilon, one, two) in [
            (2.0, 0.0, 0.197_412_651_365_85, [0.144_028_324_762_41; 2]),
            (
                2.0,
                0.5,
                0.052_440_323_287_67,
                [0.018_326_594_760_935, 0.017_397_485_846_784],
            ),
            (
                2.0,
                2.0,
                9.439_168_634_947_2e-6,
                [2.881_186_274_777_9e-8, 1.942_995_595_533_6e-9],
            ),
            (
                1.0,
                0.5,
                0.238_421_708_134_88,
                [0.149_177_523_135_52, 0.142_686_965_823_74],
            ),
            (
                1.0,
                2.0,
                0.020_923_635_821_114,
                [0.004_745_777_633_248_3, 0.002_055_924_529_664_5],
            ),
            (0.5, 0.0, 0.682_689_492_137_09, [0.599_750_611_426_72; 2]),
            (
                0.5,
                2.0,
                0.331_897_998_776_83,
                [0.232_321_343_459_06, 0.186_449_148_388_19],
            ),
        ] {
            for (found, what) in deltas(&sides(1.0 / sigma, 1), epsilon)
                .into_iter()
                .zip(["added", "removed"])
            {
                check(
                    found,
                    one,
                    1e-3,
                    &format!("one step, {what}, {sigma}, {epsilon}"),
                );
            }
            let found = deltas(&sides(1.0 / sigma, 2), epsilon);
            let near = if two[1] < 1e-6 { 1e-2 } else { 1e-3 };
            for (at, what) in ["added", "removed"].into_iter().enumerate() {
                check(
                    found[at],
                    two[at],
                    near,
                    &format!("two steps, {what}, {sigma}, {epsilon}"),
                );
            }
        }
    }

    /// By transforms of the numbers on an even grid, and of the losses (numpy 2.4), to the digits that grids of half the
    /// fineness repeat: the larger of both orders at four ε.
    #[test]
    fn epochs_of_many_steps_are_those_of_other_grids() {
        for (sigma, steps, epochs, exact) in [
            (
                1.0,
                10,
                1,
                [0.152_014_33, 0.114_189_90, 0.026_850_36, 0.002_782_869],
            ),
            (
                1.0,
                10,
                5,
                [0.333_966_13, 0.301_823_57, 0.187_677_19, 0.087_729_81],
            ),
            (
                2.0,
                100,
                10,
                [0.067_092_87, 0.030_123_30, 9.424_57e-5, 7.75e-11],
            ),
            (
                1.0,
                1000,
                20,
                [0.073_759_57, 0.036_159_98, 2.697_39e-4, 3.098e-9],
            ),
        ] {
            let mechanism = RandomAllocation::new(sigma, steps).unwrap();
            let accountant = Accountant::of_mechanism(&mechanism, epochs).unwrap();
            for (epsilon, exact) in [0.0, 0.1, 0.5, 1.0].into_iter().zip(exact) {
                let Sides { least, most } = accountant.delta(epsilon);
                let what = format!("{sigma}, {steps} steps, {epochs} epochs, {epsilon}");
                // The digits of the value.
                let digits = if exact < 1e-8 { 2e-2 } else { 1e-5 };
                assert!(
                    least <= exact * (1.0 + digits) && exact <= most * (1.0 + digits),
                    "{what}: {least:e} {exact:e} {most:e}"
                );
                assert!(
                    most - least <= 1e-2 * most,
                    "{what}: {least:e} {exact:e} {most:e}"
                );
            }
        }
    }

    /// One number that is far larger than the others: 800,000 samples of 999 numbers (numpy), and given them the mean over the
    /// largest one in closed form; errors are four standard errors or more.
    #[test]
    fn rare_large_numbers_keep_their_weight() {
        let both = sides(1.0, 1000);
        for (epsilon, exact, error) in [(0.5, 1.727_81e-10, 2.2e-3), (1.0, 2.269_83e-13, 1e-4)] {
            let (least, most) = deltas(&both, epsilon)[0];
            assert!(
                least <= exact * (1.0 + error) && exact <= most * (1.0 + error),
                "{epsilon}: {least:e} {exact:e} {most:e}"
            );
            assert!(most / least < 1.02, "{epsilon}: {least:e} {most:e}");
        }
    }

    /// Masses sum to 1, sides keep their order, and no step is told better than if it always used the record.
    #[test]
    fn hostile_parameters_have_sides() {
        for (sigma, steps) in [
            (0.1, 1),
            (0.1, 1_000_000_000),
            (0.1, 999),
            (1000.0, 1),
            (1000.0, 123_456_789),
            (0.3, 1_000_003),
        ] {
            let both = sides(1.0 / sigma, steps);
            for cells in &both {
                let sum = |of: fn(&Cell) -> f64| cells.iter().map(of).sum::<f64>();
                let (p, q) = (sum(|cell| cell.p), sum(|cell| cell.q));
                assert!(
                    (p - 1.0).abs() < 1e-9 && (q - 1.0).abs() < 1e-9,
                    "{sigma} {steps}: {p} {q}"
                );
            }
            for epsilon in [0.0, 0.01, 1.0, 10.0] {
                let plain = crate::hockey_stick::gaussian(1.0 / sigma, epsilon);
                for (least, most) in deltas(&both, epsilon) {
                    assert!(
                        least <= most * (1.0 + 1e-9) && least <= plain * (1.0 + 1e-9),
                        "{sigma} {steps} {epsilon}: {least:e} {most:e} {plain:e}"
                    );
                }
            }
        }
        for (sigma, steps) in [
            (0.0, 1),
            (f64::NAN, 1),
            (1e308, 1),
            (1.0, 0),
            (1.0, u64::MAX),
        ] {
            assert!(RandomAllocation::new(sigma, steps).is_err());
        }
    }
}
