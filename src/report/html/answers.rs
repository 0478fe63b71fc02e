//! The first screen: the verdict in a sentence, and five short answers.

use serde::Serialize;

use super::name::Name;
use crate::audit::{ClaimReport, Findings, Pair, SplitChoice, Verdict, Warning};
use crate::estimate::Estimate;
use crate::report::numbers::{percent, time_scale};
use crate::report::sentences::brief_reasons::is_final;
use crate::report::sentences::doubts::LIMITS_OF_TIMES;
use crate::report::sentences::reasons::reason;
use crate::report::short::next::command_after;
use crate::report::summary::epsilon;
use crate::report::words::quantity;
use crate::report::words::{range, value};
use leakgauge_base::naming::setting;
use leakgauge_base::quantity::Quantity;
use leakgauge_base::rounding::{at_least_beyond, at_most, at_most_beyond, nearest, percent_beyond};

/// The verdict.
#[derive(Serialize)]
pub struct Headline {
    /// `violated`, `holds`, `inconclusive`; without claims `leaks`, `unknown`.
    pub class: &'static str,
    /// A word.
    pub word: &'static str,
    /// The rest of the sentence.
    pub parts: Vec<Part>,
}

/// An answer.
#[derive(Serialize)]
pub struct Answer {
    /// The question.
    pub question: &'static str,
    /// The answer.
    pub parts: Vec<Part>,
}

/// A piece of a sentence.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Words.
    Text(String),
    /// What the user named, perhaps shortened.
    Name(Name),
    /// A command to run.
    Command(String),
}

fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

/// The claim that the page is about: the first that is violated, else the first that is open, else the
/// first.
fn deciding(audit: &Findings) -> Option<&ClaimReport> {
    let first = |verdict| audit.claims.iter().find(|claim| claim.verdict == verdict);
    first(Verdict::Violated)
        .or_else(|| first(Verdict::Inconclusive))
        .or_else(|| audit.claims.first())
}

/// The verdict in a sentence.
pub fn headline(audit: &Findings) -> Headline {
    let Some(claim) = deciding(audit) else {
        return without_claims(audit);
    };
    let named = Part::Name(Name::new(&claim.claim.text));
    let (class, word, before, after) = match claim.verdict {
        Verdict::Violated => ("violated", "Violated", "this log refutes ", ""),
        Verdict::Holds => ("holds", "Holds", "this log meets ", ""),
        Verdict::Inconclusive => (
            "inconclusive",
            "Inconclusive",
            "this log neither refutes nor confirms ",
            "",
        ),
    };
    let others = match audit.claims.len() {
        0 | 1 => after.to_owned(),
        2 => "; one more claim is below".to_owned(),
        n => format!("; {} more claims are below", n - 1),
    };
    Headline {
        class,
        word,
        parts: vec![text(before), named, text(format!("{others}."))],
    }
}

fn without_claims(audit: &Findings) -> Headline {
    let (class, word, rest) = match audit.worst_pair.total_variation.lower {
        Some(lower) if lower > 0.0 => ("leaks", "Leak found", "the log leaks its secret"),
        Some(_) if !naming(audit).is_empty() => (
            "leaks",
            "Secrets are named",
            "all secrets together more often than by blind guessing, though for no two of them a leak is certified",
        ),
        Some(_) if epsilon(audit).is_some() => (
            "leaks",
            "Leak found",
            "the log leaks its secret, though no advantage is certified",
        ),
        Some(_) => (
            "unknown",
            "No leak certified",
            "these rows neither prove nor rule out a leak",
        ),
        None => (
            "unknown",
            "Nothing certified",
            "these rows are too few to judge by",
        ),
    };
    Headline {
        class,
        word,
        parts: vec![text(format!("{rest}{}.", naming(audit)))],
    }
}

