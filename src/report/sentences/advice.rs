//! How to use more rows of a log that was sampled.

use crate::audit::LogAdvice;
use leakgauge_base::naming::setting;

/// A sentence.
pub fn more_rows(advice: &LogAdvice) -> String {
    let LogAdvice { rows, used, wanted } = *advice;
    let (most, which) = if wanted < rows {
        (wanted, "that many")
    } else {
        (rows, "all of them")
    };
    format!(
        "{used} of the log's {rows} rows were used. {} uses {which}.",
        setting("max_rows", most)
    )
}
