//! Where there is no more memory, the program says so and ends with exit code 2, as after any other error. Without this
//! it would be aborted, its temporary files left behind.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

use leakgauge::base::files::discard_unfinished_if_free;

/// What is said, without a number that would have to be written into memory.
const MESSAGE: &[u8] = b"error: there is not enough memory for this\n  hint: allow the program more memory, or ask for less: \
                         a smaller file, fewer rows, columns or points\n";
const EXIT_CODE: i32 = 2;
/// What is kept to be given back when there is nothing else.
const RESERVE: Layout = match Layout::from_size_align(1 << 16, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread is the one that ends the program.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the system, which ends the program where it has no more memory.
pub struct OrEnd;

/// Puts a little aside for the way out.
#[allow(unsafe_code)]
pub fn reserve() {
    // SAFETY: the layout has a size.
    let reserved = unsafe { System.alloc(RESERVE) };
    RESERVED.store(reserved, Ordering::Relaxed);
}

// SAFETY: what the system's allocator is asked for and what it gives is passed on as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn or_end(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end();
    }
    memory
}

/// Ends the program; returns where even that takes memory that is not there, and the program is aborted.
#[cold]
#[allow(unsafe_code)]
fn end() {
    if ENDS.replace(true) {
        return;
    }
    while IS_ENDING.swap(true, Ordering::AcqRel) {
        // Another thread ends the program.
        std::thread::sleep(Duration::from_secs(1));
    }
    let reserved = RESERVED.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !reserved.is_null() {
        // SAFETY: it came from this allocator with this layout, and nobody else has it any more.
        unsafe { System.dealloc(reserved, RESERVE) };
    }
    discard_unfinished_if_free();
    // Nothing can be done where it cannot be said.
    let _ = std::io::stderr().write_all(MESSAGE);
    std::process::exit(EXIT_CODE);
}
