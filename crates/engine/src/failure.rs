//! What the engine's failures mean to whoever wrote the command.

use datafusion::error::DataFusionError;

use crate::memory::MEMORY;
use leakgauge_base::error::{Error, shorten};
use leakgauge_base::naming::{option, setting};

/// What failed where no option of the user did.
pub(super) fn engine() -> String {
    option("engine")
}

/// The engine's own words, on one line.
pub(super) fn text(error: &DataFusionError) -> String {
    // The table has no name that a user could know, nor can its settings be reached.
    let text = error
        .strip_backtrace()
        .replace("\"?table?\".", "")
        .replace("?table?.", "");
    let text = text
        .split(" Column names are case sensitive.")
        .next()
        .unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(400).collect()
}

/// A failure while a query ran.
pub(super) fn of_engine(error: &DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => Error::parameter(
            engine(),
            format!(
                "the log does not fit into {} MiB and what may be spilled to disk: {}",
                MEMORY >> 20,
                text(error)
            ),
        )
        .with_hint(format!(
            "free disk space, or name fewer columns with {}",
            option("observe")
        )),
        _ => Error::parameter(engine(), format!("the query failed: {}", text(error))),
    }
}

/// A text that is not a condition.
pub(super) fn of_condition(condition: &str, error: &DataFusionError) -> Error {
    Error::parameter(setting("condition", shorten(condition)), text(error)).with_hint(
        "a condition is what stands behind WHERE in SQL: \"time > 5 AND \"\"user agent\"\" LIKE 'curl%'\"; names of \
         columns as they are, in double quotes if they are not plain words",
    )
}

/// The text that could not be taken for what its column is.
pub(super) fn misfit(error: &Error) -> Option<String> {
    let text = error.to_string();
    let starts = ["Cannot cast string '", "Error parsing timestamp from '"];
    let (_, behind) = starts.iter().find_map(|start| text.split_once(start))?;
    behind.split_once('\'').map(|(value, _)| value.to_owned())
}
