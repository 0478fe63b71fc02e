//! Why a claim about a log that is followed is judged as it is.

use crate::audit::Verdict;
use crate::follow::{FollowedDifference, FollowedGrounds, FollowedReason};
use crate::report::numbers::{Limits, time_scale as scale};
use crate::report::sentences::differences::located;
use crate::report::sentences::warnings::doubt;
use crate::report::words::p_value_of;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::at_least_beyond;
use leakgauge_base::time::TimeUnit;
use leakgauge_stats::paired::Located;

/// Two or three sentences. What a violation would rest on stands in doubt where the verdict is not that.
pub fn reason(reason: &FollowedReason) -> String {
    let p = p_value_of(reason.p_value);
    let units = if reason.of_blocks { "blocks" } else { "rows" };
    match reason.verdict {
        Verdict::Inconclusive if reason.doubt.is_some() => {}
        Verdict::Inconclusive => {
            return format!(
                "Not refuted by the {units} so far ({p}){}.",
                so_far(&reason.grounds)
            );
        }
        Verdict::Holds => {
            return match &reason.slower {
                Some(slower) => format!(
                    "By the medians of the differences, {} takes no longer than any other secret so far by more than the claim \
                     allows, if {units} are independent.",
                    shorten(slower)
                ),
                None => format!(
                    "The medians of the differences of all pairs of the secrets so far are within the claim, if {units} are \
                     independent."
                ),
            };
        }
        Verdict::Violated => {}
    }
    let rests = reason.doubt.as_ref();
    let rests = rests.map_or(String::new(), |warning| format!(" {}", doubt(warning)));
    let judged = match reason.verdict {
        Verdict::Inconclusive => "Not judged: ",
        _ => "",
    };
    format!(
        "{judged}{} ({p}), if {units} are independent.{rests}",
        found(&reason.grounds)
    )
}

fn found(grounds: &FollowedGrounds) -> String {
    match grounds {
        FollowedGrounds::Advantage { lower, bound } if lower <= bound => {
            format!("The advantage is more than {bound}")
        }
        FollowedGrounds::Epsilon { lower, bound } if lower <= bound => {
            format!("Some pair of secrets needs an epsilon of more than {bound}")
        }
        FollowedGrounds::Claim => {
            "Some pair of secrets is told apart better than the claim allows".to_owned()
        }
        FollowedGrounds::Advantage { lower, bound } => format!(
            "The advantage is at least {}, more than {bound}",
            at_least_beyond(*lower, *bound)
        ),
        FollowedGrounds::Epsilon { lower, bound } => format!(
            "Some pair of secrets needs an epsilon of at least {}, more than {bound}",
            at_least_beyond(*lower, *bound)
        ),
        FollowedGrounds::Approximate { epsilon, delta } => format!(
            "Some pair of secrets is told apart better than epsilon = {epsilon} allows with delta = {delta}"
        ),
        FollowedGrounds::TimeDifference {
            pair,
            lower,
            bound,
            unit,
        } => {
            let [a, b] = pair.each_ref().map(|label| shorten(label));
            let lower = time_at_least(*lower, *bound, *unit);
            format!("Inside a block, {b} takes at least {lower} longer than {a} (the median)")
        }
    }
}

fn so_far(grounds: &FollowedGrounds) -> String {
    match grounds {
        FollowedGrounds::Advantage { lower, bound } => format!(
            ": they show an advantage of at least {}, and the claim allows {bound}",
            at_least_beyond(*lower, *bound)
        ),
        FollowedGrounds::Epsilon { lower, bound } => format!(
            ": they show an epsilon of at least {}, and the claim allows {bound}",
            at_least_beyond(*lower, *bound)
        ),
        FollowedGrounds::TimeDifference {
            pair,
            lower,
            bound,
            unit,
        } if *lower > 0.0 => {
            let [a, b] = pair.each_ref().map(|label| shorten(label));
            let lower = time_at_least(*lower, *bound, *unit);
            format!(": they show that {b} takes at least {lower} longer than {a}")
        }
        FollowedGrounds::Approximate { .. }
        | FollowedGrounds::Claim
        | FollowedGrounds::TimeDifference { .. } => String::new(),
    }
}

/// A time, rounded down, with enough digits to see that it is above a bound.
fn time_at_least(lower: f64, bound: f64, unit: Option<TimeUnit>) -> String {
    let (factor, unit) = scale(lower.max(bound), unit);
    let limits = Limits {
        lower: Some(factor * lower),
        ..Limits::default()
    };
    limits.texts(Some(factor * bound)).lower + unit
}

/// By how much times of two secrets differ: the limit, or what is between the limits.
pub fn difference(found: &FollowedDifference) -> String {
    let [a, b] = found.secrets.each_ref().map(|label| shorten(label));
    let figure = Located {
        point: found.median,
        lower: found.lower.unwrap_or(f64::NEG_INFINITY),
        upper: found.upper.unwrap_or(f64::INFINITY),
    };
    let [estimate, lower, upper] = located(&figure, found.unit.and_then(TimeUnit::parse));
    if figure.lower > 0.0 {
        format!("{b} takes at least {lower} longer than {a}, at most {upper}, estimate {estimate}")
    } else if figure.lower.is_finite() {
        format!("{b} takes between {lower} and {upper} longer than {a}, estimate {estimate}")
    } else {
        format!("{b} takes longer than {a}, estimate {estimate}, with too few blocks for limits")
    }
}
