//! How many more rows of a sampled log to use.

/// What to do to use more rows of the log that a sample was drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogAdvice {
    /// Rows of the log.
    pub rows: u64,
    /// Rows that were used.
    pub used: u64,
    /// Rows that are wanted; maybe more than the log has.
    pub wanted: u64,
}
