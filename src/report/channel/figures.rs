//! Rows of figures, with one value or on two sides.

use super::number::number;
use crate::report::numbers::{plain_above, plain_below};
use leakgauge_exact::channel::PriorFigures;

/// The digits of figures that lie between two sides.
pub(super) const DIGITS: i32 = 6;

/// Its name, what it is, and its value unless there is none.
pub(super) type Figure = (&'static str, &'static str, Result<f64, &'static str>);

/// The row of a figure with one value.
pub(super) fn single((name, what, value): Figure) -> Vec<String> {
    let value = value.map_or_else(str::to_owned, number);
    vec![name.to_owned(), what.to_owned(), value]
}

/// The row of a figure between two values, rounded outward.
pub(super) fn between(one: Figure, other: Figure) -> Vec<String> {
    let (name, what, value) = one;
    let [low, high] = match (value, other.2) {
        (Ok(one), Ok(other)) => [
            plain_below(one.min(other), DIGITS),
            plain_above(one.max(other), DIGITS),
        ],
        (one, other) => [one, other].map(|value| value.map_or_else(str::to_owned, number)),
    };
    vec![name.to_owned(), what.to_owned(), low, high]
}

/// The figures at a prior.
pub(super) fn prior_figures(at: &PriorFigures) -> [Figure; 8] {
    [
        (
            "guessing error G",
            "without observation",
            Ok(at.guessing_error),
        ),
        ("Bayes risk R*", "with observation", Ok(at.bayes_risk)),
        (
            "risk leakage R*/G",
            "1 leaks nothing",
            at.risk_leakage.ok_or("n/a"),
        ),
        ("vulnerability V", "1 - R*", Ok(at.vulnerability)),
        (
            "multiplicative leakage",
            "V / largest prior",
            Ok(at.multiplicative_leakage),
        ),
        (
            "additive leakage",
            "V - largest prior",
            Ok(at.additive_leakage),
        ),
        (
            "min-entropy leakage",
            "bits",
            Ok(at.min_entropy_leakage_bits),
        ),
        ("mutual information", "bits", Ok(at.mutual_information_bits)),
    ]
}
