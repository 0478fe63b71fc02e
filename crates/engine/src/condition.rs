//! The condition: which rows of a log are looked at, in SQL.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::functions::expr_fn::{btrim, nullif};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, Volatility, cast, lit};

use crate::failure;
use leakgauge_base::error::Result;
use leakgauge_log::Row;
use leakgauge_log::row::{MISSING, NULL, is_number};
use leakgauge_log::units::Unit;

/// How often a condition may repeat a text at most.
const MAX_TIMES: i64 = 100;
/// To how many characters a condition may fill up a text at most.
const MAX_WIDTH: i64 = 10_000;

/// What a column of a text is to a condition, where it is not text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// Numbers or dates, of this type.
    Typed(DataType),
    /// Durations with their units, which SQL does not know.
    Durations,
}

/// What a column of a text is to a condition: something else than text if all of its first rows are numbers,
/// dates or durations. Numbers with zeros in front are codes.
pub(super) fn meaning(probe: &[Row], column: usize) -> Option<Meaning> {
    let cells: Vec<_> = probe.iter().filter_map(|row| row.text(column)).collect();
    let cells = cells.iter().map(|text| text.trim());
    let mut filled = cells.filter(|text| !matches!(*text, "" | NULL | MISSING));
    let first = filled.clone().next()?;
    if !is_number(first) {
        return match Unit::of(filled)? {
            Unit::Date => Some(Meaning::Typed(DataType::Timestamp(
                TimeUnit::Nanosecond,
                None,
            ))),
            Unit::Duration => Some(Meaning::Durations),
        };
    }
    let is_code = |text: &str| text.len() > 1 && text.starts_with('0') && !text.contains('.');
    if !filled.clone().all(is_number) || filled.clone().any(is_code) {
        return None;
    }
    let is_whole = filled.all(|text| text.parse::<i64>().is_ok());
    Some(Meaning::Typed(if is_whole {
        DataType::Int64
    } else {
        DataType::Float64
    }))
}

/// The columns of a text that are something else to a condition, by name.
pub(super) fn meanings(names: &[String], probe: &[Row]) -> Vec<(String, Meaning)> {
    let named = |(at, name): (usize, &String)| Some((name.clone(), meaning(probe, at)?));
    names.iter().enumerate().filter_map(named).collect()
}

/// The rows that a condition holds for. Cells of a text are compared as `meanings` says, blank ones as
/// missing.
///
/// # Errors
/// A text that is not a condition, names a column that is not there, looks at more than one row or does not
/// always give the same answer.
pub(super) fn filter(
    frame: DataFrame,
    condition: &str,
    meanings: Option<&[(String, Meaning)]>,
) -> Result<DataFrame> {
    let wrong = |error| failure::of_condition(condition, &error);
    let refused = |problem: String| wrong(DataFusionError::Plan(problem));
    let parsed = frame.parse_sql_expr(condition).map_err(wrong)?;
    if parsed
        .exists(|part| Ok(looks_beyond_a_row(part)))
        .map_err(wrong)?
    {
        return Err(refused(
            "a row is chosen by what stands in it, not by other rows".into(),
        ));
    }
    if parsed.exists(|part| Ok(changes(part))).map_err(wrong)? {
        return Err(refused(
            "a row is chosen by what stands in it, not by chance or the time of day".into(),
        ));
    }
    if parsed
        .exists(|part| Ok(is_lengthening(part)))
        .map_err(wrong)?
    {
        return Err(refused(format!(
            "texts are made longer by a number up to {MAX_TIMES} in repeat, {MAX_WIDTH} in lpad and rpad, and once: all \
             of it would have to fit into memory"
        )));
    }
    let Some(meanings) = meanings else {
        return frame.filter(parsed).map_err(wrong);
    };
    for column in parsed.column_refs() {
        let durations = |(name, meaning): &(String, Meaning)| {
            *name == column.name && *meaning == Meaning::Durations
        };
        if meanings.iter().any(durations) {
            return Err(refused(format!(
                "column {} holds durations with units, which would be compared as texts",
                column.name
            )));
        }
    }
    let parsed = parsed
        .transform_down(|part| Ok(meant(part, meanings)))
        .map_err(wrong)?
        .data;
    frame.filter(parsed).map_err(wrong)
}

