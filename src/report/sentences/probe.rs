//! What is said while a log is collected.

use std::path::Path;

use crate::audit::Verdict;
use crate::follow::Line;
use crate::probe::Collected;
use crate::report::command_line;
use crate::report::sentences::follow::{difference, reason};
use leakgauge_plot::clean;

/// That a process for each sample is a bad clock.
pub const SPAWN_WARNING: &str = "warning: every sample is a process of its own. Starting a process takes far longer and \
                                 varies far more than most of what is measured: small leaks will not be seen.";

/// What became of the claims, and of the pair that differs most. `is_whole` says whether the collection ended by
/// itself.
pub fn decided(line: &Line, is_whole: bool) -> String {
    let blocks = line.blocks.unwrap_or(0);
    let mut text = match is_whole {
        true => String::new(),
        false => format!("What {blocks} blocks prove, up to the error below:\n"),
    };
    for claim in &line.claims {
        let verdict = match claim.verdict {
            Verdict::Violated => "VIOLATED",
            Verdict::Holds => "HOLDS",
            Verdict::Inconclusive => "INCONCLUSIVE",
        };
        text.push_str(&clean(&format!(
            "{verdict} after {blocks} blocks: {}. {}",
            claim.claim,
            reason(&claim.reason)
        )));
        text.push('\n');
    }
    match line.differences.first() {
        Some(found) => {
            text + &clean(&format!(
                "Median of the differences: {}.",
                difference(found)
            ))
        }
        None => text.trim_end().to_owned(),
    }
}

/// That the program failed after its last answer.
pub fn failed(status: &str) -> String {
    format!(
        "warning: the program ended with a failure after its last answer ({status}). All answers are in the log; find out \
         whether they are right."
    )
}

/// How much was collected, and what to do with it.
pub fn collected(collected: &Collected, log: Option<&Path>, is_judged: bool) -> String {
    let what = match collected.is_timed {
        true => "answers were empty, so the time of the round trip in ns is the observation",
        false => "the answers are the observations",
    };
    if is_judged {
        let ended = match collected.is_decided {
            true => {
                " The collection ended when the claims were decided. Other limits than those of a log that is followed \
                      do not hold for it."
            }
            false => "",
        };
        return format!("{} rows; {what}.{ended}", collected.rows);
    }
    let next = log.map_or(String::new(), |log| {
        let line = command_line([Path::new("check").as_os_str(), log.as_os_str()]);
        format!(" Next: {line}")
    });
    format!("{} rows; {what}.{next}", collected.rows)
}
