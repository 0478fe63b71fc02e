//! Numbers as people write them: two to four digits, as many as the limits warrant, limits rounded outward.

use leakgauge_base::rounding::no_number;
use leakgauge_base::time::TimeUnit;
use leakgauge_stats::paired::Located;

use crate::audit::PrivacyLimit;
use crate::estimate::Estimate;

/// Decimals beyond these are never written.
const MAX_DECIMALS: i32 = 7;
/// Sizes outside of these are written with an exponent.
const PLAIN: std::ops::Range<f64> = 1e-4..1e9;
/// Smaller values are rounding errors around 0.
const NOTHING: f64 = 1e-12;
/// What stands for a value that could not be had.
pub const MISSING: &str = "n/a";

/// An estimate and its limits, `None` for what could not be had.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    pub lower: Option<f64>,
    pub point: Option<f64>,
    pub upper: Option<f64>,
}

impl From<&Estimate> for Limits {
    fn from(found: &Estimate) -> Self {
        Limits {
            lower: found.lower,
            point: found.point,
            upper: found.upper,
        }
    }
}

impl From<&PrivacyLimit> for Limits {
    fn from(found: &PrivacyLimit) -> Self {
        Limits {
            lower: found.lower,
            point: found.point,
            upper: None,
        }
    }
}

impl From<&Located> for Limits {
    fn from(found: &Located) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        Limits {
            lower: finite(found.lower),
            point: finite(found.point),
            upper: finite(found.upper),
        }
    }
}

impl Limits {
    /// The limits of an increasing function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Limits {
        Limits {
            lower: self.lower.map(&f),
            point: self.point.map(&f),
            upper: self.upper.map(&f),
        }
    }

    /// The cells of a table: estimate, at least, at most.
    pub fn cells(self) -> [String; 3] {
        let texts = self.texts(None);
        [texts.point, texts.lower, texts.upper]
    }

    fn values(self) -> impl Iterator<Item = f64> {
        [self.lower, self.point, self.upper].into_iter().flatten()
    }

    fn size(self) -> f64 {
        self.values().map(f64::abs).fold(0.0, f64::max)
    }

    /// How far apart the limits are; with one limit, twice its distance from the estimate.
    fn width(self) -> f64 {
        let of = |a: Option<f64>, b: Option<f64>| Some((b? - a?).abs());
        let half = || of(self.lower, self.point).or(of(self.point, self.upper));
        let both = of(self.lower, self.upper);
        both.or_else(|| half().map(|half| 2.0 * half))
            .unwrap_or(0.0)
    }

    /// Decimals that show two digits of the width, and two to four digits of the largest value.
    fn decimals(self) -> i32 {
        let of_size = |digits: i32, size: f64| digits - 1 - size.log10().floor() as i32;
        let (size, width) = (self.size(), self.width());
        if size < NOTHING {
            return 0;
        }
        let wanted = match width > NOTHING {
            true => of_size(2, width),
            false => of_size(4, size),
        };
        wanted.clamp(of_size(2, size), of_size(4, size)).max(0)
    }

    /// The texts: limits rounded outward, with the same decimals. A limit has as many more as it takes to show on which
    /// side of a bound it is.
    pub fn texts(self, bound: Option<f64>) -> Texts {
        let point = self.text(self.point, f64::round);
        let Some(bound) = bound else {
            return Texts {
                lower: self.text(self.lower, f64::floor),
                point,
                upper: self.text(self.upper, f64::ceil),
                bound: MISSING.to_owned(),
            };
        };
        let beside = |digits: i32| {
            let printed = plain(bound, digits);
            let lower = self.text_beside(self.lower, f64::floor, (bound, &printed))?;
            let upper = self.text_beside(self.upper, f64::ceil, (bound, &printed))?;
            Some((lower, upper, printed))
        };
        // A bound that is rounded to few digits may pass a limit.
        let (lower, upper, bound) = (4..=MAX_DECIMALS + 1).find_map(beside).unwrap_or_else(|| {
            let [lower, upper] = [
                (self.lower, f64::floor as Rounding),
                (self.upper, f64::ceil),
            ]
            .map(|(limit, round)| self.text(limit, round));
            (lower, upper, plain(bound, 4))
        });
        Texts {
            lower,
            point,
            upper,
            bound,
        }
    }

    /// The texts of times with a unit that fits the largest of them, and a bound with one that fits it.
    pub fn texts_of_times(self, bound: f64, unit: Option<TimeUnit>) -> Texts {
        let size = match self.size() {
            size if size > 0.0 => size,
            _ => bound,
        };
        let ((factor, name), (of_bound, bound_name)) =
            (time_scale(size, unit), time_scale(bound, unit));
        let times = self.map(|time| factor * time);
        let texts = times.texts(Some(factor * bound)).with_unit(name);
        match name == bound_name {
            true => texts,
            false => Texts {
                bound: plain(of_bound * bound, 4) + bound_name,
                ..texts
            },
        }
    }

    fn text(self, value: Option<f64>, round: Rounding) -> String {
        value.map_or(MISSING.to_owned(), |value| {
            written(value, self.decimals(), round)
        })
    }

    /// A limit with the fewest decimals that leave it on its side of a bound, which is printed so; `None` if none do.
    fn text_beside(
        self,
        limit: Option<f64>,
        round: Rounding,
        (bound, printed): (f64, &str),
    ) -> Option<String> {
        let Some(limit) = limit else {
            return Some(MISSING.to_owned());
        };
        let printed: f64 = printed.parse().ok()?;
        let mut texts =
            (self.decimals()..=MAX_DECIMALS).map(|decimals| written(limit, decimals, round));
        texts.find(|text| {
            let side = |number: f64| number.partial_cmp(&printed);
            text.parse().ok().and_then(side) == limit.partial_cmp(&bound)
        })
    }
}

