//! Constant-time tests for your test suite: does the class of an input change how long a call takes?
//!
//! ```
//! use leakgauge_timing::{Attacker, assert_constant_time};
//!
//! let secret = [7_u8; 32];
//! let guess = |wrong: usize| {
//!     let mut guess = secret;
//!     guess[wrong] = 0;
//!     guess
//! };
//! // Looks at all bytes. A loop that ends at the first difference would fail: the last byte takes longer.
//! let equal = |a: &[u8], b: &[u8]| a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)) == 0;
//!
//! assert_constant_time(
//!     "comparison",
//!     Attacker::Lan,
//!     ("first byte", || guess(0)),
//!     ("last byte", || guess(31)),
//!     |guess| equal(&secret, guess),
//! );
//! ```
//!
//! [`assert_constant_time`] compares two classes of inputs, [`Test`] up to 64. Run such tests in an optimized build:
//! `cargo test --release`. The [`Threshold`] is the difference of medians that you allow; an [`Attacker`] is one with a
//! name.
//!
//! | [`Outcome`] | meaning | an assertion |
//! | --- | --- | --- |
//! | [`Passes`](Outcome::Passes) | an upper limit of every difference is within the threshold | does nothing |
//! | [`Leaks`](Outcome::Leaks) | a lower limit of a difference exceeds it | fails |
//! | [`TooNoisy`](Outcome::TooNoisy) | neither within the budget | says so, and fails only after [`Test::require_decision`] |
//!
//! # What is measured
//!
//! Blocks: each calls every class once, in random order. Inputs are made outside of the timed part, all of a block
//! before its first call. Times are those of the processor's counter (x86-64, AArch64) or of the system's clock, whose
//! step is measured. Calls that are too short for it are made in batches, whose size is fixed before the first judged
//! block. What is judged is the median, over blocks, of the difference of two classes inside a block.
//!
//! # What the numbers promise
//!
//! Limits hold whenever a test stops. All tests of a process together end as `Leaks` without reason with a probability
//! of at most 0.1 %: each of the first 32 gets a 64th of that, so that it also holds for 64 processes of one test each
//! (nextest). `LEAKGAUGE_TESTS=N` gives each of N tests an N-th. Where a difference exceeds the threshold, a test
//! passes with a probability of at most 0.1 %.
//!
//! A limit needs two proofs. *Bets* on the signs of differences are exact where classes make no difference, whatever
//! the machine does: the times of a block are then the same in any order of the classes, and that order is drawn here,
//! so each of two classes is the slower one with probability at most ½ given everything before. *Stretches* of many
//! blocks allow for a class with a slow course of its own; they need 1,024 blocks at least, and a course that ends well
//! within the test.
//!
//! A difference of two times is known to within two steps of the clock, over the number of calls in a batch: limits are
//! wider by that.
//!
//! # What they do not
//!
//! A test says nothing of inputs outside its classes, of states of caches and predictors that it does not provoke, of
//! other builds and other machines, and of events too rare to move a median.
//!
//! # Environment
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LEAKGAUGE_SEED` | the order of the calls of another run, which its message names |
//! | `LEAKGAUGE_TESTS` | how many tests share the rate of false alarms |
//! | `LEAKGAUGE_LOG` | a directory in which every test leaves its times; otherwise those that fail do, in `target/leakgauge` |
//!
//! Times are in a file with the columns `block,sequence,class,time_ns`, which `leakgauge audit` reads.

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
