//! What is said of a log to try the program on.

use crate::demo::Demo;
use crate::report::command::command_line;

/// What the log in this file is of, and the command to run on it; briefly the command alone.
pub fn demo_text(demo: Demo, file: &str, is_brief: bool) -> String {
    let (subcommand, options) = demo.arguments();
    let arguments = [subcommand, file]
        .into_iter()
        .chain(options.iter().copied());
    let command = command_line(arguments);
    match is_brief {
        true => format!("{command}\n"),
        false => format!("{file}: {}\nTry: {command}\n", about(demo)),
    }
}

fn about(demo: Demo) -> &'static str {
    match demo {
        Demo::Timing => {
            "10000 times of a check, in nanoseconds, with a row for each.\n  \
             Valid padding takes 15 ns longer than invalid padding. The claim is 10 ns at most."
        }
        Demo::DifferentialPrivacy => {
            "20000 noisy counts of a database without and with one record.\n  \
             The claim is epsilon = 1. The noise is too small for it: epsilon is 1.43."
        }
        Demo::Traffic => {
            "5000 visits to five web sites: packets, bytes, seconds.\n  \
             How often does the traffic of one visit tell which site it was?"
        }
    }
}
