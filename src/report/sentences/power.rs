//! How many rows an audit needs, and whether a log could have shown a leak.

use crate::audit::{Detection, Planted};
use crate::power::RowsPlan;
use crate::report::numbers::{confidence_percent, percent};
use leakgauge_base::error::{listing, shorten};

/// The answer of a plan.
pub fn answer(plan: &RowsPlan) -> String {
    format!(
        "A log needs about {} rows, {} of each secret, so that an audit finds {} with probability {} or more.",
        plan.rows, plan.rows_of_a_secret, plan.options.leak, plan.options.power
    )
}

/// What a plan rests on.
pub fn grounds(plan: &RowsPlan) -> Vec<String> {
    let options = &plan.options;
    let claims = options.claims.iter().map(|claim| claim.to_string());
    let [a, b] = plan.pair.each_ref().map(|label| shorten(label));
    let mut items = vec![
        format!(
            "Claims: {}. Confidence: {}.",
            claims.collect::<Vec<_>>().join(", "),
            confidence_percent(options.confidence)
        ),
        format!(
            "Simulated: {} of {} logs with so many rows ended with a violated claim.",
            plan.detection.found, plan.detection.logs
        ),
        format!(
            "In these logs, secrets {a} and {b} have two outcomes and exactly this leak. Mechanisms with more outcomes, or \
             with numbers, need more rows: their attacks must learn more."
        ),
    ];
    if options.secrets.len() > 2 {
        items.push(format!(
            "Secrets: {}. All others give either outcome with probability 0.5.",
            listing(options.secrets.iter().map(String::as_str))
        ));
    }
    items.push("Rows must be independent of each other.".to_owned());
    items
}

/// Whether a log could have shown a leak, in a word.
pub fn headline(detection: &Detection) -> String {
    let word = match detection.is_too_weak() {
        true => "TOO WEAK",
        false => "STRONG ENOUGH",
    };
    format!("{word}: {}", detection.leak)
}

/// What was planted.
pub fn planted(planted: Planted) -> String {
    match planted {
        Planted::TwoOutcomes => "in two outcomes".to_owned(),
        Planted::Labels => "in labels as frequent as those of the log".to_owned(),
        Planted::Numbers { columns: 1 } => "in noise whose mean differs".to_owned(),
        Planted::Numbers { columns } => {
            format!("in noise whose mean differs in one of {columns} columns")
        }
    }
}

/// The same as a sentence.
pub fn reason(detection: &Detection) -> String {
    let Detection {
        leak,
        power,
        logs,
        found,
        planted,
    } = detection;
    let is_below = !detection.is_too_weak() && detection.share() < *power;
    let simulated = format!(
        "An audit finds such a leak in {found} of {logs} simulated logs with as many rows as this one; {} are wanted{}.",
        percent(*power),
        match is_below {
            true => "; chance can explain the difference",
            false => "",
        }
    );
    match detection.is_too_weak() {
        true if *planted == Planted::TwoOutcomes => format!(
            "{simulated} This log can miss a leak of {leak}. `leakgauge plan` says how many rows are needed."
        ),
        true => format!(
            "{simulated} The simulated leak is {}. This log can miss a leak of {leak}: take more rows.",
            self::planted(*planted)
        ),
        false => format!(
            "{simulated} The simulated leak is {}; one that is harder to learn can need more rows.",
            self::planted(*planted)
        ),
    }
}