/// How often one row names its secret among several, where that is certified to be more than blind guessing.
fn naming(audit: &Findings) -> String {
    let secrets = audit.input.secrets.len();
    let overall = &audit.overall;
    let Some(risk) = overall.bayes_risk.upper else {
        return String::new();
    };
    if secrets < 3 || risk >= overall.guessing_error {
        return String::new();
    }
    let blind = 1.0 - overall.guessing_error;
    format!(
        ". One row names 1 of {secrets} secrets at least {} % of the time; blind guessing, {} %",
        percent_beyond(1.0 - risk, blind),
        match blind {
            blind if blind < 0.001 => nearest(100.0 * blind),
            _ => ((1000.0 * blind).round() / 10.0).to_string(),
        }
    )
}

/// Is it leaking, between whom, how sure is that, compared with what, and what now?
pub fn answers(audit: &Findings, command: &str) -> Vec<Answer> {
    let claim = deciding(audit);
    let violated = claim.filter(|claim| claim.verdict == Verdict::Violated);
    let pair = violated.map_or(Some(&audit.worst_pair.secrets), ClaimReport::deciding_pair);
    [
        ("Is it leaking?", vec![text(leaking(audit, claim))]),
        ("Between whom?", between(audit, pair)),
        ("How sure?", vec![text(how_sure(audit, violated))]),
        ("Compared with what?", vec![text(compared(audit, claim))]),
        ("What now?", what_now(audit, claim, command)),
    ]
    .map(|(question, parts)| Answer { question, parts })
    .into()
}

fn leaking(audit: &Findings, claim: Option<&ClaimReport>) -> String {
    let within = match claim {
        Some(claim) if claim.verdict == Verdict::Violated => {
            return format!("Yes, more than claimed: {}.", beyond(claim));
        }
        Some(claim) if claim.verdict == Verdict::Holds => ", within the claim",
        _ => "",
    };
    let worst = &audit.worst_pair.total_variation;
    if worst.lower == Some(0.0)
        && naming(audit).is_empty()
        && let Some((_, lower)) = epsilon(audit)
    {
        return format!(
            "Yes{within}: epsilon is at least {}. No advantage was certified.",
            at_least_beyond(lower, 0.0)
        );
    }
    match (worst.lower, audit.overall.bayes_security.lower) {
        (Some(lower), _) if lower > 0.0 => {
            format!(
                "Yes{within}: an attacker has an advantage of at least {}.",
                at_least_beyond(lower, 0.0)
            )
        }
        (Some(_), _) if !naming(audit).is_empty() => {
            "Yes, all secrets together; between two of them no leak was certified.".to_owned()
        }
        (Some(_), Some(security)) if security > 1e-4 => {
            format!(
                "No leak was certified, and no attacker has an advantage above {}.",
                at_most(1.0 - security)
            )
        }
        (Some(_), _) => "No leak was certified. That does not prove that there is none.".to_owned(),
        (None, _) => format!(
            "Not known. {}",
            worst
                .reason
                .as_ref()
                .map_or("There are too few rows.".to_owned(), reason)
        ),
    }
}

/// The limit that refutes a claim, with enough digits to see that it does.
fn beyond(claim: &ClaimReport) -> String {
    let name = quantity(claim);
    let protects = claim.quantity.protects();
    if let (Quantity::TimeDifference, Some(lower)) = (claim.quantity, claim.estimate.lower) {
        let (factor, unit) = time_scale(claim.analytic, claim.reason.grounds.unit());
        let limit = at_least_beyond(factor * lower, factor * claim.analytic);
        return format!("{name} at least {limit}{unit}");
    }
    match (protects, claim.estimate.lower, claim.estimate.upper) {
        (true, _, Some(upper)) => {
            format!("{name} at most {}", at_most_beyond(upper, claim.analytic))
        }
        (_, Some(lower), _) => {
            format!("{name} at least {}", at_least_beyond(lower, claim.analytic))
        }
        _ => format!("{name} {}", range(&claim.estimate)),
    }
}

