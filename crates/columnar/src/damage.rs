//! What is wrong with a file that cannot be decoded. The decoders answer some broken files with a panic:
//! it is caught here, and becomes an error like the others.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use leakgauge_base::error::Error;

/// Characters of what a decoder says that are passed on.
const LONGEST: usize = 200;

/// The error about a part of a file, in the words of its decoder.
pub(super) fn damaged(name: &str, part: &str, detail: impl Display) -> Error {
    // Which library says it, and through which others, is no matter.
    let detail = detail.to_string();
    let detail = detail.rsplit("error: ").next().unwrap_or_default();
    let detail = detail.trim_start_matches("External: ");
    let detail: String = detail.chars().take(LONGEST).collect();
    Error::file(name, format!("{part} cannot be read: {detail}"))
        .with_hint("copy the file again, or write it anew from where its rows are")
}

/// Bytes and values of a row at most, on average: a row of text has no more values.
const WIDEST_ROW: u64 = 64 << 20;
const MOST_VALUES: u64 = 8 << 20;

/// What is wrong with rows that unpack to so many bytes and values, if these are more than rows of a log have.
pub(super) fn too_wide([bytes, values]: [u64; 2], rows: u64) -> Option<String> {
    let [bytes, values] = [bytes, values].map(|all| all / rows.max(1));
    (bytes > WIDEST_ROW || values > MOST_VALUES).then(|| {
        format!(
            "a row unpacks to {} MiB and {values} values; at most {} MiB and {MOST_VALUES} values are read",
            bytes >> 20,
            WIDEST_ROW >> 20
        )
    })
}

/// The error of such rows.
pub(super) fn too_wide_error(name: &str, part: &str, problem: &str) -> Error {
    Error::file(name, format!("{part}: {problem}")).with_hint("write shorter texts and lists")
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Does what may panic on a broken file, and prints nothing if it does; the words of the panic.
pub(super) fn guarded<T>(decode: impl FnOnce() -> T) -> std::result::Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                before(panic);
            }
        }));
    });
    // One within another: what is decoded around it is still watched afterwards.
    let around = CATCHING.replace(true);
    // What was being decoded is dropped after a panic, and its half-changed state with it.
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    CATCHING.set(around);
    decoded.map_err(|panic| {
        let literal = panic.downcast_ref::<&str>().map(|&words| words.to_owned());
        literal
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "its decoder gave up".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_words() {
        let found: Result<(), String> = guarded(|| panic!("index {}", 7));
        assert_eq!(found.unwrap_err(), "index 7");
        assert_eq!(guarded(|| 1), Ok(1));
    }

    #[test]
    fn rows_that_unpack_to_more_than_any_row_are_refused() {
        assert_eq!(too_wide([100 << 20, 100], 100), None);
        assert_eq!(too_wide([0, 0], 0), None);
        // Two million samples of a byte are a trace.
        assert_eq!(too_wide([2 << 20, 2 << 20], 1), None);
        let words = too_wide([1 << 30, 4], 4).expect("256 MiB a row");
        assert!(words.contains("256 MiB"), "{words}");
        assert!(too_wide([1 << 10, 20 << 20], 1).is_some());
    }
}
