//! What every command does with standard output: to a file or not, in color or not, how wide, how much.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ColorChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::AtomicFile;
use leakgauge::log::{expand, is_same};
use leakgauge::report::{Format, Layout};

/// Options of every command.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Terminal")]
pub struct TerminalOptions {
    /// Write to this file instead of standard output
    ///
    /// A file that is there is replaced, but never a file that the command reads, and no log by a report.
    #[arg(short, long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the verdicts, or the summary where nothing is claimed, and no progress
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Color and bold
    ///
    /// `auto` is on where standard output is a terminal, unless the environment sets NO_COLOR or TERM=dumb.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto"
    )]
    color: ColorChoice,
}

/// What was chosen, for the whole process.
static CHOSEN: OnceLock<TerminalOptions> = OnceLock::new();

/// Makes the choice, and refuses to overwrite what the command reads.
///
/// # Errors
/// The file to write to is also among the other arguments.
pub fn choose(options: TerminalOptions, given: &[String]) -> Result<()> {
    if let Some(output) = &options.output {
        refuse_format(output)?;
        refuse_input(output, given)?;
        refuse_log(output, given)?;
    }
    // Only the first call of a process has an effect.
    let _ = CHOSEN.set(options);
    Ok(())
}

fn chosen() -> TerminalOptions {
    CHOSEN.get().cloned().unwrap_or_default()
}

/// Whether nothing but verdicts is to be shown.
pub fn is_quiet() -> bool {
    chosen().quiet
}

/// Whether standard output goes into a file.
pub fn has_output() -> bool {
    chosen().output.is_some()
}

/// The file that standard output goes into, unless it is a device or a pipe.
pub fn output_file() -> Option<PathBuf> {
    chosen().output.filter(|file| is_replaceable(file))
}

/// The file of the option, whatever it is.
pub fn output_option() -> Option<PathBuf> {
    chosen().output
}

/// Devices and pipes are written to. What is a file, or will be one, is written whole or not at all.
fn is_replaceable(file: &Path) -> bool {
    file.metadata().map_or(true, |there| there.is_file())
}

/// How a report in this format is laid out.
pub fn layout(format: Format) -> Layout {
    let options = chosen();
    let is_terminal = options.output.is_none() && io::stdout().is_terminal();
    let width = is_terminal.then(terminal_size::terminal_size).flatten();
    Layout {
        format,
        width: width.map(|(terminal_size::Width(columns), _)| usize::from(columns)),
        color: has_color(options.color, is_terminal, |name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        }),
        brief: options.quiet,
        ..Layout::default()
    }
}

/// NO_COLOR counts if it is not empty (no-color.org).
fn has_color(
    choice: ColorChoice,
    is_terminal: bool,
    environment: impl Fn(&str) -> Option<String>,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let no_color = environment("NO_COLOR").is_some_and(|value| !value.is_empty());
            let is_dumb = environment("TERM").is_some_and(|value| value == "dumb");
            is_terminal && !no_color && !is_dumb
        }
    }
}

/// Whether the process was started without standard output.
static HAS_NONE: AtomicBool = AtomicBool::new(false);

/// Says that this process was started without standard output: what is written there is an error from now on.
pub fn without_standard_output() {
    HAS_NONE.store(true, Ordering::Relaxed);
}

/// An error if there is no standard output.
pub fn check_stdout() -> io::Result<()> {
    match HAS_NONE.load(Ordering::Relaxed) {
        true => Err(io::Error::other("is closed")),
        false => Ok(()),
    }
}

/// Writes to standard output, or to the file that replaces it. A closed pipe (`| head`) is not an error.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    if let Some(file) = output_file() {
        return AtomicFile::write(&file, write)?.finish();
    }
    if let Some(file) = chosen().output {
        let failed = |error| Error::io(file.display().to_string(), error);
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&file).map_err(failed)?);
        return write(&mut out).and_then(|()| out.flush()).map_err(failed);
    }
    to_standard_output(write)
}

