//! What to do next: a command, and where everything is.

use leakgauge_base::naming::{option, setting};
use leakgauge_base::quantity::{PrivacyParameter, Quantity};

use crate::audit::{ClaimReport, Differences, Findings, Grounds, SplitChoice, Verdict};
use crate::report::command::command_line;
use crate::report::numbers::{confidence_percent, plain, time_scale};
use crate::report::short::lines::{Entry, Section, letters};

/// How much larger than the claim the leak is that a log should be able to show.
const LARGER: f64 = 1.25;

/// The command that takes no claims.
const ESTIMATE: &str = "estimate";

/// Blanks before a command on a line of its own.
const INDENT: usize = 2;

/// What a command is for, and what is added to the command that made the report.
struct Suggestion {
    purpose: &'static str,
    added: String,
}

/// The section, given the arguments of the command line behind the name of the program.
pub fn section<'a>(audit: &Findings, arguments: &[String], width: usize) -> Section<'a> {
    let gates = has(arguments, &option("ci"));
    let suggestion = suggestion(audit, gates).filter(|_| !arguments.is_empty());
    let next = suggestion.map(|found| {
        let name = format!("Next ({}):", found.purpose);
        let Some(command) = command(&found.added, arguments, width - INDENT) else {
            let same = match arguments.iter().any(|argument| argument == ESTIMATE) {
                true => format!(
                    "{name} the same command with audit in place of {ESTIMATE}, and {}",
                    found.added
                ),
                false => format!("{name} the same command with {}", found.added),
            };
            return Entry::text(same, INDENT);
        };
        match letters(&name) + 1 + letters(&command) <= width {
            true => Entry::row(format!("{name} {command}")),
            false => Entry::text(name, INDENT).and_text(" ".repeat(INDENT) + &command, 2 * INDENT),
        }
    });
    let page = match has(arguments, &option("html")) {
        true => String::new(),
        false => format!("; as a page: {}", setting("html", "report.html")),
    };
    let confidence = confidence_percent(audit.confidence);
    let limits = match audit.rows_depend() && !audit.is_about_times() {
        true => format!("Limits ({confidence}) presume independent rows."),
        false => format!("Limits hold with {confidence} confidence."),
    };
    let everything = format!("Everything: {}{page}. {limits}", option("full"));
    let everything = Entry::text(everything, 2);
    let entries = next.into_iter().chain([everything]).collect();
    Section::new(entries, 2, Box::new(|_| String::new()))
}

fn has(arguments: &[String], flag: &str) -> bool {
    arguments
        .iter()
        .any(|argument| argument.split('=').next() == Some(flag))
}

/// What to run next: what for, and the whole command, given the one that made the report.
pub fn command_after(audit: &Findings, command: &str) -> Option<(&'static str, String)> {
    let ci = option("ci");
    let found = suggestion(audit, command.split(' ').any(|word| word == ci))?;
    // Only an audit takes claims.
    let command = command.replacen("leakgauge estimate ", "leakgauge audit ", 1);
    Some((found.purpose, format!("{command} {}", found.added)))
}

fn suggestion(audit: &Findings, gates: bool) -> Option<Suggestion> {
    let claims = &audit.claims;
    if claims.is_empty() {
        return Some(Suggestion {
            purpose: "judge a claim",
            added: setting("claim", format!("'{}'", claim(audit))),
        });
    }
    let leak = claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Inconclusive)
        .find_map(larger);
    let can_simulate = audit.input.units.is_none()
        && audit.method.split == SplitChoice::Random
        && audit.detections.is_empty()
        && claims
            .iter()
            .all(|claim| claim.quantity != Quantity::TimeDifference);
    if let Some(leak) = leak.filter(|_| can_simulate) {
        return Some(Suggestion {
            purpose: "is the log large enough?",
            added: setting("must_detect", leak),
        });
    }
    let hold = claims.iter().all(|claim| claim.verdict == Verdict::Holds);
    (hold && !gates).then(|| Suggestion {
        purpose: "as a gate",
        added: option("ci"),
    })
}

/// A claim that the log can be judged by.
fn claim(audit: &Findings) -> String {
    match &audit.differences {
        Some(found) => format!("time-difference({})", a_difference(found)),
        None => match audit.overall.bayes_security.lower {
            Some(_) => "advantage(0.1)".to_owned(),
            None => "attack-advantage(0.1)".to_owned(),
        },
    }
}

/// The largest difference that the log leaves possible, rounded up to a power of ten, with its unit: what may hold if nothing
/// differs, and what is of the size of what differs.
fn a_difference(found: &Differences) -> String {
    let sizes = found.pairs.iter().map(|pair| {
        let limits = [pair.median.lower, pair.median.upper].map(f64::abs);
        let known = limits.into_iter().filter(|limit| limit.is_finite());
        known.fold(pair.median.point.abs(), f64::max)
    });
    let size = sizes.fold(0.0, f64::max);
    let (factor, unit) = time_scale(size, found.unit);
    let size = match factor * size {
        size if size > 0.0 => 10f64.powi(size.log10().ceil() as i32),
        _ => 10.0,
    };
    let unit = match unit.trim() {
        "µs" => "us",
        unit => unit,
    };
    format!("{}{unit}", plain(size, 3))
}

/// A leak that is larger than a claim allows, as an option takes it; `None` of claims that it might not violate.
fn larger(claim: &ClaimReport) -> Option<String> {
    let bound = claim.analytic;
    let (name, value) = match (&claim.reason.grounds, claim.quantity) {
        (Grounds::Privacy(found), Quantity::Privacy(parameter)) if found.distance.is_none() => {
            match parameter {
                PrivacyParameter::Renyi { .. } => return None,
                named => (named.key(), LARGER * bound),
            }
        }
        (Grounds::Advantage, Quantity::Advantage) => ("advantage", LARGER * bound),
        (Grounds::BayesSecurity, Quantity::BayesSecurity) => {
            ("bayes-security", 1.0 - LARGER * (1.0 - bound))
        }
        _ => return None,
    };
    let is_share = !matches!(claim.quantity, Quantity::Privacy(_));
    let is_possible = value > 0.0 && (!is_share || value < 1.0);
    is_possible.then(|| format!("{name}={}", plain(value, 3)))
}

/// The command that made the report, as an audit, with an option more; `None` if it is longer than a line.
fn command(added: &str, arguments: &[String], most: usize) -> Option<String> {
    let estimate = arguments.iter().position(|argument| argument == ESTIMATE);
    let mut arguments = arguments.to_vec();
    if let Some(at) = estimate {
        "audit".clone_into(&mut arguments[at]);
    }
    let whole = format!("{} {added}", command_line(&arguments));
    (letters(&whole) <= most).then_some(whole)
}
