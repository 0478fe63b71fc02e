//! What is said of several logs side by side.

use crate::audit::Sample;
use crate::compare::Caution;
use crate::estimate::Estimate;
use crate::report::sentences::reasons::reason;
use leakgauge_base::naming::option;

/// What to keep in mind about a comparison.
pub fn caution(found: &Caution) -> String {
    match found {
        Caution::SharedRows => {
            "some rows may stand in two of the logs. Limits of changes need independent logs."
                .to_owned()
        }
        Caution::OtherSecrets => {
            "the logs do not have the same secrets, so the shares are not of the same task."
                .to_owned()
        }
        Caution::TrainingRows(rows) => {
            let (least, most) = (rows.iter().min(), rows.iter().max());
            let [least, most] = [least, most].map(|rows| rows.copied().unwrap_or(0));
            format!(
                "the attacks learned from {least} to {most} rows. More rows make an attack stronger, which may be a part of the change."
            )
        }
    }
}

/// That not all rows were used.
pub fn sampled(found: &Sample) -> String {
    format!(
        "a random sample of its {} rows was used. More: {}.",
        found.from.rows_in_all(),
        option("max_rows")
    )
}

/// Why there is no limit.
pub fn no_limit(found: &Estimate) -> String {
    found
        .reason
        .as_ref()
        .map_or("There are too few rows.".to_owned(), reason)
}
