//! Options for pipelines: which verdicts fail, and where they are reported.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use leakgauge::audit::Verdict;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::{check_outputs, replace_file, same_place};
use leakgauge::log::is_same;
use leakgauge::report::{self, GateCase, GateOutcome};

use crate::cli::terminal;

/// The confidence of `--ci`: a pipeline of a true claim fails falsely once in 100,000 runs at most.
const CI_CONFIDENCE: f64 = 1.0 - 1e-5;
/// The confidence of everything else.
pub const CONFIDENCE: f64 = 0.95;

/// The confidence with or without `--ci`, unless one was given.
pub fn confidence(ci: bool, given: Option<f64>) -> f64 {
    given.unwrap_or(if ci { CI_CONFIDENCE } else { CONFIDENCE })
}

/// Options of commands with verdicts.
#[derive(Args)]
#[command(next_help_heading = "Continuous integration")]
pub struct GateOptions {
    /// Which verdicts end with an exit code other than 0 [default: inconclusive; with --ci: violated]
    ///
    /// `misfit` is beside one of the others, or beside the default: `--fail-on violated,misfit`.
    #[arg(long, value_enum, value_name = "VERDICT,…", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// Settings for pipelines: confidence 1 - 1e-5, only violated claims fail, and logs that cannot be judged
    ///
    /// --confidence and --fail-on overrule. The verdicts are also appended to the job summary if the environment sets
    /// GITHUB_STEP_SUMMARY.
    #[arg(long)]
    ci: bool,
    /// Write the verdicts to this file as JUnit XML
    ///
    /// A file that is there is replaced.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The verdicts that fail.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Violated claims: exit code 1; logs that could not be judged: exit code 3
    Violated,
    /// Violated claims: exit code 1; inconclusive claims: exit code 3
    Inconclusive,
    /// No verdict: exit code 0
    None,
    /// A log that does not fit the mechanism of a claim, at the level of the report: exit code 1; a fit that cannot be
    /// tested: exit code 3
    Misfit,
}

