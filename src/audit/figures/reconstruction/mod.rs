//! The success of a reconstruction: sup P(E) with Q(E) ≤ κ over all ordered pairs of secrets.
//!
//! From below by one event that the tuning rows chose and the certification rows judge; from above, where the log is
//! discrete, by limits of hockey-stick divergences of all pairs. See [`leakgauge_stats::reconstruction`].

pub(crate) mod figure;
pub(crate) mod plan;

use crate::audit::pair::Pair;
use crate::estimate::Estimate;

/// The success of a reconstruction at one κ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reconstruction {
    /// κ, the success without the observation.
    pub without: f64,
    /// The secret that the event finds, of law P, then the other, of law Q: the pair that the tuning rows chose.
    pub secrets: Pair,
    /// sup P(E) with Q(E) ≤ κ: the lower limit is from this pair, the upper limit holds for all ordered pairs.
    pub success: Estimate,
}
