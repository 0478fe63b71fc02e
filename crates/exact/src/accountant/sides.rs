//! Figures between certified sides.

use crate::extreme::Extreme;

/// A number between two certified sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// At least this.
    pub least: f64,
    /// At most this.
    pub most: f64,
}

/// (δ, 1 − δ) of a direction of a pair from above and from below.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToldSides {
    pub most: (f64, f64),
    pub least: (f64, f64),
}

/// Sides of an integral farther apart than this part of them are compared with those of a grid.
pub(super) const WIDE: f64 = 0.01;

impl ToldSides {
    /// Whether both sides of δ and of 1 − δ are near to each other.
    pub fn is_near(&self) -> bool {
        let near = |most: f64, least: f64| most - least <= WIDE * most;
        near(self.most.0, self.least.0) && near(self.least.1, self.most.1)
    }

    /// Whether all four are numbers.
    pub fn is_known(&self) -> bool {
        let each = [self.most.0, self.most.1, self.least.0, self.least.1];
        each.iter().all(|side| side.is_finite())
    }

    /// What both know.
    pub fn with(&self, other: &ToldSides) -> ToldSides {
        ToldSides {
            most: (
                self.most.0.at_most(other.most.0),
                self.most.1.at_least(other.most.1),
            ),
            least: (
                self.least.0.at_least(other.least.0),
                self.least.1.at_most(other.least.1),
            ),
        }
    }
}
