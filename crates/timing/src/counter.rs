//! The finest counter that a program may read. The only file with instructions of its own for each kind of processor.

#![allow(
    unsafe_code,
    reason = "counters are read by instructions that the standard library wraps in unsafe functions, or not at all"
)]

/// What is read.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) const NAME: &str = "time-stamp counter";
#[cfg(all(target_arch = "aarch64", not(miri)))]
pub(crate) const NAME: &str = "virtual counter";
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) const NAME: &str = "clock of the system";

/// Whether readings are ticks of the counter itself. Others were converted into nanoseconds, which hides their step.
pub(crate) const COUNTS_TICKS: bool = cfg!(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
));

/// The counter now. What comes before in the program has been done, and what comes after has not been begun.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn read() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every processor of this kind has both instructions, which touch no memory. Where a system forbids reading
    // the counter, the program is ended by it: nothing is undefined.
    #[allow(unused_unsafe, reason = "the fence is safe in newer compilers")]
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

/// Waits until what comes before has been done.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as in `read`.
    #[allow(unused_unsafe, reason = "the fence is safe in newer compilers")]
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: the instruction waits. It touches no memory, registers, stack or flags.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
}

/// The counter now. What comes before in the program has been done, and what comes after has not been begun.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
pub(crate) fn read() -> u64 {
    let now: u64;
    // SAFETY: the instructions wait, and read a register that user programs may read. They touch no memory, stack or
    // flags. The compiler may not move memory accesses across them, because nothing says that they read no memory.
    unsafe {
        core::arch::asm!("isb", "mrs {now}, cntvct_el0", "isb", now = out(reg) now, options(nostack, preserves_flags));
    }
    now
}

/// Nanoseconds since this was called first.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
pub(crate) fn read() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