/// How a number is rounded to an integer.
type Rounding = fn(f64) -> f64;

/// An estimate, its limits and what bounds them, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    pub lower: String,
    pub point: String,
    pub upper: String,
    pub bound: String,
}

impl Texts {
    /// The same with a unit behind every number.
    #[must_use]
    pub fn with_unit(self, unit: &str) -> Texts {
        let with = |text: String| match text == MISSING {
            true => text,
            false => text + unit,
        };
        Texts {
            lower: with(self.lower),
            point: with(self.point),
            upper: with(self.upper),
            bound: with(self.bound),
        }
    }
}

/// A value rounded to so many decimals, without −0; with an exponent if it would be too long, or nothing but zeros. What
/// is a rounding error around 0 is 0 in every direction.
fn written(value: f64, decimals: i32, round: Rounding) -> String {
    if let Some(word) = no_number(value) {
        return word.to_owned();
    }
    let size = value.abs();
    if size < NOTHING {
        return "0".to_owned();
    }
    if !PLAIN.contains(&size) {
        return scientific(value, round);
    }
    let rounded = scaled(value, decimals, round);
    format!("{rounded:.*}", decimals.max(0) as usize)
}

/// Two digits and an exponent.
fn scientific(value: f64, round: Rounding) -> String {
    // Below, a power of ten is no number with all digits.
    const TINY: f64 = 1e-290;
    if value.abs() < TINY {
        return format!("{:e}", round(value / TINY) * TINY);
    }
    let exponent = value.abs().log10().floor() as i32;
    let unit = 10f64.powi(exponent - 1);
    let rounded = round(value / unit) * unit;
    let text = format!("{rounded:.1e}");
    text.replace(".0e", "e")
}

/// A number that has no limits, rounded to nearest: so many digits, without zeros at the end.
pub fn plain(value: f64, digits: i32) -> String {
    match value.abs() < NOTHING {
        true => "0".to_owned(),
        false => plain_exact(value, digits),
    }
}

/// The same of a number that is known exactly, however small.
pub fn plain_exact(value: f64, digits: i32) -> String {
    rounded(value, digits, f64::round)
}

/// A lower limit with so many digits, rounded down.
pub fn plain_below(value: f64, digits: i32) -> String {
    rounded(value, digits, f64::floor)
}

/// An upper limit with so many digits, rounded up.
pub fn plain_above(value: f64, digits: i32) -> String {
    rounded(value, digits, f64::ceil)
}

