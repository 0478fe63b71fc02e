//! How an audit and its claims end.

/// Why an audit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A claim is violated.
    Violated,
    /// All claims hold.
    Holds,
    /// No more samples may be drawn.
    Samples,
    /// What is left of the samples cannot decide.
    Futile,
    /// The time is up.
    Time,
    /// The caller interrupted it.
    Interrupted,
}

/// What became of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Open,
    Violated,
    Proved,
}