fn between(audit: &Findings, pair: Option<&Pair>) -> Vec<Part> {
    let Some(pair) = pair else {
        let which =
            "Some two secrets. All pairs were looked at together, which does not say which two.";
        return vec![text(which)];
    };
    let [a, b] = pair.labels();
    let rest = match audit.pairs.len() {
        0 | 1 => ", the only two.".to_owned(),
        pairs => format!(", chosen from {pairs} pairs on the tuning rows."),
    };
    vec![
        Part::Name(Name::new(a)),
        text(" and "),
        Part::Name(Name::new(b)),
        text(rest),
    ]
}

fn how_sure(audit: &Findings, violated: Option<&ClaimReport>) -> String {
    let (name, estimate): (_, &Estimate) = match violated {
        Some(claim) => (quantity(claim), &claim.estimate),
        None => ("advantage", &audit.worst_pair.total_variation),
    };
    let percent = percent(audit.confidence);
    let doubt = if audit.warnings.iter().any(Warning::is_about_order) {
        ", if rows are independent: see the warnings"
    } else {
        ""
    };
    let is_time = |claim: &&ClaimReport| claim.quantity == Quantity::TimeDifference;
    let (factor, unit) = violated.filter(is_time).map_or((1.0, ""), |claim| {
        time_scale(claim.analytic, claim.reason.grounds.unit())
    });
    let estimate = estimate.increasing(|value| factor * value);
    format!(
        "{percent} confidence{doubt}. Estimate of the {name} {}{unit}, {}{unit}.",
        value(estimate.point),
        range(&estimate)
    )
}

fn compared(audit: &Findings, claim: Option<&ClaimReport>) -> String {
    if let Some(claim) = claim {
        let name = quantity(claim);
        let analytic = nearest(claim.analytic);
        return match claim.quantity {
            Quantity::BayesSecurity => format!(
                "The claim: {name} {analytic}, an advantage of {}.",
                nearest(1.0 - claim.analytic)
            ),
            Quantity::TimeDifference => format!("The claim: {}.", claim.claim),
            Quantity::TotalVariation
            | Quantity::Advantage
            | Quantity::AttackAdvantage
            | Quantity::Overall(_)
            | Quantity::Privacy(_) => format!("The claim: {name} at most {analytic}."),
        };
    }
    match audit.worst_pair.total_variation.lower {
        Some(lower) if lower > 0.0 => format!(
            "Guessing blind: right 50 % of the time between two secrets, here at least {} %.",
            percent_beyond(0.5 * (1.0 + lower), 0.5)
        ),
        _ => format!(
            "Guessing blind, which errs with probability {}; the attack found: {}.",
            nearest(audit.overall.guessing_error),
            value(audit.overall.bayes_risk.point)
        ),
    }
}

fn what_now(audit: &Findings, claim: Option<&ClaimReport>, command: &str) -> Vec<Part> {
    let about_order = audit
        .warnings
        .iter()
        .find(|warning| warning.is_about_order());
    if let Some(warning) = about_order {
        return against_dependence(audit, warning, command);
    }
    let advice = match claim.map(|claim| (claim.verdict, claim.rows_needed)) {
        Some((Verdict::Violated, _)) => {
            let why = match claim.is_some_and(|claim| claim.deciding_pair().is_none()) {
                true => "Find out how observations depend on the secret.",
                false => "Find out why these two differ.",
            };
            return look_there(audit, "Do not rely on the claim. ", why);
        }
        Some((Verdict::Holds, _)) if audit.warnings.iter().any(Warning::needs_another_look) => {
            "See the warnings first: a column may hold more than what was read.".to_owned()
        }
        Some((Verdict::Holds, _)) => {
            "Nothing for now; audit again when the mechanism or its input changes.".to_owned()
        }
        Some((Verdict::Inconclusive, Some(rows))) => {
            let claim = claim.expect("a verdict has a claim");
            let how = match audit.input.sampled() {
                Some(sampled) if rows <= sampled.from.rows_in_all() => {
                    let set = setting("max_rows", rows);
                    format!("Use about {rows} rows of this log ({set})")
                }
                _ => format!("Take about {} in all", more(claim, rows)),
            };
            format!(
                "{how}: they would settle the claim in nine of ten logs, if the estimate were the truth."
            )
        }
        Some((Verdict::Inconclusive, None)) => without_number(claim.is_some_and(is_final)),
        None => match audit.worst_pair.total_variation.lower {
            Some(lower) if lower > 0.0 => {
                let mut parts = look_there(audit, "", "State what is allowed with a claim.");
                parts.extend(next_command(audit, command));
                return parts;
            }
            _ => "State what is allowed with a claim: its verdict says how many rows settle it."
                .to_owned(),
        },
    };
    let mut parts = vec![text(advice)];
    parts.extend(next_command(audit, command));
    parts
}

