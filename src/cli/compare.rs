//! `leakgauge compare`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::audit::{AuditOptions, SplitChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::grammar::Call;
use leakgauge::compare::{self as library, Against, Measured};
use leakgauge::log::{ReadOptions, STDIN};
use leakgauge::{log, report};

use crate::cli::audit::audit_options;
use crate::cli::gate::GateOptions;
use crate::cli::options::{self, EstimateOptions, LogArguments};
use crate::cli::outputs::{self, ComparisonOutputs};
use crate::cli::progress::{Progress, Stage};
use crate::cli::{command_line, to_stdout};

/// `compare`.
#[derive(Args)]
#[command(mut_arg("logs", |logs| logs
    .help("Two or more files, each a separate log; CSV, TSV or JSON lines, plain, gzip or zstd, `-` for \
           standard input; `'logs/*.csv'` stands for all matching files")
    .long_help(None::<&str>)))]
pub struct CompareArguments {
    #[command(flatten)]
    log: LogArguments,
    /// The mechanism of the logs: one for all logs, one per log in their order (repeat the option), or a grid with
    /// one value per log, `randomized-response(epsilon=0.5..4:4)`
    #[arg(long = "mechanism", value_name = "MECHANISM")]
    mechanisms: Vec<String>,
    /// Compare each log with the previous one, or all with the first
    #[arg(long, value_enum, default_value = "previous", value_name = "WHICH")]
    against: AgainstName,
    /// For `holds`, an upper limit must be within this margin of the mechanism's analytic value
    #[arg(long, default_value_t = 0.02, value_name = "X")]
    margin: f64,
    #[command(flatten)]
    outputs: ComparisonOutputs,
    #[command(flatten)]
    gate: GateOptions,
    #[command(flatten)]
    options: EstimateOptions,
}

/// The reference log of a comparison, by name.
#[derive(Clone, Copy, clap::ValueEnum)]
enum AgainstName {
    /// The previous log
    Previous,
    /// The first log
    First,
}

impl From<AgainstName> for Against {
    fn from(name: AgainstName) -> Self {
        match name {
            AgainstName::Previous => Against::Previous,
            AgainstName::First => Against::First,
        }
    }
}

/// Runs `compare`.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let log = &arguments.log.expanded()?;
    check_files(log)?;
    let mechanisms = library::mechanisms(&arguments.mechanisms, log.logs.len())?;
    let page = arguments.outputs.page();
    arguments.gate.check(&outputs::inputs(log), page)?;
    let outputs = arguments.outputs.check(log)?;
    options::use_threads(arguments.options.threads)?;
    let logs = log.logs.iter().enumerate();
    let measured = logs
        .map(|(at, file)| measure(arguments, file, mechanisms.get(at), log.logs.len()))
        .collect::<Result<_>>()?;
    let found = library::compare(measured, arguments.against.into())?;
    let found = found.with_pairs(arguments.outputs.pairs());
    // A page that cannot be written must not lose the report.
    let written = outputs.write(
        || report::comparison_page(&found, &command_line()),
        || report::comparison_plots(&found),
    );
    let format = arguments.options.format.layout();
    to_stdout(|out| match arguments.outputs.full() {
        true => report::write_comparison(&found, format, out),
        false => report::write_short_comparison(&found, format, out),
    })?;
    written?;
    let code = arguments.gate.finish(&report::comparison_cases(&found))?;
    Ok(ExitCode::from(code))
}

/// Refuses logs that are not independent of each other.
fn check_files(arguments: &LogArguments) -> Result<()> {
    let files = &arguments.logs;
    if arguments.group.is_some() {
        return Err(library::grouped());
    }
    if arguments.secret_from.is_some() {
        return Err(Error::parameter(
            "--secret-from",
            "has the secrets of one log, and logs are compared",
        )
        .with_hint("write the secrets of each log into a column of it"));
    }
    if files.len() < 2 {
        return Err(library::too_few(files.len()));
    }
    if files.iter().filter(|file| *file == STDIN).count() > 1 {
        return Err(Error::parameter(
            STDIN,
            "standard input can be read only once",
        ));
    }
    if arguments.fit_on.as_deref() == Some(STDIN) {
        return Err(Error::parameter(
            "--fit-on -",
            "every log trains on this file, but standard input can be read only once",
        )
        .with_hint("save it to a file first"));
    }
    for (at, file) in files.iter().enumerate() {
        if files[..at].iter().any(|before| log::is_same(before, file)) {
            return Err(Error::file(file, "is given twice").with_hint(
                "a log is not independent of itself; to check several claims on one log, use audit",
            ));
        }
    }
    Ok(())
}

/// Reads and audits a log, one of so many.
fn measure(
    arguments: &CompareArguments,
    file: &str,
    mechanism: Option<&Call>,
    logs: usize,
) -> Result<Measured> {
    let options = AuditOptions {
        margin: arguments.margin,
        confidence: arguments.gate.confidence(arguments.options.confidence),
        ..audit_options(&arguments.options, &arguments.log)?
    };
    let read = ReadOptions {
        files: vec![file.to_owned()],
        ..arguments
            .log
            .read_options(options.split == SplitChoice::Blocks)?
    };
    let read = arguments.options.reading(read)?;
    let meter = log::ReadMeter::default();
    let progress = Progress::start(meter.clone());
    let log = log::read(&read, &meter)?;
    progress.stage(Stage::Estimating);
    let measured = library::measure(&log, options, mechanism, logs)?;
    progress.finish();
    Ok(measured)
}
