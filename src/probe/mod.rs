//! Collecting a log: a program is asked for answers, class by class.
//!
//! Classes are asked in complete blocks: every block holds each class once, in a random order of its own. What changes
//! slowly while the log is taken (clock frequency, temperature, load) then meets all classes alike.
//!
//! The program reads a class a line and answers a line: a value, a JSON object, or an empty line. Of an empty line the
//! time of the round trip is the observation.

mod answer;
mod child;
mod group;
mod judge;

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use csv::Writer;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::{option, setting};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use answer::Answers;
use child::{LongLived, Reply, run_once};
pub use group::end_started;
pub use judge::Judge;
use leakgauge_log::Block;

/// The columns around the answer, by which the reader recognizes such a log.
const BEFORE: [&str; 3] = ["block", "sequence", "secret"];
const BEHIND: &str = "time_ns";

/// What to ask and how often.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// The classes: the secrets of the log.
    pub classes: Vec<String>,
    /// The blocks that are logged, each with every class once.
    pub blocks: u64,
    /// Blocks before them that are asked and not logged.
    pub warm_up: u64,
    /// Seed of the order within blocks.
    pub seed: u64,
    /// The longest time to wait for an answer.
    pub timeout: Duration,
    /// Whether every sample is a process of its own.
    pub spawn: bool,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The name of the log in messages.
    pub log: String,
}

/// What was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Rows of the log.
    pub rows: u64,
    /// Whether answers were empty, so that the time is the observation.
    pub is_timed: bool,
    /// Whether whoever reads the log has closed it.
    pub is_closed: bool,
    /// Whether the collection ended because all claims were decided.
    pub is_decided: bool,
    /// How the program failed when its input ended, if it did.
    pub failure: Option<String>,
}

/// Where a sample stands.
#[derive(Debug, Clone, Copy)]
struct At {
    block: u64,
    sequence: u64,
}

impl ProbeOptions {
    /// Checks what can be wrong before anything is run.
    ///
    /// # Errors
    /// Fewer than two classes, a class twice or with a line break, no block, no command.
    pub fn check(&self) -> Result<()> {
        let classes = |problem: String| Error::parameter(option("classes"), problem);
        if self.classes.len() < 2 {
            return Err(classes("names fewer than two classes".to_owned())
                .with_hint("leakage is a difference between classes: a,b"));
        }
        for (at, class) in self.classes.iter().enumerate() {
            let name = shorten(class);
            if class.trim().is_empty() || class.contains(['\n', '\r']) {
                return Err(classes(format!(
                    "{name:?} is no class: it has to be a line of text"
                )));
            }
            if self.classes[..at].contains(class) {
                return Err(classes(format!("names {name} twice")));
            }
        }
        if self.blocks == 0 {
            return Err(Error::parameter(setting("blocks", 0), "must be at least 1"));
        }
        if self.timeout.is_zero() {
            return Err(Error::parameter(option("timeout"), "must be more than 0"));
        }
        if self.command.is_empty() {
            return Err(Error::parameter(option("command"), "names no program"));
        }
        Ok(())
    }

    /// An error about the program.
    fn of_command(&self, at: Option<At>, problem: impl Into<String>) -> Error {
        let program = self.command[0].to_string_lossy();
        let mut problem = problem.into();
        if let Some(at) = at {
            problem = format!(
                "{problem} (block {}, row {} of the log)",
                at.block,
                at.sequence + 2
            );
        }
        Error::parameter(format!("`{}`", shorten(&program)), problem)
    }
}

