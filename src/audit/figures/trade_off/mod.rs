//! What the attack's score achieves at every threshold on the worst pair.

pub(crate) mod figure;

use crate::audit::pair::Pair;
use crate::estimate::{Estimate, Method};

/// What the attack's score achieves on a pair of secrets, at every threshold. The score was chosen on the
/// tuning rows; of several pairs, each has a part of α, as in the table of their total variations.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// True positives at a few false positive rates, in both directions.
    pub operating_points: Vec<OperatingPoint>,
    /// At which level these limits hold.
    pub operating_levels: Levels,
    /// The empirical trade-off curve.
    pub curve: Curve,
    /// What holds around the curve.
    pub band: Band,
    /// The area under the ROC curve; limits are about this attack, and hold for any law of its scores.
    pub area: Estimate,
    /// DeLong's standard error of it, an approximation; `None` with fewer than two rows of a secret.
    pub area_standard_error: Option<f64>,
    /// The mean of both shares of right answers at the threshold for the advantage, of this attack.
    pub balanced_accuracy: Estimate,
    /// μ of Gaussian differential privacy: the limit is about the mechanism, by all that is certified of the pair.
    pub mu: Estimate,
    /// The Gaussian curve that is most like the attack's; not a bound of anything.
    pub gaussian_fit: GaussianFit,
    /// Lower limits of ε for some δ, by all that is certified of the pair: they hold together, and with that of μ.
    pub epsilon: Vec<BandEpsilon>,
}

/// True positives at a false positive rate.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingPoint {
    /// The secret whose rows are found, then the one whose rows raise false alarms.
    pub secrets: Pair,
    /// Share of these at most.
    pub false_positive_rate: f64,
    /// Share of the rows that are found, with the best threshold on this score.
    pub true_positive_rate: Estimate,
}

/// How limits of several figures hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Both limits of one operating point.
    pub each: f64,
    /// All limits of all operating points together, at least (Bonferroni).
    pub together: f64,
}

/// Both errors of the attack at descending thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The secret that the attack says above the threshold, missing which is the type II error; then the one
    /// that it takes for it there, the type I error.
    pub secrets: Pair,
    /// How many thresholds differ; so many that only some are listed.
    pub thresholds: usize,
    /// Share of the second secret above the threshold.
    pub type_1: Vec<f64>,
    /// Share of the first secret at or below it.
    pub type_2: Vec<f64>,
}

/// A simultaneous band: at every threshold each error is at most its radius away from the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Of the type I error.
    pub type_1_radius: f64,
    /// Of the type II error.
    pub type_2_radius: f64,
    /// The level at which both hold at all thresholds.
    pub confidence: f64,
    /// How.
    pub method: Method,
}

/// The trade-off curve of two normal laws that are μ deviations apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianFit {
    /// Their distance; `None` where it is infinite.
    pub mu: Option<f64>,
    /// How it was fitted.
    pub method: Method,
}

/// A lower limit of ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandEpsilon {
    /// The δ.
    pub delta: f64,
    /// The limit.
    pub lower: Option<f64>,
}
