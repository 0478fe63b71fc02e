//! Logs from Arrow record batches in memory.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::decoded_batches::{Batches, Rows};
use crate::leaves::Leaves;
use crate::rows::ColumnarRecords;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::format::Format;
use leakgauge_log::{Log, ReadOptions, Records, read_both, read_records};

/// What record batches are called in messages and reports, if the options name no file.
const NAME: &str = "record batches";

/// A log from record batches: what reading them from a Parquet or Arrow file gives, without a file. Columns are
/// typed as those of a file are: by their values, unless the options say what they are. Fields of structs go by
/// their paths, `timing.total`.
///
/// `options.files` may hold one name for messages and reports; `options.fit_on` is not looked at.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
/// use leakgauge_columnar::from_batches;
/// use leakgauge_log::ReadOptions;
///
/// let secret: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
/// let time: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 2.5]));
/// let batch = RecordBatch::try_from_iter([("secret", secret), ("time", time)])?;
/// let log = from_batches([batch], &ReadOptions::default())?;
/// assert_eq!(log.secrets, ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No batch; batches with other columns than the first; columns that cannot become fields; and whatever may be
/// wrong with a log that is read.
pub fn from_batches<I>(batches: I, options: &ReadOptions) -> Result<Log>
where
    I: IntoIterator<Item = RecordBatch>,
    I::IntoIter: Send + 'static,
{
    let name = options.files.first().map_or(NAME, String::as_str);
    read_records(name, records(name, batches, options)?, options)
}

/// As [`from_batches`], with the batches of a second log to learn and tune on, and its name. The whole first log
/// certifies then.
///
/// # Errors
/// As [`from_batches`], of either log; other columns in the second.
pub fn from_batches_fit_on<I>(batches: I, fit_on: (&str, I), options: &ReadOptions) -> Result<Log>
where
    I: IntoIterator<Item = RecordBatch>,
    I::IntoIter: Send + 'static,
{
    let name = options.files.first().map_or(NAME, String::as_str);
    let (fit_name, fit) = fit_on;
    let fit = records(fit_name, fit, options)?;
    let log = records(name, batches, options)?;
    read_both((name, log), Some((fit_name, fit)), options)
}

fn records<I>(name: &str, batches: I, options: &ReadOptions) -> Result<Box<dyn Records>>
where
    I: IntoIterator<Item = RecordBatch>,
    I::IntoIter: Send + 'static,
{
    let mut batches = batches.into_iter().peekable();
    let Some(first) = batches.peek() else {
        return Err(
            Error::file(name, "there is no record batch, and so no columns")
                .with_hint("give at least one batch; it may be empty if others follow"),
        );
    };
    options.refuse_no_header(name, "columns that have names")?;
    let schema = first.schema();
    let leaves = Leaves::of(name, &schema, options)?;
    let in_memory = InMemory {
        name: name.to_owned(),
        roots: leaves.roots().to_vec(),
        schema,
        batches,
        at: 0,
    };
    let records = ColumnarRecords::new(name, Format::Arrow, leaves, Box::new(in_memory));
    Ok(Box::new(records))
}

/// Batches of the same columns.
struct InMemory<I> {
    name: String,
    schema: SchemaRef,
    /// The fields of the schema that hold wanted columns.
    roots: Vec<usize>,
    batches: I,
    /// Batches that were taken.
    at: usize,
}

impl<I: Iterator<Item = RecordBatch> + Send> Batches for InMemory<I> {
    fn next(&mut self) -> Result<Option<Rows>> {
        let Some(batch) = self.batches.next() else {
            return Ok(None);
        };
        let failed =
            |problem: String| Error::file(&self.name, format!("{}: {problem}", self.part()));
        let has_same_columns = batch.schema().fields().len() == self.schema.fields().len()
            && batch
                .schema()
                .fields()
                .iter()
                .zip(self.schema.fields())
                .all(|(one, other)| {
                    one.name() == other.name() && one.data_type() == other.data_type()
                });
        if !has_same_columns {
            return Err(failed("has other columns than the first one".into()));
        }
        let wanted = batch.project(&self.roots);
        let wanted = wanted.map_err(|error| failed(error.to_string()))?;
        self.at += 1;
        Ok(Some(Rows::Batch(wanted)))
    }

    fn part(&self) -> String {
        format!("record batch {}", self.at + 1)
    }
}