/// Asks the program and writes the log. Every row is written whole, whatever happens behind it. With a judge the
/// collection ends as soon as all claims are decided; what the judge knows stays, whatever happens.
///
/// # Errors
/// Options that cannot be meant; a program that cannot be run, ends, hangs, answers twice or otherwise than before; a
/// log that cannot be written; an answer that cannot be judged.
pub fn probe(
    options: &ProbeOptions,
    log: impl Write,
    judge: Option<&mut Judge>,
) -> Result<Collected> {
    options.check()?;
    if let Some(judge) = &judge {
        judge.check(&options.classes)?;
    }
    let mut program = match options.spawn {
        true => None,
        false => Some(LongLived::start(options)?),
    };
    let mut log = Log {
        writer: Writer::from_writer(log),
        answers: Answers::default(),
        is_closed: false,
        name: options.log.clone(),
    };
    let asked = ask_all(options, &mut program, &mut log, judge);
    // What is written is kept, even if something went wrong behind it.
    log.flush()?;
    let (rows, is_decided) = asked?;
    let failure = match program {
        Some(program) => program.end(options)?,
        None => None,
    };
    Ok(Collected {
        rows,
        is_timed: log.answers.are_empty(),
        is_closed: log.is_closed,
        is_decided,
        failure,
    })
}

/// Asks for all blocks; the number of rows that were logged, and whether the judge had decided.
fn ask_all(
    options: &ProbeOptions,
    program: &mut Option<LongLived>,
    log: &mut Log<impl Write>,
    mut judge: Option<&mut Judge>,
) -> Result<(u64, bool)> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<(u32, &String)> = (0..).zip(&options.classes).collect();
    let mut sequence = 0;
    for block in 0..options.warm_up + options.blocks {
        order.shuffle(&mut rng);
        let logged = block.checked_sub(options.warm_up);
        let mut judged = Block::new();
        for &(number, class) in &order {
            let at = logged.map(|block| At { block, sequence });
            let reply = match program {
                Some(program) => program.ask(options, class, at)?,
                None => run_once(options, class, at)?,
            };
            let Some(at) = at else { continue };
            let fields = log.row(options, at, class, &reply)?;
            sequence += 1;
            if let Some(judge) = &judge {
                let columns = log.answers.columns();
                let value = judge.number(&columns, &fields, reply.nanoseconds);
                let value = value.map_err(|problem| options.of_command(Some(at), problem))?;
                judged.push((number, value));
            }
        }
        if logged.is_some() {
            log.flush()?;
            if let Some(judge) = &mut judge
                && judge.take(options, log.answers.are_empty(), judged)?
            {
                return Ok((sequence, true));
            }
        }
        if log.is_closed {
            break;
        }
    }
    Ok((sequence, false))
}

/// The log as it is written.
struct Log<W: Write> {
    writer: Writer<W>,
    answers: Answers,
    is_closed: bool,
    name: String,
}

impl<W: Write> Log<W> {
    /// Writes a row; the fields of the answer.
    fn row(
        &mut self,
        options: &ProbeOptions,
        at: At,
        class: &str,
        reply: &Reply,
    ) -> Result<Vec<String>> {
        let is_first = at.sequence == 0;
        let fields = self
            .answers
            .fields(&reply.line, reply.nanoseconds)
            .map_err(|problem| options.of_command(Some(at), problem))?;
        if is_first {
            let names = self.answers.columns();
            let header = BEFORE.into_iter().chain(names.iter().map(String::as_str));
            let written = self.writer.write_record(header.chain([BEHIND]));
            self.written(written)?;
        }
        let numbers = [at.block, at.sequence].map(|number| number.to_string());
        let time = reply.nanoseconds.to_string();
        let before = numbers.iter().map(String::as_str).chain([class]);
        let row = before
            .chain(fields.iter().map(String::as_str))
            .chain([&*time]);
        let written = self.writer.write_record(row);
        self.written(written)?;
        Ok(fields)
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = self.writer.flush().map_err(csv::Error::from);
        self.written(flushed)
    }

    /// A reader that has seen enough is no error.
    fn written(&mut self, written: csv::Result<()>) -> Result<()> {
        // The conversion into an error of input or output forgets its kind.
        let error = match written.map_err(csv::Error::into_kind) {
            Ok(()) => return Ok(()),
            Err(csv::ErrorKind::Io(error)) => error,
            Err(other) => io::Error::other(format!("{other:?}")),
        };
        if error.kind() == io::ErrorKind::BrokenPipe {
            self.is_closed = true;
            return Ok(());
        }
        Err(Error::io(&self.name, error))
    }
}
