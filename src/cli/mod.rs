//! The command line: parses arguments, calls the library, prints the result.

mod audit;
mod bounds;
mod channel;
mod check;
mod compare;
mod confusion;
mod demo;
mod design;
mod documents;
mod engine;
mod explain;
mod first_run;
pub mod flags;
mod follow;
mod gate;
mod optimal;
mod options;
mod output;
mod outputs;
mod permute;
mod plan;
mod probe;
mod progress;
#[cfg(feature = "reproduce")]
mod reproduce;
mod requested;
#[cfg(feature = "schema")]
mod schema;
mod shuffle;
mod signals;
mod simulate;
mod terminal;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{Parser, Subcommand};
use leakgauge::base::credentials::without_credentials;
use leakgauge::base::error::{Result, acts_on_terminal, visible, without_long_words};

pub(crate) use output::to_stdout;

/// Measures how much a deployed mechanism leaks about its secrets, from a log of (secret,
/// observation) rows, with valid confidence limits.
#[derive(Parser)]
#[command(name = "leakgauge", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    terminal: terminal::TerminalOptions,
}

const EXIT_CODES: &str = "Exit codes:\n  0  done; every claim holds\n  1  some claim is violated, or the log is too weak for \
                          --must-detect\n  2  the command line or the data is wrong\n  3  no claim is violated, some claim is \
                          inconclusive\n  128 + the number of a signal that ended it: 130 for Ctrl-C";

#[derive(Subcommand)]
enum Command {
    /// Measure which secrets a log reveals, how well, and with what confidence; `leakgauge LOG` does the same
    Estimate(audit::EstimateArguments),
    /// Measure a log and give a verdict on each claim, with an exit code
    Audit(audit::AuditArguments),
    /// Show how a log would be read: columns, types, secrets, doubts, first rows; measures nothing
    Check(check::CheckArguments),
    /// Compute how many rows a log needs so that an audit finds a leak of a given size
    Plan(plan::PlanArguments),
    /// Compare several logs, each with its mechanism; differences with confidence limits
    Compare(compare::CompareArguments),
    /// Compute the exact figures of a known mechanism, or the bounds that a promise implies; also over a grid
    Bounds(bounds::BoundsArguments),
    /// Say what a claim means for an attacker: right guesses, false positives; beside a log's figures where one is given
    Explain(Box<explain::ExplainArguments>),
    /// Compute the exact figures of a channel matrix; compose several
    Channel(channel::ChannelArguments),
    /// Compute the mechanism of least expected loss under local differential privacy, or under a distance of secrets
    Optimal(optimal::OptimalArguments),
    /// Compute what a table of right and wrong answers of a membership attack proves
    Confusion(confusion::ConfusionArguments),
    /// Compute what shuffled messages reveal about one user (shuffle model)
    Shuffle(shuffle::ShuffleArguments),
    /// Shuffle values of a log within groups of rows: d_sigma privacy
    Permute(Box<permute::PermuteArguments>),
    /// Collect a log: ask a program for answers, class by class, in complete random blocks
    Probe(probe::ProbeArguments),
    /// Write a log to try the program on, and print the command to run on it
    Demo(demo::DemoArguments),
    /// Draw a log from a known mechanism
    Simulate(simulate::SimulateArguments),
    /// Recompute a figure or table of a paper: data and picture
    #[cfg(feature = "reproduce")]
    Reproduce(reproduce::ReproduceArguments),
    /// Print the JSON Schema of what a command writes with --format json
    #[cfg(feature = "schema")]
    Schema(schema::SchemaArguments),
    /// Print a completion script for a shell
    Completions(documents::CompletionsArguments),
    /// Write manual pages into a directory
    Man(documents::ManArguments),
}

/// The arguments that the program was given, without its name.
static GIVEN: OnceLock<Vec<OsString>> = OnceLock::new();

/// The command that runs, as a shell takes it. What the operating system says would name an interpreter that hosts
/// the program.
fn command_line() -> String {
    leakgauge::report::command_line(GIVEN.get().into_iter().flatten())
}

