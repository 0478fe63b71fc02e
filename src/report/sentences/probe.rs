//! What is said while a log is collected.

use std::path::Path;

use crate::probe::Collected;
use crate::report::command_line;

/// That a process for each sample is a bad clock.
pub const SPAWN_WARNING: &str = "warning: every sample is a process of its own. Starting a process takes far longer and \
                                 varies far more than most of what is measured: small leaks will not be seen.";

/// How much was collected, and what to do with it.
pub fn collected(collected: &Collected, log: Option<&Path>) -> String {
    let what = match collected.is_timed {
        true => "answers were empty, so the time of the round trip in ns is the observation",
        false => "the answers are the observations",
    };
    let next = log.map_or(String::new(), |log| {
        let line = command_line([Path::new("check").as_os_str(), log.as_os_str()]);
        format!(" Next: {line}")
    });
    format!("{} rows; {what}.{next}", collected.rows)
}
