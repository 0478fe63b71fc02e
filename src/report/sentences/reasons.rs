//! Why a limit cannot be had.

use crate::estimate::Reason;
use leakgauge_base::naming::{option, setting};

/// The same after a colon, with a small first letter.
pub fn continued(why: &Reason) -> String {
    let text = reason(why);
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        format!("{}{}", first.to_lowercase(), letters.as_str())
    })
}

/// What says that all rows are of one training: it is judged by scores.
pub fn one_run(scores: bool) -> String {
    let design = setting("design", "one-run");
    match scores {
        true => design,
        false => format!("{} {design}", setting("scores", "COLUMN")),
    }
}

/// One or two sentences.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::PairWithoutRows => "A secret of the pair has no certification rows.".to_owned(),
        Reason::SecretWithoutRows => "Some secret has no certification rows.".to_owned(),
        Reason::PriorWithoutRows => {
            "A secret with a positive prior has no certification rows.".to_owned()
        }
        Reason::WorstPairWithoutRows => {
            "A secret of a worst pair has no certification rows.".to_owned()
        }
        Reason::RawNumbers => format!(
            "No upper bound is possible for raw numbers. Set a resolution ({}) or claim attack-advantage.",
            setting("resolution", "COLUMN=WIDTH")
        ),
        Reason::RelativeNumbers => {
            "No upper bound is possible for measurements in blocks. Claim time-difference or attack-advantage."
                .to_owned()
        }
        Reason::RawNumbersCompared => format!(
            "No upper bound is possible for raw numbers, so the difference has no limits. Set a resolution ({}).",
            setting("resolution", "COLUMN=WIDTH")
        ),
        Reason::DependentRows => format!(
            "This limit needs independent rows, and {} is for rows that are not.",
            setting("split", "blocks")
        ),
        Reason::GroupedRows => format!(
            "This limit needs independent rows, and {} says that rows of one unit are not.",
            option("group")
        ),
        Reason::GivenScores => {
            "The scores are those of one attack, and another attack may do better. The claim attack-advantage bounds this \
             one."
                .to_owned()
        }
        Reason::OneRun => "One training run has no upper limit: another attack may do better.".to_owned(),
        Reason::NothingToGuess => "With this prior there is nothing to guess.".to_owned(),
        Reason::PickedForUpper => {
            "This pair was picked for its upper limit. A lower limit was planned for another pair.".to_owned()
        }
        Reason::Unbounded(quantity) => {
            format!("Samples give no upper limit of {quantity}.")
        }
        Reason::RareFalsePositives { rows, rate, needed } => format!(
            "{rows} rows of the other secret certify no threshold with a false positive rate of at most {rate}; at least \
             {needed} rows are needed."
        ),
        Reason::UnseenObservations => {
            "No upper bound is possible: an observation that did not occur may say more.".to_owned()
        }
        Reason::NoFrequencies => {
            "There is no estimate: a secret has no rows, or there are too many observations.".to_owned()
        }
        Reason::Followed => "A log that is followed has lower limits only.".to_owned(),
    }
}
