//! What is doubtful, a line each, the most important first.

use leakgauge_base::naming::{option, setting};

use crate::audit::{Findings, Qualification, Warning};
use crate::report::sentences::doubts::{
    LIMITS_OF_TIMES, doubt, numbered_blocks, weight, within_blocks,
};
use crate::report::sentences::warnings::counts_rows;
use crate::report::short::lines::{Entry, Section};
use leakgauge_log::Loss;

/// Lines that the section may keep.
const LINES: usize = 3;
/// Doubts at most.
const DOUBTS: usize = 6;
/// What stands before the first, and its width before the others.
const NAME: &str = "Check: ";

/// The section; empty without doubts.
pub fn section<'a>(audit: &Findings) -> Section<'a> {
    let mut doubts = all(audit);
    let beyond = doubts.len().saturating_sub(DOUBTS);
    doubts.truncate(DOUBTS);
    let begun = |(at, doubt): (usize, &String)| match at {
        0 => format!("{NAME}{doubt}"),
        _ => format!("{}{doubt}", " ".repeat(NAME.len())),
    };
    let texts = doubts.iter().enumerate().map(begun);
    let entries = texts
        .map(|text| Entry::text(text, NAME.len() + 2))
        .collect();
    let more = |hidden| {
        let doubts = match hidden {
            1 => "doubt",
            _ => "doubts",
        };
        format!(
            "{}and {hidden} more {doubts}: {}",
            " ".repeat(NAME.len()),
            option("full")
        )
    };
    Section::new(entries, LINES, Box::new(more)).with_beyond(beyond)
}

/// All doubts.
pub fn all(audit: &Findings) -> Vec<String> {
    let weighed = weighed(audit).into_iter();
    weighed.map(|(_, doubt)| doubt).collect()
}

/// Those that are about what a verdict or an estimate rests on, and not about a few rows or the spelling of numbers.
pub fn grave(audit: &Findings) -> Vec<String> {
    let weighed = weighed(audit).into_iter();
    let grave = weighed.filter(|(weight, _)| *weight < 3);
    grave.map(|(_, doubt)| doubt).collect()
}

fn weighed(audit: &Findings) -> Vec<(u8, String)> {
    let numbered = numbered_blocks(&audit.input);
    let warnings = audit.warnings.iter();
    // Within blocks none of this matters.
    let warnings = warnings.filter(|warning| numbered.is_none() || !warning.is_about_order());
    let of = |warning: &Warning| match warning {
        Warning::Autocorrelation { correlation, .. }
            if audit.is_about_times() && !counts_rows(*correlation) =>
        {
            (3, LIMITS_OF_TIMES.to_owned())
        }
        warning => (weight(warning), doubt(warning)),
    };
    let alike = |warning: &Warning| match warning {
        Warning::MergedSpellings(merged) => Some(merged.loss),
        _ => None,
    };
    let mut merged: Vec<(Loss, Vec<&Warning>)> = Vec::new();
    let mut doubts: Vec<(u8, String)> = Vec::new();
    for warning in warnings {
        let Some(loss) = alike(warning) else {
            doubts.push(of(warning));
            continue;
        };
        match merged.iter_mut().find(|(known, _)| *known == loss) {
            Some((_, all)) => all.push(warning),
            None => merged.push((loss, vec![warning])),
        }
    }
    // The same of several columns is one doubt.
    doubts.extend(merged.into_iter().map(|(_, all)| {
        let others = match all.len() - 1 {
            0 => String::new(),
            1 => " So does another column.".to_owned(),
            many => format!(" So do {many} other columns."),
        };
        (weight(all[0]), doubt(all[0]) + &others)
    }));
    doubts.extend(numbered.map(|column| (0, within_blocks(column))));
    doubts.extend(qualifications(audit));
    doubts.extend(blocks(audit));
    doubts.sort_by_key(|(weight, _)| *weight);
    doubts
}

/// Doubts about a verdict that no warning says, once each.
fn qualifications(audit: &Findings) -> Vec<(u8, String)> {
    let all = audit
        .claims
        .iter()
        .flat_map(|claim| &claim.reason.qualifications);
    let mut found: Vec<(u8, String)> = Vec::new();
    let block = match audit.input.facts.wide {
        true => option("blocks"),
        false => setting("block", "COLUMN"),
    };
    for one in all.filter_map(|one| qualification(one, &block)) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    if audit.method.effective_rows.is_some() {
        found.push((
            2,
            "Limits are approximate: rows depend on those nearby, and what they are worth is estimated.".to_owned(),
        ));
    }
    found
}

/// A doubt about a verdict, given the option that says what the blocks are.
fn qualification(qualification: &Qualification, block: &str) -> Option<(u8, String)> {
    Some(match qualification {
        Qualification::UnstatedRuns => (
            0,
            format!(
                "Does each row come from a run of its own? {} or {} says so.",
                setting("design", "many-runs"),
                setting("design", "one-run")
            ),
        ),
        Qualification::AllNeighbors { pairs } => (
            2,
            format!(
                "All {pairs} pairs were taken for neighbors. If only some are: {}.",
                setting("neighbors", "A:B,…")
            ),
        ),
        Qualification::OneByOne => (
            3,
            format!(
                "Times were taken one by one: drift can look like a difference. Blocks help: {block}."
            ),
        ),
        Qualification::MoreRows(advice) => (
            4,
            format!(
                "{} of {} rows were used. More: {}.",
                advice.used,
                advice.rows,
                setting("max_rows", advice.wanted.min(advice.rows))
            ),
        ),
        _ => return None,
    })
}

/// Blocks that lack a time.
fn blocks(audit: &Findings) -> Option<(u8, String)> {
    let is_told = |warning: &Warning| matches!(warning, Warning::MissingTimes(_));
    if audit.warnings.iter().any(is_told) {
        return None;
    }
    let blocks = audit.input.facts.blocks.as_ref()?;
    let lacking = blocks.incomplete + blocks.alone;
    (lacking > 0).then(|| {
        (
            2,
            format!("{lacking} blocks lack a time. If slow answers are missing, the difference is larger."),
        )
    })
}
