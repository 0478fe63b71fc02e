//! Differences of measurements that were taken one by one: two independent samples.
//!
//! Nothing ties a measurement of class a to one of class b, so that there are no differences of blocks to look at. What
//! can be compared are the quantiles, the means and the ranks of the two samples. Drift is noise here, and rows that
//! depend on each other make every limit too narrow: blocks ([`paired`](crate::paired)) are better wherever a log has
//! them.
//!
//! | function | about | assumes, beside independent rows |
//! |---|---|---|
//! | [`quantile_shift`] | by how much a quantile of b exceeds that of a | nothing: valid at every size |
//! | [`quantile_beyond`] | a test: does it exceed it by more than this? | nothing |
//! | [`hodges_lehmann`] | the median of all differences between the two | asymptotic |
//! | [`trimmed_mean`], [`mean`] | the difference of means, without the extreme values, or of all | asymptotic; the mean: a variance |
//! | [`same_law`] | a test: do the two have one law? | nothing; ranks: asymptotic |
//!
//! Every limit has probability at most `alpha` of being wrong, one by one; both together at most 2·`alpha`.

mod means;
mod quantiles;
mod ranked;
mod ranks;
#[cfg(test)]
mod simulation;

pub use means::{mean, trimmed_mean};
pub use quantiles::{least_rows, quantile_beyond, quantile_shift};
pub use ranked::Ranked;
pub use ranks::{SameLaw, hodges_lehmann, same_law};
