//! How large a difference is allowed.

use std::fmt;
use std::time::Duration;

/// How large a difference of medians is allowed: what an attacker could still see decides.
///
/// ```
/// use leakgauge_timing::{Attacker, Threshold};
/// use std::time::Duration;
///
/// assert_eq!(Threshold::from(Duration::from_nanos(20)).nanoseconds(), 20.0);
/// assert_eq!(Threshold::in_nanoseconds(2.5).nanoseconds(), 2.5);
/// assert_eq!(Threshold::from(Attacker::Lan).nanoseconds(), 100.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    nanoseconds: f64,
    attacker: Option<Attacker>,
}

impl Threshold {
    /// So many nanoseconds. At 0 any difference is a leak, and no test can pass.
    ///
    /// # Panics
    /// If the number is negative, infinite or not a number.
    #[track_caller]
    pub fn in_nanoseconds(nanoseconds: f64) -> Self {
        assert!(
            nanoseconds.is_finite() && nanoseconds >= 0.0,
            "a threshold is a finite number of nanoseconds, 0 or more, and not {nanoseconds}"
        );
        Self {
            nanoseconds,
            attacker: None,
        }
    }

    /// The threshold in nanoseconds.
    pub fn nanoseconds(self) -> f64 {
        self.nanoseconds
    }
}

impl From<Duration> for Threshold {
    fn from(duration: Duration) -> Self {
        Self::in_nanoseconds(duration.as_nanos() as f64)
    }
}

impl From<Attacker> for Threshold {
    fn from(attacker: Attacker) -> Self {
        Self {
            nanoseconds: attacker.nanoseconds(),
            attacker: Some(attacker),
        }
    }
}

/// As `0.6 ns (shared hardware)`.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Nanoseconds(self.nanoseconds))?;
        match self.attacker {
            Some(attacker) => write!(f, " ({})", attacker.name()),
            None => Ok(()),
        }
    }
}

/// Thresholds with names, by where the attacker measures.
///
/// These are conventions, of the size of the smallest difference that attackers of this kind were seen to use or can
/// hope to see. They are no proof that a smaller difference is safe: an attacker who measures more often sees less. A
/// threshold of your own is better where you know yours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attacker {
    /// Code of the attacker on the same processor, such as another tenant or an enclave's host: 0.6 ns, two cycles at
    /// 3.3 GHz. It is a convention that other tools have too: one cycle more is the least that code can differ by, and
    /// two leave room for how a processor aligns the same instructions.
    SharedHardware,
    /// A machine in the same network: 100 ns. Crosby, Wallach and Riedi (2009) measured to 100 ns over a local network
    /// ([10.1145/1455526.1455530](https://doi.org/10.1145/1455526.1455530)). Take it, too, for a service that answers
    /// requests side by side over one connection (HTTP/2): the order of two answers shows differences of 100 ns over
    /// the Internet (Van Goethem, Pöpper, Joosen and Vanhoef, *Timeless timing attacks*, USENIX Security 2020).
    Lan,
    /// A machine elsewhere on the Internet: 50 µs. Crosby, Wallach and Riedi (2009) measured to 15 to 100 µs across the
    /// Internet ([10.1145/1455526.1455530](https://doi.org/10.1145/1455526.1455530)).
    Internet,
}

impl Attacker {
    /// The threshold in nanoseconds.
    pub fn nanoseconds(self) -> f64 {
        match self {
            Self::SharedHardware => 0.6,
            Self::Lan => 100.0,
            Self::Internet => 50_000.0,
        }
    }

    /// As in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedHardware => "shared hardware",
            Self::Lan => "LAN",
            Self::Internet => "Internet",
        }
    }
}

/// A time for people: three digits and a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nanoseconds(pub(crate) f64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if !size.is_finite() {
            return f.write_str("unknown");
        }
        // What would be written as 1000 is 1 of the next unit.
        let (value, unit) = match size {
            size if size < 999.5 => (self.0, "ns"),
            size if size < 999.5e3 => (self.0 / 1e3, "µs"),
            size if size < 999.5e6 => (self.0 / 1e6, "ms"),
            _ => (self.0 / 1e9, "s"),
        };
        let digits = match value.abs() {
            size if size >= 99.95 => 0,
            size if size >= 9.995 => 1,
            size if size > 0.0 && size < 0.01 => 4,
            _ => 2,
        };
        let text = format!("{value:.digits$}");
        let short = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        write!(f, "{short} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_for_people() {
        for (nanoseconds, expected) in [
            (0.0, "0 ns"),
            (0.6, "0.6 ns"),
            (0.004_2, "0.0042 ns"),
            (12.345, "12.3 ns"),
            (999.6, "1 µs"),
            (100.0, "100 ns"),
            (50_000.0, "50 µs"),
            (2.5e6, "2.5 ms"),
            (-3.0, "-3 ns"),
            (f64::INFINITY, "unknown"),
        ] {
            assert_eq!(Nanoseconds(nanoseconds).to_string(), expected);
        }
        assert_eq!(Threshold::from(Attacker::Lan).to_string(), "100 ns (LAN)");
    }

    #[test]
    #[should_panic(expected = "0 or more")]
    fn no_threshold_is_not_a_number() {
        let _ = Threshold::in_nanoseconds(f64::NAN);
    }
}
