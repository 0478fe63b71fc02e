//! How messages name options: as fields of a struct in a library, as flags on a command line.
//!
//! A room that refuses an option or recommends one does not know who set it. It writes [`option`] or
//! [`setting`], and whoever speaks to the user says once, with [`install`], how these are written.
//!
//! ```
//! use leakgauge_base::naming::{option, setting};
//!
//! assert_eq!(option("fit_on"), "`fit_on`");
//! assert_eq!(setting("split", "blocks"), "`split = blocks`");
//! ```

use std::fmt::Display;
use std::sync::OnceLock;

/// Writes an option by the name of its field, with its value if there is one.
pub type Style = fn(field: &str, value: Option<&str>) -> String;

static STYLE: OnceLock<Style> = OnceLock::new();

/// Settles for the whole process how options are written. The first call counts: messages of one program
/// speak one language.
pub fn install(style: Style) {
    // A later call changes nothing.
    let _ = STYLE.set(style);
}

/// An option by the name of its field: `` `fit_on` `` in a library, `--fit-on` on a command line.
pub fn option(field: &str) -> String {
    written(field, None)
}

/// An option with a value: `` `split = blocks` `` in a library, `--split blocks` on a command line.
pub fn setting(field: &str, value: impl Display) -> String {
    written(field, Some(&value.to_string()))
}

fn written(field: &str, value: Option<&str>) -> String {
    match (STYLE.get(), value) {
        (Some(style), _) => style(field, value),
        (None, None) => format!("`{field}`"),
        (None, Some(value)) => format!("`{field} = {value}`"),
    }
}
