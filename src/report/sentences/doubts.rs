//! Warnings in a line each: what is doubtful, and what to do about it.

use crate::audit::{Input, MissingTimes, Warning};
use crate::report::numbers::plain;
use crate::report::sentences::left_out;
use crate::report::sentences::reading::{source_of, without};
use crate::report::sentences::warnings::{counts_rows, neighbor};
use leakgauge_base::error::{listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::observations::{Column, ColumnType};
use leakgauge_log::{Loss, Missing, RecordKeeping};

/// Letters of the name of a column.
const NAME: usize = 24;

/// That rows depend on those before, where nothing but times is claimed: neither groups nor a split by time serve these.
pub const LIMITS_OF_TIMES: &str = "Times resemble those before them. Limits of time differences allow for that, those of attacks do not.";

/// How much depends on a warning: 0 for what can turn a verdict around.
pub fn weight(warning: &Warning) -> u8 {
    match warning {
        Warning::NothingObserved { .. }
        | Warning::NamesSecret { .. }
        | Warning::MayBeUnits { .. }
        | Warning::ShiftedRows { .. }
        | Warning::UnevenMix { .. }
        | Warning::MissingTimes(_)
        | Warning::PooledKinds(_)
        | Warning::LabelsNotInterleaved { .. }
        | Warning::LabelsAlternate { .. }
        | Warning::Periodic { .. }
        | Warning::NegativeTimes { .. }
        | Warning::DependentBlocks { .. }
        | Warning::CopiesSuspected { .. }
        | Warning::TiesOfOneSecret { .. }
        | Warning::SharedRowsSuspected { .. }
        | Warning::RepeatedRuns(_) => 0,
        Warning::Autocorrelation { .. }
        | Warning::Drift { .. }
        | Warning::ReadSeveralTimes { .. }
        | Warning::CopiesDropped { .. }
        | Warning::NotCertifiable { .. }
        | Warning::ObservedUnits { .. }
        | Warning::NotLearned { .. } => 1,
        Warning::RowsSkipped { .. }
        | Warning::MissingDropped { .. }
        | Warning::MostlyNumbers { .. }
        | Warning::NumbersAsLabels { .. }
        | Warning::LastBits { .. }
        | Warning::FewRows { .. }
        | Warning::FewUnits { .. } => 2,
        Warning::MostlySeenOnce { .. }
        | Warning::WordsAmongNumbers(_)
        | Warning::MergedSpellings(_)
        | Warning::ResolutionIncomplete { .. }
        | Warning::SecretsAlike { .. }
        | Warning::RepeatedIds { .. } => 3,
        Warning::SharedRows { .. }
        | Warning::SharedUnits { .. }
        | Warning::OrderNotChecked
        | Warning::ConstantColumn { .. } => 4,
    }
}

/// A sentence or two.
pub fn doubt(warning: &Warning) -> String {
    let of_rows = of_order(warning).or_else(|| of_rows(warning));
    let of_rows = of_rows.or_else(|| of_copies(warning));
    of_rows.or_else(|| of_reading(warning)).unwrap_or_default()
}

/// The column that numbers blocks of rows, where they could be used and are not: blocks are of one column of numbers.
pub fn numbered_blocks(input: &Input) -> Option<&str> {
    let columns = input.facts.left_out_columns.iter();
    let mut numbers = columns.filter(|column| column.why == RecordKeeping::CountsBlocks);
    let used = input.facts.blocks.is_some() || input.units.is_some();
    let are_labels = |column: &Column| column.kind == ColumnType::Categorical;
    let may_be = input.columns.len() == 1 && !input.columns.iter().any(are_labels);
    numbers
        .next()
        .filter(|_| may_be && !used)
        .map(|column| column.name.as_str())
}

/// What to do where rows stand in blocks.
pub fn within_blocks(column: &str) -> String {
    format!(
        "Rows stand in blocks, and may depend on those nearby. Compare within them: {}.",
        setting("block", shorten(column))
    )
}

fn missing_values(missing: &MissingTimes) -> String {
    match missing.in_blocks {
        false => format!(
            "{} of {} {} are of {}. If an observer sees them, judge the log {}.",
            missing.lacking,
            missing.all,
            left_out::rows_that(missing.lack),
            name(&missing.secret),
            left_out::with_them(missing.lack)
        ),
        true => format!(
            "{} of {} missing times are of {}: record slow answers, with the time at which they were given up.",
            missing.lacking,
            missing.all,
            name(&missing.secret)
        ),
    }
}

/// The order of rows.
fn of_order(warning: &Warning) -> Option<String> {
    let split = || setting("split", "blocks");
    Some(match warning {
        Warning::LabelsNotInterleaved { splits: true, .. } => format!(
            "Secrets are not in random order: drift can look like a leak. Shuffle them, or {}.",
            split()
        ),
        Warning::LabelsNotInterleaved { .. } => {
            "Secrets were recorded one after the other: drift can look like a leak. Take them in random order."
                .to_owned()
        }
        Warning::LabelsAlternate { .. } => {
            "Secrets alternate: noise with that period looks like a leak. Put them in random order."
                .to_owned()
        }
        Warning::Periodic { column, lag, .. } => format!(
            "{} repeats every {lag} rows: that can look like a leak. Put secrets in random order.",
            column_of(column)
        ),
        Warning::Autocorrelation {
            column,
            correlation,
            ..
        } if counts_rows(*correlation) => format!(
            "{} counts the rows: if it is a row number, leave it out with {}.",
            column_of(column),
            option("observe")
        ),
        Warning::Autocorrelation { splits: true, .. } => format!(
            "Rows resemble those before: limits are too narrow. Try {}, or {}.",
            setting("group", "COLUMN"),
            split()
        ),
        Warning::Autocorrelation { .. } => format!(
            "Rows resemble those before: limits are too narrow. Try {}.",
            setting("group", "COLUMN")
        ),
        Warning::Drift {
            column,
            splits: false,
            ..
        } => format!(
            "{} drifts, which looks like a leak. Take the secrets in random order.",
            column_of(column)
        ),
        Warning::Drift { column, .. } => format!(
            "{} drifts, which looks like a leak. Shuffle the secrets, or {}.",
            column_of(column),
            split()
        ),
        _ => return None,
    })
}

/// Blocks, and how many rows there are.
fn of_rows(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::DependentBlocks { blocks, worth, .. } => format!(
            "Blocks depend on those before ({blocks} are worth {worth}). Shuffle secrets in every block."
        ),
        Warning::NegativeTimes { times } => {
            format!("{times} times are below zero. Measure with a clock that only goes forward.")
        }
        Warning::OrderNotChecked => {
            "The order of rows is not known: nothing here can show that they are independent."
                .to_owned()
        }
        Warning::FewRows { examples, secrets } => format!(
            "{} fewer than 30 certification rows: collect more.",
            have(examples, *secrets)
        ),
        Warning::FewUnits { examples, secrets } => format!(
            "{} fewer than 20 certification units: collect more units, not more rows of each.",
            have(examples, *secrets)
        ),
        Warning::NotCertifiable {
            column,
            examples,
            secrets,
        } => format!(
            "{} no certification rows: nothing is certified about them. If they are no secrets: {}.",
            have(examples, *secrets),
            left_out::all_of(column, examples)
        ),
        Warning::NotLearned { examples, secrets } => format!(
            "{} no training rows: no attack on them can be found.",
            have(examples, *secrets)
        ),
        Warning::MissingTimes(missing) => missing_values(missing),
        Warning::UnevenMix { secret, from, to } => format!(
            "Groups differ in their mix of secrets ({}: {} to {} %). An attacker who sees a random row may learn more.",
            name(secret),
            plain(100.0 * from, 2),
            plain(100.0 * to, 2)
        ),
        Warning::SharedUnits { units, .. } => format!(
            "{units} units of {} are in the log too: their rows there were not used for training.",
            option("fit_on")
        ),
        _ => return None,
    })
}

