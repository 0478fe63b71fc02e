//! Whether rows depend on each other in a way that limits do not allow for.
//!
//! Limits of rows presume that rows are independent. Where secrets were recorded one after the other and what is observed
//! changes meanwhile, that change alone can tell them apart; where rows of one secret hang together, or are of devices of one
//! secret each, there are fewer independent rows than are counted. No limit of rows allows for either.

use crate::audit::warnings::warning::Warning;

/// The warning that voids limits, if one does: the first of those that say most. A split by time counts what dependent rows are
/// worth, and limits of times allow for times that resemble those before: neither allows for devices, and limits of times not
/// for what changed between the rows of one secret and those of another.
pub(crate) fn of(warnings: &[Warning], by_time: bool, of_times: bool) -> Option<&Warning> {
    let allows = |warning: &Warning| match warning {
        Warning::MayBeUnits { .. } => false,
        Warning::Drift { .. } if of_times => !are_apart(warnings),
        _ => by_time || of_times,
    };
    let void = warnings
        .iter()
        .filter(|warning| warning.inflation() > 1.0 && !allows(warning));
    // Devices explain that rows resemble each other, and drift says more than that.
    let rank = |warning: &&Warning| match warning {
        _ if warning.inflation() < f64::INFINITY => 3,
        Warning::MayBeUnits { .. } => 0,
        Warning::Drift { .. } => 1,
        _ => 2,
    };
    void.min_by_key(rank)
}

/// Whether rows of equal secrets stand together.
pub(crate) fn are_apart(warnings: &[Warning]) -> bool {
    warnings
        .iter()
        .any(|warning| matches!(warning, Warning::LabelsNotInterleaved { .. }))
}
