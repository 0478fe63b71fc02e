//! Whether a log holds observations at all: a logger that is broken writes the same of every secret.

use leakgauge_log::observations::{ColumnType, ObservationKind};
use leakgauge_log::{Decision, Format, Log};

use crate::audit::warnings::warning::Warning;

/// Rows of a secret that are equal by chance where fewer are logged.
const MIN_ROWS: u64 = 20;
/// What programs write first where there is no value, in lower case.
const NO_VALUE: [&str; 12] = [
    "nan",
    "null",
    "none",
    "nil",
    "na",
    "error",
    "timeout",
    "timed",
    "exception",
    "missing",
    "undefined",
    "unknown",
];

/// Words of failures of a connection, in lower case.
const NETWORK: [&str; 10] = [
    "timeout",
    "timed out",
    "connect",
    "refused",
    "reset",
    "unreachable",
    "network",
    "unavailable",
    "closed",
    "broken pipe",
];

/// A secret whose rows are all equal, or all lack a value.
struct Same {
    secret: usize,
    /// What most of them show.
    symbol: u32,
    rows: u64,
    /// Whether they differ, and none has a value.
    differ: bool,
}

/// Secrets of which nothing was observed: every row of the log is the same, or every row of a secret is, and that is no
/// value or one of many numbers.
pub(super) fn look_at(log: &Log, warnings: &mut Vec<Warning>) {
    // In blocks, what is observed is relative to the block, and may be one number.
    if log.facts.blocks.is_some() {
        return;
    }
    let found = constant_secrets(log);
    let secrets = log.secrets.len();
    let is_one = log.observations.len() == 1 && found.len() == secrets;
    let nothing: Vec<&Same> = found
        .iter()
        .filter(|same| {
            let is_nothing = same.differ || is_no_observation(log, same.symbol);
            is_one || (same.rows >= MIN_ROWS && is_nothing)
        })
        .collect();
    let Some(first) = nothing.first() else {
        return;
    };
    let is_all = is_one || nothing.len() == secrets && nothing.iter().any(|same| same.differ);
    warnings.push(Warning::NothingObserved {
        value: shown(log, first),
        secrets: if is_all { 0 } else { nothing.len() },
        examples: nothing
            .iter()
            .take(5)
            .map(|same| log.secrets[same.secret].clone())
            .collect(),
    });
}

/// What the rows of a secret show, at most three observations.
fn shown(log: &Log, same: &Same) -> String {
    let cells = log.counts.cells();
    let of_secret = cells
        .iter()
        .filter(|cell| cell.secret as usize == same.secret);
    let mut cells: Vec<_> = of_secret
        .map(|cell| (std::cmp::Reverse(cell.count), cell.symbol))
        .collect();
    cells.sort_unstable();
    let texts = cells.iter().take(3);
    let texts = texts.map(|&(_, symbol)| log.observations.label(symbol));
    let text = |text: String| match text.trim().is_empty() {
        true => "blanks".to_owned(),
        false => text,
    };
    texts.map(text).collect::<Vec<_>>().join(", ")
}

/// The secrets whose rows are all equal, or have no value.
fn constant_secrets(log: &Log) -> Vec<Same> {
    let is_said = are_said_labels(log);
    let has_none: Vec<bool> = (0..log.observations.len() as u32)
        .map(|symbol| !is_said && is_failure(log, symbol))
        .collect();
    // The observation that most rows of a secret have, whether there is another, and whether some have a value.
    let mut seen: Vec<Option<(u32, u64)>> = vec![None; log.secrets.len()];
    let mut differ = vec![false; log.secrets.len()];
    let mut has_value = vec![false; log.secrets.len()];
    for cell in log.counts.cells() {
        let at = cell.secret as usize;
        has_value[at] |= !has_none[cell.symbol as usize];
        differ[at] |= seen[at].is_some();
        if seen[at].is_none_or(|(_, most)| cell.count > most) {
            seen[at] = Some((cell.symbol, cell.count));
        }
    }
    let rows = log.counts.rows();
    let same = |(secret, found): (usize, Option<(u32, u64)>)| {
        let (symbol, _) = found.filter(|_| !differ[secret] || !has_value[secret])?;
        Some(Same {
            secret,
            symbol,
            rows: rows[secret],
            differ: differ[secret],
        })
    };
    seen.into_iter().enumerate().filter_map(same).collect()
}

