//! The queries that turn rows into counts.
//!
//! Every distinct row of secret and observation is one group with the number of its rows. A group also
//! has a hash of what it holds: it puts groups in an order that does not depend on who counted them,
//! and says which rows are in a sample where there are too many to keep.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::functions::expr_fn::{btrim, coalesce, concat_ws, floor, md5};
use datafusion::functions_aggregate::expr_fn::{count, max, sum};
use datafusion::logical_expr::{Expr, case, cast, ident, lit, when};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;

use crate::failure;
use crate::precounted::TIMES;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_log::ReadMeter;

/// Separates the columns of what is hashed, and stands for a missing one.
const SEPARATOR: &str = "\u{1f}";
const NOTHING: &str = "\u{1e}";
/// What is trimmed off a secret, as everywhere: all white space.
const WHITE: &str = "\t\n\u{b}\u{c}\r \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\
                     \u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";

/// The columns that are asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Columns of the secret, the first ones.
    pub(super) secret: usize,
    /// Columns of the observation, the next ones.
    pub(super) observe: usize,
    /// Whether one more says how often a row occurred.
    pub(super) counted: bool,
    /// Whether [`TIMES`] does, of counts of rows.
    pub(super) precounted: bool,
}

impl Shape {
    /// Columns of a group.
    pub(super) fn key(&self) -> usize {
        self.secret + self.observe
    }
}

fn column(at: usize) -> Expr {
    ident(format!("c{at}"))
}

fn text(at: usize) -> Expr {
    cast(column(at), DataType::Utf8View)
}

/// The label of the secret in the engine: its columns, trimmed.
pub(super) fn secret(shape: Shape) -> Expr {
    let parts = (0..shape.secret)
        .map(|at| coalesce(vec![btrim(vec![text(at), lit(WHITE)]), lit(NOTHING)]))
        .collect();
    concat_ws(lit(SEPARATOR), parts)
}

/// The same as it stands in a report.
pub(super) fn label(key: &str) -> String {
    key.replace(SEPARATOR, ";")
}

/// The rows of these secrets.
pub(super) fn only(frame: DataFrame, shape: Shape, seen: &[(String, u64)]) -> Result<DataFrame> {
    let labels = seen.iter().map(|(key, _)| lit(key.as_str())).collect();
    frame
        .filter(secret(shape).in_list(labels, false))
        .map_err(|error| failure::of_engine(&error))
}

/// The number of rows of a group, and whether one of them has an invalid count.
fn measures(shape: Shape) -> Vec<Expr> {
    if shape.precounted {
        return vec![sum(ident(TIMES)).alias("n")];
    }
    if !shape.counted {
        return vec![count(lit(1)).alias("n")];
    }
    let number = || {
        cast(
            coalesce(vec![text(shape.key()), lit("")]),
            DataType::Float64,
        )
    };
    let is_count = number()
        .gt_eq(lit(0.0))
        .and(number().eq(floor(number())))
        .and(number().lt(lit(9e15)));
    let bad = when(is_count, lit(0_i64)).otherwise(lit(1_i64));
    vec![
        cast(sum(number()), DataType::Int64).alias("n"),
        max(bad.expect("a case with one branch")).alias("bad"),
    ]
}

/// How many rows each secret has: columns `k`, `n`, `bad`.
pub(super) fn secrets(frame: DataFrame, shape: Shape) -> Result<DataFrame> {
    frame
        .aggregate(vec![secret(shape).alias("k")], measures(shape))
        .map_err(|error| failure::of_engine(&error))
}

/// The distinct rows: columns `c0`, `c1`, …, `n`, `bad`, `k`, `h`.
pub(super) fn groups(frame: DataFrame, shape: Shape, seed: u64) -> Result<DataFrame> {
    let all: Vec<Expr> = (0..shape.key()).map(column).collect();
    let mut hashed = vec![lit(seed.to_string())];
    hashed.extend((0..shape.key()).map(|at| coalesce(vec![text(at), lit(NOTHING)])));
    let hash = md5(concat_ws(lit(SEPARATOR), hashed));
    let mut shown = all.clone();
    shown.push(ident("n"));
    if shape.counted {
        shown.push(ident("bad"));
    }
    shown.extend([secret(shape).alias("k"), hash.alias("h")]);
    frame
        .aggregate(all, measures(shape))
        .and_then(|groups| groups.select(shown))
        .map_err(|error| failure::of_engine(&error))
}

