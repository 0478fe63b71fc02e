//! What is said of a log to try the program on.

use crate::demo::Demo;
use crate::report::command::command_line;
use leakgauge_base::naming::option;

/// What the log in this file is of, and the command to run on it; briefly the command alone.
pub fn demo_text(demo: Demo, file: &str, is_brief: bool) -> String {
    let subcommand = match demo.claim() {
        Some(_) => "audit",
        None => "estimate",
    };
    let mut arguments = vec![subcommand.to_owned(), file.to_owned()];
    arguments.extend([option("secret"), demo.secret().to_owned()]);
    if let Some(claim) = demo.claim() {
        arguments.extend([option("claim"), claim.to_owned()]);
    }
    let command = command_line(arguments);
    match is_brief {
        true => format!("{command}\n"),
        false => format!("{file}: {}\nTry: {command}\n", about(demo)),
    }
}

fn about(demo: Demo) -> &'static str {
    match demo {
        Demo::Timing => {
            "how long a padding check took, in nanoseconds; 10000 rows.\n  \
             Valid padding takes 15 ns longer than invalid padding. The claim is 10 ns at most."
        }
        Demo::DifferentialPrivacy => {
            "noisy counts of a database without and with one record; 20000 rows.\n  \
             The claim is epsilon = 1. The noise is too small for it: epsilon is 1.43."
        }
        Demo::Traffic => {
            "packets, bytes and seconds of visits to five web sites; 5000 rows.\n  \
             How often does the traffic of one visit tell which site it was?"
        }
    }
}
