//! Work without the interpreter's lock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use leakgauge::base::error;
use pyo3::prelude::*;

use crate::errors::{OptionError, name_options, panicked, raised};

/// How long Ctrl-C waits at most.
const PULSE: Duration = Duration::from_millis(50);

/// As the main thread of a program has; what recurses was tested with it.
const STACK: usize = 8 << 20;

/// Runs something on so many threads (all cores if not said) without the interpreter's lock. Threads are this
/// call's own: those of a pool that lasts would be missing in a process that forks. Ctrl-C raises
/// `KeyboardInterrupt` at once; the work itself ends by itself in the background.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> error::Result<T> + Send + 'static,
) -> PyResult<T> {
    name_options();
    if threads.is_some_and(|threads| threads == 0 || threads > 1024) {
        return Err(OptionError::new_err("threads=: must be between 1 and 1024"));
    }
    py.detach(|| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .stack_size(STACK)
            .build()
            .map_err(|problem| OptionError::new_err(format!("threads=: {problem}")))?;
        let (sender, receiver) = channel();
        pool.spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            // Nobody listens any more after Ctrl-C.
            let _ = sender.send(done);
        });
        loop {
            match receiver.recv_timeout(PULSE) {
                Ok(Ok(done)) => return done.map_err(raised),
                Ok(Err(cause)) => return Err(panicked(&*cause)),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => return Err(panicked(&"no answer")),
            }
        }
    })
}
