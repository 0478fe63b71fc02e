//! Whether standard output was closed when the program started. Rust opens the null device in its place before `main`,
//! which takes everything in silence, so the question is asked before that.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether there was none.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod at_start {
    use super::{Ordering, WAS_CLOSED};
    use std::ffi::c_int;

    const F_GETFD: c_int = 1;
    const STANDARD_OUTPUT: c_int = 1;

    #[allow(unsafe_code)]
    unsafe extern "C" {
        fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    }

    #[allow(unsafe_code)]
    extern "C" fn look() {
        // SAFETY: this command takes no argument and changes nothing.
        let found = unsafe { fcntl(STANDARD_OUTPUT, F_GETFD) };
        WAS_CLOSED.store(found == -1, Ordering::Relaxed);
    }

    #[allow(unsafe_code)]
    // SAFETY: functions of this section are called once, before Rust's runtime; this one needs nothing of it.
    #[unsafe(link_section = ".init_array")]
    #[used]
    static LOOK: extern "C" fn() = look;
}
