//! Work on many items on all threads.
//!
//! Rayon's iterators compile a few thousand lines of their own for every closure that they are given: in one crate
//! that was a fifth of all code. Here that happens once; what is compiled for each use is small.
//!
//! ```
//! assert_eq!(leakgauge_base::parallel::map(4, |i| i * i), [0, 1, 4, 9]);
//! ```

use std::error::Error;
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

/// The largest number of tasks that items are put together into: far above the number of threads, so that threads
/// end at about the same time even if items differ.
const MAX_TASKS: usize = 2048;

/// Whether there are threads to share work with. Where none can be started, all work is done by the thread that asks: Rayon
/// would panic.
fn has_threads() -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    let start = || match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Without a source: there are threads already.
        Err(error) => error.source().is_none(),
    };
    rayon::current_thread_index().is_some() || *STARTED.get_or_init(start)
}

/// f(0), f(1), …, f(n − 1) in this order, computed by the threads of the current pool. Results do not depend on the
/// number of threads.
pub fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let size = n.div_ceil(MAX_TASKS).max(1);
    map_parts(n, n.div_ceil(size), &|part| {
        (part * size..n.min((part + 1) * size)).map(&f).collect()
    })
}

/// [`map`] of very many items, or large ones: each is written where it stays, so that none is in memory twice.
pub fn map_in_place<T: Send>(n: usize, f: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    match has_threads() {
        true => (0..n).into_par_iter().map(f).collect(),
        false => (0..n).map(f).collect(),
    }
}

/// The `n` items of all parts, in order.
fn map_parts<T: Send>(n: usize, parts: usize, part: &(dyn Fn(usize) -> Vec<T> + Sync)) -> Vec<T> {
    let found: Vec<Mutex<Vec<T>>> = (0..parts).map(|_| Mutex::default()).collect();
    for_each(parts, &|at| {
        let items = part(at);
        // A panic while the lock is held is not possible.
        *found[at].lock().unwrap_or_else(PoisonError::into_inner) = items;
    });
    // At once: pages are not taken before they are written to, and each part leaves as it is appended.
    let mut all = Vec::with_capacity(n);
    for items in found {
        all.append(&mut items.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// What two functions give that may run at the same time.
pub fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    match has_threads() {
        true => rayon::join(first, second),
        false => (first(), second()),
    }
}

/// Calls f(0), f(1), …, f(n − 1), in any order.
pub fn for_each(n: usize, f: &(dyn Fn(usize) + Sync)) {
    match has_threads() {
        true => (0..n).into_par_iter().for_each(f),
        false => (0..n).for_each(f),
    }
}

/// Calls f(0, …), f(1, …), … with the rows of a matrix, in any order.
///
/// # Panics
/// If `width` is 0.
pub fn for_each_row<T: Send>(values: &mut [T], width: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if !has_threads() {
        let rows = values.chunks_mut(width).enumerate();
        return rows.for_each(|(at, row)| f(at, row));
    }
    let rows = values.par_chunks_mut(width).enumerate();
    rows.for_each(|(at, row)| f(at, row));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_in_order_for_any_number_of_them() {
        for n in [
            0,
            1,
            2,
            MAX_TASKS - 1,
            MAX_TASKS,
            MAX_TASKS + 1,
            3 * MAX_TASKS + 7,
        ] {
            let expected: Vec<usize> = (0..n).map(|i| 2 * i).collect();
            assert_eq!(map(n, |i| 2 * i), expected);
            assert_eq!(map_in_place(n, &|i| 2 * i), expected);
        }
    }

    #[test]
    fn both_results_stand_in_their_places() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn rows_have_their_numbers() {
        let mut values = [0; 7];
        for_each_row(&mut values, 3, &|at, row| row.fill(at));
        assert_eq!(values, [0, 0, 0, 1, 1, 1, 2]);
    }
}