/// Writes to standard output itself. A closed pipe (`| head`) is not an error.
pub fn to_standard_output(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    check_stdout().map_err(|error| Error::io("standard output", error))?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output", error))
        }
        _ => {
            // Discard what is left in the buffer.
            let _ = out.into_parts();
            Ok(())
        }
    }
}

/// A file that is called as a format is meant as one.
fn refuse_format(output: &Path) -> Result<()> {
    let is_named = |format: &&Format| output.as_os_str() == format.about().0;
    match Format::ALL.iter().find(is_named) {
        None => Ok(()),
        Some(format) => {
            let (name, _) = format.about();
            let problem = "is the name of a format, and the option names a file";
            Err(Error::setting("output", name, problem).with_hint(format!(
                "say --format {name}; a file that is called so is --output ./{name}"
            )))
        }
    }
}

/// A report does not replace what is called as a log and is there, nor what a link to it leads to.
fn refuse_log(output: &Path, given: &[String]) -> Result<()> {
    const WRITE_LOGS: [&str; 4] = ["demo", "permute", "probe", "simulate"];
    // Options of all commands may stand before its name.
    let is_report = !given.iter().any(|word| WRITE_LOGS.contains(&word.as_str()));
    match is_report && is_called_a_log(output) {
        true => Err(Error::file(output, IS_LOG)
            .with_hint("write the report elsewhere: --output report.txt")),
        false => Ok(()),
    }
}

/// Why a report does not replace a file.
pub const IS_LOG: &str = "is there already, and seems to be a log: a report would replace it";

/// Whether a file is there whose name, packed or not and behind links, is that of a log.
pub fn is_called_a_log(output: &Path) -> bool {
    const LOGS: [&str; 9] = [
        "csv", "tsv", "jsonl", "ndjson", "npy", "npz", "parquet", "arrow", "trs",
    ];
    const PACKED: [&str; 4] = ["gz", "zst", "bz2", "xz"];
    let Ok(file) = output.canonicalize() else {
        return false;
    };
    let ending = |path: &Path| {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        ending.to_ascii_lowercase()
    };
    let is_packed = PACKED.contains(&ending(&file).as_str());
    let unpacked = match is_packed {
        true => file.with_extension(""),
        false => file.clone(),
    };
    file.is_file() && LOGS.contains(&ending(&unpacked).as_str())
}

/// Whichever command it is, what it reads is among its arguments.
fn refuse_input(output: &Path, given: &[String]) -> Result<()> {
    if !output.exists() {
        return Ok(());
    }
    let name = output.to_string_lossy();
    let mut arguments = given.iter();
    while let Some(argument) = arguments.next() {
        if matches!(argument.as_str(), "-o" | "--output") {
            arguments.next();
            continue;
        }
        let value = argument
            .split_once('=')
            .map_or(argument.as_str(), |(_, value)| value);
        let is_output = argument.starts_with("--output=") || argument.starts_with("-o");
        let files = expand(&[value.to_owned()]).unwrap_or_default();
        if !is_output && files.iter().any(|file| is_same(file, &name)) {
            return Err(Error::file(output, "is a file that the command reads")
                .with_hint("write to another file with --output"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_for_terminals_unless_the_environment_or_an_option_says_otherwise() {
        let none = |_: &str| None;
        let no_color = |name: &str| (name == "NO_COLOR").then(|| "1".to_owned());
        let dumb = |name: &str| (name == "TERM").then(|| "dumb".to_owned());
        assert!(has_color(ColorChoice::Auto, true, none));
        assert!(!has_color(ColorChoice::Auto, false, none));
        assert!(!has_color(ColorChoice::Auto, true, no_color));
        assert!(!has_color(ColorChoice::Auto, true, dumb));
        assert!(has_color(ColorChoice::Always, false, no_color));
        assert!(!has_color(ColorChoice::Never, true, none));
    }
}
