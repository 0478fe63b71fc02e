//! Sentences about a mechanism that was asked for samples.

use crate::report::numbers::at_least;
use crate::report::words::p_value_of;
use leakgauge_query::attackers::Kind;
use leakgauge_query::{ClaimStanding, Doubt, Standing, Stop, Verdict};

/// Why a claim is judged as it is.
pub fn reason(claim: &ClaimStanding, found: &Standing) -> String {
    let p = p_value_of(claim.p_value);
    let samples = found.samples;
    let doubt = found
        .doubts
        .first()
        .map_or(String::new(), |&first| format!(" {}", doubt(first)));
    match claim.verdict {
        Verdict::Violated => {
            let limit = found.epsilon_lower.map_or(String::new(), |lower| {
                format!(
                    " Some pair of inputs needs an epsilon of at least {}.",
                    at_least(lower)
                )
            });
            format!(
                "Refuted after {samples} samples ({p}), if samples are independent.{limit}{doubt}"
            )
        }
        Verdict::Holds => format!(
            "Proved after {samples} samples: the upper limits of all pairs of these inputs are within the claim, if \
             samples are independent.{doubt}"
        ),
        Verdict::Inconclusive => format!("{} ({p}).{doubt}", undecided(found)),
    }
}

fn undecided(found: &Standing) -> String {
    let samples = found.samples;
    match found.stop {
        None => format!("Not decided by {samples} samples so far"),
        Some(Stop::Futile) => {
            format!("Not refuted by {samples} samples, and what was left of them could not decide")
        }
        Some(Stop::Time) => format!("Not refuted by {samples} samples when the time was up"),
        Some(Stop::Interrupted) => {
            format!("Not refuted by {samples} samples when it was interrupted")
        }
        Some(Stop::Samples | Stop::Violated | Stop::Holds) => {
            format!("Not refuted by {samples} samples")
        }
    }
}

/// An attacker.
pub fn attacker(kind: Kind, learned: Option<&str>) -> String {
    match kind {
        Kind::Threshold { column } => format!("threshold on output {column}"),
        Kind::Window { column } => format!("threshold on output {column}, near its middle"),
        Kind::Distance { column } => format!("distance of output {column} from its middle"),
        Kind::Bins { column } => format!("frequencies in bins of output {column}"),
        Kind::Values => "frequencies of equal outputs".to_owned(),
        Kind::Bits { column } => format!("lowest bit of output {column}"),
        Kind::Learned => match learned {
            Some(name) => format!("learned attack ({name})"),
            None => "learned attack (too few samples to learn from)".to_owned(),
        },
    }
}

/// What the result rests on.
pub fn assumptions(found: &Standing) -> Vec<String> {
    let mut all = vec![
        "Outputs are independent given their inputs: the function keeps no memory between calls."
            .to_owned(),
        "The claim is judged for these inputs only; others may leak more.".to_owned(),
    ];
    let looks_at_bits = found
        .attackers
        .iter()
        .any(|kind| matches!(kind, Kind::Bits { .. }));
    let has_numbers = found
        .attackers
        .iter()
        .any(|kind| matches!(kind, Kind::Threshold { .. }));
    if has_numbers && !looks_at_bits {
        all.push(
            "The attackers read numbers by size and equality. The low bits of floating-point numbers, which can \
             reveal how a number was computed, were not looked at: that must be asked for."
                .to_owned(),
        );
    }
    all
}

/// What gives reason to doubt.
pub fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::AllEqual => {
            "All outputs of all inputs are equal: the function tells nothing, or returns nothing."
        }
        Doubt::Constant => {
            "Every input always gave the same output: the function is not random, or its generator is seeded \
             afresh at every call."
        }
        Doubt::SameStart => {
            "Calls with the same input begin with the same outputs: the generator seems to be seeded afresh at every \
             call, so that samples are not independent."
        }
    }
}
