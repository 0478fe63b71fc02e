//! How the rows of a log came about, and a log of a single training run.

use clap::{Args, ValueEnum};
use leakgauge::audit::{AuditOptions, Design, PriorChoice, RequestedFigures, SplitChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::log;
use leakgauge::membership::{self, Direction, OneRunOptions};
use leakgauge::report;

use crate::cli::follow::FollowOptions;
use crate::cli::options::{EstimateOptions, LogArguments, refuse_first};
use crate::cli::outputs::OutputOptions;
use crate::cli::to_stdout;

/// How the rows came about.
#[derive(Args)]
#[command(next_help_heading = "Scores of your own attack")]
pub struct DesignOptions {
    /// Whether every row comes from a training run of its own, or all rows from one run (with `--scores`)
    #[arg(long, value_enum, value_name = "DESIGN")]
    design: Option<DesignName>,
    /// With `--design one-run`: the secret of the canaries that were included [default: in, member, 1, true, …]
    #[arg(long, value_name = "LABEL")]
    member: Option<String>,
    /// With `--design one-run`: whether members have high or low scores; settle it before the scores are seen
    /// [default: both are tried, each at half the level]
    #[arg(long, value_enum, value_name = "WHICH")]
    member_scores: Option<DirectionName>,
    /// With `--design one-run`: how many canaries are guessed to be included, and how many not to be; settle them
    /// before the scores are seen [default: five choices share the level]
    #[arg(long, value_name = "IN,OUT", value_delimiter = ',')]
    guesses: Vec<u64>,
}

/// Designs by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DesignName {
    /// Every row comes from a training run of its own
    ManyRuns,
    /// One training run, in which every row, a canary, was included with probability 1/2, by a coin of its own
    OneRun,
}

/// Directions by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum DirectionName {
    /// Members have the larger scores
    High,
    /// Members have the smaller scores, as for losses
    Low,
}

impl DesignOptions {
    /// Whether the log is of a single run.
    pub fn is_one_run(&self) -> bool {
        self.design == Some(DesignName::OneRun)
    }

    /// What an audit is told.
    pub fn design(&self) -> Design {
        match self.design {
            Some(DesignName::ManyRuns) => Design::ManyRuns,
            Some(DesignName::OneRun) | None => Design::Unstated,
        }
    }

    /// Refuses options of a single run without it, and a single run without scores.
    pub fn check(&self, has_scores: bool) -> Result<()> {
        if self.is_one_run() && !has_scores {
            let problem =
                "is judged by the scores of your own attack: --scorer given --scores COLUMN";
            return Err(Error::parameter("--design one-run", problem));
        }
        let given = [
            (self.member.is_some(), "--member"),
            (self.member_scores.is_some(), "--member-scores"),
            (!self.guesses.is_empty(), "--guesses"),
        ];
        match given.iter().find(|(given, _)| *given && !self.is_one_run()) {
            Some((_, name)) => Err(Error::parameter(*name, "is for --design one-run alone")),
            None => Ok(()),
        }
    }

    fn options(&self, options: AuditOptions) -> Result<OneRunOptions> {
        let guesses = match self.guesses[..] {
            [] => None,
            [included, excluded] => Some([included, excluded]),
            _ => {
                return Err(Error::parameter("--guesses", "must be two numbers: IN,OUT")
                    .with_hint("for example --guesses 100,0"));
            }
        };
        Ok(OneRunOptions {
            confidence: options.confidence,
            seed: options.seed,
            claims: options.claims,
            member: self.member.clone(),
            direction: self.member_scores.map(|name| match name {
                DirectionName::High => Direction::High,
                DirectionName::Low => Direction::Low,
            }),
            guesses,
        })
    }
}

/// Judges a log of a single training run.
pub fn one_run(
    arguments: &LogArguments,
    shared: &EstimateOptions,
    design: &DesignOptions,
    options: AuditOptions,
    (outputs, follow): (&OutputOptions, &FollowOptions),
) -> Result<membership::OneRun> {
    let refused = [
        (
            options.split != SplitChoice::Random,
            "--split",
            "--design one-run splits nothing: the guesses are judged on all rows",
        ),
        (
            options.prior != PriorChoice::Uniform,
            "--prior",
            "--design one-run has canaries that were included with probability 1/2",
        ),
        (shared.quick, "--quick", "--design one-run trains no attack"),
        (
            follow.follow,
            "--follow",
            "--design one-run judges a whole log",
        ),
        (
            outputs.any(),
            "--html, --plots",
            "--design one-run has no page and no pictures",
        ),
        (
            options.requested != RequestedFigures::default(),
            "--reconstruction, --tries, --at-order, --order",
            "--design one-run does not report these figures",
        ),
        (
            !options.neighbors.is_empty(),
            "--neighbors",
            "--design one-run has one pair of secrets",
        ),
        (
            shared.max_rows.is_some(),
            "--max-rows",
            "--design one-run needs every canary",
        ),
    ];
    refuse_first(&refused)?;
    let read = log::ReadOptions {
        max_rows: None,
        ..shared.reading(arguments.read_options(false)?)?
    };
    let log = log::read(&read, &log::ReadMeter::default())?;
    let found = membership::one_run(&log, &design.options(options)?)?;
    to_stdout(|out| report::write_one_run(&found, shared.format.layout(), out))?;
    Ok(found)
}
