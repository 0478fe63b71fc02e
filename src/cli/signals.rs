//! What a signal does, for every command: the one place that cleans up when the program is told to end.
//!
//! SIGINT, SIGTERM and SIGHUP remove temporary files, end the processes that the program started, and end the program
//! with exit code 128 + the number of the signal. `--follow` first writes its last line, if nobody keeps it from that; a
//! second signal always ends it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use leakgauge::base::files::discard_unfinished_for_good;

use crate::cli::engine;

/// Who writes a file or starts a process is waited for so long.
const PATIENCE: Duration = Duration::from_millis(300);
/// A call that waits for others may go on so long after the first signal.
const LONGEST_WAIT: Duration = Duration::from_millis(400);
/// Who only asks (SIGINT) may be asked again. Who ends programs (SIGTERM, SIGHUP) soon ends them without asking.
const LONGEST: Duration = Duration::from_millis(800);
/// How often to look.
const STEP: Duration = Duration::from_millis(20);

/// Set where the command ends by itself when it is told to.
static TOLD: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// The exit code by the first signal; 0 before.
static CODE: AtomicU8 = AtomicU8::new(0);
/// Odd while the command waits for others.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// From now on this command ends by itself when what is returned is set.
pub fn ends_by_itself() -> Arc<AtomicBool> {
    TOLD.get_or_init(Arc::default).clone()
}

/// The exit code of a command that was told to end and has nothing to say: 128 + the signal's number.
pub fn exit_code() -> Option<u8> {
    Some(CODE.load(Ordering::Relaxed)).filter(|&code| code > 0)
}

/// Does something that may wait for others for ever, such as opening a pipe or writing into it.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    WAITS.fetch_add(1, Ordering::Relaxed);
    let done = wait();
    WAITS.fetch_add(1, Ordering::Relaxed);
    done
}

/// Cleans up, and ends the program.
fn end(code: u8) -> ! {
    discard_unfinished_for_good(PATIENCE);
    leakgauge::probe::end_started(PATIENCE);
    engine::remove_spilled();
    std::process::exit(i32::from(code));
}

/// Answers a first signal. Returns if the command may end by itself.
fn tell(code: u8) {
    CODE.store(code, Ordering::Relaxed);
    match TOLD.get() {
        Some(told) => told.store(true, Ordering::Relaxed),
        None => end(code),
    }
}

/// How long the command has waited for others, since it was told to end.
struct Watch {
    begun: Instant,
    waits: u64,
    since: Instant,
}

impl Watch {
    fn new() -> Self {
        let now = Instant::now();
        Watch {
            begun: now,
            waits: WAITS.load(Ordering::Relaxed),
            since: now,
        }
    }

    /// Whether it has to end now.
    fn is_over(&mut self, may_take_longer: bool) -> bool {
        let waits = WAITS.load(Ordering::Relaxed);
        if waits != self.waits {
            (self.waits, self.since) = (waits, Instant::now());
        }
        (waits % 2 == 1 && self.since.elapsed() > LONGEST_WAIT)
            || (!may_take_longer && self.begun.elapsed() > LONGEST)
    }
}

#[cfg(unix)]
pub use unix::watch;

#[cfg(unix)]
mod unix {
    use std::sync::Once;
    use std::sync::mpsc::sync_channel;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    use super::*;

    /// Watches for signals from now on. Only the first call of a process has an effect.
    pub fn watch() {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(start);
    }

    fn start() {
        // A file that may not grow any more is an error of the write, not the end of the program.
        if !is_ignored(SIGXFSZ) {
            let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        }
        // Whoever started the program so that it ignores one (`nohup`) meant it.
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let wanted: Vec<i32> = wanted.filter(|&signal| !is_ignored(signal)).collect();
        let (sender, stands) = sync_channel::<()>(1);
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let started = thread.spawn(move || {
            let signals = Signals::new(wanted);
            drop(sender);
            if let Ok(mut signals) = signals {
                answer(&mut signals);
            }
        });
        // Without a thread signals end the program as they usually do, and temporary files stay.
        if started.is_ok() {
            let _ = stands.recv();
        }
    }

    fn answer(signals: &mut Signals) {
        let Some(first) = signals.forever().next() else {
            return;
        };
        tell(code(first));
        let mut watch = Watch::new();
        loop {
            std::thread::sleep(STEP);
            if let Some(second) = signals.pending().next() {
                end(code(second));
            }
            if watch.is_over(first == SIGINT) {
                end(code(first));
            }
        }
    }

    fn code(signal: i32) -> u8 {
        u8::try_from(128 + signal).unwrap_or(u8::MAX)
    }

    /// Whether the process was started so that it ignores a signal.
    #[allow(unsafe_code)]
    fn is_ignored(signal: i32) -> bool {
        use nix::libc;
        let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call changes nothing, and what it writes has the place that it asks for; all
        // zeros are a value of it.
        let (asked, now) = unsafe {
            let asked = libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr());
            (asked, now.assume_init())
        };
        asked == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Watches for Ctrl-C from now on.
#[cfg(not(unix))]
pub fn watch() {
    const INTERRUPTED: u8 = 130;
    // Without a handler temporary files stay, but no result is affected.
    let _ = ctrlc::set_handler(|| {
        if exit_code().is_some() {
            end(INTERRUPTED);
        }
        tell(INTERRUPTED);
        let _ = std::thread::Builder::new().spawn(|| {
            let mut watch = Watch::new();
            while !watch.is_over(true) {
                std::thread::sleep(STEP);
            }
            end(INTERRUPTED);
        });
    });
}
