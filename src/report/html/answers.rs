//! The first screen: the verdict in a sentence, and what the report that fits on a screen says, with the same digits.

use std::iter;

use serde::Serialize;

use super::name::Name;
use crate::audit::{ClaimReport, Findings, SplitChoice, Verdict, Warning};
use crate::report::sentences::brief_reasons::is_final;
use crate::report::sentences::doubts::LIMITS_OF_TIMES;
use crate::report::short::answer::{leaks, sentences};
use crate::report::short::claims::told;
use crate::report::short::next::command_after;
use crate::report::short::{doubts, read};
use leakgauge_base::naming::setting;
use leakgauge_plot::clean;

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
    /// The answer: sentences, a line each.
    pub lines: Vec<Vec<Part>>,
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
    /// A verdict in a word.
    Verdict(String),
}

/// Claims that are told on the first screen, sentences about what can be told, and doubts.
pub const CLAIMS: usize = 3;
const SAID: usize = 4;
const DOUBTS: usize = 2;

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

fn of_claim(audit: &Findings, claim: &ClaimReport) -> Headline {
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

/// Without claims the strongest thing that is said of the log is the verdict.
fn without_claims(audit: &Findings, said: &mut Vec<String>) -> Headline {
    let (class, word) = match (leaks(audit), audit.worst_pair.total_variation.lower) {
        (true, _) if audit.rows_depend() => ("unknown", "Leak found, if rows are independent"),
        (true, _) => ("leaks", "Leak found"),
        (false, Some(_)) => ("unknown", "No leak shown"),
        (false, None) => ("unknown", "Nothing certified"),
    };
    let first = match said.is_empty() {
        true => String::new(),
        false => said.remove(0),
    };
    Headline {
        class,
        word,
        parts: vec![text(first)],
    }
}

/// What was read, below the answers.
pub fn what_was_read(audit: &Findings) -> Vec<String> {
    read::texts(audit).iter().map(|text| clean(text)).collect()
}

/// The verdict in a sentence, and what the report that fits on a screen says besides, each once.
pub fn answers(audit: &Findings, command: &str) -> (Headline, Vec<Answer>) {
    let claim = deciding(audit);
    let mut said: Vec<String> = sentences(audit).iter().map(|text| clean(text)).collect();
    let headline = match claim {
        Some(claim) => of_claim(audit, claim),
        None => without_claims(audit, &mut said),
    };
    let texts = |texts: Vec<String>| {
        texts
            .into_iter()
            .map(|one| vec![text(clean(&one))])
            .collect()
    };
    // Figures and differences below have the others.
    said.truncate(SAID);
    let mut doubts = doubts::all(audit);
    let beyond = doubts.len().saturating_sub(DOUBTS);
    doubts.truncate(DOUBTS);
    if beyond > 0 {
        doubts.push(match beyond {
            1 => "One more doubt is among the warnings below.".to_owned(),
            _ => format!("{beyond} more doubts are among the warnings below."),
        });
    }
    let verdicts = match audit.claims.len() {
        1 => "Why?",
        _ => "Verdicts",
    };
    let all = [
        (verdicts, claims(audit)),
        ("What can be told?", texts(said)),
        ("What to check?", texts(doubts)),
        ("What now?", vec![what_now(audit, claim, command)]),
    ];
    let answers = all
        .into_iter()
        .map(|(question, lines)| Answer { question, lines });
    let answers = answers.filter(|answer: &Answer| !answer.lines.is_empty());
    (headline, answers.collect())
}

/// The figures of the first claims, and why their verdicts are as they are.
fn claims(audit: &Findings) -> Vec<Vec<Part>> {
    let many = audit.claims.len() > 1;
    let first = audit.claims.iter().take(CLAIMS);
    let told = first.map(|claim| {
        let (figures, reasons) = told(claim);
        let texts = iter::once(figures + ".").chain(reasons);
        let texts = clean(&texts.collect::<Vec<_>>().join(" "));
        match many {
            true => vec![
                Part::Verdict(claim.verdict.to_string()),
                text(" "),
                Part::Name(Name::new(&claim.claim.text)),
                text(format!(": {texts}")),
            ],
            false => vec![text(capital(&texts))],
        }
    });
    let more = audit.claims.len().saturating_sub(CLAIMS);
    let more = (more > 0).then(|| vec![text(format!("and {more} more claims, below"))]);
    told.chain(more).collect()
}

/// The same with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
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
            format!("{how}.")
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
