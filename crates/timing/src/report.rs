//! What a test found, as numbers and as sentences.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::threshold::{Nanoseconds, Threshold};

/// What a test can come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The medians of all pairs of classes differ by no more than the threshold.
    Passes,
    /// The medians of two classes differ by more than the threshold.
    Leaks,
    /// The budget was spent before either was sure.
    TooNoisy,
}

/// By how much two classes differ: the median, over blocks, of the difference inside a block, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The class that takes longer.
    pub slower: String,
    /// The class that takes less time.
    pub faster: String,
    /// Lower limit, all pairs and directions together; −∞ where there is none. It may be negative: then which class is
    /// slower is not sure.
    pub at_least: f64,
    /// The median of the blocks.
    pub estimate: f64,
    /// Upper limit; ∞ where there is none.
    pub at_most: f64,
    /// Upper limit of the difference in either direction; ∞ where there is none. A test passes where it is within the
    /// threshold.
    pub size_at_most: f64,
}

/// What a test found. As text it is a few lines for people.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The name of the test.
    pub name: String,
    /// What it came to.
    pub outcome: Outcome,
    /// The difference that was allowed.
    pub threshold: Threshold,
    /// The pair of classes that decides; `None` if there were too few blocks for any limit, or the clock is not to be
    /// trusted.
    pub difference: Option<Difference>,
    /// Upper limit of the difference of any two classes, in nanoseconds; ∞ where there is none.
    pub largest: f64,
    /// Blocks that were judged. Each has a time of every class.
    pub blocks: usize,
    /// Blocks that were measured: those after the last look were not judged.
    pub measured_blocks: usize,
    /// Each time is the mean of so many calls.
    pub calls_per_time: usize,
    /// What was read.
    pub clock: &'static str,
    /// The step of the clock in nanoseconds.
    pub clock_step: f64,
    /// Whether the clock ran as that of the system did, to 1 %, over the whole test. Otherwise nothing is decided.
    pub clock_agrees: bool,
    /// Times that ended before they began, by the clock.
    pub backwards: usize,
    /// The probability of `Leaks` where nothing exceeds the threshold.
    pub false_alarms: f64,
    /// The probability of `Passes` where something exceeds the threshold.
    pub false_passes: f64,
    /// How long it took, with the warm-up.
    pub elapsed: Duration,
    /// The seed of the order of the calls.
    pub seed: u64,
    /// Where all times are, if they were written.
    pub log: Option<PathBuf>,
    /// Why they were not, if they should have been.
    pub log_error: Option<String>,
}

impl Report {
    /// Whether nothing exceeds the threshold.
    pub fn passes(&self) -> bool {
        self.outcome == Outcome::Passes
    }

    /// Whether something exceeds the threshold.
    pub fn leaks(&self) -> bool {
        self.outcome == Outcome::Leaks
    }

    /// The least threshold, in nanoseconds, at which the same blocks would have passed; ∞ where there are too few.
    pub fn resolution(&self) -> f64 {
        self.largest
    }

    fn difference_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.clock_agrees {
            return writeln!(
                f,
                "  the {} did not run as the clock of the system did: no time is known",
                self.clock
            );
        }
        let Some(difference) = &self.difference else {
            return writeln!(
                f,
                "  {} blocks were measured in this time; limits need 1,024 and more",
                self.measured_blocks
            );
        };
        let Difference {
            slower,
            faster,
            at_least,
            estimate,
            at_most,
            size_at_most,
        } = difference;
        let (at_least, estimate) = (Nanoseconds(*at_least), Nanoseconds(*estimate));
        match self.outcome {
            Outcome::Leaks if at_least.0 > 0.0 => writeln!(
                f,
                "  {slower} takes longer than {faster}: at least {at_least}, about {estimate}, at most {}",
                Nanoseconds(*at_most)
            ),
            Outcome::Leaks => writeln!(
                f,
                "  {slower} takes longer than {faster}, by less than the clock shows: about {estimate}, at most {}",
                Nanoseconds(*at_most)
            ),
            _ if size_at_most.is_finite() => writeln!(
                f,
                "  {slower} and {faster} differ by at most {} (estimate {estimate})",
                Nanoseconds(*size_at_most)
            ),
            _ => writeln!(
                f,
                "  nothing limits how {slower} and {faster} differ (estimate {estimate})"
            ),
        }
    }

    fn log_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.log_error {
            writeln!(f, "  the times could not be written: {error}")?;
        }
        if let Some(log) = &self.log {
            let log = log.display().to_string();
            writeln!(f, "  all times: {log}")?;
            let log = log.replace('\'', r"'\''");
            if self.outcome == Outcome::Leaks {
                let claim = self.threshold.nanoseconds();
                writeln!(
                    f,
                    "  a report on them: leakgauge audit - --block block --secret class --follow --claim 'time-difference({claim}ns)' < '{log}'"
                )?;
            }
        }
        writeln!(
            f,
            "  the same order of calls again: LEAKGAUGE_SEED={}",
            self.seed
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.outcome {
            Outcome::Passes => writeln!(f, "constant-time test `{name}` passes")?,
            Outcome::Leaks => writeln!(
                f,
                "constant-time test `{name}`: the time of a call depends on its class of inputs"
            )?,
            Outcome::TooNoisy => writeln!(
                f,
                "constant-time test `{name}`: too noisy to tell, after {:.1} s",
                self.elapsed.as_secs_f64()
            )?,
        }
        self.difference_line(f)?;
        writeln!(f, "  allowed: {}", self.threshold)?;
        let calls = match self.calls_per_time {
            1 => "of single calls".to_owned(),
            calls => format!("are means of {calls} calls"),
        };
        if !self.clock_agrees {
            return self.log_lines(f);
        }
        if self.blocks > 0 {
            writeln!(
                f,
                "  medians over {} blocks, each with a call of every class in random order",
                self.blocks
            )?;
        }
        let step = Nanoseconds(self.clock_step);
        writeln!(
            f,
            "  times {calls}, by a {} with a step of {step}",
            self.clock
        )?;
        if self.backwards > 0 {
            writeln!(f, "  the clock went backwards in {} times", self.backwards)?;
        }
        if self.outcome == Outcome::TooNoisy {
            if self.resolution().is_finite() {
                writeln!(
                    f,
                    "  so many blocks can only show thresholds of {} and more",
                    Nanoseconds(self.resolution())
                )?;
            }
            writeln!(
                f,
                "  what helps: a quiet machine, a longer time limit, a larger threshold, an optimized build"
            )?;
        }
        if cfg!(debug_assertions) {
            writeln!(
                f,
                "  this build is not optimized: `cargo test --release` measures what users run"
            )?;
        }
        if self.outcome == Outcome::Leaks {
            writeln!(
                f,
                "  probability of such an alarm without a leak: at most 1 in {:.0}",
                1.0 / self.false_alarms
            )?;
        }
        if self.outcome == Outcome::Passes {
            return Ok(());
        }
        self.log_lines(f)
    }
}
