//! Stretches of h with precomputed quadrature rules.

use crate::extreme::Extreme;
use std::ops::Range;

use super::game::Game;
use super::quadrature::{POINTS, RULE, Sum, legendre};

/// An atom of the likelihood ratio: the interval \[above, above + width\] of h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom {
    /// The mass of Q above its ratio.
    pub above: f64,
    /// Its mass under Q.
    pub width: f64,
    /// Its mass under P minus that under Q: (t − 1)·width.
    pub excess: f64,
}

impl Atom {
    /// ∫ (t − 1)·ahead(h) dh.
    pub fn integral(&self, game: &Game) -> f64 {
        self.excess * game.mean_ahead(self.above, self.width)
    }
}

/// An interval of h on which a rule with [`POINTS`] nodes integrates (t − 1) times any polynomial of
/// degree below [`POINTS`] exactly.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    pub from: f64,
    pub width: f64,
    weights: [f64; POINTS],
    inside: Inside,
}

#[derive(Debug, Clone, PartialEq)]
enum Inside {
    /// Atoms, by their numbers.
    Atoms(Range<usize>),
    /// t − 1 at the nodes; a polynomial in double precision.
    Smooth([f64; POINTS]),
}

impl Panel {
    /// The rule for neighboring atoms: their moments of Legendre polynomials, each over its own width.
    pub fn of_atoms(atoms: &[Atom], range: Range<usize>) -> Panel {
        let part = &atoms[range.clone()];
        let from = part[0].above;
        let last = part[part.len() - 1];
        let width = (last.above + last.width - from).at_least(f64::MIN_POSITIVE);
        let mut moments = [0.0; POINTS];
        for atom in part {
            // Half of the nodes would suffice; narrow atoms need only their midpoint.
            if atom.width < 1e-9 * width {
                let middle = (atom.above - from + 0.5 * atom.width) / width;
                add_moments(&mut moments, middle, atom.excess);
                continue;
            }
            for (&node, &weight) in RULE.nodes.iter().zip(&RULE.weights) {
                let u = (atom.above - from + node * atom.width) / width;
                add_moments(&mut moments, u, weight * atom.excess);
            }
        }
        let weights = std::array::from_fn(|g| {
            let p = legendre(2.0 * RULE.nodes[g] - 1.0);
            let at_node = |j: usize| (2 * j + 1) as f64 * moments[j] * p[j];
            RULE.weights[g] * (0..POINTS).map(at_node).sum::<f64>()
        });
        Panel {
            from,
            width,
            weights,
            inside: Inside::Atoms(range),
        }
    }

    /// The rule for t − 1 given at the nodes.
    pub fn smooth(from: f64, width: f64, values: [f64; POINTS]) -> Panel {
        Panel {
            from,
            width,
            weights: std::array::from_fn(|g| width * RULE.weights[g] * values[g]),
            inside: Inside::Smooth(values),
        }
    }

    /// ∫ (t − 1) dh.
    pub fn excess(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Adds ∫ (t − 1)·ahead(h) dh over the panel.
    pub fn integrate(&self, atoms: &[Atom], game: &Game, sum: &mut Sum) {
        if game.is_smooth(self.from, self.width) {
            for (&u, &weight) in RULE.nodes.iter().zip(&self.weights) {
                sum.add(weight * game.ahead(self.from + u * self.width));
            }
            return;
        }
        match &self.inside {
            Inside::Atoms(range) => {
                let part = &atoms[range.clone()];
                part.iter().for_each(|atom| sum.add(atom.integral(game)));
            }
            Inside::Smooth(values) => game.steps(self.from, self.width, |at, step| {
                for (&u, &weight) in RULE.nodes.iter().zip(&RULE.weights) {
                    let h = at + u * step;
                    let excess = RULE.interpolate(values, (h - self.from) / self.width);
                    sum.add(weight * step * excess * game.ahead(h));
                }
            }),
        }
    }
}

fn add_moments(moments: &mut [f64; POINTS], u: f64, mass: f64) {
    let p = legendre(2.0 * u - 1.0);
    for (moment, p) in moments.iter_mut().zip(p) {
        *moment += mass * p;
    }
}
