//! What was read: files, rows, secrets, what is observed, what limits count, what was left out.

use leakgauge_base::error::file_listing;
use leakgauge_base::naming::{option, setting};
use leakgauge_log::observations::{Column, ColumnType};
use leakgauge_log::{Form, Like};

use crate::audit::{Findings, Input, PriorChoice};
use crate::report::check::{OTHER, columns};
use crate::report::command::quoted;
use crate::report::input::{observed_of_file, why_left_out};
use crate::report::numbers::{plain, unit_name};
use crate::report::short::lines::{Entry, Section, cut, cut_sentences, end_of, letters};

/// Lines that the section may keep.
const LINES: usize = 3;
/// Facts below the first line at most.
const FACTS: usize = 6;
/// Letters of the names of files, of a column, of a label.
const FILES: usize = 60;
const NAME: usize = 30;
const LABEL: usize = 20;
/// Letters of an option that is suggested: `--full` has longer ones.
const COMMAND: usize = 60;
/// Letters of all labels with their rows: of more, their number is said.
const LABELS: usize = 70;
/// Columns that are named; of more, the first ones.
const COLUMNS: usize = 5;
/// Letters of a sentence about how a column was read.
const NOTE: usize = 150;

/// The section.
pub fn section(audit: &Findings) -> Section<'_> {
    let mut texts = all(audit);
    let beyond = texts.len().saturating_sub(1 + FACTS);
    texts.truncate(1 + FACTS);
    let entries = texts.iter().enumerate().map(|(at, text)| match at {
        0 => Entry::text(text, 2),
        _ => Entry::text(format!("  {text}"), 4),
    });
    let more = |hidden| format!("  and {hidden} more: {}", option("full"));
    Section::new(entries.collect(), LINES, Box::new(more)).with_beyond(beyond)
}

/// The first facts: the rows and what they say, then what is remarkable about them.
pub fn texts(audit: &Findings) -> Vec<String> {
    let mut texts = all(audit);
    texts.truncate(1 + FACTS);
    texts
}

fn all(audit: &Findings) -> Vec<String> {
    let input = &audit.input;
    let first = format!(
        "{}: {}, {}, observed {}",
        end_of(&file_listing(&input.facts.files), FILES),
        rows(input),
        secret(input),
        observed(audit)
    );
    let facts = [
        units(input),
        left_out(input),
        fit_on(input),
        recognized(input),
        merged(input),
        prior(audit),
    ];
    let notes = input
        .facts
        .notes
        .iter()
        .map(|note| cut_sentences(note, NOTE));
    let facts = facts.into_iter().flatten().chain(notes);
    [first].into_iter().chain(facts).collect()
}

fn rows(input: &Input) -> String {
    let facts = &input.facts;
    match (input.sampled(), facts.rows == facts.rows_used) {
        (Some(sampled), _) => format!(
            "a random {} of {} rows",
            sampled.from.rows_used(),
            sampled.from.rows_in_all()
        ),
        (None, true) => format!("{} rows", facts.rows),
        (None, false) => format!("{} of {} rows", facts.rows_used, facts.rows),
    }
}

/// The secrets with their rows, or how many there are.
fn secret(input: &Input) -> String {
    let all = input.secrets.iter().zip(&input.rows_of_secrets);
    let labels: Vec<String> = all
        .map(|(label, rows)| format!("{}: {rows}", cut(label, LABEL)))
        .collect();
    let labels = labels.join(", ");
    let rows = &input.rows_of_secrets;
    let labels = match letters(&labels) <= LABELS {
        true => labels,
        false => format!(
            "{} values with {} rows",
            input.secrets.len(),
            match (rows.iter().min(), rows.iter().max()) {
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                (least, _) => least.unwrap_or(&0).to_string(),
            }
        ),
    };
    let facts = &input.facts;
    let name = cut(&facts.secret_column, NAME);
    match (facts.wide, facts.header) {
        (true, _) => format!("each column a secret ({labels})"),
        (false, true) if name == "secret" => format!("secret ({labels})"),
        (false, true) => format!("secret {name} ({labels})"),
        (false, false) => format!("secret column {name} ({labels})"),
    }
}

fn observed(audit: &Findings) -> String {
    let columns = &audit.input.columns;
    let shown = &columns[..columns.len().min(COLUMNS)];
    let kinds: Vec<String> = shown.iter().map(|column| kind(audit, column)).collect();
    let is_same = kinds.iter().all(|kind| *kind == kinds[0]);
    let names = shown.iter().zip(&kinds).map(|(column, kind)| {
        let name = column_name(audit, column);
        match is_same {
            true => name,
            false => format!("{name} ({kind})"),
        }
    });
    let mut listed = names.collect::<Vec<_>>().join(", ");
    if columns.len() > shown.len() {
        listed.push_str(&format!(", … {} columns in all", columns.len()));
    }
    match (is_same, kinds.first()) {
        (true, Some(kind)) => format!("{listed} ({kind})"),
        _ => listed,
    }
}

