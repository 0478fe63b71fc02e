//! Verdicts in words.

use crate::audit::model::Verdict;
use crate::estimate::Estimate;

/// Why a figure that should be at most a bound is judged as it is.
pub(super) fn reason(
    estimate: &Estimate,
    what: &str,
    bound: f64,
    verdict: Verdict,
    note: &str,
) -> String {
    let limit =
        |limit: Option<f64>| limit.map_or("unknown".to_owned(), |limit| format!("{limit:.4}"));
    let text = match verdict {
        Verdict::Violated => format!(
            "The {what} is at least {}, more than {bound}.",
            limit(estimate.lower)
        ),
        Verdict::Holds => format!(
            "The {what} is at most {} for every pair, within {bound}.",
            limit(estimate.upper)
        ),
        Verdict::Inconclusive => match (estimate.upper, &estimate.reason) {
            (Some(upper), _) => format!(
                "The {what} lies between {} and {upper:.4}; the claim says at most {bound}.",
                limit(estimate.lower)
            ),
            (None, Some(reason)) => format!(
                "The {what} is at least {}, not more than {bound}, and from above: {reason}.",
                limit(estimate.lower)
            ),
            (None, None) => format!("The {what} is at least {}.", limit(estimate.lower)),
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
    let limit =
        |limit: Option<f64>| limit.map_or("unknown".to_owned(), |limit| format!("{limit:.4}"));
    let text = match verdict {
        Verdict::Violated => {
            format!(
                "The Bayes security is at most {}, less than {bound:.4}.",
                limit(estimate.upper)
            )
        }
        Verdict::Holds => format!(
            "The Bayes security is at least {}; the claim says {bound:.4}.",
            limit(estimate.lower)
        ),
        Verdict::Inconclusive => match (estimate.lower, &estimate.reason) {
            (None, Some(reason)) => format!(
                "The Bayes security is at most {}, not less than {bound:.4}, and from below: {reason}.",
                limit(estimate.upper)
            ),
            _ => format!(
                "The Bayes security lies between {} and {}; the claim says {bound:.4}.",
                limit(estimate.lower),
                limit(estimate.upper)
            ),
        },
    };
    format!("{text}{note}")
}
