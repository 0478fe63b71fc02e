//! What is said of rows that are copies of others.

use crate::audit::Warning;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::setting;
use leakgauge_log::{RepeatedRun, RepeatedRuns};

/// A warning, without the last period; `None` if it is about something else.
pub fn message(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::ReadSeveralTimes { times } => format!(
            "every row is in the log {times} times, or a multiple of that: the log seems to have been written or read {times} \
             times. Each row was counted once. {}",
            remedy()
        ),
        Warning::CopiesDropped { rows, copies } => format!(
            "{copies} of {rows} rows are copies: their secret and observation equal those of another row. Values with so many \
             digits are not equal by chance. One of each was used. {}",
            remedy()
        ),
        Warning::CopiesSuspected { copies } => format!(
            "{} copies of others: more rows are equal than in a log of independent rows. Nothing was left out, and copies make \
             limits too optimistic. {}",
            match copies {
                0 => "some rows may be".to_owned(),
                copies => format!("about {copies} rows or more may be"),
            },
            remedy()
        ),
        Warning::TiesOfOneSecret { rows } => format!(
            "{rows} rows equal another row of their secret, and hardly any equals one of another secret. Either rows were \
             copied, and then limits are too optimistic; or the mechanism draws from few values, which differ between \
             secrets, and then equal rows are a leak. Nothing was left out. If rows were copied, give each once, or name a \
             column that identifies rows ({}): only rows with the same value there count as copies",
            setting("row_id", "COLUMN")
        ),
        Warning::SharedRows { rows } => format!(
            "{rows} different rows of the log to train on are also in the log itself. They were not used for training, \
             because no row may be used both to train and to judge"
        ),
        Warning::SharedRowsSuspected { with } => format!(
            "some rows seem to be in {} too: more rows occur equally often in both than in independent logs. Nothing was left \
             out. Give each row to one log only",
            shorten(with)
        ),
        Warning::RepeatedIds { column, rows } => format!(
            "{rows} rows were left out as copies: another row has the same value in column {}",
            shorten(column)
        ),
        Warning::RepeatedRuns(found) => runs(found),
        _ => return None,
    })
}

fn remedy() -> String {
    format!(
        "Give each export once, or name a column that identifies rows ({}): only rows with the same value there count as \
         copies",
        setting("row_id", "COLUMN")
    )
}

fn runs(found: &RepeatedRuns) -> String {
    let one = |run: &RepeatedRun| {
        format!(
            "{} rows from row {} of {} are also in {} from row {}",
            run.rows,
            run.first.row,
            shorten(&run.first.file),
            shorten(&run.second.file),
            run.second.row
        )
    };
    let mut listed: Vec<String> = found.listed.iter().map(one).collect();
    if found.runs > listed.len() as u64 {
        listed.push(format!("… {} runs in all", found.runs));
    }
    format!(
        "long runs of rows are in the log twice, in the same order: {}. Rows that were exported twice make limits \
         too optimistic. {}",
        listed.join("; "),
        remedy()
    )
}

/// What that does to a verdict, in a sentence.
pub fn qualification(warning: &Warning) -> Option<String> {
    let what = match warning {
        Warning::ReadSeveralTimes { times } => format!(
            "Each row was counted once: the log holds every row {times} times, or a multiple of that"
        ),
        Warning::CopiesDropped { rows, copies } => {
            format!("{copies} of {rows} rows were left out as copies of others")
        }
        Warning::CopiesSuspected { .. } => {
            "But some rows may be copies of others, which makes limits too optimistic".to_owned()
        }
        Warning::TiesOfOneSecret { rows } => format!(
            "But {rows} rows equal others of their secret only: that is a leak, or they are copies, and limits are too \
             optimistic"
        ),
        Warning::SharedRowsSuspected { with } => format!(
            "But some rows may also be in {}, and no row may be used both to train and to judge, or be in two logs",
            shorten(with)
        ),
        Warning::RepeatedRuns(found) => format!(
            "But at least {} rows are in the log twice, which makes limits too optimistic",
            found.rows
        ),
        _ => return None,
    };
    Some(format!("{what} ({}).", warning.code()))
}
