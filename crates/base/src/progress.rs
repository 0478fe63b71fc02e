//! How much work has been done since the process began, for whoever shows it.
//!
//! Counters only grow, belong to the whole process and change no result. What counts does not know whether anyone
//! looks.
//!
//! ```
//! use leakgauge_base::progress::Work;
//!
//! let before = Work::RowsWritten.done();
//! Work::RowsWritten.advance(3);
//! assert!(Work::RowsWritten.done() >= before + 3);
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of work that takes long enough to be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Distinct observations that an attack has scored.
    ObservationsScored,
    /// Simulated logs that were audited.
    LogsAudited,
    /// Rows of a simulated log that were written.
    RowsWritten,
}

static DONE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

impl Work {
    /// So much more is done.
    pub fn advance(self, more: u64) {
        self.counter().fetch_add(more, Ordering::Relaxed);
    }

    /// How much is done.
    pub fn done(self) -> u64 {
        self.counter().load(Ordering::Relaxed)
    }

    fn counter(self) -> &'static AtomicU64 {
        match self {
            Work::ObservationsScored => &DONE[0],
            Work::LogsAudited => &DONE[1],
            Work::RowsWritten => &DONE[2],
        }
    }
}
