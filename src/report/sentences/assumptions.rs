//! What the limits rest on.

use crate::audit::Assumption;
use leakgauge_base::error::{listing, shorten};
use leakgauge_base::naming::option;

/// One to three sentences.
pub fn assumption(assumption: &Assumption) -> String {
    match assumption {
        Assumption::IndependentRows => {
            format!(
                "Rows are independent draws, and all rows of a secret come from the same distribution. If several rows \
                 come from one user, device or session, name its column with {}.",
                option("group")
            )
        }
        Assumption::IndependentUnits { column } => format!(
            "Units (column {}) are independent, and those of a secret come from the same population. Rows of a unit may \
             depend on each other in any way. Every unit counts once: figures are for an attacker who meets a random \
             unit and sees one of its rows.",
            shorten(column)
        ),
        Assumption::IndependentBlocks => {
            "Blocks are independent of each other, and inside a block the secrets are measured in random order. Drift affects \
             all secrets of a block alike. Figures are for an attacker who meets a random block and sees one of its times, and \
             the others without their secrets."
                .to_owned()
        }
        Assumption::NoCopies => format!(
            "No row is a copy of another. Copies of rows with few different values cannot be seen: name a column that \
             identifies rows with {}.",
            option("row_id")
        ),
        Assumption::DependenceNearby => {
            "Errors of the attack depend only on rows nearby, far fewer than the certification rows. Limits use an \
             estimate of how many independent rows these are worth, and are approximate. They hold for the time of the \
             certification rows."
                .to_owned()
        }
        Assumption::Seed(seed) => format!(
            "Seed {seed} was fixed beforehand. Do not try several seeds and keep the best: that voids the confidence level."
        ),
        Assumption::ClaimsSettled => {
            "The claims and the margin were fixed before anyone looked at this log.".to_owned()
        }
        Assumption::TypesInferred => {
            "Column types that were not given were inferred from the first rows.".to_owned()
        }
        Assumption::ScoresBlind { columns } => format!(
            "The attack that computed the scores ({}) was not trained or chosen on these rows and did not see their secrets. A \
             column that repeats the secret looks like a perfect attack.",
            listing(columns.iter().map(String::as_str))
        ),
        Assumption::IndependentRuns => {
            "For a claim of differential privacy, rows come from independent runs of the mechanism. The scores of one trained \
             model are one run."
                .to_owned()
        }
        Assumption::EmpiricalPrior => {
            "The prior is the share of each secret in this log.".to_owned()
        }
        Assumption::SecretsSettled => format!(
            "The secrets of {} were chosen before this log was taken. Choosing them by looking at it voids the confidence \
             level.",
            option("secrets")
        ),
        Assumption::NeighborsSettled => format!(
            "The pairs of {} were chosen before anyone looked at this log. Claims of privacy say nothing about other pairs.",
            option("neighbors")
        ),
        Assumption::SeparateLogs { file } => {
            format!("The rows of {file} are not rows of the log that is judged.")
        }
        Assumption::Resolution { column, width } => format!(
            "The observer sees column {} only in bins of width {width}, fixed beforehand. Limits are for that observer.",
            shorten(column)
        ),
    }
}
