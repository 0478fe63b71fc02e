//! Comparison of printed and recomputed numbers and statements.

use serde::Serialize;

/// A number or statement printed in a paper, and the recomputed one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Its location in the paper.
    pub place: &'static str,
    /// The quantity.
    pub quantity: String,
    /// The printed text.
    pub printed: String,
    /// The recomputed value or statement, as text.
    pub recomputed: String,
    /// The recomputed number, if it is a number.
    pub value: Option<f64>,
    /// Whether they agree. A number agrees if it equals the printed one after rounding to the printed digits.
    pub agrees: bool,
    /// The reason for a difference, if known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

impl Comparison {
    /// A printed number and its recomputed value.
    pub(super) fn number(place: &'static str, quantity: &str, printed: &str, value: f64) -> Self {
        let decimals = printed
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        Comparison {
            place,
            quantity: quantity.to_owned(),
            printed: printed.to_owned(),
            recomputed: six_digits(value),
            value: Some(value),
            agrees: format!("{value:.decimals$}") == printed,
            comment: String::new(),
        }
    }

    /// A printed statement about a number.
    pub(super) fn claim(
        place: &'static str,
        quantity: &str,
        printed: &str,
        value: f64,
        agrees: bool,
    ) -> Self {
        Comparison {
            printed: printed.to_owned(),
            agrees,
            ..Comparison::number(place, quantity, "", value)
        }
    }

    /// A printed statement.
    pub(super) fn statement(
        place: &'static str,
        quantity: &str,
        printed: &str,
        recomputed: &str,
        agrees: bool,
    ) -> Self {
        Comparison {
            place,
            quantity: quantity.to_owned(),
            printed: printed.to_owned(),
            recomputed: recomputed.to_owned(),
            value: None,
            agrees,
            comment: String::new(),
        }
    }

    /// The same comparison, with a reason.
    #[must_use]
    pub(super) fn because(mut self, comment: &str) -> Self {
        comment.clone_into(&mut self.comment);
        self
    }
}

/// Six significant digits.
fn six_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    leakgauge_base::grammar::format_number(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_rounding_to_the_printed_digits() {
        let agrees = |printed: &str, value| Comparison::number("", "", printed, value).agrees;
        assert!(agrees("0.978", 0.978_449) && agrees("0.95", 0.951_229));
        assert!(!agrees("0.525", 0.524_385) && !agrees("0.99999", 0.938_719));
    }
}
