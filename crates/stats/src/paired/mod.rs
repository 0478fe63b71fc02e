//! Differences of measurements that were taken in pairs.
//!
//! A block holds one measurement of each class, taken close together, so that what drifts meets all classes
//! alike. For two classes a and b, block i gives the difference d_i = b_i − a_i. Nothing is assumed of the measurements
//! inside a block. Drift that classes share leaves differences of blocks independent of each other. Where differences
//! of consecutive blocks resemble each other all the same, which [`Sample`] tests, limits are wider.
//!
//! | function | about | assumes of the differences |
//! |---|---|---|
//! | [`median()`] | their median | nothing: valid at every size |
//! | [`hodges_lehmann()`] | the median of their pairwise means | asymptotic |
//! | [`trimmed_mean`], [`mean`] | their mean, without the largest and smallest, or of all | asymptotic; the mean: a variance |
//! | [`decile_shifts`] | by how much each decile of the classes differs | asymptotic; a density at the deciles |
//! | [`exchangeable`] | a test: does it matter which is which? | nothing |
//! | [`PairedRule`] | telling which is which | nothing |
//!
//! Every limit has probability at most `alpha` of being wrong, one by one; both together at most 2·`alpha`.

mod advantage;
mod deciles;
mod hodges_lehmann;
mod means;
mod median;
mod sample;
mod signs;
#[cfg(test)]
mod simulation;
mod times;

pub use advantage::{PairedErrors, PairedRule};
pub use deciles::{DECILES, decile_shifts};
pub use hodges_lehmann::hodges_lehmann;
pub(crate) use hodges_lehmann::{number, ordered};
pub(crate) use means::skewed;
pub use means::{mean, trimmed_mean};
pub use median::{least_blocks, median, median_above, median_below, median_beyond, of_sorted};
pub use sample::Sample;
pub use signs::{PairedTest, Sense, exchangeable};
pub use times::{Times, sorted};

/// A location of differences in the unit of the measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// The estimate.
    pub point: f64,
    /// It is at least this; −∞ where there are too few differences to say.
    pub lower: f64,
    /// It is at most this; ∞ where there are too few differences to say.
    pub upper: f64,
}

/// The middle of sorted values.
fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}
