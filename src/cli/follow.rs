//! `--follow` of `estimate` and `audit`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use leakgauge::audit::{AuditOptions, PriorChoice, RequestedFigures, SplitChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::follow::{self, BlockMonitor, Line, Monitor};
use leakgauge::log::{self, RowStream};
use leakgauge::report::{self, Format, Outputs};

use crate::cli::options::{EstimateOptions, LogArguments, refuse_first};
use crate::cli::outputs::{OutputOptions, inputs};
use crate::cli::{command_line, signals, terminal};

/// Options for following a growing log.
#[derive(Args)]
#[command(next_help_heading = "A log that grows")]
pub struct FollowOptions {
    /// Follow a log while it grows and write a line at regular intervals
    ///
    /// The limits hold for all lines together. A file is followed until Ctrl-C, `-` is read to its end; `audit` stops
    /// with exit code 1 as soon as a claim is violated.
    #[arg(long)]
    pub follow: bool,
    /// The number of rows between two lines
    #[arg(long, default_value_t = 10_000, value_name = "N", requires = "follow")]
    pub every: u64,
}

/// Follows a log.
pub fn run(
    log: &LogArguments,
    shared: &EstimateOptions,
    (how, outputs): (&FollowOptions, &OutputOptions),
    options: AuditOptions,
) -> Result<ExitCode> {
    let format = Format::from(shared.format);
    refuse(&options, shared, how, format)?;
    let places = outputs.check(&inputs(log))?;
    let mut read = log.read_options(true)?;
    read.timed = options.is_timed();
    let is_audit = !options.claims.is_empty();
    let followed = follow::FollowOptions {
        confidence: options.confidence,
        seed: options.seed,
        attacks: options.attacks,
        budget: options.budget,
        claims: options.claims,
        unit: options.unit,
        clock_frequency: options.clock_frequency,
        clock_step: options.clock_step,
    };
    followed.check()?;
    let stop = signals::ends_by_itself();
    let input = signals::waiting(|| log::follow(&read.files[0], stop.clone()))?;
    let stream = match (RowStream::new(input, &read), signals::exit_code()) {
        // It was told to end before there was anything to say something of.
        (Err(_), Some(code)) => return Ok(ExitCode::from(code)),
        (stream, _) => stream?,
    };
    let watcher = Watcher::new(followed, &stream)?;
    let page = outputs.page().map(|_| (places, read.files[0].clone()));
    let printer = Printer {
        format,
        page,
        lines: Vec::new(),
    };
    let last = watch(stream, watcher, how.every, printer, &stop)?;
    Ok(ExitCode::from(match last {
        Some(line) if line.is_violated() => 1,
        Some(line) if is_audit && line.all_hold() => 0,
        _ if is_audit => 3,
        _ => 0,
    }))
}

/// Takes what comes: rows, or blocks.
enum Watcher {
    Rows(Box<Monitor>),
    Blocks(Box<BlockMonitor>),
}

impl Watcher {
    fn new(options: follow::FollowOptions, stream: &RowStream) -> Result<Self> {
        if !stream.is_blocked() {
            return Ok(Watcher::Rows(Box::new(Monitor::new(options)?)));
        }
        let options = options.in_unit_of(stream)?;
        Ok(Watcher::Blocks(Box::new(BlockMonitor::new(options)?)))
    }

    /// Takes the next row or block; false at the end.
    fn next(&mut self, stream: &mut RowStream) -> Result<bool> {
        match self {
            Watcher::Rows(monitor) => {
                let Some(row) = stream.next_row()? else {
                    return Ok(false);
                };
                monitor.push(row, stream)?;
            }
            Watcher::Blocks(monitor) => {
                let Some(block) = stream.next_block()? else {
                    return Ok(false);
                };
                monitor.push(block, stream.labels())?;
            }
        }
        Ok(true)
    }

    fn rows(&self) -> u64 {
        match self {
            Watcher::Rows(monitor) => monitor.rows(),
            Watcher::Blocks(monitor) => monitor.rows(),
        }
    }

