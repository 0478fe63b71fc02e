//! `leakgauge explain`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::audit::{AuditOptions, SplitChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::explain::explain as explained;
use leakgauge::input::claims;
use leakgauge::{log, report};

use crate::cli::audit::audit_options;
use crate::cli::options::{self, EstimateOptions, LogArguments};
use crate::cli::progress::{Progress, Stage};
use crate::cli::to_stdout;

/// `explain`.
#[derive(Args)]
#[command(mut_arg("logs", |logs| logs.required(false)))]
pub struct ExplainArguments {
    /// A claim, as an audit takes it: `dp(epsilon=1, delta=1e-5)`, `gdp(1)`, `advantage(0.1)`, `laplace(scale=2,
    /// secrets=0..9)`. `leakgauge help bounds` lists all
    #[arg(value_name = "CLAIM")]
    claim: String,
    #[command(flatten)]
    log: LogArguments,
    #[command(flatten)]
    options: EstimateOptions,
}

/// Runs `explain`. The verdict on a log makes no exit code: that is what an audit is for.
pub fn explain(arguments: &ExplainArguments) -> Result<ExitCode> {
    let shared = &arguments.options;
    options::use_threads(shared.threads)?;
    let claim = claims::parse(std::slice::from_ref(&arguments.claim))?;
    let [claim] = &claim[..] else {
        return Err(Error::parameter("CLAIM", "is needed"));
    };
    let found = if arguments.log.logs.is_empty() {
        explained(claim, None)?
    } else {
        let (log, options) = read(&arguments.log, shared, claim)?;
        let progress = Progress::start(log::ReadMeter::default());
        progress.stage(Stage::Estimating);
        let found = explained(claim, Some((log, options)))?;
        progress.finish();
        found
    };
    to_stdout(|out| report::write_explanation(&found, shared.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}

fn read(
    log: &LogArguments,
    shared: &EstimateOptions,
    claim: &leakgauge::Claim,
) -> Result<(log::Log, AuditOptions)> {
    let log = &log.expanded()?.in_parts()?;
    let options = AuditOptions {
        claims: vec![claim.clone()],
        ..audit_options(shared, log)?
    };
    let meter = log::ReadMeter::default();
    let progress = Progress::start(meter.clone());
    let keep_order = options.split == SplitChoice::Blocks;
    let mut read = shared.reading(log.read_options(keep_order)?)?;
    read.timed = options.is_timed();
    let found = log::read(&read, &meter)?;
    progress.finish();
    Ok((found, options))
}
