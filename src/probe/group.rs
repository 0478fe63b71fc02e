//! A process with a group of its own: what it starts ends with it.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The groups that were started and have not been ended.
static STARTED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn started() -> MutexGuard<'static, Vec<u32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process and all that it starts, as long as that stays in its group. They are ended when this is dropped.
pub(super) struct Group {
    id: u32,
    process: Arc<Mutex<Child>>,
}

/// Who waits for the process to end.
pub(super) struct Waiter(Arc<Mutex<Child>>);

impl Group {
    /// Starts a process.
    ///
    /// # Errors
    /// As [`Command::spawn`].
    pub(super) fn start(command: &mut Command) -> io::Result<(Group, Waiter)> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // A signal finds either no process, or one that is listed.
        let mut known = started();
        let process = command.spawn()?;
        let id = process.id();
        known.push(id);
        let process = Arc::new(Mutex::new(process));
        Ok((
            Group {
                id,
                process: process.clone(),
            },
            Waiter(process),
        ))
    }

    /// The process, before anyone waits for it.
    pub(super) fn process(&self) -> MutexGuard<'_, Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the process and its group, whether they want to or not.
    pub(super) fn end(&self) {
        #[cfg(unix)]
        end(self.id);
        // It may have ended by itself.
        #[cfg(not(unix))]
        let _ = self.process().kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
        started().retain(|&id| id != self.id);
    }
}

impl Waiter {
    /// Waits until the process ends.
    pub(super) fn wait(&self) -> io::Result<ExitStatus> {
        // Nobody else needs the process any more: who ends it does so by its number.
        #[cfg(unix)]
        return self.process().wait();
        #[cfg(not(unix))]
        loop {
            if let Some(status) = self.process().try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn process(&self) -> MutexGuard<'_, Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a group.
#[cfg(unix)]
fn end(id: u32) {
    use nix::sys::signal::{Signal, killpg};
    if let Ok(id) = i32::try_from(id) {
        // There may be nobody in it any more.
        let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// Ends all processes that were started. For a program that is ended now by a signal: none is started any more. A
/// process that is just being started is waited for, but not longer than `patience`.
pub fn end_started(patience: Duration) {
    let begun = Instant::now();
    loop {
        if let Ok(known) = STARTED.try_lock() {
            #[cfg(unix)]
            known.iter().for_each(|&id| end(id));
            // The lock stays closed.
            return std::mem::forget(known);
        }
        if begun.elapsed() > patience {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
