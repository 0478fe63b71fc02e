//! Constant-time tests for a test suite.

mod bets;
mod clock;
mod counter;
mod judge;
mod ledger;
mod log;
mod measure;
mod random;
mod report;
mod settings;
mod stretches;
mod student;
mod test;
mod threshold;

pub use report::{Difference, Outcome, Report};
pub use test::Test;
pub use threshold::{Attacker, Threshold};

/// Fails if one class of inputs takes longer than the other: [`Test`] with two classes.
///
/// # Panics
/// If the medians of the two classes differ by more than the threshold, and as [`Test::run`].
#[track_caller]
pub fn assert_constant_time<'a, I, O>(
    name: &str,
    threshold: impl Into<Threshold>,
    (first, make_first): (&str, impl FnMut() -> I + 'a),
    (second, make_second): (&str, impl FnMut() -> I + 'a),
    run: impl FnMut(&mut I) -> O,
) {
    Test::new(name, threshold)
        .class(first, make_first)
        .class(second, make_second)
        .assert(run);
}
