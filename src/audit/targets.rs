//! Which quantities the claims of privacy are about.

use crate::audit::neighbors::NeighborPairs;
use leakgauge_attack::pairwise::{Target, pairs};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::{BoundClaim, BoundPromise, Curve};

/// The quantities that thresholds are chosen for.
#[derive(Debug)]
pub(super) struct Targets {
    /// ε at δ = 0 first, then those of the claims, each once.
    pub list: Vec<Target>,
    /// For each claim the positions of its targets: one of a claim of privacy, some of a curve.
    pub of_claims: Vec<Vec<usize>>,
}

impl Targets {
    /// The targets of claims about so many secrets, of which these are neighbors.
    pub fn new(claims: &[BoundClaim], secrets: usize, neighbors: &NeighborPairs) -> Self {
        let mut list = vec![Target::All(PrivacyParameter::Epsilon { delta: 0.0 })];
        let mut position = |target: Target| {
            list.iter()
                .position(|known| *known == target)
                .unwrap_or_else(|| {
                    list.push(target);
                    list.len() - 1
                })
        };
        let of_claims = claims
            .iter()
            .map(|claim| {
                let targets = targets(claim, secrets, neighbors);
                targets.into_iter().map(&mut position).collect()
            })
            .collect();
        Targets { list, of_claims }
    }

    /// The positions of the targets that claims read, each once.
    pub fn claimed(&self) -> Vec<usize> {
        let read = |at: &usize| self.of_claims.iter().any(|of| of.contains(at));
        (0..self.list.len()).filter(read).collect()
    }
}

fn targets(claim: &BoundClaim, secrets: usize, neighbors: &NeighborPairs) -> Vec<Target> {
    if let Some(promise) = claim.privacy() {
        return vec![target(promise, secrets, neighbors)];
    }
    let points = claim.curve().map(Curve::spread).unwrap_or_default();
    let at = |(_, delta): (f64, f64)| {
        let quantity = PrivacyParameter::Epsilon { delta };
        of_pairs(secrets, neighbors, quantity)
    };
    points.into_iter().map(at).collect()
}

/// The same quantity at all pairs of neighbors.
fn of_pairs(secrets: usize, neighbors: &NeighborPairs, quantity: PrivacyParameter) -> Target {
    if neighbors.are_all() {
        return Target::All(quantity);
    }
    let each = pairs(secrets).map(|(a, b)| neighbors.contain(a, b).then_some(quantity));
    Target::Each(each.collect())
}

fn target(promise: &BoundPromise, secrets: usize, neighbors: &NeighborPairs) -> Target {
    let first = promise.between(0, 1).quantity();
    let depends_on_the_pair =
        !promise.is_uniform() && first.delta().is_some_and(|delta| delta > 0.0);
    if depends_on_the_pair || !neighbors.are_all() {
        let each = pairs(secrets).map(|(a, b)| {
            let quantity = || promise.between(a as usize, b as usize).quantity();
            neighbors.contain(a, b).then(quantity)
        });
        Target::Each(each.collect())
    } else {
        Target::All(first)
    }
}