/// Whether somebody said that columns hold labels. Columns from memory have their types as given: nobody was asked.
fn are_said_labels(log: &Log) -> bool {
    let columns = log.observations.columns().iter();
    let mut decided = columns.zip(&log.facts.decided);
    log.facts.format != Format::Memory
        && decided
            .all(|(column, by)| column.kind == ColumnType::Categorical && *by == Decision::Asked)
}

/// Whether an observation says in all columns that there is no value.
fn has_no_value(log: &Log, symbol: u32) -> bool {
    let text = log.observations.label(symbol).to_lowercase();
    text.split(',').all(is_no_value)
}

/// The same, and no answer of a program: errors of several kinds may be what an attacker sees, failures of the network are not.
fn is_failure(log: &Log, symbol: u32) -> bool {
    let text = log.observations.label(symbol).to_lowercase();
    text.split(',').all(|text| {
        let text = text.trim();
        let first = text.split(|c: char| !c.is_alphanumeric()).next();
        let is_error = first.is_some_and(|word| ["error", "exception"].contains(&word));
        is_no_value(text)
            && (!is_error || first == Some(text) || NETWORK.iter().any(|word| text.contains(word)))
    })
}

/// Whether an observation is no value, or a number where others are many numbers. Whoever says that columns hold labels
/// says that these are seen.
fn is_no_observation(log: &Log, symbol: u32) -> bool {
    let observations = &log.observations;
    if are_said_labels(log) {
        return false;
    }
    let mut columns = observations.columns().iter();
    has_no_value(log, symbol)
        || observations.kind() == ObservationKind::Numeric
            && columns.all(|column| column.kind == ColumnType::Numeric)
}

/// Whether the first word of a text says that there is no value, or there is no word.
fn is_no_value(text: &str) -> bool {
    let text = text.trim();
    let first = text.split(|c: char| !c.is_alphanumeric()).next();
    text.is_empty() || text == "n/a" || first.is_some_and(|word| NO_VALUE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::LogBuilder;

    fn found(rows: &[(&str, &str)]) -> Option<Warning> {
        let (secrets, shown): (Vec<&str>, Vec<&str>) = rows.iter().copied().unzip();
        let log = LogBuilder::new().secrets(&secrets).labels("shown", &shown);
        let mut warnings = Vec::new();
        look_at(&log.build().expect("a log"), &mut warnings);
        warnings.pop()
    }

    #[test]
    fn a_log_of_one_observation_shows_nothing() {
        let rows = ["a", "b"].repeat(50);
        for value in ["nan", "ERROR: timeout", "ok"] {
            let all: Vec<_> = rows.iter().map(|secret| (*secret, value)).collect();
            let Some(Warning::NothingObserved { secrets: 0, .. }) = found(&all) else {
                panic!("{value}");
            };
        }
    }

    /// Whatever words a logger has for nothing, and however many.
    #[test]
    fn rows_that_fail_in_several_ways_show_nothing() {
        let none = [
            "nan",
            "",
            "ERROR: timeout",
            "Error: reset",
            "error: connection refused",
        ];
        let rows: Vec<_> = (0..200)
            .map(|at| (["a", "b"][at % 2], none[at * at / 3 % 5]))
            .collect();
        let Some(Warning::NothingObserved { secrets: 0, .. }) = found(&rows) else {
            panic!();
        };
        let mut rows = rows;
        rows[7].1 = "ok";
        // Answers that differ, though all are errors.
        let answers = ["error: bad padding", "error: bad mac"];
        let answers: Vec<_> = (0..200)
            .map(|at| (["a", "b"][at % 2], answers[at / 2 % 2]))
            .collect();
        assert_eq!(found(&answers), None);
        // One row of a value, of one secret.
        let Some(Warning::NothingObserved { secrets: 1, .. }) = found(&rows) else {
            panic!();
        };
    }

    #[test]
    fn a_secret_without_values_shows_nothing_and_a_plain_answer_does() {
        let of = |value: &'static str| -> Vec<(&str, &str)> {
            let others = (0..50).map(|at| ("b", ["yes", "no"][at % 2]));
            others.chain((0..50).map(|_| ("a", value))).collect()
        };
        let Some(Warning::NothingObserved { examples, .. }) = found(&of("timeout after 3 s"))
        else {
            panic!();
        };
        assert_eq!(examples, ["a"]);
        // Words that only begin as such.
        for value in ["yes", "nature", "failed", "erratum"] {
            assert_eq!(found(&of(value)), None, "{value}");
        }
    }
}
