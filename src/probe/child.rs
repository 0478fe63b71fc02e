//! The program that is asked: one process for all samples, or one for each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

use crate::probe::{At, ProbeOptions};

/// A longer line is no answer.
const LONGEST: u64 = 1 << 20;
/// How long a process that was told to end may take before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// An answer.
pub(super) struct Reply {
    /// The line without its end.
    pub line: String,
    /// From before the class was written until the line was read.
    pub nanoseconds: u128,
}

/// A line, and when it was there.
type Line = io::Result<(Vec<u8>, Instant)>;

/// A process that answers all classes.
pub(super) struct LongLived {
    process: Child,
    classes: Option<ChildStdin>,
    lines: Receiver<Line>,
}

fn spawn(options: &ProbeOptions) -> Result<Child> {
    Command::new(&options.command[0])
        .args(&options.command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::NotFound => {
                    "name a program of the search path, or one by its path, such as ./program"
                }
                io::ErrorKind::PermissionDenied => "the file must be executable",
                _ => "run it by itself first",
            };
            options
                .of_command(None, format!("cannot be run: {error}"))
                .with_hint(hint)
        })
}

/// Reads lines on a thread of its own: it takes the time of each, and waiting for one can be given up.
fn listen(output: ChildStdout) -> Receiver<Line> {
    let (sender, receiver) = sync_channel(64);
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            let read = (&mut output).take(LONGEST + 1).read_until(b'\n', &mut line);
            let now = Instant::now();
            let read = match read {
                Ok(0) => return,
                Ok(n) if n as u64 > LONGEST => Err(io::Error::other("a line longer than 1 MiB")),
                Ok(_) => Ok((line, now)),
                Err(error) => Err(error),
            };
            let is_last = read.is_err();
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// The text of a line, or what is wrong with it.
fn text(line: Vec<u8>) -> std::result::Result<String, &'static str> {
    match (line.last(), String::from_utf8(line.clone())) {
        (Some(b'\n'), Ok(text)) => Ok(text),
        (Some(b'\n'), Err(_)) => Err("answered bytes that are not UTF-8 text"),
        _ => Err("ended in the middle of an answer"),
    }
}

impl LongLived {
    /// Starts the process.
    ///
    /// # Errors
    /// A program that cannot be run.
    pub(super) fn start(options: &ProbeOptions) -> Result<Self> {
        let mut process = spawn(options)?;
        let classes = process.stdin.take();
        let (Some(output), true) = (process.stdout.take(), classes.is_some()) else {
            return Err(options.of_command(None, "has no standard input or output"));
        };
        Ok(LongLived {
            process,
            classes,
            lines: listen(output),
        })
    }

    /// Asks for an answer.
    ///
    /// # Errors
    /// A process that ended, hangs, or had answered before it was asked.
    pub(super) fn ask(
        &mut self,
        options: &ProbeOptions,
        class: &str,
        at: Option<At>,
    ) -> Result<Reply> {
        let wrong = |problem: String| options.of_command(at, problem);
        if !matches!(
            self.lines.try_recv(),
            Err(TryRecvError::Empty | TryRecvError::Disconnected)
        ) {
            return Err(twice(wrong));
        }
        let request = format!("{class}\n");
        let sent = Instant::now();
        let written = match &mut self.classes {
            Some(classes) => classes
                .write_all(request.as_bytes())
                .and_then(|()| classes.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if written.is_err() {
            return Err(wrong(format!(
                "ended ({}) before it was asked for {class}",
                self.status()
            )));
        }
        match self.lines.recv_timeout(options.timeout) {
            Ok(Ok((_, received))) if received < sent => Err(twice(wrong)),
            Ok(Ok((line, received))) => Ok(Reply {
                line: text(line).map_err(|problem| wrong(problem.to_owned()))?,
                nanoseconds: received.duration_since(sent).as_nanos(),
            }),
            Ok(Err(error)) => Err(wrong(format!("cannot be read: {error}"))),
            Err(RecvTimeoutError::Timeout) => Err(late(wrong, options, class)),
            Err(RecvTimeoutError::Disconnected) => Err(wrong(format!(
                "ended ({}) before it answered {class}",
                self.status()
            ))
            .with_hint(
                "it reads a class a line until its input ends, and answers each with a line",
            )),
        }
    }

    /// Ends the process; all answers must have been asked for. How it failed, if it ended by itself with a failure.
    ///
    /// # Errors
    /// An answer too many.
    pub(super) fn end(mut self, options: &ProbeOptions) -> Result<Option<String>> {
        self.classes = None;
        match self.lines.recv_timeout(GRACE.min(options.timeout)) {
            Ok(_) => Err(twice(|problem| options.of_command(None, problem))),
            // One that goes on is ended, which is no failure.
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.exit_status();
                Ok(status
                    .filter(|status| !status.success())
                    .map(|status| status.to_string()))
            }
        }
    }

    /// How the process ended.
    fn status(&mut self) -> String {
        let status = self.exit_status();
        status.map_or("it closed its output".to_owned(), |status| {
            status.to_string()
        })
    }

    /// Its exit status, if it ends soon.
    fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        self.classes = None;
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => break,
            }
        }
        None
    }
}

impl Drop for LongLived {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// Ends a process, whether it wants to or not.
fn end(process: &mut Child) {
    // It may have ended by itself.
    let _ = process.kill();
    let _ = process.wait();
}

fn twice(wrong: impl Fn(String) -> Error) -> Error {
    wrong("wrote a line that it was not asked for".to_owned()).with_hint(
        "it answers each class with one line; rows of the log before this one may hold the answer of another class",
    )
}

fn late(wrong: impl Fn(String) -> Error, options: &ProbeOptions, class: &str) -> Error {
    let seconds = options.timeout.as_secs_f64();
    wrong(format!("did not answer {class} within {seconds} s")).with_hint(format!(
        "it has to flush its output after every answer; {} waits longer",
        option("timeout")
    ))
}

/// Runs a process for one sample: the time is that of the whole process.
///
/// # Errors
/// A process that fails, hangs, or does not answer with one line.
pub(super) fn run_once(options: &ProbeOptions, class: &str, at: Option<At>) -> Result<Reply> {
    let wrong = |problem: String| options.of_command(at, problem);
    let sent = Instant::now();
    let mut process = spawn(options)?;
    if let Some(mut classes) = process.stdin.take() {
        // Whether it reads its input is its own matter.
        let _ = classes.write_all(format!("{class}\n").as_bytes());
    }
    let lines = process.stdout.take().map(listen);
    let deadline = sent + options.timeout;
    let mut answer = None;
    while let Some(lines) = &lines {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok((line, _))) if answer.is_none() => answer = Some(line),
            Ok(Ok(_)) => {
                end(&mut process);
                return Err(twice(wrong));
            }
            Ok(Err(error)) => {
                end(&mut process);
                return Err(wrong(format!("cannot be read: {error}")));
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                end(&mut process);
                return Err(late(wrong, options, class));
            }
        }
    }
    let status = process
        .wait()
        .map_err(|error| wrong(format!("is lost: {error}")))?;
    let nanoseconds = sent.elapsed().as_nanos();
    if !status.success() {
        return Err(wrong(format!("failed for {class} ({status})")));
    }
    let line = match answer {
        Some(line) => text(line).map_err(|problem| wrong(problem.to_owned()))?,
        None => String::new(),
    };
    Ok(Reply { line, nanoseconds })
}
