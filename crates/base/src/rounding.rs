//! Directed rounding of confidence limits for display: a lower limit down, an upper limit up, so that the
//! printed limit is valid too.

/// What is written in the place of a value that has no digits.
pub fn no_number(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some("n/a"),
        f64::INFINITY => Some("infinite"),
        f64::NEG_INFINITY => Some("-infinite"),
        _ => None,
    }
}

/// Below, a power of ten is no number with all digits.
const TINY: f64 = 1e-290;

/// A value computed from the parameters of a claim, rounded to nearest: six significant digits.
pub fn allowance(value: f64) -> String {
    if let Some(word) = no_number(value) {
        return word.to_owned();
    }
    crate::grammar::format_number(format!("{value:.5e}").parse().unwrap_or(value))
}

/// A lower limit, rounded down, with enough digits (four to twelve) to stay on its side of `bound`.
pub fn at_least_beyond(limit: f64, bound: f64) -> String {
    beyond(limit, bound, f64::floor)
}

/// An upper limit, rounded up, with enough digits (four to twelve) to stay on its side of `bound`.
pub fn at_most_beyond(limit: f64, bound: f64) -> String {
    beyond(limit, bound, f64::ceil)
}

/// A lower limit of a probability as a percentage, rounded down, with enough decimals (one to twelve) to stay above
/// that of blind guessing, if it is.
pub fn percent_beyond(probability: f64, blind: f64) -> String {
    let (percent, blind) = (100.0 * probability, 100.0 * blind);
    let rounded = |decimals: i32| {
        let unit = 10f64.powi(decimals);
        format!("{:.*}", decimals as usize, (percent * unit).floor() / unit)
    };
    let above = |text: &String| text.parse().is_ok_and(|value: f64| value > blind);
    let found = (1..=12).map(rounded).find(above);
    found.unwrap_or_else(|| rounded(1))
}

fn beyond(limit: f64, bound: f64, round: fn(f64) -> f64) -> String {
    if let Some(word) = no_number(limit) {
        return word.to_owned();
    }
    let side = |value: f64| value > bound;
    (4..=12)
        .map(|decimals| directed(limit, decimals, round))
        .find(|text| {
            text.parse() == Ok(limit)
                || text
                    .parse()
                    .is_ok_and(|value: f64| side(value) == side(limit) && value != bound)
        })
        .unwrap_or_else(|| limit.to_string())
}

fn directed(limit: f64, decimals: i32, round: fn(f64) -> f64) -> String {
    if let Some(word) = no_number(limit) {
        return word.to_owned();
    }
    if limit != 0.0 && limit.abs() < TINY {
        let rounded = round(limit / TINY) * TINY;
        return match rounded == 0.0 {
            true => "0.0000".to_owned(),
            false => format!("{rounded:.3e}"),
        };
    }
    if limit != 0.0 && limit.abs() < 0.001 {
        let exponent = limit.abs().log10().floor() as i32;
        let unit = 10f64.powi(exponent - 3);
        return format!("{:.3e}", round(limit / unit) * unit);
    }
    let unit = 10f64.powi(decimals);
    let rounded = round(limit * unit) / unit;
    // −0 is printed as 0.
    format!(
        "{:.*}",
        decimals as usize,
        if rounded == 0.0 { 0.0 } else { rounded }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lower_limits_are_rounded_down_and_upper_limits_up() {
        assert_eq!(percent_beyond(0.664_63, 0.5), "66.4");
        assert_eq!(percent_beyond(0.500_37, 0.5), "50.03");
        assert_eq!(percent_beyond(0.5, 0.5), "50.0");
        assert_eq!(at_most_beyond(0.699_99, 0.7), "0.69999");
        assert_eq!(at_least_beyond(0.99997, 1.0), "0.9999");
        assert_eq!(allowance(6.0 * 0.05), "0.3");
        for value in [1e-310, -5e-324, 0.0] {
            let texts = (at_least_beyond(value, 1.0), at_most_beyond(value, -1.0));
            let [below, above] = [texts.0, texts.1].map(|text| text.parse::<f64>().unwrap());
            assert!(below <= value && value <= above, "{value}: {below} {above}");
        }
        for (value, text) in [(f64::NAN, "n/a"), (f64::INFINITY, "infinite")] {
            assert_eq!(at_least_beyond(value, 0.0), text);
        }
    }

    proptest! {
        #[test]
        fn rounded_limits_stay_on_their_side(limit in -1.0f64..20.0, small in 1e-12f64..1e-3) {
            for value in [limit, small] {
                let lower: f64 = at_least_beyond(value, -2.0).parse().unwrap();
                let upper: f64 = at_most_beyond(value, 21.0).parse().unwrap();
                prop_assert!(lower <= value * (1.0 + 1e-15 * value.signum()) && value * (1.0 - 1e-15 * value.signum()) <= upper);
                prop_assert!((upper - lower).abs() <= 2e-4_f64.max(2e-3 * value.abs()));
            }
        }
    }
}