/// Groups of several rows, and those of one whose hash is below what holds for its secret.
pub(super) fn below(groups: DataFrame, thresholds: &[(String, u64)]) -> Result<DataFrame> {
    // Behind all hexadecimal digits.
    let none = lit("g");
    let threshold = match thresholds {
        [] => Ok(none),
        [(label, threshold), others @ ..] => {
            let hex = |threshold: &u64| lit(format!("{threshold:016x}"));
            let mut cases = case(ident("k"));
            let mut cases = cases.when(lit(label.as_str()), hex(threshold));
            for (label, threshold) in others {
                cases = cases.when(lit(label.as_str()), hex(threshold));
            }
            cases.otherwise(none)
        }
    };
    threshold
        .and_then(|threshold| groups.filter(ident("n").gt(lit(1_i64)).or(ident("h").lt(threshold))))
        .map_err(|error| failure::of_engine(&error))
}

/// Runs a query, batch by batch, until `take` has enough.
///
/// # Errors
/// What the engine meets, this crate's own errors as they are.
pub(super) async fn run(
    frame: DataFrame,
    meter: &ReadMeter,
    bytes_per_row: f64,
    mut take: impl FnMut(RecordBatch) -> Result<bool>,
) -> Result<()> {
    let failed = |error: DataFusionError| own(&error).unwrap_or_else(|| failure::of_engine(&error));
    let context = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await.map_err(failed)?;
    let mut stream = execute_stream(Arc::clone(&plan), context).map_err(failed)?;
    let before = meter.read();
    let mut clock = tokio::time::interval(std::time::Duration::from_millis(100));
    loop {
        tokio::select! {
            next = stream.next() => match next {
                None => return Ok(()),
                Some(batch) => {
                    if !take(batch.map_err(failed)?)? {
                        return Ok(());
                    }
                }
            },
            _ = clock.tick() => meter.set(before + read_so_far(&*plan, bytes_per_row)),
        }
    }
}

/// This crate's own error, if that is what stopped the engine.
fn own(error: &DataFusionError) -> Option<Error> {
    match error.find_root() {
        DataFusionError::External(inner) => inner.downcast_ref::<Error>().cloned(),
        _ => None,
    }
}

/// The bytes of files that a plan has read, from what its scans say of themselves.
fn read_so_far(plan: &dyn ExecutionPlan, bytes_per_row: f64) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        let Some(metrics) = plan.metrics() else {
            return 0;
        };
        return match metrics.sum_by_name("bytes_scanned") {
            Some(bytes) if bytes.as_usize() > 0 => bytes.as_usize() as u64,
            _ => (metrics.output_rows().unwrap_or(0) as f64 * bytes_per_row) as u64,
        };
    }
    children
        .iter()
        .map(|child| read_so_far(child.as_ref(), bytes_per_row))
        .sum()
}

/// The numbers of rows of a batch of groups or secrets.
///
/// # Errors
/// A count that is invalid.
pub(super) fn counts(batch: &RecordBatch) -> Result<Vec<u64>> {
    let bad = batch
        .column_by_name("bad")
        .map(|bad| bad.as_primitive::<Int64Type>());
    if bad.is_some_and(|bad| (0..bad.len()).any(|row| bad.value(row) != 0)) {
        return Err(
            Error::parameter(option("count"), "a number of occurrences is invalid").with_hint(
                format!(
                    "{} names the column that says how often its row occurred",
                    option("count")
                ),
            ),
        );
    }
    let n = named(batch, "n").as_primitive::<Int64Type>();
    Ok((0..n.len()).map(|row| n.value(row).max(0) as u64).collect())
}

/// A column by its name.
pub(super) fn named<'b>(batch: &'b RecordBatch, name: &str) -> &'b dyn Array {
    batch
        .column_by_name(name)
        .expect("the query names its columns")
}

/// The rows of a batch that are kept.
///
/// # Errors
/// A batch of another length.
pub(super) fn keep(batch: &RecordBatch, kept: Vec<bool>) -> Result<RecordBatch> {
    filter_record_batch(batch, &BooleanArray::from(kept))
        .map_err(|error| Error::parameter(failure::engine(), error.to_string()))
}
