//! What attackers are chosen for.

use crate::pairwise::Target;
use crate::pairwise::average::Aim;

/// What attackers are chosen for.
#[derive(Debug, Clone, Copy)]
pub struct Goals<'a> {
    /// Level of the approximate limits that attackers are compared by.
    pub alpha: f64,
    /// Quantities of privacy that a threshold is wanted for, at every pair.
    pub targets: &'a [Target],
    /// Positions of the targets that claims read: the attacker with the largest limits of these is wanted
    /// too, for few errors in the tail are not the same as few errors. Empty: none is.
    pub claimed: &'a [usize],
    /// What one rule for all pairs is wanted for, on the average over pairs, if one is.
    pub average: Option<Aim>,
    /// Priors at which one of all secrets is to be named.
    pub priors: &'a [Vec<f64>],
}

impl Goals<'_> {
    /// The advantage alone.
    pub fn advantage(alpha: f64) -> Self {
        Goals {
            alpha,
            targets: &[],
            claimed: &[],
            average: None,
            priors: &[],
        }
    }
}
