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

    /// Reads a unit by its name; `µs` is `us`.
    pub fn parse(name: &str) -> Option<TimeUnit> {
        match name {
            "\u{b5}s" | "\u{3bc}s" => Some(TimeUnit::Microseconds),
            _ => Self::ALL.into_iter().find(|unit| unit.name() == name),
        }
    }

    /// The unit that the name of a column says, by its last word: `ns`, `time_us`, `time (ms)`, `seconds`, `cycles`,
    /// `durationMs`. The single letter `s` says it in brackets, and behind a word of time.
    ///
    /// ```
    /// use leakgauge_base::time::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::of_column("Time [ns]"), Some(TimeUnit::Nanoseconds));
    /// assert_eq!(TimeUnit::of_column("seconds"), Some(TimeUnit::Seconds));
    /// assert_eq!(TimeUnit::of_column("columns"), None);
    /// ```
    pub fn of_column(name: &str) -> Option<TimeUnit> {
        let written = name.trim();
        let name = written.to_lowercase();
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        Some(match words.rfind(|word| !word.is_empty())? {
            "seconds" | "secs" | "sec" => TimeUnit::Seconds,
            "s" if is_in_brackets(written) || words.any(is_of_time) => TimeUnit::Seconds,
            "ms" | "milliseconds" => TimeUnit::Milliseconds,
            "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => TimeUnit::Microseconds,
            "ns" | "nanoseconds" => TimeUnit::Nanoseconds,
            "cycles" => TimeUnit::Cycles,
            _ if written.ends_with("Ms") => TimeUnit::Milliseconds,
            _ if written.ends_with("Us") => TimeUnit::Microseconds,
            _ if written.ends_with("Ns") => TimeUnit::Nanoseconds,
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

    /// How many nanoseconds it is, by the frequency of the clock in hertz. Whole numbers for the units of a second, so that the ratio of two of them is exact.
    fn nanoseconds(self, frequency: Option<f64>) -> Option<f64> {
        match self {
            TimeUnit::Seconds => Some(1e9),
            TimeUnit::Milliseconds => Some(1e6),
            TimeUnit::Microseconds => Some(1e3),
            TimeUnit::Nanoseconds => Some(1.0),
            TimeUnit::Cycles => frequency.map(|frequency| 1e9 / frequency),
        }
    }
}

/// Whether the last word stands in brackets: `Time [s]`.
fn is_in_brackets(name: &str) -> bool {
    name.ends_with([']', ')', '}'])
}

/// Whether a word of a name, in lower case, says that it is about time.
fn is_of_time(word: &str) -> bool {
    let words = [
        "time", "times", "duration", "latency", "elapsed", "delay", "rtt", "took", "ttft",
        "response",
    ];
    words.contains(&word)
}

/// The step in which a clock records times, as it is said: `1ms`, `2cycles`, `0.5` in the unit of the log, 0 for
/// records that are exact.
///
/// ```
/// use leakgauge_base::time::{ClockStep, TimeUnit};
///
/// let step = ClockStep::parse("1ms").expect("a step");
/// assert_eq!(step.unit, Some(TimeUnit::Milliseconds));
/// assert_eq!(step.in_unit(Some(TimeUnit::Microseconds), None), Some(1000.0));
/// assert_eq!(step.in_unit(None, None), None);
/// assert_eq!(ClockStep::parse("-1"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockStep {
    /// Its size.
    pub size: f64,
    /// Its unit; that of the log if not given.
    pub unit: Option<TimeUnit>,
}

impl ClockStep {
    /// Reads a step; `None` for a text that is none.
    pub fn parse(text: &str) -> Option<ClockStep> {
        let text = text.trim();
        // The longest names first: `ms` ends with `s`.
        let mut units = TimeUnit::ALL;
        units.sort_by_key(|unit| std::cmp::Reverse(unit.name().len()));
        let of = units
            .into_iter()
            .find_map(|unit| Some((text.strip_suffix(unit.name())?, unit)));
        let (number, unit) = of.map_or((text, None), |(number, unit)| (number, Some(unit)));
        let size: f64 = number.trim_end().parse().ok()?;
        (size.is_finite() && size >= 0.0).then_some(ClockStep { size, unit })
    }

    /// The step in another unit; `None` where the two cannot be compared.
    pub fn in_unit(&self, log: Option<TimeUnit>, frequency: Option<f64>) -> Option<f64> {
        match (self.unit, log) {
            (None, _) => Some(self.size),
            (Some(own), Some(log)) if own == log => Some(self.size),
            (Some(own), Some(log)) => {
                Some(self.size * (own.nanoseconds(frequency)? / log.nanoseconds(frequency)?))
            }
            (Some(_), None) => None,
        }
    }
}

impl fmt::Display for ClockStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.size, self.unit.map_or("", TimeUnit::name))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