/// Copies, and rows that were left out.
fn of_copies(warning: &Warning) -> Option<String> {
    let row_id = || setting("row_id", "COLUMN");
    Some(match warning {
        Warning::ReadSeveralTimes { times } => format!(
            "Every row stands in the log {times} times and was counted once. Give each export once, or {}.",
            row_id()
        ),
        Warning::CopiesDropped { rows, copies } => format!(
            "{copies} of {rows} rows were left out as copies. If they are none: {}.",
            row_id()
        ),
        Warning::CopiesSuspected { copies } => format!(
            "{} be copies, which makes limits too narrow. Name what tells rows apart: {}.",
            match copies {
                0 => "Some rows may".to_owned(),
                copies => format!("About {copies} rows may"),
            },
            row_id()
        ),
        Warning::TiesOfOneSecret { rows } => format!(
            "{rows} rows equal others of their secret only: a leak, or copies. If copies: {}.",
            row_id()
        ),
        Warning::SharedRows { rows } => format!(
            "{rows} rows of {} are in the log too: they were not used for training.",
            option("fit_on")
        ),
        Warning::SharedRowsSuspected { with } => format!(
            "Some rows seem to be in {} too. Give each row to one log only.",
            name(with)
        ),
        Warning::RepeatedIds { column, rows } => format!(
            "{rows} rows were left out as copies: another row has the same {}.",
            name(column)
        ),
        Warning::RepeatedRuns(found) => format!(
            "{} rows or more are in the log twice. Give each export once, or {}.",
            found.rows,
            row_id()
        ),
        Warning::RowsSkipped { rows, .. } => format!(
            "{} left out that could not be read. If that depends on the secret, mend them.",
            were(*rows)
        ),
        Warning::MissingDropped { rows, lack, .. } => format!(
            "{} left out, because a value is missing. If that depends on the secret, it leaks: claim advantage(0.1) {}.",
            were(*rows),
            left_out::with_them(*lack)
        ),
        _ => return None,
    })
}

