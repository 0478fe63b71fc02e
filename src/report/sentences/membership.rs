//! What limits about members and others rest on.

use crate::membership::{Direction, OneRun, RunGuesses};
use leakgauge_base::error::listing;
use leakgauge_base::naming::option;

/// What the limits of a table rest on.
pub fn of_table() -> Vec<String> {
    vec![
        "The attack and its threshold were fixed before these answers were seen.".to_owned(),
        "Answers are independent. For a claim of differential privacy that means: from independent runs of the \
         mechanism. Many records scored against one trained model are one run."
            .to_owned(),
    ]
}

/// What the limits of a single run rest on.
pub fn of_one_run(run: &OneRun) -> Vec<String> {
    vec![
        "Every canary was included in the training with probability 1/2, by an independent fair coin, and every row is a \
         different canary. Members and others picked in any other way do not prove what is said here."
            .to_owned(),
        format!(
            "Whatever computed the scores ({}) saw what the training released, and not who was included.",
            listing(run.scores.iter().map(String::as_str))
        ),
        format!(
            "{} and {}, where given, were fixed before these scores were seen.",
            option("guesses"),
            option("member_scores")
        ),
        "The claims were fixed before these scores were seen.".to_owned(),
    ]
}

/// Guesses in a line.
pub fn guesses(found: &RunGuesses) -> String {
    let larger = match found.direction {
        Direction::High => "highest",
        Direction::Low => "lowest",
    };
    let all = found.included + found.excluded;
    format!(
        "The {} {larger} scores guessed to be members and {} at the other end to be others: {} of {all} right.",
        found.included, found.excluded, found.right
    )
}
