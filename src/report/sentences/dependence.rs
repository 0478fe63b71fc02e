//! That rows depend on each other, so that limits of independent rows decide nothing.

use leakgauge_base::error::shorten;
use leakgauge_base::naming::setting;

use crate::audit::Warning;
use crate::report::numbers::plain;
use crate::report::sentences::left_out;

/// Why limits of independent rows say nothing, and what to do.
pub(super) fn reason(warning: &Warning, are_apart: bool) -> String {
    if let Warning::MayBeUnits { column } = warning {
        return format!(
            "Not judged: each value of {} has one secret, so its rows may depend on each other. Then: {}.",
            shorten(column),
            left_out::units_of(column)
        );
    }
    let what = dependence(warning);
    match are_apart {
        true => format!(
            "Not judged: rows of each secret stand together, and {what}: what changed meanwhile may be all that differs. {}",
            remedy(warning, are_apart)
        ),
        false => format!(
            "Not judged: rows of each secret hang together ({what}), and limits are for independent rows. {}",
            remedy(warning, are_apart)
        ),
    }
}

/// How rows depend on each other, in a few words.
fn dependence(warning: &Warning) -> String {
    let number = |correlation: f64| plain(correlation, 2);
    match warning {
        Warning::Drift {
            column,
            correlation,
            ..
        } => format!(
            "{} drifts (correlation {})",
            shorten(column),
            number(*correlation)
        ),
        Warning::Periodic { column, lag, .. } => {
            format!("{} repeats every {lag} rows", shorten(column))
        }
        Warning::Autocorrelation {
            column,
            correlation,
            ..
        } => format!(
            "{} resembles the rows before (correlation {})",
            shorten(column),
            number(*correlation)
        ),
        _ => String::new(),
    }
}

/// What to do about it.
fn remedy(warning: &Warning, are_apart: bool) -> String {
    let splits = matches!(
        warning,
        Warning::Autocorrelation { splits: true, .. } | Warning::Drift { splits: true, .. }
    );
    let split = setting("split", "blocks");
    let group = setting("group", "COLUMN");
    match (are_apart, splits) {
        (true, true) => format!("Take the secrets in random order, or {split}."),
        (true, false) => "Take the secrets in random order.".to_owned(),
        (false, true) => format!("Say what belongs together: {group}. Or {split}."),
        (false, false) => format!("Say what belongs together: {group}."),
    }
}