    fn line(&mut self, stream: &RowStream) -> Result<Line> {
        match self {
            Watcher::Rows(monitor) => monitor.line(stream),
            Watcher::Blocks(monitor) => monitor.line(),
        }
    }
}

fn refuse(
    options: &AuditOptions,
    shared: &EstimateOptions,
    how: &FollowOptions,
    format: Format,
) -> Result<()> {
    let refused = [
        (how.every == 0, "--every 0", "must be at least 1"),
        (
            options.split == SplitChoice::Blocks,
            "--split blocks",
            "--follow always trains on earlier rows and certifies on later ones; remove this option",
        ),
        (
            options.prior != PriorChoice::Uniform,
            "--prior",
            "--follow reports nothing that depends on a prior; remove this option",
        ),
        (
            !options.neighbors.is_empty(),
            "--neighbors",
            "--follow judges all pairs; audit the log without --follow",
        ),
        (
            options.requested != RequestedFigures::default(),
            "--reconstruction, --tries, --at-order, --order",
            "--follow does not report these figures; audit the log without --follow",
        ),
        (
            options.attacks.are_given(),
            "--scorer given",
            "--follow trains its own attack; audit the log without --follow",
        ),
        (
            shared.max_rows.is_some(),
            "--max-rows",
            "--follow uses every row and does not sample; remove this option",
        ),
        (
            terminal::has_output(),
            "--output",
            "--follow writes lines as they come; redirect standard output instead",
        ),
        (
            !matches!(format, Format::Text | Format::Json),
            "--format",
            "--follow writes lines: text or json",
        ),
    ];
    refuse_first(&refused)
}

/// Reads to the end. Returns the last line, if one was written. Stops at a violation or a closed pipe.
fn watch(
    mut stream: RowStream,
    mut watcher: Watcher,
    every: u64,
    mut printer: Printer,
    stop: &AtomicBool,
) -> Result<Option<Line>> {
    let mut last: Option<Line> = None;
    // A line follows the row, or the block, with which so many rows are complete.
    let mut next_line = every;
    // Rows that were read before the program was told to stop are counted.
    while (stream.holds_rows() || !stop.load(Ordering::Relaxed)) && watcher.next(&mut stream)? {
        if watcher.rows() >= next_line {
            next_line = (watcher.rows() / every + 1).saturating_mul(every);
            let line = watcher.line(&stream)?;
            let goes_on = printer.print(&line)? && !line.is_violated();
            last = Some(line);
            if !goes_on {
                return Ok(last);
            }
        }
    }
    if !stop.load(Ordering::Relaxed) {
        stream.check_end()?;
        if let Watcher::Blocks(monitor) = &watcher {
            monitor.check_end()?;
        }
    }
    if last.as_ref().is_none_or(|line| line.rows != watcher.rows()) {
        let line = watcher.line(&stream)?;
        printer.print(&line)?;
        last = Some(line);
    }
    Ok(last)
}

/// Where lines go.
struct Printer {
    format: Format,
    /// The page, and the name of the log.
    page: Option<(Outputs, String)>,
    /// The lines so far, for the page: without one only the first.
    lines: Vec<Line>,
}

impl Printer {
    /// Writes a line, and with it the page; false if the pipe is closed.
    fn print(&mut self, line: &Line) -> Result<bool> {
        let is_first = self.lines.is_empty();
        if is_first || self.page.is_some() {
            self.lines.push(line.clone());
        }
        let goes_on = print(line, is_first, self.format)?;
        if let Some((places, log)) = &self.page {
            let page = || report::follow_page(&self.lines, log, &command_line());
            places.write(page, Vec::new)?;
        }
        Ok(goes_on)
    }
}

/// Writes a line and flushes it; false if the pipe is closed.
fn print(line: &Line, is_first: bool, format: Format) -> Result<bool> {
    terminal::check_stdout().map_err(|error| Error::io("standard output", error))?;
    let written = signals::waiting(|| {
        let mut out = io::stdout().lock();
        report::write_follow(line, is_first, format, &mut out).and_then(|()| out.flush())
    });
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::io("standard output", error)),
    }
}
