//! What limits about members and others rest on.

use crate::membership::{Direction, OneRun, RunGuesses};
use leakgauge_base::error::listing;
use leakgauge_base::naming::option;

/// That an attack is right less often than a coin.
pub const LESS_THAN_CHANCE: &str = "The attack is right less often than guessing, so that nothing is shown. If members and others were mixed up when its \
     answers were counted, swap them: its hits are misses, and its false alarms are right.";

/// What the limits of a table rest on.
pub fn of_table() -> Vec<String> {
    vec![
        "The attack and its threshold were fixed before these answers were seen.".to_owned(),
        "Answers are independent. For a claim of differential privacy that means: from independent runs of the \
         mechanism. The scores of one trained model are one run."
            .to_owned(),
    ]
}

/// What the limits of a single run rest on.
pub fn of_one_run(run: &OneRun) -> Vec<String> {
    vec![
        "Every canary was included in the training with probability 1/2, by an independent fair coin, and every row is a \
         different canary. For members and others that were picked in any other way the limits are not valid."
            .to_owned(),
        format!(
            "The attack that computed the scores ({}) saw what the training released, and did not see who was included.",
            listing(run.scores.iter().map(String::as_str))
        ),
        format!(
            "{} and {}, where given, were fixed before these scores were seen.",
            option("guesses"),
            option("member_scores")
        ),
        "The claims were fixed before these scores were seen.".to_owned(),
        "Limits of epsilon presume nothing of the training. Those from mu are right where its privacy is that of Gaussian \
         noise, as that of DP-SGD over many steps nearly is: any (epsilon, delta) alone allows rare events that reveal all \
         canaries at once, and mu does not."
            .to_owned(),
    ]
}

/// Guesses in a line.
pub fn guesses(found: &RunGuesses) -> String {
    let [members, others] = match found.direction {
        Direction::High => ["highest", "lowest"],
        Direction::Low => ["lowest", "highest"],
    };
    let part = |count: u64, which: &str, what: &str| {
        (count > 0).then(|| format!("as {what} the {count} {which} scores"))
    };
    let parts = [
        part(found.included, members, "members"),
        part(found.excluded, others, "others"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let all = found.included + found.excluded;
    format!(
        "Guessed {}: {} of {all} right.",
        parts.join(", "),
        found.right
    )
}
