//! How long attackers may be tried.

use std::fmt;
use std::str::FromStr;

use leakgauge_base::error::Error;
use leakgauge_base::naming::setting;

/// Nominal seconds of an audit on two cores, or of a part of it. They are estimated from the size of the log and never
/// measured, so that the report does not depend on the machine or its load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    seconds: f64,
    /// What this is of the budget of the whole audit.
    share: f64,
}

impl Budget {
    /// A budget of so many seconds.
    ///
    /// # Errors
    /// The seconds are not a positive number.
    pub fn new(seconds: f64) -> Result<Self, Error> {
        if seconds.is_finite() && seconds > 0.0 {
            Ok(Budget {
                seconds,
                share: 1.0,
            })
        } else {
            Err(Error::parameter(
                setting("budget", format!("{seconds}s")),
                "must be positive",
            ))
        }
    }

    /// The seconds.
    pub fn seconds(self) -> f64 {
        self.seconds
    }

    /// A share of it, in (0, 1], for a part of the audit.
    #[must_use]
    pub fn part(self, share: f64) -> Budget {
        Budget {
            seconds: share * self.seconds,
            share: share * self.share,
        }
    }

    /// The budget of the whole audit whose part of the same share has so many seconds.
    pub(super) fn whole(self, seconds: f64) -> f64 {
        seconds / self.share
    }
}

/// Twenty seconds.
impl Default for Budget {
    fn default() -> Self {
        Budget {
            seconds: 20.0,
            share: 1.0,
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.seconds)
    }
}

/// `500ms`, `60s`, `2m`, `1h`; a bare number is seconds.
impl FromStr for Budget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => 1e-3,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => f64::NAN,
        };
        let seconds: f64 = digits.trim().parse().unwrap_or(f64::NAN);
        Budget::new(seconds * unit).map_err(|_| {
            Error::parameter(
                setting("budget", format!("{text:?}")),
                "is not a positive length of time",
            )
            .with_hint(format!(
                "for instance {}, 500ms or 2m",
                setting("budget", "60s")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_with_their_units() {
        for (text, seconds) in [
            ("500ms", 0.5),
            ("60s", 60.0),
            ("2m", 120.0),
            ("1.5h", 5400.0),
            ("7", 7.0),
        ] {
            assert_eq!(text.parse::<Budget>().unwrap().seconds(), seconds);
        }
        for text in [
            "",
            "s",
            "-1s",
            "0s",
            "inf",
            "nan",
            "5 parsecs",
            "1e999s",
            "١s",
        ] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }
}