/// The arguments as texts, the name of the command first.
fn arguments_given() -> Vec<String> {
    let given = GIVEN.get().into_iter().flatten();
    given
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

pub use terminal::without_standard_output;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code. Writes to
/// standard output and standard error. Once a process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    leakgauge::base::naming::install(flags::flag);
    signals::watch();
    let arguments = first_run::with_subcommand(arguments.into_iter().collect());
    if arguments.len() < 2 {
        // If standard error is closed, nobody reads it.
        let _ = first_run::what_to_try();
        return ExitCode::from(2);
    }
    // Only the first call of a process has an effect, as with the style of names.
    let _ = GIVEN.set(arguments.iter().skip(1).cloned().collect());
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(refused) => {
            let code = u8::try_from(refused.exit_code()).unwrap_or(2);
            return ExitCode::from(match print(&refused) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    let _ = writeln!(io::stderr(), "error: standard output: {error}");
                    2
                }
                _ => code,
            });
        }
    };
    let done = terminal::choose(arguments.terminal, &arguments_given())
        .and_then(|()| execute(arguments.command));
    progress::end_computing();
    engine::clean_up();
    match done {
        Ok(code) => code,
        Err(error) => {
            // If standard error is closed too, there is no way left to report the error.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    let computes = matches!(
        command,
        Command::Bounds(_)
            | Command::Channel(_)
            | Command::Optimal(_)
            | Command::Confusion(_)
            | Command::Shuffle(_)
    );
    if computes {
        progress::begin_computing();
    }
    match command {
        Command::Estimate(arguments) => audit::estimate(&arguments),
        Command::Audit(arguments) => audit::audit(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Plan(arguments) => plan::plan(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Bounds(arguments) => bounds::bounds(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Channel(arguments) => channel::channel(&arguments),
        Command::Optimal(arguments) => optimal::optimal(&arguments),
        Command::Confusion(arguments) => confusion::confusion(&arguments),
        Command::Shuffle(arguments) => shuffle::shuffle(&arguments),
        Command::Permute(arguments) => permute::permute(&arguments),
        Command::Probe(arguments) => probe::probe(&arguments),
        Command::Demo(arguments) => demo::demo(&arguments),
        Command::Simulate(arguments) => simulate::simulate(&arguments),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        #[cfg(feature = "schema")]
        Command::Schema(arguments) => schema::schema(&arguments),
        Command::Completions(arguments) => documents::completions(&arguments),
        Command::Man(arguments) => documents::man(&arguments),
    }
}

/// What is meant by options that other programs have, where the nearest name of an option would mislead.
const MEANT: [(&str, &str); 17] = [
    (
        "--advantage",
        "claims have an option of their own: --claim 'advantage(0.1)'",
    ),
    ("--alpha", "--confidence 0.95 is a level of 1 - 0.05"),
    (
        "--claim",
        "claims are judged by: leakgauge audit LOG --claim '…'",
    ),
    (
        "--delta",
        "claims have an option of their own: --claim 'dp(epsilon=1, delta=1e-5)'; bounds has --at-delta 1e-5",
    ),
    (
        "--epsilon",
        "claims have an option of their own: --claim 'dp(epsilon=1)'; bounds has --at-epsilon 1",
    ),
    ("--file", "logs stand without an option: leakgauge LOG"),
    ("--input", "logs stand without an option: leakgauge LOG"),
    ("--json", "--format json"),
    ("--label", "--secret COLUMN names the secret"),
    ("--log", "logs stand without an option: leakgauge LOG"),
    ("--output-format", "--format json"),
    ("--sep", "--delimiter ';'"),
    ("--target", "--secret COLUMN names the secret"),
    (
        "--threshold",
        "claims have an option of their own: --claim 'time-difference(10ns)'",
    ),
    ("--type", "--format json"),
    ("--verbose", "--full prints everything"),
    ("-v", "--full prints everything"),
];

/// What to do about an option that there is not.
fn tip(refused: &clap::Error) -> Option<&'static str> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if refused.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = refused.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = given.split('=').next()?;
    MEANT
        .iter()
        .find(|meant| meant.0 == name)
        .map(|meant| meant.1)
}

/// What is said of an option that takes a number and got something else.
fn not_a_number(refused: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};
    use std::error::Error;
    let source = refused.source()?;
    let text = |kind: ContextKind| match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (
        text(ContextKind::InvalidArg)?,
        text(ContextKind::InvalidValue)?,
    );
    let name = option.split(' ').next()?;
    let (what, hint) = if source.is::<std::num::ParseFloatError>() {
        let point = value.replacen(',', ".", 1);
        let share = value.trim().strip_suffix('%');
        let share = share.and_then(|share| share.trim().parse::<f64>().ok());
        let hint = match (share, point.parse::<f64>()) {
            (Some(share), _) => format!("{value} is {name} {}", share / 100.0),
            (None, Ok(_)) => format!("decimals have a point: {name} {point}"),
            (None, Err(_)) => format!("write a number, without a unit: {name} 0.5"),
        };
        ("is not a number", hint)
    } else if source.is::<std::num::ParseIntError>() || source.is::<std::num::TryFromIntError>() {
        let number = value.parse::<f64>();
        let whole = number
            .ok()
            .filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number));
        let hint = match whole {
            Some(whole) => format!("write all its digits: {name} {whole:.0}"),
            None => format!("write digits only: {name} 1000"),
        };
        ("is not a whole number, or is out of range", hint)
    } else {
        return None;
    };
    Some(format!("error: {name} {value}: {what}\n  hint: {hint}"))
}

/// A message whose lines stay and whose letters a terminal does not act on.
fn visible_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(visible).collect();
    lines.join("\n")
}

/// Prints help, or what is wrong with the arguments, which a terminal must not act on.
fn print(refused: &clap::Error) -> io::Result<()> {
    if !refused.use_stderr() {
        terminal::check_stdout()?;
    }
    let rendered = refused.render().to_string();
    let text = match refused.use_stderr() {
        true => without_credentials(&rendered),
        false => rendered.as_str().into(),
    };
    if let Some(tip) = tip(refused) {
        let error = text.lines().next().unwrap_or_default();
        let error = without_long_words(&visible(error));
        return writeln!(io::stderr(), "{error}\n  hint: {tip}");
    }
    if let Some(message) = not_a_number(refused) {
        return writeln!(
            io::stderr(),
            "{}",
            without_long_words(&visible_lines(&without_credentials(&message)))
        );
    }
    let is_plain = !text.contains(|letter| letter != '\n' && acts_on_terminal(letter));
    let is_as_rendered = text == rendered && without_long_words(&text) == text;
    if !refused.use_stderr() || (is_plain && is_as_rendered) {
        return refused.print();
    }
    text.lines()
        .try_for_each(|line| writeln!(io::stderr(), "{}", without_long_words(&visible(line))))
}
