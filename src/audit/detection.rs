//! Could a log of this size have shown a leak of a given size?

use leakgauge_exact::claim::Leak;

/// What rows of a simulated log show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// Two outcomes.
    TwoOutcomes,
    /// As many labels as the log has.
    Labels,
    /// Numbers, of noise that is moved.
    Numbers {
        /// How many columns.
        columns: usize,
    },
}

/// How many simulated logs of the same size, which have a leak, an audit with the same claims found it in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The leak.
    pub leak: Leak,
    /// What the rows of simulated logs show.
    pub planted: Planted,
    /// The share of logs that was asked for, in (0, 1).
    pub power: f64,
    /// Simulated logs.
    pub logs: u64,
    /// Those whose audit violated a claim.
    pub found: u64,
}

impl Detection {
    /// By how much the share may fall short. A log of the planned size must not fail because shares are simulated:
    /// their standard error is at most 0.015 where 0.9 is asked for.
    pub const TOLERANCE: f64 = 0.05;

    /// The share of logs whose audit found the leak.
    pub fn share(&self) -> f64 {
        self.found as f64 / self.logs.max(1) as f64
    }

    /// Whether the share is below the power that was asked for, by more than [`TOLERANCE`](Self::TOLERANCE).
    pub fn is_too_weak(&self) -> bool {
        self.share() < self.power - Self::TOLERANCE
    }
}
