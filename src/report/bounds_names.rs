//! What the figures of `bounds` are called, and how their numbers are written.

use crate::report::numbers::{plain_above, plain_below, plain_exact};

/// What a number is, which says how it is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The value itself.
    Exact,
    /// The value is at least this.
    AtLeast,
    /// The value is at most this.
    AtMost,
}

/// The side that a figure is on, where figures are bounds.
pub fn side(key: &str) -> Side {
    match key {
        "steps" | "group_size" | "group_order" | "bayes_security_closed_form" => Side::Exact,
        _ if key.ends_with("_at_least") => Side::AtLeast,
        _ if key.ends_with("_at_most") => Side::AtMost,
        "bayes_security" | "bayes_security_yeom" | "group_bayes_security" => Side::AtLeast,
        _ => Side::AtMost,
    }
}

/// The name of a figure without the side that it is on.
pub fn name(key: &'static str) -> &'static str {
    match key {
        "bayes_security" | "bayes_security_at_most" => "Bayes security",
        "total_variation" | "total_variation_at_least" => "total variation",
        "capacity" | "capacity_at_least" => "multiplicative capacity",
        "delta_at_epsilon_zero" => "delta at epsilon 0",
        "delta_at_epsilon" | "delta_at_epsilon_at_least" => "delta at the given epsilon",
        "epsilon_at_delta" | "epsilon_at_delta_at_least" => "epsilon at the given delta",
        "guess_probability" => "best guess between two secrets",
        "reconstruction" | "reconstruction_at_least" => "success of reconstruction",
        "renyi_divergence" | "renyi_divergence_at_least" => "Rényi divergence",
        "zcdp_rho" | "zcdp_rho_at_least" => "rho of zCDP",
        "gdp_mu" | "gdp_mu_at_least" => "mu of GDP",
        "bayes_security_closed_form" => "Bayes security, closed form",
        "advantage_corollary_2" => "advantage, Corollary 2",
        "advantage_yeom" => "advantage, Yeom et al.",
        "bayes_security_yeom" => "Bayes security, Yeom et al.",
        "advantage_humphries" => "advantage, Humphries et al.",
        "group_size" => "steps between secrets of a group",
        "group_epsilon" => "epsilon of the group",
        "group_delta" => "delta of the group",
        "group_mu" => "mu of the group",
        "group_rho" => "rho of the group",
        "group_order" => "Rényi order of the group",
        "group_renyi_divergence" => "Rényi divergence of the group",
        "group_advantage" => "advantage of the group",
        "group_bayes_security" => "Bayes security of the group",
        "database_leakage" => "leakage of the database",
        "database_risk_leakage" => "risk leakage of the database",
        // One word each: advantage, epsilon, steps.
        other => other,
    }
}

/// The name as the head of a column, with the side that it is on where the figure has another column for the other.
pub fn column(key: &'static str) -> &'static str {
    match key {
        "bayes_security_at_most" => "Bayes security at most",
        "total_variation_at_least" => "total variation at least",
        "capacity" => "capacity",
        "capacity_at_least" => "capacity at least",
        "delta_at_epsilon" => "delta at epsilon",
        "delta_at_epsilon_at_least" => "delta at least",
        "epsilon_at_delta" => "epsilon at delta",
        "epsilon_at_delta_at_least" => "epsilon at least",
        "gdp_mu_at_least" => "mu of GDP at least",
        "renyi_divergence_at_least" => "Rényi divergence at least",
        "zcdp_rho_at_least" => "rho of zCDP at least",
        "reconstruction_at_least" => "reconstruction at least",
        "advantage_yeom" => "Yeom et al.",
        "advantage_humphries" => "Humphries et al.",
        "advantage_corollary_2" => "Corollary 2",
        other => name(other),
    }
}

/// A figure as people write it: four digits, bounds rounded outward, probabilities in percent.
pub fn number(key: &str, value: Option<f64>, side: Side) -> String {
    match value {
        None => "unknown".to_owned(),
        Some(x) if !x.is_finite() => "infinite".to_owned(),
        Some(x)
            if matches!(
                key,
                "guess_probability" | "reconstruction" | "reconstruction_at_least"
            ) =>
        {
            format!("{} %", rounded(100.0 * x, side))
        }
        Some(x) => rounded(x, side),
    }
}

fn rounded(value: f64, side: Side) -> String {
    let text = |digits: i32| match side {
        Side::Exact => plain_exact(value, digits),
        Side::AtLeast => plain_below(value, digits),
        Side::AtMost => plain_above(value, digits),
    };
    // A secret that leaks a little must not read as one that does not leak at all.
    let shows_it = |text: &String| (text == "1") == (value == 1.0);
    (4..=7).map(text).find(shows_it).unwrap_or_else(|| text(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_bounds_stay_bounds() {
        let of = |value, side| number("advantage", Some(value), side);
        assert_eq!(of(2.0 / 3.0, Side::Exact), "0.6667");
        assert_eq!(of(2.0 / 3.0, Side::AtLeast), "0.6666");
        assert_eq!(of(0.462_117, Side::AtMost), "0.4622");
        assert_eq!(of(1.1, Side::AtMost), "1.1");
        assert_eq!(of(0.5, Side::AtLeast), "0.5");
        assert_eq!(of(1e-5, Side::AtMost), "1e-5");
        assert_eq!(of(3.718_28e-5, Side::AtMost), "3.719e-5");
        assert_eq!(of(2.862_518_58e-20, Side::Exact), "2.863e-20");
        assert_eq!(of(0.999_999, Side::Exact), "0.999999");
        assert_eq!(of(1.0, Side::AtLeast), "1");
        assert_eq!(of(1e9, Side::Exact), "1e9");
        assert_eq!(
            number("epsilon", Some(f64::INFINITY), Side::AtMost),
            "infinite"
        );
        assert_eq!(number("capacity", None, Side::AtMost), "unknown");
        assert_eq!(
            number("guess_probability", Some(0.622_459), Side::AtMost),
            "62.25 %"
        );
    }
}
