//! `--where`: which rows of a log are looked at, in SQL.

use csv::StringRecord;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::functions::expr_fn::{btrim, nullif};
use datafusion::logical_expr::{Expr, cast, lit};

use crate::error::Result;
use crate::log::engine::failure;
use crate::log::layout::is_number;

/// The columns of a text that a condition takes as numbers: all of their first rows are.
pub(super) fn types(names: &[String], probe: &[StringRecord]) -> Vec<(String, DataType)> {
    let column = |at: usize| {
        probe
            .iter()
            .filter_map(move |row| row.get(at))
            .map(str::trim)
    };
    let filled = |at: usize| column(at).filter(|text| !text.is_empty());
    let long = |text: &str| {
        text.parse::<i64>()
            .is_ok_and(|n| n.unsigned_abs() > 1 << 53)
    };
    (0..names.len())
        .filter(|&at| filled(at).next().is_some() && filled(at).all(is_number))
        .map(|at| {
            // Doubles cannot tell apart times in nanoseconds.
            let whole = filled(at).all(|text| text.parse::<i64>().is_ok()) && filled(at).any(long);
            let kind = if whole {
                DataType::Int64
            } else {
                DataType::Float64
            };
            (names[at].clone(), kind)
        })
        .collect()
}

/// The rows that a condition holds for. Cells of a text are compared as numbers where `typed` says so,
/// blank ones as missing.
///
/// # Errors
/// A condition that is none, or names a column that is not there.
pub(super) fn filter(
    frame: DataFrame,
    condition: &str,
    typed: Option<&[(String, DataType)]>,
) -> Result<DataFrame> {
    let wrong = |error| failure::of_condition(condition, &error);
    let parsed = frame.parse_sql_expr(condition).map_err(wrong)?;
    let looks_beyond = parsed
        .exists(|part| Ok(looks_beyond_a_row(part)))
        .map_err(wrong)?;
    if looks_beyond {
        let told =
            DataFusionError::Plan("a row is chosen by what stands in it, not by other rows".into());
        return Err(wrong(told));
    }
    let parsed = match typed {
        None => parsed,
        Some(typed) => {
            parsed
                .transform_up(|part| Ok(as_number(part, typed)))
                .map_err(wrong)?
                .data
        }
    };
    frame.filter(parsed).map_err(wrong)
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

fn as_number(part: Expr, typed: &[(String, DataType)]) -> Transformed<Expr> {
    let Expr::Column(column) = &part else {
        return Transformed::no(part);
    };
    match typed.iter().find(|(name, _)| *name == column.name) {
        None => Transformed::no(part),
        Some((_, kind)) => {
            let filled = nullif(btrim(vec![part]), lit(""));
            Transformed::yes(cast(filled, kind.clone()))
        }
    }
}
