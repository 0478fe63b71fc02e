//! `leakgauge plan`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::Result;
use leakgauge::claim::{Claim, Leak};
use leakgauge::power::{self, POWER, PlanOptions};
use leakgauge::report;

use crate::cli::gate;
use crate::cli::options::{FormatName, use_threads};
use crate::cli::progress::{Progress, Stage};
use crate::cli::to_stdout;

/// `plan`.
#[derive(Args)]
pub struct PlanArguments {
    /// A claim that the audit will judge; can be repeated, because claims share the error probability
    #[arg(long = "claim", required = true, value_name = "CLAIM")]
    claims: Vec<String>,
    /// The leak that must be found: `epsilon=1.25`, `advantage=0.1`
    ///
    /// Figures are `epsilon`, `mu`, `rho`, `advantage` and `bayes-security`. The plan is for two secrets with two
    /// outcomes that have just this leak; a mechanism whose attack is harder to learn needs more rows.
    #[arg(long, value_name = "LEAK")]
    detect: String,
    /// How often a log with such a leak must show it, between 0 and 1
    #[arg(long, default_value_t = POWER, value_name = "P")]
    power: f64,
    /// The secrets of the log, each with equally many rows
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        default_value = "0,1"
    )]
    secrets: Vec<String>,
    /// The confidence level of the audit [default: 0.95; with --ci: 0.99999]
    #[arg(long, value_name = "C")]
    confidence: Option<f64>,
    /// The audit runs with --ci: confidence 1 - 1e-5
    #[arg(long)]
    ci: bool,
    /// The margin of the audit, for claims of mechanisms
    #[arg(long, default_value_t = 0.02, value_name = "X")]
    margin: f64,
    /// The seed of the simulated logs
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// The number of threads; it does not change the answer [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `plan`.
pub fn plan(arguments: &PlanArguments) -> Result<ExitCode> {
    use_threads(arguments.threads)?;
    let leak = Leak::parse(&arguments.detect)?;
    let claims = arguments.claims.iter().map(|text| Claim::parse(text));
    let options = PlanOptions {
        power: arguments.power,
        secrets: arguments.secrets.clone(),
        confidence: gate::confidence(arguments.ci, arguments.confidence),
        margin: arguments.margin,
        seed: arguments.seed,
        ..PlanOptions::new(leak, claims.collect::<Result<_>>()?)
    };
    let progress = Progress::of_stage(Stage::Simulating);
    let found = power::plan(&options)?;
    progress.finish();
    to_stdout(|out| report::write_plan(&found, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}
