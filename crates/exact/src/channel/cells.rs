//! Noise on numbers between two channels with matrices.
//!
//! # Formula
//! An observation x has the densities v(x) = (f(x − s))_s. *Below* is the channel that tells only the cell of x: whoever sees
//! it learns at most as much. *Above* is one from which x can be drawn, so that whoever sees x learns at most as much: in
//! each cell v(x) is written as a sum Σ_j w_j(x)·u_j of fixed vectors with weights that are not negative, and ∫w_j·u_j is a
//! column. Every leakage that no post-processing raises lies between both.
//!
//! Laplace noise, between two neighboring secrets: v is spanned by e^x and e^−x, so that on a cell of length h (in scales)
//! v(x) = (sinh(h − y)·v(left) + sinh(y)·v(right))/sinh h at y from its left end. Both weights have the integral
//! tanh(h/2). Beyond all secrets v(x) is a multiple of v at the outermost one.
//!
//! Gaussian noise, on a cell with the middle c and the length h (in σ): over the density around c, that around s is
//! e^((s − c)x) up to a factor, which is at most its chord, and at least the chord times e^(−(s − c)²h²/8) (Hoeffding's lemma
//! for a value that is one of the ends). So v(x) is that part of the chord, the sum of multiples of v at the ends, and a rest,
//! for which the secret itself is told. Where two cells meet, the smaller part counts for both, so that one column is enough.
//!
//! # References
//! W. Hoeffding, *Probability inequalities for sums of bounded random variables*, equation (4.16), 1963. D. Blackwell,
//! *Equivalent comparisons of experiments*, doi:10.1214/aoms/1177729032.

use libm::{erfc, exp, expm1, tanh};

use crate::channel::Channel;
use crate::extreme::Extreme;
use crate::profile::integral_between;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::format_number;

/// The entries of a matrix of cells, about, and the most cells.
const ENTRIES: f64 = 2e5;
const MOST_CELLS: f64 = 2e4;
/// Cells for each secret at least.
const LEAST_CELLS: f64 = 8.0;
/// The most secrets.
pub(super) const MOST_SECRETS: usize = 500;

/// The two channels.
pub(super) struct Sides {
    pub below: Channel,
    pub above: Channel,
}

/// A matrix by columns, in the order of the line.
struct Columns {
    labels: Vec<String>,
    /// For each column, the entries of all secrets.
    entries: Vec<Vec<f64>>,
}

impl Columns {
    fn channel(self, secrets: &[String]) -> Result<Channel> {
        let n = secrets.len();
        let sums: Vec<f64> = (0..n)
            .map(|s| self.entries.iter().map(|column| column[s]).sum())
            .collect();
        let row = |s: usize| self.entries.iter().map(move |column| column[s]);
        check_sums(&sums)?;
        let rows = (0..n).flat_map(|s| row(s).map(move |p| (s, p)));
        let values = rows.map(|(s, p)| p / sums[s]).collect();
        Channel::new(secrets.to_vec(), self.labels, values)
    }
}

/// Only rounding is left of the difference of rows from 1: no mass is lost before they are normalized.
///
/// # Errors
/// More is left.
pub(super) fn check_sums(sums: &[f64]) -> Result<()> {
    // What is not a number is not near 1 either.
    let is_one = |sum: &f64| (sum - 1.0).abs() <= 1e-9;
    match sums.iter().find(|sum| !is_one(sum)) {
        None => Ok(()),
        Some(sum) => Err(Error::parameter(
            "channel",
            format!("the probabilities of its cells sum to {sum} and not 1"),
        )
        .with_hint("a parameter is too small or too large for double precision")),
    }
}

/// About how many cells are enough for so many secrets.
pub(super) fn number_of_cells(secrets: usize) -> f64 {
    let n = secrets as f64;
    (ENTRIES / n)
        .at_most(MOST_CELLS)
        .at_least(LEAST_CELLS * n)
        .floor()
}

fn between(from: f64, to: f64) -> String {
    format!("{} to {}", format_number(from), format_number(to))
}

/// Laplace noise around some numbers, with about so many cells.
pub(super) fn laplace(
    scale: f64,
    centers: &[f64],
    secrets: &[String],
    cells: f64,
) -> Result<Sides> {
    let first = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let places: Vec<f64> = centers.iter().map(|x| (x - first) / scale).collect();
    let mut sorted = places.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let last = sorted[sorted.len() - 1];
    // Nodes, and the weight of v there in all.
    let mut nodes = vec![sorted[0]];
    for gap in sorted.windows(2) {
        let share = (gap[1] - gap[0]).at_most(2.0 * DEEP) / spread(&sorted);
        let count = (cells * share).at_least(1.0).ceil();
        nodes.extend(cuts((gap[0], gap[1]), count));
    }
    let length = |at: usize| nodes[at + 1] - nodes[at];
    let weight = |at: usize| {
        let left = if at == 0 {
            1.0
        } else {
            tanh(0.5 * length(at - 1))
        };
        let right = if at + 1 == nodes.len() {
            1.0
        } else {
            tanh(0.5 * length(at))
        };
        left + right
    };
    let above = (0..nodes.len()).map(|at| {
        let entry = |s: &f64| 0.5 * weight(at) * exp(-(nodes[at] - s).abs());
        places.iter().map(entry).collect()
    });
    let label = |at: usize| first + scale * nodes[at];
    let above = Columns {
        labels: (0..nodes.len())
            .map(|at| format!("at {}", format_number(label(at))))
            .collect(),
        entries: above.collect(),
    };
    let mut below = Columns {
        labels: vec![format!("below {}", format_number(first))],
        entries: vec![places.iter().map(|s| 0.5 * exp(-s)).collect()],
    };
    for at in 0..nodes.len() - 1 {
        // No secret is inside.
        let nearest = |s: &f64| (nodes[at] - s).abs().at_most((nodes[at + 1] - s).abs());
        let mass = |s: &f64| -0.5 * exp(-nearest(s)) * expm1(-length(at));
        below.labels.push(between(label(at), label(at + 1)));
        below.entries.push(places.iter().map(mass).collect());
    }
    below
        .labels
        .push(format!("above {}", format_number(first + scale * last)));
    below
        .entries
        .push(places.iter().map(|s| 0.5 * exp(s - last)).collect());
    Ok(Sides {
        below: below.channel(secrets)?,
        above: above.channel(secrets)?,
    })
}