/// Some columns have numbers for names, as those of a log without a header, and the cells of a wide log no column of their own.
fn column_name(audit: &Findings, column: &Column) -> String {
    let facts = &audit.input.facts;
    let name = cut(&column.name, NAME);
    match () {
        () if facts.wide => "cells".to_owned(),
        () if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("column {name}")
        }
        () => name,
    }
}

/// What a column holds, with the unit of times and the resolution of the observer.
fn kind(audit: &Findings, column: &Column) -> String {
    let kind = match (column.kind, &audit.differences) {
        (ColumnType::Numeric, Some(times)) => match times.unit {
            Some(unit) => format!("times in {}", unit_name(unit)),
            None => format!("times, no unit: {}", option("unit")),
        },
        (ColumnType::Numeric, None) => "numbers".to_owned(),
        (ColumnType::Categorical, _) => "labels".to_owned(),
        (ColumnType::Mixed, _) => "numbers and words".to_owned(),
    };
    match column.resolution {
        Some(width) => format!("{kind}, in bins of {}", plain(width, 4)),
        None => kind,
    }
}

/// What limits count, where they do not count rows.
fn units(input: &Input) -> Option<String> {
    let units = input.units.as_ref()?;
    let blocks = input.facts.blocks.as_ref();
    Some(match blocks {
        Some(blocks) => format!(
            "in {} blocks ({}): limits count blocks, not rows",
            units.units,
            blocks.column.as_ref().map_or_else(
                || "the rows of the file".to_owned(),
                |column| format!("column {}", cut(column, NAME))
            )
        ),
        None => format!(
            "limits count {} units ({}), not rows",
            units.units,
            cut(&units.column, NAME)
        ),
    })
}

/// The columns that play no part, and why.
fn left_out(input: &Input) -> Option<String> {
    let columns = columns(input);
    // A list is observed by what it was taken apart into.
    let is_taken_apart = |name: &str| {
        let part = format!("{name}[");
        let mut observed = input.columns.iter();
        let item = format!("{name}.has[");
        let mut items = input.facts.item_columns.iter();
        observed.any(|column| column.name.starts_with(&part))
            || items.any(|column| column.starts_with(&item))
    };
    let others = columns.iter();
    let others = others.filter(|column| column.part == OTHER && !is_taken_apart(&column.name));
    let mut others: Vec<String> = others.map(|column| cut(&column.name, NAME)).collect();
    let facts = &input.facts;
    if facts.aggregated && others.len() == 1 {
        // The column of counts.
        others.clear();
    }
    let records = facts.left_out_columns.iter();
    let mut named: Vec<String> = records
        .map(|column| format!("{} ({})", cut(&column.name, NAME), why_left_out(column.why)))
        .collect();
    if let Some(last) = others.pop() {
        let why = match facts.scores.is_some() {
            true => "not among the scores",
            false => "not asked for",
        };
        named.extend(others);
        named.push(format!("{last} ({why})"));
    }
    let names = match &named[..] {
        [] => return None,
        some if some.len() <= COLUMNS => some.join(", "),
        more => format!("{}, … {} in all", more[..COLUMNS].join(", "), more.len()),
    };
    let all = observed_of_file(input).into_iter();
    let all: Vec<&str> = all
        .chain(facts.left_out_columns.iter().map(|one| one.name.as_str()))
        .collect();
    let observe = setting("observe", quoted(all.join(",")));
    Some(match facts.left_out_columns.is_empty() {
        false if letters(&observe) <= COMMAND => format!("left out: {names}; seen with {observe}"),
        _ => format!("left out: {names}"),
    })
}

fn fit_on(input: &Input) -> Option<String> {
    let file = input.facts.fit_on.as_ref()?;
    Some(format!("attacks were trained on {}", end_of(file, FILES)))
}

fn recognized(input: &Input) -> Option<String> {
    let form = input.facts.recognized?;
    let rows = match form.has_blocks() && input.facts.blocks.is_none() {
        true => ", row by row although its rows come in blocks",
        false => "",
    };
    let otherwise = match form {
        // Its format, or what the user said.
        Form::ApacheBench | Form::Hyperfine | Form::PromptCache | Form::Fbleau => String::new(),
        _ => format!(
            "; if it is something else: {}",
            setting("like", Like::Nothing.name())
        ),
    };
    Some(format!("read as {form}{rows}{otherwise}"))
}

/// How secrets came about, where they are not the values of a column that was named.
fn merged(input: &Input) -> Option<String> {
    let merged = &input.facts.merged_secrets;
    if merged.is_empty() {
        let facts = &input.facts;
        return facts.secret_chosen.then(|| {
            format!(
                "the secret was chosen as the only column of a few labels; another one: {}",
                setting("secret", "COLUMN")
            )
        });
    }
    let labels: Vec<String> = merged.iter().map(|one| cut(&one.label, LABEL)).collect();
    Some(format!(
        "secrets were joined: {}",
        cut(&labels.join(", "), LABELS)
    ))
}

fn prior(audit: &Findings) -> Option<String> {
    match &audit.overall.prior {
        PriorChoice::Uniform => None,
        prior => Some(format!(
            "prior of the secrets: {}",
            cut(&prior.to_string(), LABELS)
        )),
    }
}
