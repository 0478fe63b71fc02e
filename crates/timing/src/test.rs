//! A test: classes of inputs, a threshold, a budget.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::SystemClock;
use crate::judge::Verdict;
use crate::measure::{Maker, Measured, Plan, measure};
use crate::random::{Random, fresh_seed};
use crate::report::{Difference, Outcome, Report};
use crate::threshold::Threshold;
use crate::{ledger, log, settings};

/// Pairs grow with the square of the classes.
const MOST_CLASSES: usize = 64;

/// Tests of one process measure one after the other: they would disturb each other.
static MEASURING: Mutex<()> = Mutex::new(());

/// A test of two or more classes of inputs.
///
/// ```
/// use leakgauge_timing::{Attacker, Test};
///
/// let secret = [7; 32];
/// let report = Test::new("comparison", Attacker::Lan)
///     .class("first byte differs", || { let mut guess = secret; guess[0] = 0; guess })
///     .class("last byte differs", || { let mut guess = secret; guess[31] = 0; guess })
///     .class("equal", || secret)
///     .run(|guess| secret.iter().zip(guess).fold(0, |any, (a, b)| any | (a ^ *b)) == 0);
/// assert!(!report.leaks(), "{report}");
/// ```
#[must_use = "a test measures nothing until `assert` or `run`"]
pub struct Test<'a, I> {
    name: String,
    threshold: Threshold,
    classes: Vec<String>,
    makers: Vec<Maker<'a, I>>,
    time_limit: Duration,
    most_blocks: usize,
    requires_decision: bool,
    seed: Option<u64>,
    directory: Option<PathBuf>,
}

impl<'a, I> Test<'a, I> {
    /// A test without classes yet. The name is for messages, for the file of times, and for the order of the calls.
    ///
    /// The threshold is a [`Duration`], an [`Attacker`](crate::Attacker) or a [`Threshold`]. There is no default: it
    /// depends on who can measure.
    #[track_caller]
    pub fn new(name: impl Into<String>, threshold: impl Into<Threshold>) -> Self {
        Self {
            name: name.into(),
            threshold: threshold.into(),
            classes: Vec::new(),
            makers: Vec::new(),
            time_limit: Duration::from_secs(10),
            most_blocks: 500_000,
            requires_decision: false,
            seed: None,
            directory: None,
        }
    }

    /// A class of inputs, and what makes one. Inputs are made outside of the timed part.
    ///
    /// Make the inputs of all classes in the same way, with the same allocations: what differs in how they are made can
    /// show in the times.
    ///
    /// # Panics
    /// If a class has this name already, or there are 64.
    #[track_caller]
    pub fn class(mut self, name: impl Into<String>, make: impl FnMut() -> I + 'a) -> Self {
        let name = name.into();
        assert!(
            !self.classes.contains(&name),
            "test `{}`: two classes have the name `{name}`",
            self.name
        );
        assert!(
            self.classes.len() < MOST_CLASSES,
            "test `{}`: more than {MOST_CLASSES} classes",
            self.name
        );
        self.classes.push(name);
        self.makers.push(Box::new(make));
        self
    }

    /// After this time an open test ends as [`Outcome::TooNoisy`]: 10 s unless it is set. The end of a call is waited
    /// for.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// After so many blocks an open test ends as [`Outcome::TooNoisy`]: 500,000 unless it is set.
    pub fn max_blocks(mut self, blocks: usize) -> Self {
        self.most_blocks = blocks;
        self
    }

    /// [`assert`](Self::assert) fails where the test is too noisy to tell, too.
    pub fn require_decision(mut self) -> Self {
        self.requires_decision = true;
        self
    }