/// Farther than so many scales from both ends of a gap, one cell is enough: it has less than e^−45 of all mass.
const DEEP: f64 = 45.0;

/// The length in which cells are needed.
fn spread(sorted: &[f64]) -> f64 {
    let gaps = sorted
        .windows(2)
        .map(|gap| (gap[1] - gap[0]).at_most(2.0 * DEEP));
    gaps.sum::<f64>().at_least(f64::MIN_POSITIVE)
}

/// The ends of cells of equal length in a gap, the last one included, or in both ends of a wide one.
fn cuts((from, to): (f64, f64), count: f64) -> Vec<f64> {
    let inside = |from: f64, to: f64, count: f64| {
        let step = (to - from) / count;
        let inner = (1..count as u64).map(move |i| from + step * i as f64);
        inner.chain([to]).collect::<Vec<f64>>()
    };
    if to - from <= 2.0 * DEEP {
        return inside(from, to, count);
    }
    let half = (0.5 * count).ceil();
    let mut all = inside(from, from + DEEP, half);
    all.push(to - DEEP);
    all.extend(inside(to - DEEP, to, half));
    all
}

/// Beyond so many σ from all secrets the secret is told.
const FAR: f64 = 8.5;
/// The longest cells that are not told altogether, in σ.
const LONGEST: f64 = 2.0;

/// Gaussian noise around some numbers, with so many cells.
pub(super) fn gaussian(
    sigma: f64,
    centers: &[f64],
    secrets: &[String],
    count: f64,
) -> Result<Sides> {
    let first = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let places: Vec<f64> = centers.iter().map(|x| (x - first) / sigma).collect();
    let last = places.iter().copied().fold(0.0, f64::at_least);
    let step = (last + 2.0 * FAR) / count;
    let node = |at: f64| step * at - FAR;
    let label = |at: f64| first + sigma * node(at);
    let tail = |x: f64| 0.5 * erfc(x * std::f64::consts::FRAC_1_SQRT_2);
    let mut below = Columns {
        labels: vec![format!("below {}", format_number(label(0.0)))],
        entries: vec![places.iter().map(|s| tail(s - node(0.0))).collect()],
    };
    for at in (0..count as u64).map(|at| at as f64) {
        let mass = |s: &f64| {
            let (from, to) = (node(at) - s, node(at + 1.0) - s);
            if from >= 0.0 {
                tail(from) - tail(to)
            } else if to <= 0.0 {
                tail(-to) - tail(-from)
            } else {
                1.0 - tail(-from) - tail(to)
            }
        };
        below.labels.push(between(label(at), label(at + 1.0)));
        below.entries.push(places.iter().map(mass).collect());
    }
    below
        .labels
        .push(format!("above {}", format_number(label(count))));
    below
        .entries
        .push(places.iter().map(|s| tail(node(count) - s)).collect());
    let above = gaussian_above(&places, step, count, label);
    Ok(Sides {
        below: below.channel(secrets)?,
        above: above.channel(secrets)?,
    })
}

/// The columns at the ends of the cells, and one for each secret.
fn gaussian_above(places: &[f64], step: f64, count: f64, label: impl Fn(f64) -> f64) -> Columns {
    let mut above = Columns {
        labels: Vec::new(),
        entries: Vec::new(),
    };
    let mut left: Vec<f64> = vec![1.0; places.len()];
    // The weight of an end: ∫(1 − u/h)·e^(u(h − u)/2) du over the cell.
    let weight = integral_between((0.0, step), 4, |u| {
        (1.0 - u / step) * exp(0.5 * u * (step - u))
    });
    let root = (2.0 * std::f64::consts::PI).sqrt();
    let cells = if step <= LONGEST { count } else { 0.0 };
    for at in (0..=cells as u64)
        .map(|at| at as f64)
        .filter(|_| cells > 0.0)
    {
        let place = step * at - FAR;
        let entry = |s: &f64| {
            let x = place - s;
            // By the cell whose middle is farther from the secret: then the columns of both cells are one.
            let middle = x.abs() + 0.5 * step;
            let kept = exp(-0.125 * middle * middle * step * step);
            let cells_beside = if at == 0.0 || at == cells { 1.0 } else { 2.0 };
            weight * cells_beside * kept * exp(-0.5 * x * x) / root
        };
        let column: Vec<f64> = places.iter().map(entry).collect();
        left.iter_mut()
            .zip(&column)
            .for_each(|(rest, p)| *rest -= p);
        above
            .labels
            .push(format!("at {}", format_number(label(at))));
        above.entries.push(column);
    }
    for (secret, rest) in left.iter().enumerate() {
        let mut column = vec![0.0; places.len()];
        column[secret] = rest.at_least(0.0);
        above.labels.push(format!("secret {}", secret + 1));
        above.entries.push(column);
    }
    above
}
