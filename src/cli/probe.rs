//! `leakgauge probe`.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use leakgauge::attack::tuning::{Budget, ScorerChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::whole;
use leakgauge::exact::claim::Claim;
use leakgauge::follow::FollowOptions;
use leakgauge::probe::{self, Judge, ProbeOptions};
use leakgauge::report::sentences;

use crate::cli::{gate, options, terminal};

/// Blocks without a judge.
const BLOCKS: u64 = 1_000;
/// Blocks that a judge may use.
const MOST_BLOCKS: u64 = 100_000;

/// When to stop.
#[derive(Args)]
#[command(next_help_heading = "Stopping as soon as claims are decided")]
struct JudgeArguments {
    /// Stop as soon as all claims are decided
    ///
    /// Exit codes are those of `audit`: 0 all hold, 1 one is violated, 3 undecided after all blocks.
    #[arg(long, value_enum, value_name = "WHEN")]
    until: Option<Until>,
    /// A claim to decide: `time-difference(100ns)`, `advantage(0.1)`. Can be repeated
    #[arg(long = "claim", value_name = "CLAIM", requires = "until")]
    claims: Vec<String>,
    /// Claim that no two classes differ by more than this attacker can see: `shared-hardware` (0.6 ns), `lan` (100 ns) or
    /// `internet` (50 µs), by the medians
    #[arg(long, value_name = "WHO", requires = "until")]
    attacker: Option<String>,
    /// The confidence level of all verdicts together
    #[arg(long, value_name = "C", default_value_t = gate::CONFIDENCE, requires = "until")]
    confidence: f64,
    /// The unit of the answers: `s`, `ms`, `us`, `ns` or `cycles`
    #[arg(long, value_name = "UNIT", requires = "until")]
    unit: Option<String>,
    /// The frequency of the clock in hertz, for times in cycles
    #[arg(long, value_name = "HERTZ", requires = "until")]
    clock_frequency: Option<f64>,
    /// The step in which times are recorded: `1ms`, `2cycles`; 0 for exact counts [default: by the values]
    #[arg(long, value_name = "STEP", requires = "until")]
    clock_step: Option<String>,
    /// The field of the answers that is judged, or `time_ns` [default: the answer, if it is one number]
    #[arg(long, value_name = "FIELD", requires = "until")]
    observe: Option<String>,
}

/// When to stop.
#[derive(Clone, Copy, ValueEnum)]
enum Until {
    /// When every claim holds, or one is violated.
    Decided,
}

impl JudgeArguments {
    fn judge(&self, seed: u64) -> Result<Option<Judge>> {
        if self.until.is_none() {
            return Ok(None);
        }
        let attacker = self.attacker.as_deref().map(of_attacker).transpose()?;
        let claims = self.claims.iter().map(|text| Claim::parse(text));
        let claims = claims.chain(attacker.map(Ok));
        let options = FollowOptions {
            confidence: self.confidence,
            seed,
            attacks: ScorerChoice::Auto.into(),
            budget: Budget::default(),
            claims: claims.collect::<Result<_>>()?,
            unit: self.unit.as_deref().map(options::unit).transpose()?,
            clock_frequency: self.clock_frequency,
            clock_step: self
                .clock_step
                .as_deref()
                .map(options::clock_step)
                .transpose()?,
        };
        Judge::new(options, self.observe.clone()).map(Some)
    }
}

/// The claim that an attacker sees no difference.
fn of_attacker(name: &str) -> Result<Claim> {
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let claim = is_name.then(|| Claim::parse(&format!("time-difference({name})")));
    claim.and_then(Result::ok).ok_or_else(|| {
        Error::parameter(format!("--attacker {name}"), "is no attacker")
            .with_hint("attackers are shared-hardware, lan and internet; for other bounds: --claim 'time-difference(2us)'")
    })
}

/// `probe`.
#[derive(Args)]
pub struct ProbeArguments {
    /// The classes, which become the secrets of the log; each block asks for every class once, in random order
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    classes: Vec<String>,
    /// The number of blocks, with --until the largest [default: 1000, with --until 100000]
    #[arg(short = 'n', long, value_name = "BLOCKS")]
    blocks: Option<u64>,
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
    #[command(flatten)]
    judge: JudgeArguments,
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
    let mut judge = arguments.judge.judge(arguments.seed)?;
    let options = ProbeOptions {
        classes: arguments.classes.clone(),
        blocks: arguments.blocks.unwrap_or(match arguments.judge.until {
            None => BLOCKS,
            Some(Until::Decided) => MOST_BLOCKS,
        }),
        warm_up: arguments.warm_up,
        seed: arguments.seed,
        timeout: Duration::try_from_secs_f64(timeout.seconds()).unwrap_or(Duration::MAX / 4),
        spawn: arguments.spawn,
        command: arguments.command.clone(),
        log: arguments
            .output
            .as_ref()
            .map_or("standard output".to_owned(), |file| {
                file.display().to_string()
            }),
    };
    options.check()?;
    if options.spawn {
        say(sentences::probe::SPAWN_WARNING);
    }
    let collected = match &arguments.output {
        None => {
            terminal::check_stdout().map_err(|error| Error::io("standard output", error))?;
            probe::probe(&options, io::stdout().lock(), judge.as_mut())
        }
        Some(path) => {
            let log = WholeRows::of(create(path, arguments.force)?);
            probe::probe(&options, log, judge.as_mut())
        }
    };
    // What was proved is said even if the program failed behind it.
    let line = match &mut judge {
        None => None,
        Some(judge) => judge.line()?,
    };
    if let Some(line) = &line {
        say(&sentences::probe::decided(line, collected.is_ok()));
    }
    let collected = collected?;
    if let Some(failure) = &collected.failure {
        say(&sentences::probe::failed(failure));
    }
    if !terminal::is_quiet() {
        say(&sentences::probe::collected(
            &collected,
            arguments.output.as_deref(),
            judge.is_some(),
        ));
    }
    Ok(match line {
        None => ExitCode::SUCCESS,
        Some(line) if line.is_violated() => ExitCode::from(1),
        Some(line) if line.all_hold() => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(3),
    })
}

/// A log file that grows by what is flushed, or not at all: neither a full disk nor a signal leaves a part of a row,
/// whose last number could look like one.
struct WholeRows {
    file: File,
    /// What stands in the file.
    length: u64,
    /// What does not yet.
    waiting: Vec<u8>,
}

impl WholeRows {
    fn of(file: File) -> Self {
        WholeRows {
            file,
            length: 0,
            waiting: Vec::new(),
        }
    }
}

impl Write for WholeRows {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        whole(|| {
            let written = self.file.write_all(&waiting);
            if written.is_err() {
                // A device has no length to go back to.
                let _ = self.file.set_len(self.length);
                let _ = self.file.seek(SeekFrom::Start(self.length));
            }
            written
        })?;
        self.length += waiting.len() as u64;
        Ok(())
    }
}

/// Creates the log.
fn create(path: &Path, force: bool) -> Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .create_new(!force)
        .truncate(force)
        .open(path);
    file.map_err(|error| {
        let hint = "name another file, or replace it with --force";
        match error.kind() {
            io::ErrorKind::AlreadyExists => Error::io(path, error).with_hint(hint),
            io::ErrorKind::NotFound => Error::io(path, error)
                .with_hint("create its directory first, or name a file elsewhere"),
            _ => Error::io(path, error),
        }
    })
}

/// Says something beside the log, which may be on standard output.
fn say(text: &str) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(io::stderr(), "{text}");
}