    /// The seed of the order of the calls. Without it `LEAKGAUGE_SEED` is taken, or a fresh one.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The directory for the times of a test that leaks: `target/leakgauge` unless it is set. `LEAKGAUGE_LOG` outweighs
    /// it.
    pub fn log_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Measures, and says what was found. Nothing fails.
    ///
    /// The closure is what is timed, with `&mut` an input. Return what it computes, so that the compiler cannot leave
    /// it out. Outputs are dropped outside of the timed part.
    ///
    /// # Panics
    /// If there are fewer than two classes, if an environment variable cannot be read, or if a closure panics.
    #[track_caller]
    pub fn run<O>(mut self, mut run: impl FnMut(&mut I) -> O) -> Report {
        assert!(
            self.classes.len() >= 2,
            "test `{}` has {} class(es) of inputs: it compares two or more",
            self.name,
            self.classes.len()
        );
        let seed = self.seed.or_else(settings::seed).unwrap_or_else(fresh_seed);
        let plan = Plan {
            threshold: self.threshold.nanoseconds(),
            alarm: ledger::next_level(settings::tests()),
            pass: ledger::FALSE_PASSES,
            time_limit: self.time_limit,
            most_blocks: self.most_blocks,
        };
        let random = Random::of_test(seed, &self.name);
        let measured = {
            // A test that failed while it measured left nothing behind.
            let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
            measure(&SystemClock, &mut self.makers, &mut run, random, &plan)
        };
        let mut report = self.report(&measured, &plan, seed);
        let always = settings::log();
        if measured.agrees && (always.is_some() || report.leaks()) {
            let rows = log::Rows {
                classes: &self.classes,
                order: &measured.order,
                times: measured.judge.times(),
            };
            match always.or(self.directory).or_else(log::directory) {
                None => {
                    report.log_error = Some(
                        "this program is not in a target directory: set LEAKGAUGE_LOG to a directory for them"
                            .to_owned(),
                    );
                }
                Some(directory) => match rows.write(&directory, &self.name) {
                    Ok(path) => report.log = Some(path),
                    Err(error) => report.log_error = Some(error.to_string()),
                },
            }
        }
        report
    }

    /// Measures, and fails where the test [`Leaks`](Outcome::Leaks). Where it is [`TooNoisy`](Outcome::TooNoisy) to
    /// tell, it says so on standard error, also where the output of tests is captured, and does not fail unless
    /// [`require_decision`](Self::require_decision) is set.
    ///
    /// # Panics
    /// Where it fails, and as [`run`](Self::run).
    #[track_caller]
    pub fn assert<O>(self, run: impl FnMut(&mut I) -> O) {
        let requires_decision = self.requires_decision;
        let report = self.run(run);
        match report.outcome {
            Outcome::Passes => println!("{report}"),
            Outcome::TooNoisy if !requires_decision => {
                // Tests that pass are silent: the macros that print are captured, this is not.
                let _ = write!(std::io::stderr().lock(), "\n{report}");
            }
            _ => panic!("{report}"),
        }
    }

    fn report(&self, measured: &Measured, plan: &Plan, seed: u64) -> Report {
        let look = measured.judge.last();
        Report {
            name: self.name.clone(),
            outcome: match look.map(|look| look.verdict) {
                // Without a clock to trust there is no difference to speak of.
                _ if !measured.agrees => Outcome::TooNoisy,
                Some(Verdict::Leaks) => Outcome::Leaks,
                Some(Verdict::Passes) => Outcome::Passes,
                Some(Verdict::Open) | None => Outcome::TooNoisy,
            },
            threshold: self.threshold,
            difference: look.filter(|_| measured.agrees).map(|look| Difference {
                slower: self.classes[look.pair.slower].clone(),
                faster: self.classes[look.pair.faster].clone(),
                at_least: look.pair.at_least,
                estimate: look.pair.estimate,
                at_most: look.pair.at_most,
                size_at_most: look.pair.size_at_most,
            }),
            largest: match look {
                Some(look) if measured.agrees => look.largest,
                _ => f64::INFINITY,
            },
            blocks: look.map_or(0, |look| look.blocks),
            measured_blocks: measured.judge.blocks(),
            calls_per_time: measured.calls,
            clock: measured.clock.name,
            clock_step: measured.clock.step_nanoseconds(),
            clock_agrees: measured.agrees,
            backwards: measured.backwards,
            false_alarms: plan.alarm,
            false_passes: plan.pass,
            elapsed: measured.elapsed,
            seed,
            log: None,
            log_error: None,
        }
    }
}

impl<I> fmt::Debug for Test<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Test")
            .field("name", &self.name)
            .field("threshold", &self.threshold)
            .field("classes", &self.classes)
            .finish_non_exhaustive()
    }
}
