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

/// What the rows of a secret are, where all are equal.
struct Same {
    secret: usize,
    symbol: u32,
    rows: u64,
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
    let is_all = log.observations.len() == 1 && found.len() == secrets;
    let nothing: Vec<&Same> = found
        .iter()
        .filter(|same| is_all || (same.rows >= MIN_ROWS && is_no_observation(log, same.symbol)))
        .collect();
    let Some(first) = nothing.first() else {
        return;
    };
    warnings.push(Warning::NothingObserved {
        value: log.observations.label(first.symbol),
        secrets: if is_all { 0 } else { nothing.len() },
        examples: nothing
            .iter()
            .take(5)
            .map(|same| log.secrets[same.secret].clone())
            .collect(),
    });
}

/// The secrets whose rows are all equal.
fn constant_secrets(log: &Log) -> Vec<Same> {
    let mut seen: Vec<Option<(u32, u64)>> = vec![None; log.secrets.len()];
    let mut varies = vec![false; log.secrets.len()];
    for cell in log.counts.cells() {
        let at = cell.secret as usize;
        varies[at] |= seen[at].is_some();
        seen[at] = Some((cell.symbol, cell.count));
    }
    let same = |(secret, found): (usize, Option<(u32, u64)>)| {
        let (symbol, rows) = found.filter(|_| !varies[secret])?;
        Some(Same {
            secret,
            symbol,
            rows,
        })
    };
    seen.into_iter().enumerate().filter_map(same).collect()
}

/// Whether an observation is no value, or a number where others are many numbers. Whoever says that columns hold labels
/// says that these are seen.
fn is_no_observation(log: &Log, symbol: u32) -> bool {
    let observations = &log.observations;
    let mut decided = observations.columns().iter().zip(&log.facts.decided);
    // Columns from memory have their types as given: nobody was asked.
    let is_said = log.facts.format != Format::Memory
        && decided
            .all(|(column, by)| column.kind == ColumnType::Categorical && *by == Decision::Asked);
    if is_said {
        return false;
    }
    let text = observations.label(symbol).to_lowercase();
    if text.split(',').all(is_no_value) {
        return true;
    }
    let mut columns = observations.columns().iter();
    observations.kind() == ObservationKind::Numeric
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
