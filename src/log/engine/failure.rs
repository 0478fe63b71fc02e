//! What the engine's failures mean to whoever wrote the command.

use datafusion::error::DataFusionError;

use crate::error::{Error, shorten};
use crate::log::engine::session::MEMORY;

/// What failed where no option of the user did.
pub(super) const ENGINE: &str = "--engine";

/// The engine's own words, on one line.
pub(super) fn text(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(400).collect()
}

/// A failure while a query ran.
pub(super) fn of_engine(error: &DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => Error::parameter(
            ENGINE,
            format!(
                "the log does not fit into {} MiB and what may be spilled to disk: {}",
                MEMORY >> 20,
                text(error)
            ),
        )
        .with_hint("free disk space, or name fewer columns with --observe"),
        _ => Error::parameter(ENGINE, format!("the query failed: {}", text(error))),
    }
}

/// A condition that is none.
pub(super) fn of_condition(condition: &str, error: &DataFusionError) -> Error {
    Error::parameter(format!("--where {}", shorten(condition)), text(error)).with_hint(
        "a condition is what stands behind WHERE in SQL: \"time > 5 AND \"\"user agent\"\" LIKE 'curl%'\"; names of \
         columns as they are, in double quotes if they are not plain words",
    )
}
