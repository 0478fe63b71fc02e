//! Dates and durations as numbers of seconds.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// What the texts of a column say in words of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// ISO 8601 and RFC 3339: `2026-01-01`, `2026-01-01T12:00:00.5+02:00`.
    Date,
    /// `1h2m3.5s`, `12ms`, `PT1M`.
    Duration,
}

impl Unit {
    /// The unit that all of some texts are in; `None` if there is none, or no text.
    pub fn of<'t>(mut texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        let first = texts.clone().next()?;
        let unit = [Unit::Date, Unit::Duration]
            .into_iter()
            .find(|unit| unit.seconds(first).is_some())?;
        texts
            .all(|text| unit.seconds(text).is_some())
            .then_some(unit)
    }

    /// Seconds, since 1970 of a date.
    pub fn seconds(self, text: &str) -> Option<f64> {
        // Anything else would be a number or a word; parsing those is most of the work.
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        match self {
            Unit::Date => {
                let since = text.parse::<Timestamp>().or_else(|_| {
                    let date = text.parse::<DateTime>()?;
                    date.to_zoned(TimeZone::UTC).map(|date| date.timestamp())
                });
                since.ok().map(|since| since.as_duration().as_secs_f64())
            }
            Unit::Duration => {
                let duration = text.parse::<SignedDuration>();
                duration.ok().map(|duration| duration.as_secs_f64())
            }
        }
    }

    /// Whether a value is a whole number of the smallest unit, and told apart from its neighbors: those
    /// are counted like integers. Durations are whole nanoseconds; a date is one if it is a whole second.
    pub(crate) fn is_whole(self, seconds: f64) -> bool {
        match self {
            Unit::Date => seconds == seconds.trunc(),
            Unit::Duration => seconds.abs() < (1u64 << 53) as f64 * 1e-9,
        }
    }

    /// Whether a text has digits that its seconds have not: those of a date beyond the microsecond.
    pub(crate) fn loses_digits(self, text: &str) -> bool {
        let Some((_, fraction)) = text.split_once('.').filter(|_| self == Unit::Date) else {
            return false;
        };
        let digits = fraction.bytes().take_while(u8::is_ascii_digit);
        digits.skip(6).any(|digit| digit != b'0')
    }

    /// What a column holds and what is made of it.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Unit::Date => {
                "holds dates, read as seconds since 1970-01-01T00:00Z, to the microsecond; UTC where no offset is written"
            }
            Unit::Duration => "holds durations, read as seconds",
        }
    }

    /// What is wrong with a text that is not in this unit.
    pub(crate) fn problem(self) -> &'static str {
        match self {
            Unit::Date => "is not a date, as those of the first rows are",
            Unit::Duration => "is not a duration with its unit, as those of the first rows are",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_durations_become_seconds() {
        for (text, seconds) in [
            ("1970-01-02", 86_400.0),
            ("1970-01-01T00:00:01.5Z", 1.5),
            ("1970-01-01 01:00:00+01:00", 0.0),
            ("1970-01-01T00:01:00", 60.0),
            ("2026-01-01T00:00:00Z", 1_767_225_600.0),
        ] {
            assert_eq!(Unit::Date.seconds(text), Some(seconds), "{text}");
            assert_eq!(Unit::Duration.seconds(text), None, "{text}");
        }
        for (text, seconds) in [
            ("12ms", 0.012),
            ("1h2m3.5s", 3_723.5),
            ("0.58 ms", 0.000_58),
            ("250us", 0.000_25),
            ("250µs", 0.000_25),
            ("7ns", 7e-9),
            ("PT1M", 60.0),
            ("-2s", -2.0),
        ] {
            assert_eq!(Unit::Duration.seconds(text), Some(seconds), "{text}");
            assert_eq!(Unit::Date.seconds(text), None, "{text}");
        }
        for text in [
            "",
            "12",
            "1.5",
            "12 km",
            "hello",
            "2026-13-01",
            "1h2h",
            "P",
            "s",
        ] {
            assert_eq!(Unit::Date.seconds(text), None, "{text}");
            assert_eq!(Unit::Duration.seconds(text), None, "{text}");
        }
    }

    #[test]
    fn dates_lose_what_is_beyond_the_microsecond() {
        for (text, loses) in [
            ("2026-01-01T00:00:00.0000001Z", true),
            ("2026-01-01T00:00:00.123456Z", false),
            ("2026-01-01T00:00:00.123456000Z", false),
            ("2026-01-01", false),
        ] {
            assert_eq!(Unit::Date.loses_digits(text), loses, "{text}");
        }
        assert!(!Unit::Duration.loses_digits("1.0000001s"));
    }

    #[test]
    fn one_text_that_does_not_fit_and_there_is_no_unit() {
        assert_eq!(Unit::of(["1s", "2ms"].into_iter()), Some(Unit::Duration));
        assert_eq!(Unit::of(["1s", "2026-01-01"].into_iter()), None);
        assert_eq!(Unit::of([].into_iter()), None);
    }
}
