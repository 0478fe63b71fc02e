//! What tells δ beside an integral, whose sides may be far apart.

use std::sync::OnceLock;

use super::Direction;
use super::closed_forms::UNKNOWN;
use super::contour::{Contour, NOTHING};
use super::enclosed::Enclosed;
use super::normal::Normal;
use super::sides::{Sides, ToldSides, WIDE};
use crate::extreme::Extreme;

/// An integral, the same for losses that end at a point, and on a grid, once they are needed.
#[derive(Debug)]
pub(super) struct Beside {
    normal: Normal,
    contour: Contour,
    /// Where rare losses are far larger than most: of losses that end where they matter to no δ from a value on.
    enclosed: Option<[OnceLock<Box<Enclosed>>; LEAST.len()]>,
    grid: OnceLock<Box<Direction>>,
}

/// The values of δ, and the part of them that tails of all steps together have.
const LEAST: [f64; 6] = [1e-8, 1e-15, 1e-30, 1e-60, 1e-120, 1e-240];
const CUT: f64 = 1e-3;

impl Beside {
    /// `None` if points of the integral would be too many.
    pub fn new(normal: Normal, steps: u64) -> Option<Beside> {
        let contour = Contour::new(normal, steps)?;
        let is_hopeless = is_hopeless(normal, steps);
        Some(Beside {
            normal,
            contour,
            enclosed: is_hopeless.then(Default::default),
            grid: OnceLock::new(),
        })
    }

    fn grid(&self) -> &Direction {
        let of_steps = || Direction::on_grid(&self.normal.loss(), self.contour.steps());
        self.grid.get_or_init(|| Box::new(of_steps()))
    }

    /// The ends of losses, nearer ones first, each with the least δ.
    fn enclosed(&self) -> impl Iterator<Item = (f64, &Enclosed)> {
        let levels = self.enclosed.iter().flatten().zip(LEAST);
        levels.map(|(level, least)| {
            let made = || enclosed(self.normal, self.contour.steps(), least);
            (least, &**level.get_or_init(|| Box::new(made())))
        })
    }

    /// Both sides of δ(ε) and 1 − δ(ε), which may be far apart where δ is no larger than `floor`.
    pub fn told(&self, epsilon: f64, floor: f64) -> ToldSides {
        let floor = floor.at_least(NOTHING);
        let is_enough = |told: &ToldSides| told.most.0 <= floor || told.is_near();
        if self.enclosed.is_some() && self.contour.known(epsilon).is_none() {
            let (mut told, mut is_last) = (UNKNOWN, false);
            for (least, enclosed) in self.enclosed() {
                told = told.with(&enclosed.told(epsilon));
                let is_of_level = told.most.0 >= least;
                if told.most.0 <= floor || is_of_level && (is_last || told.is_near()) {
                    break;
                }
                is_last = is_of_level;
            }
            return told;
        }
        let told = self.contour.told(epsilon, floor);
        match is_enough(&told) {
            true => told,
            false => told.with(&self.grid().told(epsilon, floor)),
        }
    }

    /// Both sides of ε(δ), which may be far apart where ε is no larger than `floor`.
    pub fn epsilon(&self, delta: f64, floor: f64) -> Sides {
        let is_enough =
            |sides: &Sides| sides.most <= floor || sides.most - sides.least <= WIDE * sides.most;
        let both = |one: Sides, other: Sides| Sides {
            least: one.least.at_least(other.least),
            most: one.most.at_most(other.most),
        };
        let mut levels = self.enclosed().filter(|(least, _)| delta >= *least);
        if let Some((_, enclosed)) = levels.next() {
            let sides = enclosed.epsilon(delta);
            let finer = levels.next().filter(|_| !is_enough(&sides));
            return finer.map_or(sides, |(_, finer)| both(sides, finer.epsilon(delta)));
        }
        let sides = self.contour.epsilon(delta, floor);
        if is_enough(&sides) {
            return sides;
        }
        both(sides, self.grid().epsilon(delta, floor))
    }
}

/// Whether rare losses, far larger than most, leave no line that tells δ.
pub(super) fn is_hopeless(normal: Normal, steps: u64) -> bool {
    steps > 1 && normal.is_of_rare_losses(steps as f64)
}

/// Losses that end where they matter to no δ from a value on.
pub(super) fn enclosed(normal: Normal, steps: u64, least: f64) -> Enclosed {
    let cut = CUT * least / steps as f64;
    // Farther out more standard deviations count; very far out a bound is enough.
    let width = match least {
        1e-16.. => 0.01,
        1e-31.. => 5e-3,
        _ => 0.02,
    };
    Enclosed::new(normal, steps, (cut, width))
}
