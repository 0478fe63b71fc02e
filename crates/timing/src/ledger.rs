//! One rate of false alarms for all tests of a process.
//!
//! The rate of all tests together is [`FALSE_ALARMS`]. Each of the first 32 tests of a process gets a 64th of it, those
//! after them 16/(i·(i − 1)) of it: 32/64 and Σ_{i > 32} 16/(i·(i − 1)) = 16/32 make 1. Equal parts do not depend on
//! which thread comes first, and hold for 64 processes of one test each, too (nextest). `LEAKGAUGE_TESTS=N` gives each
//! of N tests an N-th.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The probability that any test of a process fails although no difference exceeds its threshold.
pub(crate) const FALSE_ALARMS: f64 = 1e-3;
/// The probability that a test passes although a difference exceeds its threshold.
pub(crate) const FALSE_PASSES: f64 = 1e-3;

static TESTS: AtomicUsize = AtomicUsize::new(0);

/// The part of the false alarms that the next test of this process may have.
pub(crate) fn next_level(declared: Option<usize>) -> f64 {
    level(TESTS.fetch_add(1, Ordering::Relaxed), declared)
}

/// `before`: how many tests came earlier in this process.
///
/// # Panics
/// If there are more tests than were declared: they would have more false alarms than was promised.
fn level(before: usize, declared: Option<usize>) -> f64 {
    let place = before + 1;
    if let Some(tests) = declared {
        assert!(
            place <= tests,
            "LEAKGAUGE_TESTS={tests}, but this process has more constant-time tests: set it to the number of all of them, or not at all"
        );
        return FALSE_ALARMS / tests as f64;
    }
    if place <= 32 {
        FALSE_ALARMS / 64.0
    } else {
        let place = place as f64;
        FALSE_ALARMS * 16.0 / (place * (place - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_levels_together_are_the_rate() {
        let sum: f64 = (0..1_000_000).map(|before| level(before, None)).sum();
        assert!(sum <= FALSE_ALARMS && sum > 0.999 * FALSE_ALARMS, "{sum}");
        assert_eq!(level(0, Some(1)), FALSE_ALARMS);
        assert_eq!(level(3, Some(4)), FALSE_ALARMS / 4.0);
    }

    #[test]
    #[should_panic(expected = "more constant-time tests")]
    fn more_tests_than_were_declared_are_refused() {
        level(4, Some(4));
    }
}
