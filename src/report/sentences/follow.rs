//! Why a claim about a log that is followed is judged as it is.

use crate::follow::{FollowedGrounds, FollowedReason};
use crate::report::sentences::claims::p_value_of;
use crate::report::sentences::warnings::doubt;
use leakgauge_base::rounding::at_least_beyond;

/// Two or three sentences.
pub fn reason(reason: &FollowedReason) -> String {
    let p = p_value_of(reason.p_value);
    if !reason.violated {
        return format!(
            "Not refuted by the rows so far ({p}){}.",
            so_far(reason.grounds)
        );
    }
    let rests = reason.doubt.as_ref();
    let rests = rests.map_or(String::new(), |warning| format!(" {}", doubt(warning)));
    let found = match reason.grounds {
        FollowedGrounds::Advantage { lower, bound } => format!(
            "The advantage is at least {}, more than {bound}",
            at_least_beyond(lower, bound)
        ),
        FollowedGrounds::Epsilon { lower, bound } => format!(
            "Some pair of secrets needs an epsilon of at least {}, more than {bound}",
            at_least_beyond(lower, bound)
        ),
        FollowedGrounds::Approximate { epsilon, delta } => format!(
            "Some pair of secrets is told apart better than epsilon = {epsilon} allows with delta = {delta}"
        ),
    };
    format!("{found} ({p}), if rows are independent.{rests}")
}

fn so_far(grounds: FollowedGrounds) -> String {
    match grounds {
        FollowedGrounds::Advantage { lower, bound } => format!(
            ": they show an advantage of at least {}, and the claim allows {bound}",
            at_least_beyond(lower, bound)
        ),
        FollowedGrounds::Epsilon { lower, bound } => format!(
            ": they show an epsilon of at least {}, and the claim allows {bound}",
            at_least_beyond(lower, bound)
        ),
        FollowedGrounds::Approximate { .. } => String::new(),
    }
}
