//! `leakgauge check`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::Result;
use leakgauge::log::{MAX_ROWS, ReadOptions};
use leakgauge::report::Format;
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
    let log = log::read(&read, &meter);
    progress.finish();
    let log = match log {
        Ok(log) => log,
        Err(error) => {
            show_columns(&read, arguments)?;
            return Err(error);
        }
    };
    let reading = audit::reading(&log)?;
    let kept = kept();
    to_stdout(|out| report::write_check(&reading, &kept, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the columns of a log whose secret is not known, for which no command can be given yet.
fn show_columns(read: &ReadOptions, arguments: &CheckArguments) -> Result<()> {
    let layout = arguments.format.layout();
    let is_text = layout.format != Format::Json && !layout.brief;
    // What is wrong with the log is said in any case.
    let (Ok(Some(look)), true) = (log::glance(read), is_text) else {
        return Ok(());
    };
    to_stdout(|out| report::write_first_look(&look, &kept(), layout, out))
}

/// The arguments for `estimate`.
fn kept() -> Vec<String> {
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
    kept
}