fn rounded(value: f64, digits: i32, round: Rounding) -> String {
    if let Some(word) = no_number(value) {
        return word.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if size < 1e-290 {
        return format!("{value:.3e}");
    }
    let exponent = size.log10().floor() as i32;
    if !PLAIN.contains(&size) {
        // At most seven digits of mantissa, the first before the point.
        let decimals = digits.clamp(1, MAX_DECIMALS) - 1;
        let mantissa = scaled(value / 10f64.powi(exponent), decimals, round);
        let text = format!("{mantissa:.*}", decimals as usize);
        // What was rounded to 10 is 1 with the next exponent.
        return match mantissa.abs() >= 10.0 {
            true => format!("{}e{}", mantissa / 10.0, exponent + 1),
            false => format!("{}e{exponent}", without_zeros(&text)),
        };
    }
    let decimals = (digits - 1 - exponent).clamp(0, MAX_DECIMALS);
    let found = scaled(value, decimals, round);
    without_zeros(&format!("{found:.*}", decimals as usize)).to_owned()
}

/// Rounded to so many decimals. What is so many decimals but for the last bits of a binary number stays what it is.
fn scaled(value: f64, decimals: i32, round: Rounding) -> f64 {
    let unit = 10f64.powi(decimals);
    let (nearest, exact) = ((value * unit).round(), value * unit);
    let is_nearest = (nearest - exact).abs() <= 32.0 * f64::EPSILON * exact.abs();
    let found = match is_nearest {
        true => nearest,
        false => round(exact),
    };
    found / unit + 0.0
}

fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// A share between 0 and 1 as a percentage: `99.9 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", plain(100.0 * share, 6))
}

/// An estimate, or another number without limits: four digits.
pub fn nearest(value: f64) -> String {
    plain(value, 4)
}

/// A lower limit alone: four digits, rounded down.
pub fn at_least(limit: f64) -> String {
    plain_below(limit, 4)
}

/// An upper limit alone: four digits, rounded up.
pub fn at_most(limit: f64) -> String {
    plain_above(limit, 4)
}

/// A level of confidence as a percentage, rounded down to two digits of what is missing to 100 %: `95 %`, `95.9 %`, `99.82 %`.
pub fn confidence_percent(confidence: f64) -> String {
    let missing = 100.0 * (1.0 - confidence);
    let decimals = 1 - missing.max(1e-6).log10().floor() as i32;
    // What was meant as 99.9 is 99.9 and not 99.8, whatever its binary digits.
    let percent = 100.0 * confidence * (1.0 + f64::EPSILON);
    format!(
        "{} %",
        without_zeros(&written(
            percent,
            decimals.clamp(0, MAX_DECIMALS),
            f64::floor
        ))
    )
}

