//! `leakgauge probe`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use leakgauge::attack::tuning::Budget;
use leakgauge::base::error::{Error, Result};
use leakgauge::probe::{self, ProbeOptions};
use leakgauge::report::sentences;

/// `probe`.
#[derive(Args)]
pub struct ProbeArguments {
    /// The classes, which become the secrets of the log; each block asks for every class once, in random order
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    classes: Vec<String>,
    /// The number of blocks
    #[arg(short = 'n', long, value_name = "BLOCKS", default_value_t = 1_000)]
    blocks: u64,
    /// Write the log to this file, which must not exist [default: standard output]
    #[arg(short = 'o', long, value_name = "LOG")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Blocks that are asked for first and not logged
    #[arg(long, value_name = "BLOCKS", default_value_t = 10)]
    warm_up: u64,
    /// The longest time to wait for an answer: `10s`, `500ms`
    #[arg(long, value_name = "TIME", default_value = "10s")]
    timeout: String,
    /// Run a process for each sample, which reads one class and answers one line; starting it takes far longer than
    /// what is measured, so use this only if the program cannot go on
    #[arg(long)]
    spawn: bool,
    /// The seed of the order within blocks
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// The program and its arguments. It reads a class a line, and answers each with a line: a value, a JSON object, or
    /// an empty line, whose round trip is timed
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `probe`: a log of complete random blocks.
pub fn probe(arguments: &ProbeArguments) -> Result<ExitCode> {
    let timeout: Budget = arguments.timeout.parse().map_err(|_| {
        Error::parameter(
            format!("--timeout {}", arguments.timeout),
            "is no time such as 10s or 500ms",
        )
    })?;
    let options = ProbeOptions {
        classes: arguments.classes.clone(),
        blocks: arguments.blocks,
        warm_up: arguments.warm_up,
        seed: arguments.seed,
        timeout: Duration::try_from_secs_f64(timeout.seconds()).unwrap_or(Duration::MAX / 4),
        spawn: arguments.spawn,
        command: arguments.command.clone(),
    };
    options.check()?;
    if options.spawn {
        say(sentences::probe::SPAWN_WARNING);
    }
    let collected = match &arguments.output {
        None => probe::probe(&options, io::stdout().lock())?,
        Some(path) => {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .create_new(!arguments.force)
                .truncate(arguments.force)
                .open(path)
                .map_err(|error| {
                    let hint = "name another file, or replace it with --force";
                    match error.kind() {
                        io::ErrorKind::AlreadyExists => Error::io(path, error).with_hint(hint),
                        _ => Error::io(path, error),
                    }
                })?;
            probe::probe(&options, file)?
        }
    };
    say(&sentences::probe::collected(
        &collected,
        arguments.output.as_deref(),
    ));
    Ok(ExitCode::SUCCESS)
}

/// Says something beside the log, which may be on standard output.
fn say(text: &str) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(io::stderr(), "{text}");
}
