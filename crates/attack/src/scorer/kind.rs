//! What an attack is called when it is tried again.

use std::borrow::Cow;

use crate::scorer::TransformKind;
use leakgauge_neighbors::Metric;

/// A kind of attack: what stays when ranks, weights and thresholds are chosen anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The name of the attack.
    pub name: Cow<'static, str>,
    /// The distance of neighbors and what numbers are turned into first.
    pub space: Option<(Metric, TransformKind)>,
}

impl Kind {
    /// A kind that does not look for neighbors.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Kind {
            name: name.into(),
            space: None,
        }
    }

    /// Neighbors by a distance, however they decide.
    pub fn neighbors(metric: Metric, transform: TransformKind) -> Self {
        Kind {
            name: "knn".into(),
            space: Some((metric, transform)),
        }
    }
}
