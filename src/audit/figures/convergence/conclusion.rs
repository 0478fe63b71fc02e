//! What a learning curve amounts to.

use crate::audit::advice::LogAdvice;

/// Whether more rows would help.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conclusion {
    /// Whether the attack would learn more.
    pub learning: Learning,
    /// How far the lower limit of the worst pair is below what its attack reached on the certification rows;
    /// `None` if the pair has no limit.
    pub certification_gap: Option<f64>,
}

/// Whether more rows would teach the attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Learning {
    /// Too few rows to tell.
    Unknown,
    /// It has learned what this kind of attack can.
    Enough(Course),
    /// More rows would teach it.
    More {
        /// Where it stands and where it goes.
        course: Course,
        /// How many more rows; `None` beyond what anyone could log.
        rows: Option<u64>,
        /// How many times as long the log would be.
        factor: f64,
        /// Its Bayes risk there.
        risk: f64,
        /// Where the log itself has more rows than were used.
        at_hand: Option<LogAdvice>,
    },
}

/// Errors of an attack as it learns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// Its Bayes risk now.
    pub risk: f64,
    /// Where it seems to end (extrapolated).
    pub end: f64,
    /// The standard error of that.
    pub standard_error: f64,
}
