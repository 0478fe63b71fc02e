//! How messages write the name of an option: as a field in a library, as a flag on a command line.
//!
//! Library code does not know whether an option came from a struct or from a command line. Its messages use
//! [`option`] and [`setting`]. A program calls [`install`] once to choose how these are written.
//!
//! ```
//! use leakgauge_base::naming::{option, setting};
//!
//! assert_eq!(option("fit_on"), "`fit_on`");
//! assert_eq!(setting("split", "blocks"), "`split = blocks`");
//! ```

use std::fmt::Display;
use std::sync::OnceLock;

/// Writes an option, given the name of its field and its value if the message has one.
pub type Style = fn(field: &str, value: Option<&str>) -> String;

static STYLE: OnceLock<Style> = OnceLock::new();

/// Sets how options are written, for the whole process. Only the first call has an effect.
pub fn install(style: Style) {
    // The error only says that a style is set already.
    let _ = STYLE.set(style);
}

/// The name of an option: `` `fit_on` `` in a library, `--fit-on` on a command line.
pub fn option(field: &str) -> String {
    formatted(field, None)
}

/// An option with a value: `` `split = blocks` `` in a library, `--split blocks` on a command line.
pub fn setting(field: &str, value: impl Display) -> String {
    formatted(field, Some(&value.to_string()))
}

fn formatted(field: &str, value: Option<&str>) -> String {
    match (STYLE.get(), value) {
        (Some(style), _) => style(field, value),
        (None, None) => format!("`{field}`"),
        (None, Some(value)) => format!("`{field} = {value}`"),
    }
}