fn shifted(before: bool) -> String {
    format!(
        "Observations depend on the secret {}, more than on their own: is the log shifted by a row?",
        neighbor(before)
    )
}

/// That rows show nothing: of all secrets (0), of one, or of some.
fn nothing_observed(value: &str, secrets: usize, examples: &[String]) -> String {
    let rows = match (secrets, examples) {
        (0, _) | (_, []) => "Rows".to_owned(),
        (1, [one, ..]) => format!("Rows of {}", name(one)),
        (many, _) => format!("Rows of {many} secrets"),
    };
    format!(
        "{rows} show nothing but {}, as if nothing was observed. Check what writes the log.",
        name(value)
    )
}

/// How columns were read.
fn of_reading(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::NothingObserved {
            value,
            secrets,
            examples,
        } => nothing_observed(value, *secrets, examples),
        Warning::PooledKinds(kinds) => format!(
            "{} tells several kinds of measurements apart, which are pooled. Look at one: {}.",
            column_of(&kinds.column),
            left_out::one_kind(kinds)
        ),
        Warning::MostlySeenOnce { share } => format!(
            "{} % of rows are unlike all others. Observe fewer columns, or coarser ones.",
            plain(100.0 * share, 2)
        ),
        Warning::ShiftedRows { before, .. } => shifted(*before),
        Warning::ConstantColumn { column } => {
            format!(
                "{} has one value only and reveals nothing.",
                column_of(column)
            )
        }
        Warning::WordsAmongNumbers(words) if words.are_blank() => format!(
            "{} is blank in {} rows, which an attacker may see. To leave them out: {}.",
            column_of(&words.column),
            words.rows,
            setting("missing", Missing::Drop.name())
        ),
        Warning::WordsAmongNumbers(words) => format!(
            "{} holds numbers and words. {}If it holds labels: {}.",
            column_of(&words.column),
            without(words).map_or(String::new(), |drop| format!(
                "Without those rows: {drop}. "
            )),
            setting("categorical", shorten(source_of(&words.column)))
        ),
        Warning::MergedSpellings(merged) => format!(
            "{} {}. To keep them apart: {}.",
            column_of(&merged.column),
            match merged.loss {
                Loss::Spelling => "writes a number in several ways",
                Loss::Digits => "has more digits than are read",
            },
            setting("categorical", shorten(source_of(&merged.column)))
        ),
        Warning::MostlyNumbers { column } => format!(
            "{} is read as labels. If it holds numbers: {}.",
            column_of(column),
            setting("numeric", shorten(column))
        ),
        Warning::NumbersAsLabels { column, example } => format!(
            "{} is read as labels, but looks like numbers ({}). Write a decimal point, no unit.",
            column_of(column),
            name(example)
        ),
        Warning::LastBits { column, .. } => format!(
            "The last bits of {} depend on the secret. If they are released: {}.",
            name(column),
            setting("attacks", "bits")
        ),
        Warning::ResolutionIncomplete { columns } => format!(
            "{} lacks {}: there is no upper limit without.",
            option("resolution"),
            listing(columns.iter().map(String::as_str))
        ),
        other => return of_columns(other),
    })
}

/// What columns say of secrets and units.
fn of_columns(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::NamesSecret { column } => format!(
            "{} alone names the secret. If an observer does not see it, leave it out: {}.",
            column_of(column),
            option("observe")
        ),
        Warning::MayBeUnits { column } => format!(
            "Each value of {} has one secret: its rows may depend on each other. Then: {}.",
            shorten(column),
            left_out::units_of(column)
        ),
        Warning::SecretsAlike { labels, .. } => {
            let [a, b] = labels.each_ref().map(|label| shorten(label));
            format!(
                "Secrets {a} and {b} differ in upper and lower case only. If they are one: {}.",
                setting("merge", format!("{a}={b}"))
            )
        }
        Warning::ObservedUnits { column } => format!(
            "Rows of one {} may depend on each other. If so, and if it is not observed: {}.",
            shorten(column),
            left_out::units_of(column)
        ),
        _ => return None,
    })
}

fn column_of(name_of: &str) -> String {
    format!("Column {}", name(name_of))
}

/// A name that is short enough for a line with other words.
fn name(name: &str) -> String {
    match name.chars().count() > NAME {
        true => name.chars().take(NAME - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

fn were(rows: u64) -> String {
    match rows {
        1 => "1 row was".to_owned(),
        rows => format!("{rows} rows were"),
    }
}

fn have(examples: &[String], secrets: usize) -> String {
    match (secrets, examples) {
        (1, [one, ..]) => format!("Secret {} has", name(one)),
        _ => format!("{secrets} secrets have"),
    }
}