/// The unit in which a time of this size is at least 1, and what the time is to be multiplied by.
pub fn time_scale(size: f64, unit: Option<TimeUnit>) -> (f64, &'static str) {
    let Some(unit) = unit else {
        return (1.0, "");
    };
    let Some(seconds) = unit.seconds(None) else {
        return (1.0, " cycles");
    };
    const UNITS: [(f64, &str); 4] = [(1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")];
    let fits = UNITS.iter().find(|(of, _)| size * seconds >= *of);
    let (of, name) = *fits.unwrap_or(&UNITS[3]);
    (seconds / of, name)
}

/// The name of a unit, as people write it.
pub fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Microseconds => "µs",
        unit => unit.name(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(lower: f64, point: f64, upper: f64) -> Limits {
        Limits {
            lower: Some(lower),
            point: Some(point),
            upper: Some(upper),
        }
    }

    fn texts(limits: Limits, bound: Option<f64>) -> [String; 4] {
        let found = limits.texts(bound);
        [found.lower, found.point, found.upper, found.bound]
    }

    #[test]
    fn digits_follow_the_width_of_the_limits() {
        let wide = texts(limits(0.4933, 0.5259, 0.5555), Some(0.699_463));
        assert_eq!(wide, ["0.493", "0.526", "0.556", "0.6995"]);
        let times = texts(limits(224.3, 234.0, 243.2), Some(10.0));
        assert_eq!(times, ["224", "234", "244", "10"]);
        let narrow = texts(limits(0.929_91, 0.929_95, 0.93), None);
        assert_eq!(narrow, ["0.9299", "0.9300", "0.9300", "n/a"]);
        let one_sided = Limits {
            upper: None,
            ..limits(1.3848, 1.4828, 0.0)
        };
        assert_eq!(texts(one_sided, Some(1.0)), ["1.38", "1.48", "n/a", "1"]);
        assert_eq!(
            texts(limits(-12.3, 0.0, 15.2), None)[..3],
            ["-13", "0", "16"]
        );
        let nothing = texts(Limits::default(), Some(0.1));
        assert_eq!(nothing, ["n/a", "n/a", "n/a", "0.1"]);
    }

    #[test]
    fn rounding_errors_and_small_numbers_are_short() {
        assert_eq!(
            texts(limits(0.0, 1.11e-16, 3.25e-5), None)[..3],
            ["0", "0", "3.3e-5"]
        );
        assert_eq!(
            texts(limits(-1e-16, 0.0, 1e-16), None)[..3],
            ["0", "0", "0"]
        );
        assert_eq!(plain(99.999_000_000_000_01, 6), "99.999");
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999_99), "99.999 %");
        assert_eq!(plain(864.9999, 4), "865");
        assert_eq!(plain(1e-5, 4), "1e-5");
        assert_eq!(plain(2.5e10, 4), "2.5e10");
        assert_eq!(plain(12_345.6, 4), "12346");
    }

    #[test]
    fn a_limit_that_passed_a_bound_shows_it() {
        let above = texts(limits(0.100_04, 0.2, 0.3), Some(0.1));
        assert_eq!(above, ["0.10004", "0.20", "0.30", "0.1"]);
        let below = texts(limits(0.02, 0.05, 0.0996), Some(0.1));
        assert_eq!(below, ["0.020", "0.050", "0.0996", "0.1"]);
        // The bound itself needs another digit.
        let near = texts(limits(0.699_47, 0.75, 0.8), Some(0.699_463));
        assert_eq!((&near[0][..], &near[3][..]), ("0.69947", "0.69946"));
        let equal = texts(limits(0.1, 0.2, 0.3), Some(0.1));
        assert_eq!((&equal[0][..], &equal[3][..]), ("0.10", "0.1"));
    }

    #[test]
    fn micro_is_a_greek_letter() {
        let micro = Some(TimeUnit::Microseconds);
        assert_eq!(time_scale(5.0, micro), (1.0, " µs"));
        assert_eq!(time_scale(0.005, micro).1, " ns");
        assert_eq!(unit_name(TimeUnit::Microseconds), "µs");
    }

    proptest! {
        #[test]
        fn printed_limits_enclose_the_limits_and_are_short(
            lower in -1e3f64..1e3,
            width in 1e-9f64..1e3,
            power in -9i32..6,
            bound in -1e3f64..1e3,
        ) {
            let factor = 10f64.powi(power);
            let found = limits(factor * lower, factor * (lower + 0.4 * width), factor * (lower + width));
            let texts = found.texts(Some(factor * bound));
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let slack = 1e-9 * found.size();
            prop_assert!(number(&texts.lower) <= found.lower.unwrap() + slack);
            prop_assert!(number(&texts.upper) >= found.upper.unwrap() - slack);
            for text in [&texts.lower, &texts.point, &texts.upper, &texts.bound] {
                let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
                let digits = decimals.chars().take_while(char::is_ascii_digit).count();
                prop_assert!(digits <= 7, "{text}");
            }
        }
    }

    #[test]
    fn confidence_is_never_rounded_up() {
        for (confidence, text) in [
            (0.95, "95 %"),
            (0.9, "90 %"),
            (0.5, "50 %"),
            (0.999, "99.9 %"),
            (0.99999, "99.999 %"),
            (0.959_943_7, "95.9 %"),
            (1.0 - 0.05 / 28.0, "99.82 %"),
            (1.0 - 0.05 / 4950.0, "99.9989 %"),
        ] {
            assert_eq!(confidence_percent(confidence), text);
        }
    }

    #[test]
    fn what_has_no_digits_is_a_word() {
        for (value, word) in [
            (f64::NAN, MISSING),
            (f64::INFINITY, "infinite"),
            (f64::NEG_INFINITY, "-infinite"),
        ] {
            assert_eq!(plain(value, 4), word);
            let limits = Limits {
                point: Some(value),
                ..Limits::default()
            };
            assert_eq!(limits.texts(None).point, word);
        }
    }
}
