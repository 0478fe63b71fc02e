//! `leakgauge check`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::Result;
use leakgauge::log::{MAX_ROWS, ReadOptions};
use leakgauge::{audit, log, report};

use crate::cli::options::{FormatName, LogArguments};
use crate::cli::progress::Progress;
use crate::cli::{arguments_given, to_stdout};

/// `check`.
#[derive(Args)]
pub struct CheckArguments {
    #[command(flatten)]
    log: LogArguments,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `check`: how a log would be read, on standard output.
pub fn check(arguments: &CheckArguments) -> Result<ExitCode> {
    let log = &arguments.log.expanded()?.in_parts()?;
    let read = log.read_options(false)?;
    let read = ReadOptions {
        max_rows: (!read.has_units()).then_some(MAX_ROWS),
        ..read
    };
    let meter = log::ReadMeter::default();
    let progress = Progress::start(meter.clone());
    let log = log::read(&read, &meter)?;
    progress.finish();
    let reading = audit::reading(&log)?;
    // What is said of the output here is nothing that `estimate` has to do.
    let mut given = arguments_given().into_iter().skip(1);
    let mut kept = Vec::new();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--format" => {
                given.next();
            }
            other if other.starts_with("--format=") => {}
            _ => kept.push(argument),
        }
    }
    to_stdout(|out| report::write_check(&reading, &kept, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}