#[cfg(unix)]
fn is_pipe(file: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata()
        .is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// That a fit is asked for and no claim has one.
pub fn no_law() -> Error {
    Error::parameter(
        "--fail-on misfit",
        "needs an audit of a claim that names a mechanism",
    )
    .with_hint("claim geometric(nu=1), for example, or leave misfit out")
}

impl GateOptions {
    /// The confidence, unless one was given.
    pub fn confidence(&self, given: Option<f64>) -> f64 {
        confidence(self.ci, given)
    }

    /// Whether a log must fit the mechanisms of its claims.
    pub fn judges_fit(&self) -> bool {
        self.fail_on.contains(&FailOn::Misfit)
    }

    fn fails(&self, outcome: GateOutcome) -> bool {
        let mut verdicts = self.fail_on.iter().copied().rev();
        let chosen = verdicts.find(|verdict| *verdict != FailOn::Misfit);
        let verdict = match outcome {
            GateOutcome::Judged(verdict) => verdict,
            GateOutcome::StrongEnough | GateOutcome::Fits => return false,
            // A log that says nothing is no log without a leak.
            GateOutcome::NotJudged => return chosen != Some(FailOn::None),
            // Whoever asks for it wants to know, whatever else may pass.
            GateOutcome::TooWeak => return chosen != Some(FailOn::None),
            GateOutcome::Misfit | GateOutcome::FitUntested => return self.judges_fit(),
        };
        let default = if self.ci {
            FailOn::Violated
        } else {
            FailOn::Inconclusive
        };
        match chosen.unwrap_or(default) {
            FailOn::None | FailOn::Misfit => false,
            FailOn::Violated => verdict == Verdict::Violated,
            FailOn::Inconclusive => verdict != Verdict::Holds,
        }
    }

    /// A log that grows has no last verdict to report.
    ///
    /// # Errors
    /// An option that needs one is set.
    pub fn refuse_follow(&self) -> Result<()> {
        if self.fail_on.is_empty() && !self.ci && self.junit.is_none() {
            return Ok(());
        }
        Err(
            Error::parameter("--follow", "does not go with --ci, --fail-on and --junit")
                .with_hint("its exit code is 1 as soon as a claim is violated"),
        )
    }

    /// Checks the file to write before a log is read.
    ///
    /// # Errors
    /// It is an input, or the file of another output, or no file can be there.
    pub fn check(&self, inputs: &[&Path], page: Option<&Path>) -> Result<()> {
        if let Some(summary) = self.job_summary() {
            let name = summary.to_string_lossy();
            if inputs
                .iter()
                .any(|input| is_same(&input.to_string_lossy(), &name))
            {
                return Err(
                    Error::file(&summary, "is a file that the command reads").with_hint(
                        "the environment variable GITHUB_STEP_SUMMARY must name another file",
                    ),
                );
            }
        }
        let output = terminal::output_file();
        self.check_summary(output.as_deref(), page)?;
        let Some(junit) = &self.junit else {
            return Ok(());
        };
        let mut outputs: Vec<(&str, &Path)> = Vec::new();
        outputs.extend(output.as_deref().map(|file| ("output", file)));
        outputs.extend(page.map(|file| ("html", file)));
        outputs.push(("junit", junit));
        check_outputs(&outputs, inputs, true)?;
        match terminal::is_called_a_log(junit) {
            true => Err(Error::file(junit, terminal::IS_LOG)
                .with_hint("write the verdicts elsewhere: --junit verdicts.xml")),
            false => Ok(()),
        }
    }

    /// The job summary is appended to: what is written anew must not be the same file.
    fn check_summary(&self, output: Option<&Path>, page: Option<&Path>) -> Result<()> {
        let Some(summary) = self.job_summary() else {
            return Ok(());
        };
        let others = [
            ("--output", output),
            ("--html", page),
            ("--junit", self.junit.as_deref()),
        ];
        let is_taken = |file: &Path| same_place(file, &summary);
        let taken = others
            .into_iter()
            .find(|(_, file)| file.is_some_and(is_taken));
        taken.map_or(Ok(()), |(flag, _)| {
            Err(Error::file(
                &summary,
                format!("is the job summary and the file of {flag}"),
            )
            .with_hint(format!(
                "name another file with {flag}, or in the environment variable GITHUB_STEP_SUMMARY"
            )))
        })
    }

    /// Reports the verdicts, and gives the exit code: 1 if a failing one is *violated*, *too weak* or *misfit*, 3 if all of
    /// them are *inconclusive*, *not judged* or fits that were not tested.
    ///
    /// # Errors
    /// A file cannot be written; a fit is asked for and no case is about one.
    pub fn finish(&self, cases: &[GateCase<'_>]) -> Result<u8> {
        let is_fit = |case: &GateCase| {
            let of_fit = [
                GateOutcome::Fits,
                GateOutcome::Misfit,
                GateOutcome::FitUntested,
            ];
            of_fit.contains(&case.outcome())
        };
        if self.judges_fit() && !cases.iter().any(is_fit) {
            return Err(no_law());
        }
        // Verdicts are in the report; a fit that fails beside one that holds would end with 1 without a word.
        for case in cases
            .iter()
            .filter(|case| is_fit(case) && self.fails(case.outcome()))
        {
            let _ = writeln!(std::io::stderr(), "{}", case.line());
        }
        if let Some(file) = &self.junit {
            replace_file(file, report::junit(cases, |outcome| self.fails(outcome)))?;
        }
        // The verdicts stand whether or not a page beside them can be written.
        if let Err(error) = self.append_summary(cases) {
            let _ = writeln!(
                std::io::stderr(),
                "warning: the job summary is not written: {error}"
            );
        }
        let fails =
            |wanted| self.fails(wanted) && cases.iter().any(|case| case.outcome() == wanted);
        let [violated, inconclusive] =
            [Verdict::Violated, Verdict::Inconclusive].map(GateOutcome::Judged);
        let wrong = [violated, GateOutcome::TooWeak, GateOutcome::Misfit];
        Ok(if wrong.into_iter().any(fails) {
            1
        } else if [
            inconclusive,
            GateOutcome::NotJudged,
            GateOutcome::FitUntested,
        ]
        .into_iter()
        .any(fails)
        {
            3
        } else {
            0
        })
    }

    fn append_summary(&self, cases: &[GateCase<'_>]) -> Result<()> {
        let Some(file) = self.job_summary() else {
            return Ok(());
        };
        // Opening a pipe that nobody reads would wait.
        if is_pipe(&file) {
            let problem = std::io::Error::other("is a pipe");
            return Err(Error::io(file.display().to_string(), problem));
        }
        let mut options = std::fs::OpenOptions::new();
        let text = report::job_summary(cases);
        let written = options.create(true).append(true).open(&file);
        written
            .and_then(|mut out| out.write_all(text.as_bytes()))
            .map_err(|error| Error::io(file.display().to_string(), error))
    }

    fn job_summary(&self) -> Option<PathBuf> {
        let file = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty());
        file.filter(|_| self.ci).map(PathBuf::from)
    }
}
