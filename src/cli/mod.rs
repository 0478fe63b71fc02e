//! The command line: arguments are parsed here and handed to the library, which does the work.

mod audit;
mod bounds;
mod channel;
mod compare;
mod engine;
mod flags;
mod follow;
mod options;
mod outputs;
mod permute;
mod progress;
#[cfg(feature = "reproduce")]
mod reproduce;
mod shuffle;
mod simulate;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use leakgauge::error::{Error, Result};

/// Measures how much a deployed mechanism leaks about its secrets, from a log of (secret,
/// observation) rows, and says what the log proves.
#[derive(Parser)]
#[command(name = "leakgauge", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes:\n  0  done; every claim holds\n  1  some claim is violated\n  2  the command \
                          line or the data is wrong\n  3  no claim is violated, some claim is inconclusive";

#[derive(Subcommand)]
enum Command {
    /// Which secrets a log tells apart, how well, and how sure that is
    Estimate(audit::EstimateArguments),
    /// The same, with a verdict on each claim and an exit code
    Audit(audit::AuditArguments),
    /// Several logs side by side, each against its mechanism; differences with limits
    Compare(compare::CompareArguments),
    /// The exact figures of a known mechanism, and what a promise bounds, over a grid if asked
    Bounds(bounds::BoundsArguments),
    /// The exact figures of a channel matrix; composition of several
    Channel(channel::ChannelArguments),
    /// The shuffle model: what shuffled messages tell of one user
    Shuffle(shuffle::ShuffleArguments),
    /// Shuffle the rows of a log within groups: d_sigma privacy
    Permute(Box<permute::PermuteArguments>),
    /// Draw a log from a known mechanism
    Simulate(simulate::SimulateArguments),
    /// A figure or table of a paper, recomputed: data and picture
    #[cfg(feature = "reproduce")]
    Reproduce(reproduce::ReproduceArguments),
}

/// Runs the program.
pub fn main() -> ExitCode {
    leakgauge::naming::install(flags::flag);
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Estimate(arguments) => audit::estimate(&arguments),
        Command::Audit(arguments) => audit::audit(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Bounds(arguments) => bounds::bounds(&arguments),
        Command::Channel(arguments) => channel::channel(&arguments),
        Command::Shuffle(arguments) => shuffle::shuffle(&arguments),
        Command::Permute(arguments) => permute::permute(&arguments),
        Command::Simulate(arguments) => simulate::simulate(&arguments),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
    };
    engine::clean_up();
    match done {
        Ok(code) => code,
        Err(error) => {
            // Nothing is left to tell anyone if standard error is closed too.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output. A reader that has gone away (`| head`) is no error.
fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::file("standard output", error.to_string()))
        }
        _ => {
            // What is left in the buffer has no reader.
            let _ = out.into_parts();
            Ok(())
        }
    }
}
