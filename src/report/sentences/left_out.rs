//! What is said of rows that were left out because they could not be read or lack a value.

use crate::audit::{Lack, Warning};
use crate::report::numbers::plain;
use leakgauge_base::error::{listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::{ListReading, Missing, PooledKinds};

/// That several kinds of measurements stand in one column, without the last period.
pub fn pooled(kinds: &PooledKinds) -> String {
    format!(
        "the observed column holds several kinds of measurements, which column {} tells apart: it explains {} % of how they \
         differ within a secret. Pooled, a difference in one kind drowns in the others. Look at one kind, for example with {}. If they are seen pooled, name all of them there",
        shorten(&kinds.column),
        plain(100.0 * kinds.share, 2),
        one_kind(kinds)
    )
}

/// What looks at one kind of measurements.
pub fn one_kind(kinds: &PooledKinds) -> String {
    let condition = format!("{}={}", shorten(&kinds.column), shorten(&kinds.example));
    setting("keep", condition)
}

/// What leaves out the rows of some secrets.
pub(super) fn all_of(column: &str, labels: &[String]) -> String {
    let labels: Vec<String> = labels.iter().map(|label| shorten(label)).collect();
    setting("drop", format!("{}={}", shorten(column), labels.join(",")))
}

/// So many times are.
pub(super) fn times(times: u64) -> String {
    match times {
        1 => "1 time is".to_owned(),
        many => format!("{many} times are"),
    }
}

/// A warning, without the last period; `None` if it is about something else.
pub fn message(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::NothingObserved {
            value, secrets: 0, ..
        } => format!(
            "rows show nothing but {}, as if nothing was observed. Check what writes the log",
            shown(value)
        ),
        Warning::NothingObserved {
            value, examples, ..
        } => format!(
            "rows of {} show nothing but {}, as if nothing was observed. Check what writes the log; if this is what \
             can be seen, name its column with {}",
            listing(examples.iter().map(String::as_str)),
            shown(value),
            setting("categorical", "COLUMN")
        ),
        Warning::PooledKinds(kinds) => pooled(kinds),
        Warning::RowsSkipped { rows, first } => {
            // The hint behind it is for whoever wants the row read.
            let first = first.lines().next().unwrap_or(first);
            format!(
                "{} left out that could not be read, the first one: {first}. Whether a row can be read may depend on \
                 the secret",
                counted(*rows)
            )
        }
        Warning::MissingDropped { rows, of, lack } => format!(
            "of {of} rows, {} left out because a value is missing. If a value is missing more often with one secret, that \
             leaks too and is not measured here: judge the log {}",
            counted(*rows),
            with_them(*lack)
        ),
        Warning::NotCertifiable {
            column,
            examples,
            secrets,
        } => format!(
            "{}. Nothing can be certified about them. A line of totals is no secret: to leave it out, {}",
            without("no certification rows", examples, *secrets),
            all_of(column, examples)
        ),
        _ => return None,
    })
}

pub(super) fn without(what: &str, examples: &[String], secrets: usize) -> String {
    let who = if secrets == 1 {
        "1 secret has".to_owned()
    } else {
        format!("{secrets} secrets have")
    };
    let more = if secrets > examples.len() {
        ", …"
    } else {
        ""
    };
    let examples = listing(examples.iter().map(String::as_str));
    format!("{who} {what}: {examples}{more}")
}

/// What to do about labels that hardly recur.
pub(super) fn of_labels_seen_once() -> String {
    format!(
        "If an observer does not see them, name what is seen ({}); else write what they say as numbers or lists.",
        option("observe")
    )
}

/// What is observed of lists.
pub(super) fn as_list(column: &str, reading: ListReading) -> String {
    setting("lists", format!("{}={}", shorten(column), reading.name()))
}

/// How the log is judged with the rows that were left out.
pub(super) fn with_them(lack: Lack) -> String {
    match lack {
        Lack::Number => format!("without {}", option("drop")),
        Lack::Value => format!("with {}", setting("missing", Missing::Label.name())),
        Lack::Form => "once they can be read".to_owned(),
    }
}

/// Which rows were left out.
pub(super) fn rows_that(lack: Lack) -> &'static str {
    match lack {
        Lack::Number | Lack::Value => "rows without a value",
        Lack::Form => "rows that could not be read",
    }
}

/// What to do about rows that may be of units.
pub(super) fn units_of(column: &str) -> String {
    setting("group", shorten(column))
}

/// What that does to a verdict, in a sentence.
pub fn qualification(warning: &Warning) -> Option<String> {
    let what = match warning {
        Warning::RowsSkipped { rows, .. } => {
            format!("But {} left out that could not be read", counted(*rows))
        }
        Warning::MissingDropped { rows, .. } => format!(
            "But {} left out because a value is missing, and what is missing can depend on the secret",
            counted(*rows)
        ),
        _ => return None,
    };
    Some(format!("{what} ({}).", warning.code()))
}

/// What rows show, in short.
pub fn shown(value: &str) -> String {
    match value.trim() {
        "" => "blank".to_owned(),
        value => shorten(value),
    }
}

fn counted(rows: u64) -> String {
    match rows {
        1 => "1 row was".to_owned(),
        rows => format!("{rows} rows were"),
    }
}