/// Whether a part comes out otherwise another time: `random()`, `now()`.
fn changes(part: &Expr) -> bool {
    match part {
        Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Immutable,
        _ => false,
    }
}

/// Whether a part makes texts much longer than they stand in the log.
fn is_lengthening(part: &Expr) -> bool {
    let Some((most, call)) = lengthens(part) else {
        return false;
    };
    let is_small = |number: &Expr| matches!(number, Expr::Literal(ScalarValue::Int64(Some(n)), _) if *n <= most);
    let is_again = |argument: &Expr| argument.exists(|part| Ok(lengthens(part).is_some()));
    !call.args.get(1).is_some_and(is_small)
        || call.args.iter().any(|one| is_again(one).unwrap_or(true))
}

/// A function that makes texts longer by a number, its second argument, and how large that may be.
fn lengthens(part: &Expr) -> Option<(i64, &ScalarFunction)> {
    let Expr::ScalarFunction(call) = part else {
        return None;
    };
    let most = match call.func.name() {
        "repeat" => MAX_TIMES,
        "lpad" | "rpad" => MAX_WIDTH,
        _ => return None,
    };
    Some((most, call))
}

fn looks_beyond_a_row(part: &Expr) -> bool {
    matches!(
        part,
        Expr::AggregateFunction(_)
            | Expr::WindowFunction(_)
            | Expr::ScalarSubquery(_)
            | Expr::InSubquery(_)
            | Expr::Exists(_)
    )
}

/// A column as what it means; as text where a pattern is looked for.
fn meant(part: Expr, meanings: &[(String, Meaning)]) -> Transformed<Expr> {
    let kind = match &part {
        Expr::Like(_) | Expr::SimilarTo(_) => None,
        Expr::Column(column) => meanings.iter().find_map(|(name, meaning)| match meaning {
            Meaning::Typed(kind) if *name == column.name => Some(kind.clone()),
            _ => None,
        }),
        _ => return Transformed::no(part),
    };
    let Some(kind) = kind else {
        return Transformed::new(part, false, TreeNodeRecursion::Jump);
    };
    let blank = ["", NULL, MISSING];
    let filled = blank.into_iter().fold(btrim(vec![part]), |text, nothing| {
        nullif(text, lit(nothing))
    });
    Transformed::new(cast(filled, kind), true, TreeNodeRecursion::Jump)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use datafusion::prelude::SessionContext;

    use super::*;

    #[test]
    fn texts_are_not_made_so_long_that_memory_would_not_hold_them() {
        let words: ArrayRef = Arc::new(StringArray::from(vec!["low", "high"]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2_000_000_000]));
        let rows = RecordBatch::try_from_iter([("word", words), ("number", numbers)]).unwrap();
        let frame = SessionContext::new().read_batch(rows).unwrap();
        for refused in [
            "repeat('x', 2000000000) = word",
            "repeat(word, number) = 'low'",
            "repeat(repeat(word, 100), 100) = 'low'",
            "word = 'a' OR lpad(word, 1000000000, 'x') = 'low'",
        ] {
            let error = filter(frame.clone(), refused, None)
                .unwrap_err()
                .to_string();
            assert!(error.contains("fit into memory"), "{refused}: {error}");
        }
        for taken in [
            "rpad(word, 5, 'x') = repeat('lowxx', 1)",
            "lpad(word, 10000) = word",
            "repeat(word, 100) <> word",
        ] {
            assert!(filter(frame.clone(), taken, None).is_ok(), "{taken}");
        }
    }
}
