//! The messages of a randomizer in cells.

use crate::extreme::Extreme;
use libm::exp;

use crate::channel::Channel;
use crate::mechanism::{BoundMechanism, NoiseShape};
use crate::shuffle::information::noise_cells;
use crate::shuffle::reidentification::{distribution, mass_between};

/// The most inputs of noise, all of whose pairs are compared.
const MAX_INPUTS: usize = 32;
/// The number of cells of smooth noise between two inputs, and beyond the outermost ones.
const PARTS: usize = 1 << 12;
/// Normal noise is cut off this many σ from its center.
const REACH: f64 = 9.0;

/// Integer and piecewise constant noise is cut off where less than this is left.
const BEYOND: f64 = 1e-30;

/// Messages in cells.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) cells: Vec<Cell>,
    inputs: usize,
    /// An upper bound on the probability of a message outside of all cells, under any input.
    pub(super) beyond: f64,
    /// The density of smooth noise; `None` where the likelihood ratios within a cell are all the same.
    pub(super) smooth: Option<Smooth>,
}

/// The messages between two ends.
#[derive(Debug)]
pub(super) struct Cell {
    /// Its probability under every input.
    pub(super) masses: Vec<f64>,
    /// The input under which it is least likely; so is every message in it.
    pub(super) least: usize,
    /// Of smooth noise: where it begins and ends.
    pub(super) ends: [f64; 2],
}

/// A density around the numbers of the inputs.
#[derive(Debug)]
pub(super) struct Smooth {
    centers: Vec<f64>,
    kernel: Kernel,
}

#[derive(Debug, Clone, Copy)]
enum Kernel {
    Laplace(f64),
    Gaussian(f64),
}

impl Smooth {
    /// The logarithm of the ratio of the densities of two inputs at the ends of a cell; between them it is monotone.
    pub(super) fn log_ratios(&self, cell: &Cell, input: usize) -> [f64; 2] {
        let (own, other) = (self.centers[input], self.centers[cell.least]);
        cell.ends.map(|y| match self.kernel {
            _ if own == other => 0.0,
            Kernel::Laplace(scale) if y.is_infinite() => y.signum() * (own - other) / scale,
            Kernel::Laplace(scale) => ((y - other).abs() - (y - own).abs()) / scale,
            Kernel::Gaussian(sigma) => (own - other) / sigma * ((y - 0.5 * (own + other)) / sigma),
        })
    }
}

impl Cells {
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn of_channel(channel: &Channel) -> Cells {
        let messages = 0..channel.observations().len();
        let cell = |y: usize| Cell::new(channel.rows().map(|row| row[y]).collect(), [0.0; 2]);
        Cells {
            cells: messages.map(cell).collect(),
            inputs: channel.secrets().len(),
            beyond: 0.0,
            smooth: None,
        }
    }

    /// Noise on a number; `None` for other mechanisms, and where inputs or cells are too many.
    pub(super) fn of_noise(bound: &dyn BoundMechanism) -> Option<Cells> {
        if bound.secret_count() > MAX_INPUTS {
            return None;
        }
        let (shape, centers) = bound.located()?;
        let kernel = match shape {
            NoiseShape::Laplace { scale } => Kernel::Laplace(scale),
            NoiseShape::Gaussian { sigma } => Kernel::Gaussian(sigma),
            NoiseShape::Steps { .. } | NoiseShape::Integer(_) => {
                let rows = noise_cells(&shape, &centers).ok()?;
                let cells = (0..rows[0].len())
                    .map(|y| Cell::new(rows.iter().map(|row| row[y]).collect(), [0.0; 2]));
                return Some(Cells {
                    cells: cells.collect(),
                    inputs: centers.len(),
                    beyond: BEYOND,
                    smooth: None,
                });
            }
        };
        let cuts = cuts(&kernel, &centers);
        let from = std::iter::once(f64::NEG_INFINITY).chain(cuts.iter().copied());
        let to = cuts.iter().copied().chain([f64::INFINITY]);
        let cells = from.zip(to).map(|(from, to)| {
            let mass = |c: &f64| mass_between(|x| distribution(&shape, x), from - c, to - c);
            Cell::new(centers.iter().map(mass).collect(), [from, to])
        });
        Some(Cells {
            cells: cells.collect(),
            inputs: centers.len(),
            beyond: 0.0,
            smooth: Some(Smooth {
                kernel,
                centers: centers.to_vec(),
            }),
        })
    }
}

/// The ends of the cells, but −∞ and ∞. Between them no density has a kink, and the same input is the least likely one.
fn cuts(kernel: &Kernel, centers: &[f64]) -> Vec<f64> {
    let low = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let high = centers
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::at_least);
    let (from, to) = match kernel {
        Kernel::Laplace(_) => (low, high),
        Kernel::Gaussian(sigma) => (low - REACH * sigma, high + REACH * sigma),
    };
    let even = (0..=PARTS).map(|at| from + (to - from) * (at as f64 / PARTS as f64));
    let mut cuts: Vec<f64> = even.chain(centers.iter().copied()).collect();
    cuts.push(low + 0.5 * (high - low));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    cuts
}

impl Cell {
    fn new(masses: Vec<f64>, ends: [f64; 2]) -> Cell {
        let by_mass = |a: &usize, b: &usize| masses[*a].total_cmp(&masses[*b]);
        let least = (0..masses.len()).min_by(by_mass).unwrap_or(0);
        Cell {
            masses,
            least,
            ends,
        }
    }

    /// The smallest and the largest ratio of the density of an input to that of the least likely one.
    pub(super) fn ratios(&self, smooth: &Smooth, input: usize) -> [f64; 2] {
        let [x, y] = smooth.log_ratios(self, input).map(exp);
        [x.at_most(y), x.at_least(y)]
    }
}
