//! Units of time that measurements are in.

use std::fmt;

/// A unit of time.
///
/// ```
/// use leakgauge_base::time::TimeUnit;
///
/// assert_eq!(TimeUnit::parse("ns"), Some(TimeUnit::Nanoseconds));
/// assert_eq!(TimeUnit::Microseconds.seconds(None), Some(1e-6));
/// assert_eq!(TimeUnit::Cycles.seconds(Some(2e9)), Some(5e-10));
/// assert_eq!(TimeUnit::Cycles.seconds(None), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// s
    Seconds,
    /// ms
    Milliseconds,
    /// us
    Microseconds,
    /// ns
    Nanoseconds,
    /// cycles of a clock
    Cycles,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [TimeUnit; 5] = [
        TimeUnit::Seconds,
        TimeUnit::Milliseconds,
        TimeUnit::Microseconds,
        TimeUnit::Nanoseconds,
        TimeUnit::Cycles,
    ];

    /// How it is written: `s`, `ms`, `us`, `ns`, `cycles`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Cycles => "cycles",
        }
    }

    /// Reads a unit by its name.
    pub fn parse(name: &str) -> Option<TimeUnit> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// The unit that the name of a column says, by its last word: `ns`, `time_us`, `time (ms)`, `seconds`, `cycles`. A
    /// single letter says nothing.
    ///
    /// ```
    /// use leakgauge_base::time::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::of_column("Time [ns]"), Some(TimeUnit::Nanoseconds));
    /// assert_eq!(TimeUnit::of_column("seconds"), Some(TimeUnit::Seconds));
    /// assert_eq!(TimeUnit::of_column("columns"), None);
    /// ```
    pub fn of_column(name: &str) -> Option<TimeUnit> {
        let name = name.to_lowercase();
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        Some(match words.rfind(|word| !word.is_empty())? {
            "seconds" => TimeUnit::Seconds,
            "ms" | "milliseconds" => TimeUnit::Milliseconds,
            "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => TimeUnit::Microseconds,
            "ns" | "nanoseconds" => TimeUnit::Nanoseconds,
            "cycles" => TimeUnit::Cycles,
            _ => return None,
        })
    }

    /// How many seconds it is; of a cycle, by the frequency of the clock in hertz.
    pub fn seconds(self, frequency: Option<f64>) -> Option<f64> {
        match self {
            TimeUnit::Seconds => Some(1.0),
            TimeUnit::Milliseconds => Some(1e-3),
            TimeUnit::Microseconds => Some(1e-6),
            TimeUnit::Nanoseconds => Some(1e-9),
            TimeUnit::Cycles => frequency.map(|frequency| 1.0 / frequency),
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