/// The next command, with what it is for.
fn next_command(audit: &Findings, command: &str) -> Vec<Part> {
    let Some((purpose, command)) = command_after(audit, command) else {
        return Vec::new();
    };
    let mut purpose = purpose.to_owned();
    purpose[..1].make_ascii_uppercase();
    let purpose = match purpose.ends_with('?') {
        true => purpose,
        false => purpose + ":",
    };
    vec![text(format!(" {purpose} ")), Part::Command(command)]
}

/// So many rows, or the units that have as many.
fn more(claim: &ClaimReport, rows: u64) -> String {
    match claim.units_needed {
        None => format!("{rows} rows"),
        Some(units) => format!("{units} units with as many rows each"),
    }
}

/// What to do about rows that depend on each other, with the next command.
fn against_dependence(audit: &Findings, warning: &Warning, command: &str) -> Vec<Part> {
    if audit.is_about_times() && matches!(warning, Warning::Autocorrelation { .. }) {
        return vec![text(LIMITS_OF_TIMES)];
    }
    if let Warning::MayBeUnits { column } = warning {
        let group = setting("group", column);
        return vec![
            text("If rows that share a value of this column depend on each other, run "),
            Part::Command(format!("{command} {group}")),
        ];
    }
    let group = setting("group", "COLUMN");
    let by_group = [
        text(" If a column names the recordings (users, devices, sessions), run "),
        Part::Command(format!("{command} {group}")),
    ];
    let mut parts = match warning {
        Warning::Autocorrelation { splits: true, .. } | Warning::Drift { splits: true, .. }
            if audit.method.split == SplitChoice::Random =>
        {
            let split = setting("split", "blocks");
            vec![
                text("Run "),
                Part::Command(format!("{command} {split}")),
                text(": rows that depend on each other are then not on both sides."),
            ]
        }
        _ => vec![text(
            "Take the log again with secrets in random order; until then what changed meanwhile may be the cause.",
        )],
    };
    parts.extend(by_group);
    parts
}

/// The column to look at, where it is about the pair that is named.
fn look_there(audit: &Findings, before: &str, after: &str) -> Vec<Part> {
    let about_worst = deciding(audit).is_none_or(|claim| claim.pair == audit.worst_pair.secrets);
    match audit
        .worst_pair
        .distributions
        .as_ref()
        .filter(|found| about_worst && found.columns > 1)
    {
        Some(found) => vec![
            text(format!("{before}Look at column ")),
            Part::Name(Name::new(&found.column)),
            text(format!(", in which they differ most. {after}")),
        ],
        None => vec![text(format!("{before}{after}"))],
    }
}

/// What is said where no number of rows is known that would settle the claim.
fn without_number(is_final: bool) -> String {
    match is_final {
        true => "No number of rows like these proves this claim: the reason is below.",
        false => "This log does not tell how many rows would settle this claim.",
    }
    .to_owned()
}
