//! The program that is asked: one process for all samples, or one for each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::option;

use crate::probe::group::{Group, Waiter};
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

/// What a process did, and when.
enum Did {
    /// It wrote a line.
    Write(Vec<u8>, Instant),
    /// It wrote what is no line.
    Garble(io::Error),
    /// It closed its output.
    Close,
    /// It ended.
    End(io::Result<ExitStatus>, Instant),
}

/// A process that runs.
struct Running {
    group: Group,
    classes: Option<ChildStdin>,
    did: Receiver<Did>,
}

/// A process that answers all classes.
pub(super) struct LongLived {
    process: Running,
    /// Whether it closed its output.
    is_closed: bool,
    status: Option<ExitStatus>,
}

impl Running {
    /// Starts the process.
    ///
    /// # Errors
    /// A program that cannot be run, or nobody to listen to it.
    fn start(options: &ProbeOptions) -> Result<Self> {
        let mut command = Command::new(&options.command[0]);
        command
            .args(&options.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let (group, waiter) = Group::start(&mut command).map_err(|error| {
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
        })?;
        let (classes, output) = {
            let mut process = group.process();
            (process.stdin.take(), process.stdout.take())
        };
        let (Some(output), Some(classes)) = (output, classes) else {
            return Err(options.of_command(None, "has no standard input or output"));
        };
        let ready = never_wait(&classes).and_then(|()| listen(output, waiter));
        let did = ready.map_err(|error| {
            options
                .of_command(None, format!("cannot be listened to: {error}"))
                .with_hint("allow this user more processes")
        })?;
        Ok(Running {
            group,
            classes: Some(classes),
            did,
        })
    }

    /// Writes a class, for which the process may take until the deadline; whether it took it.
    fn write(&mut self, class: &str, deadline: Instant) -> io::Result<bool> {
        let request = format!("{class}\n");
        let mut left = request.as_bytes();
        let Some(classes) = &mut self.classes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        while !left.is_empty() {
            match classes.write(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => left = &left[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The pipe is full.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= deadline {
                        return Ok(false);
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// What it does next, if it does something until the deadline.
    fn next(&self, deadline: Instant) -> Option<Did> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.did.recv_timeout(left) {
            Ok(did) => Some(did),
            Err(RecvTimeoutError::Timeout) => None,
            // Who listens says when the process ends, and only then goes.
            Err(RecvTimeoutError::Disconnected) => Some(Did::Close),
        }
    }
}

/// Writes that would have to wait are to say so: whoever does not read must not be waited for.
#[cfg(unix)]
fn never_wait(classes: &ChildStdin) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    fcntl(classes, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Elsewhere a class that is longer than a pipe is waited for.
#[cfg(not(unix))]
fn never_wait(_: &ChildStdin) -> io::Result<()> {
    Ok(())
}

/// Listens on a thread of its own: it takes the time of all that happens, and waiting for it can be given up.
fn listen(output: ChildStdout, waiter: Waiter) -> io::Result<Receiver<Did>> {
    let (sender, receiver) = sync_channel(64);
    std::thread::Builder::new().spawn(move || {
        lines(output, &sender);
        // Nobody may be there to hear it.
        let _ = sender.send(Did::Close);
        let status = waiter.wait();
        let _ = sender.send(Did::End(status, Instant::now()));
    })?;
    Ok(receiver)
}

/// Says all lines, as long as somebody listens.
fn lines(output: ChildStdout, sender: &SyncSender<Did>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(LONGEST + 1).read_until(b'\n', &mut line);
        let now = Instant::now();
        let did = match read {
            Ok(0) => return,
            Ok(n) if n as u64 > LONGEST => {
                Did::Garble(io::Error::other("a line longer than 1 MiB"))
            }
            Ok(_) => Did::Write(line, now),
            Err(error) => Did::Garble(error),
        };
        let is_last = matches!(did, Did::Garble(_));
        if sender.send(did).is_err() || is_last {
            return;
        }
    }
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
        Ok(LongLived {
            process: Running::start(options)?,
            is_closed: false,
            status: None,
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
        let name = shorten(class);
        while let Ok(did) = self.process.did.try_recv() {
            match did {
                Did::Write(..) | Did::Garble(_) => return Err(twice(wrong)),
                did => self.note(&did),
            }
        }
        let sent = Instant::now();
        let deadline = sent + options.timeout;
        match self.process.write(class, deadline) {
            Ok(true) => {}
            Ok(false) => return Err(unread(wrong, options, class)),
            Err(_) => {
                return Err(wrong(format!(
                    "ended ({}) before it was asked for {name}",
                    self.ended()
                )));
            }
        }
        // What it does once it has closed its output is no answer.
        let did = match self.is_closed {
            true => Some(Did::Close),
            false => self.process.next(deadline),
        };
        match did {
            Some(Did::Write(_, received)) if received < sent => Err(twice(wrong)),
            Some(Did::Write(line, received)) => Ok(Reply {
                line: text(line).map_err(|problem| wrong(problem.to_owned()))?,
                nanoseconds: received.duration_since(sent).as_nanos(),
            }),
            Some(Did::Garble(error)) => Err(wrong(format!("cannot be read: {error}"))),
            None => Err(late(wrong, options, class)),
            Some(did) => {
                self.note(&did);
                Err(wrong(format!(
                    "ended ({}) before it answered {name}",
                    self.ended()
                ))
                .with_hint(
                    "it reads a class a line until its input ends, and answers each with a line",
                ))
            }
        }
    }

    /// Ends the process; all answers must have been asked for. How it failed, if it ended by itself with a failure.
    ///
    /// # Errors
    /// An answer too many.
    pub(super) fn end(mut self, options: &ProbeOptions) -> Result<Option<String>> {
        self.process.classes = None;
        let deadline = Instant::now() + GRACE.min(options.timeout);
        while !self.is_closed {
            match self.process.next(deadline) {
                Some(Did::Write(..) | Did::Garble(_)) => {
                    return Err(twice(|problem| options.of_command(None, problem)));
                }
                Some(did) => self.note(&did),
                // One that goes on is ended, which is no failure.
                None => return Ok(None),
            }
        }
        let status = self.exit_status();
        Ok(status
            .filter(|status| !status.success())
            .map(|status| status.to_string()))
    }

    fn note(&mut self, did: &Did) {
        self.is_closed = true;
        if let Did::End(Ok(status), _) = did {
            self.status = Some(*status);
        }
    }

    /// How the process ended.
    fn ended(&mut self) -> String {
        let status = self.exit_status();
        status.map_or("it closed its output".to_owned(), |status| {
            status.to_string()
        })
    }

    /// Its exit status, if it ends soon.
    fn exit_status(&mut self) -> Option<ExitStatus> {
        self.process.classes = None;
        let deadline = Instant::now() + GRACE;
        while self.status.is_none() && Instant::now() < deadline {
            match self.process.did.recv_timeout(GRACE) {
                Ok(did) => self.note(&did),
                Err(_) => break,
            }
        }
        self.status
    }
}

fn twice(wrong: impl Fn(String) -> Error) -> Error {
    wrong("wrote a line that it was not asked for".to_owned()).with_hint(
        "it answers each class with one line; rows of the log before this one may hold the answer of another class",
    )
}

fn late(wrong: impl Fn(String) -> Error, options: &ProbeOptions, class: &str) -> Error {
    let seconds = options.timeout.as_secs_f64();
    let class = shorten(class);
    wrong(format!("did not answer {class} within {seconds} s")).with_hint(format!(
        "it has to flush its output after every answer; {} waits longer",
        option("timeout")
    ))
}

fn unread(wrong: impl Fn(String) -> Error, options: &ProbeOptions, class: &str) -> Error {
    let seconds = options.timeout.as_secs_f64();
    let class = shorten(class);
    wrong(format!("did not read {class} within {seconds} s")).with_hint(format!(
        "it has to read a class a line; {} waits longer",
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
    let deadline = sent + options.timeout;
    let mut process = Running::start(options)?;
    // Whether it reads its input is its own matter.
    let _ = process.write(class, deadline);
    process.classes = None;
    let (mut answer, mut is_closed) = (None, false);
    let (status, ended) = loop {
        match process.next(deadline) {
            Some(Did::Write(line, _)) if answer.is_none() => answer = Some(line),
            Some(Did::Write(..)) => return Err(twice(wrong)),
            Some(Did::Garble(error)) => return Err(wrong(format!("cannot be read: {error}"))),
            Some(Did::Close) => is_closed = true,
            Some(Did::End(status, at)) => break (status, at),
            None if is_closed => return Err(endless(wrong, options, class)),
            None => return Err(late(wrong, options, class)),
        }
    };
    // What it started and left behind would disturb the next sample.
    process.group.end();
    let status = status.map_err(|error| wrong(format!("is lost: {error}")))?;
    if !status.success() {
        return Err(wrong(format!("failed for {} ({status})", shorten(class))));
    }
    let line = match answer {
        Some(line) => text(line).map_err(|problem| wrong(problem.to_owned()))?,
        None => String::new(),
    };
    Ok(Reply {
        line,
        nanoseconds: ended.duration_since(sent).as_nanos(),
    })
}

fn endless(wrong: impl Fn(String) -> Error, options: &ProbeOptions, class: &str) -> Error {
    let seconds = options.timeout.as_secs_f64();
    let class = shorten(class);
    wrong(format!(
        "closed its output for {class} and did not end within {seconds} s"
    ))
    .with_hint(format!(
        "it has to end after its answer; {} waits longer",
        option("timeout")
    ))
}
