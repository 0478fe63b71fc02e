//! Progress on standard error, only on a terminal and only for work that takes more than two seconds.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use leakgauge::base::progress::Work;
use leakgauge::log::ReadMeter;

use crate::cli::terminal;

/// What a command is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading a log, as far as its meter says.
    Reading,
    /// Learning and judging attacks.
    Estimating,
    /// Auditing simulated logs.
    Simulating,
    /// Writing a simulated log.
    Writing,
    /// Shuffling values.
    Shuffling,
    /// Computing figures that need no log.
    Computing,
    /// Computing figures of papers.
    #[cfg(feature = "reproduce")]
    Recomputing,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Reading => "reading",
            Stage::Estimating => "estimating",
            Stage::Simulating => "simulating logs",
            Stage::Writing => "writing",
            Stage::Shuffling => "shuffling",
            Stage::Computing => "computing",
            #[cfg(feature = "reproduce")]
            Stage::Recomputing => "recomputing",
        }
    }

    /// The work that tells how far it has come, and its name.
    fn work(self) -> Option<(Work, &'static str)> {
        match self {
            Stage::Estimating => Some((Work::ObservationsScored, "observations scored")),
            Stage::Simulating => Some((Work::LogsAudited, "logs")),
            Stage::Writing => Some((Work::RowsWritten, "rows")),
            Stage::Reading | Stage::Shuffling | Stage::Computing => None,
            #[cfg(feature = "reproduce")]
            Stage::Recomputing => None,
        }
    }
}

/// A progress display that appears after two seconds and is cleared when dropped.
pub struct Progress {
    display: Option<(Sender<Stage>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts watching the reader.
    pub fn start(meter: ReadMeter) -> Self {
        Progress::begin(Stage::Reading, meter)
    }

    /// Starts with a stage that reads nothing.
    pub fn of_stage(stage: Stage) -> Self {
        Progress::begin(stage, ReadMeter::default())
    }

    fn begin(first: Stage, meter: ReadMeter) -> Self {
        if terminal::is_quiet() || !std::io::stderr().is_terminal() {
            return Progress { display: None };
        }
        let (sender, stages) = channel();
        let display = std::thread::Builder::new().spawn(move || {
            let mut shown = Shown::new(first);
            let quiet = Instant::now() + Duration::from_secs(2);
            let mut bar = None;
            loop {
                let left = quiet.saturating_duration_since(Instant::now());
                match stages.recv_timeout(left.max(Duration::from_millis(100))) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    Ok(next) => shown = Shown::new(next),
                    Err(RecvTimeoutError::Timeout) => {
                        shown.on(bar.get_or_insert_with(|| ProgressBar::new(0)), &meter);
                    }
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread there is no display, and the work goes on.
        Progress {
            display: display.ok().map(|display| (sender, display)),
        }
    }

    /// Sets the current stage.
    pub fn stage(&self, stage: Stage) {
        if let Some((sender, _)) = &self.display {
            // The display may have ended; the work goes on.
            let _ = sender.send(stage);
        }
    }

    /// Clears the display.
    pub fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, display)) = self.display.take() {
            drop(sender);
            let _ = display.join();
        }
    }
}

/// The display of a command that only computes.
static COMPUTING: Mutex<Option<Progress>> = Mutex::new(None);

/// Shows from now on that figures are computed.
pub fn begin_computing() {
    let progress = Progress::of_stage(Stage::Computing);
    *COMPUTING.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
}

/// Clears that display.
pub fn end_computing() {
    drop(
        COMPUTING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(),
    );
}

/// A stage since its beginning.
struct Shown {
    stage: Stage,
    begun: Instant,
    /// Work that was done before.
    before: u64,
}

impl Shown {
    fn new(stage: Stage) -> Self {
        Shown {
            stage,
            begun: Instant::now(),
            before: stage.work().map_or(0, |(work, _)| work.done()),
        }
    }

    fn on(&self, bar: &ProgressBar, meter: &ReadMeter) {
        let template = match self.stage {
            Stage::Reading if meter.total() > 0 => {
                "{spinner} {msg} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)"
            }
            Stage::Reading => "{spinner} {msg} {bytes} ({bytes_per_sec})",
            _ => "{spinner} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if self.stage == Stage::Reading {
            bar.set_length(meter.total().max(meter.read()));
            bar.set_position(meter.read());
        }
        let done = self
            .stage
            .work()
            .map(|(work, unit)| (work.done() - self.before, unit));
        bar.set_message(message(self.stage, self.begun.elapsed(), done));
        bar.tick();
    }
}

/// What a stage has done and how fast.
fn message(stage: Stage, elapsed: Duration, done: Option<(u64, &str)>) -> String {
    let name = stage.name();
    match done.filter(|(done, _)| *done > 0) {
        _ if stage == Stage::Reading => name.to_owned(),
        Some((done, unit)) => {
            let rate = (done as f64 / elapsed.as_secs_f64().max(0.1)) as u64;
            let (done, rate) = (HumanCount(done), HumanCount(rate));
            format!(
                "{name}: {done} {unit} ({rate}/s, {})",
                HumanDuration(elapsed)
            )
        }
        None => format!("{name} ({})", HumanDuration(elapsed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_says_what_it_has_done_and_how_fast() {
        let after = Duration::from_secs(4);
        assert_eq!(
            message(
                Stage::Estimating,
                after,
                Some((120_000, "observations scored"))
            ),
            "estimating: 120,000 observations scored (30,000/s, 4 seconds)"
        );
        assert_eq!(
            message(Stage::Estimating, after, Some((0, "x"))),
            "estimating (4 seconds)"
        );
        assert_eq!(
            message(Stage::Shuffling, after, None),
            "shuffling (4 seconds)"
        );
        assert_eq!(message(Stage::Reading, after, None), "reading");
    }
}
