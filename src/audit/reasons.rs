//! Verdicts in words.

use crate::audit::model::Verdict;
use crate::estimate::Estimate;
use leakgauge_base::rounding::{at_least_beyond, at_most_beyond};

/// Both limits in words, rounded outward, with enough digits to be told from the bound.
fn limits(estimate: &Estimate, bound: f64) -> [String; 2] {
    let text = |limit: Option<f64>, write: fn(f64, f64) -> String| {
        limit.map_or("unknown".to_owned(), |limit| write(limit, bound))
    };
    [
        text(estimate.lower, at_least_beyond),
        text(estimate.upper, at_most_beyond),
    ]
}

/// Why a figure that should be at most a bound is judged as it is.
pub(super) fn reason(
    estimate: &Estimate,
    what: &str,
    bound: f64,
    verdict: Verdict,
    note: &str,
) -> String {
    let [lower, upper] = limits(estimate, bound);
    let text = match verdict {
        Verdict::Violated => format!("The {what} is at least {}, more than {bound}.", lower),
        Verdict::Holds => format!(
            "The {what} is at most {} for every pair, within {bound}.",
            upper
        ),
        Verdict::Inconclusive => match (estimate.upper, &estimate.reason) {
            (Some(_), _) => format!(
                "The {what} lies between {} and {upper}; the claim says at most {bound}.",
                lower
            ),
            (None, Some(reason)) => format!(
                "Not refuted: the log shows that the {what} is at least {}, which the claimed {bound} allows. Not confirmed: \
                 {reason}.",
                lower
            ),
            (None, None) => format!("The {what} is at least {}.", lower),
        },
    };
    format!("{text}{note}")
}

/// The same for a Bayes security that should be at least a bound.
pub(super) fn security_reason(
    estimate: &Estimate,
    bound: f64,
    verdict: Verdict,
    note: &str,
) -> String {
    let [lower, upper] = limits(estimate, bound);
    let text = match verdict {
        Verdict::Violated => {
            format!(
                "The Bayes security is at most {}, less than {bound:.4}.",
                upper
            )
        }
        Verdict::Holds => format!(
            "The Bayes security is at least {}; the claim says {bound:.4}.",
            lower
        ),
        Verdict::Inconclusive => match (estimate.lower, &estimate.reason) {
            (None, Some(reason)) => format!(
                "Not refuted: the log shows a Bayes security of at most {}, which the claimed {bound:.4} allows. Not \
                 confirmed: {reason}.",
                upper
            ),
            _ => format!(
                "The Bayes security lies between {} and {}; the claim says {bound:.4}.",
                lower, upper
            ),
        },
    };
    format!("{text}{note}")
}
