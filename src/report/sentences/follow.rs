//! Why a claim about a log that is followed is judged as it is.

use crate::follow::FollowedReason;
use crate::report::sentences::warnings::doubt;
use leakgauge_base::rounding::at_least_beyond;

/// One or two sentences.
pub fn reason(reason: &FollowedReason) -> String {
    let lower = at_least_beyond(reason.lower, reason.bound);
    let bound = reason.bound;
    if reason.lower <= bound {
        return format!(
            "Not refuted by the rows so far: they show an advantage of at least {lower}, and the claim allows {bound}."
        );
    }
    let rests = reason.doubt.as_ref();
    let rests = rests.map_or(String::new(), |warning| format!(" {}", doubt(warning)));
    format!("The advantage is at least {lower}, more than {bound}, if rows are independent.{rests}")
}
