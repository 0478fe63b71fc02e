//! Progress on standard error, only on a terminal and only for work that takes more than two seconds.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use leakgauge::log::ReadMeter;

use crate::cli::terminal;

/// The stage whose progress the reader tells.
const READING: &str = "reading";

/// A progress display that appears after two seconds and is cleared when dropped.
pub struct Progress {
    display: Option<(Sender<&'static str>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts watching the reader.
    pub fn start(meter: ReadMeter) -> Self {
        Progress::begin(READING, meter)
    }

    /// Starts with a stage that reads nothing.
    pub fn of_stage(stage: &'static str) -> Self {
        Progress::begin(stage, ReadMeter::default())
    }

    fn begin(mut stage: &'static str, meter: ReadMeter) -> Self {
        if terminal::is_quiet() || !std::io::stderr().is_terminal() {
            return Progress { display: None };
        }
        let (sender, stages) = channel();
        let display = std::thread::Builder::new().spawn(move || {
            match stages.recv_timeout(Duration::from_secs(2)) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(next) => stage = next,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let bar = ProgressBar::new(meter.total());
            loop {
                show(&bar, stage, &meter);
                match stages.recv_timeout(Duration::from_millis(100)) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    Ok(next) => stage = next,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            bar.finish_and_clear();
        });
        // Without a thread there is no display, and the work goes on.
        Progress {
            display: display.ok().map(|display| (sender, display)),
        }
    }

    /// Sets the name of the current stage.
    pub fn stage(&self, stage: &'static str) {
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

fn show(bar: &ProgressBar, stage: &str, meter: &ReadMeter) {
    let template = if stage == READING {
        "{spinner} {msg} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)"
    } else {
        "{spinner} {msg} ({elapsed})"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(stage.to_owned());
    bar.set_length(meter.total().max(meter.read()));
    bar.set_position(meter.read());
    bar.tick();
}
