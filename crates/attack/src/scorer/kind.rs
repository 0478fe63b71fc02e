//! What an attack is called when it is tried again.

use crate::scorer::{Metric, TransformKind};

/// A kind of attack: what stays when ranks, weights and thresholds are chosen anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The name on the command line.
    pub name: &'static str,
    /// The distance of neighbors and what numbers are turned into first.
    pub space: Option<(Metric, TransformKind)>,
}

impl Kind {
    /// A kind that does not look for neighbors.
    pub fn named(name: &'static str) -> Self {
        Kind { name, space: None }
    }

    /// Neighbors by a distance, however they decide.
    pub fn neighbors(metric: Metric, transform: TransformKind) -> Self {
        Kind {
            name: "knn",
            space: Some((metric, transform)),
        }
    }
}
