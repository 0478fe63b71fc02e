//! Rows from this crate's own readers as a table of the engine.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field as SchemaField, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionContext;

use crate::failure;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::{Field, ReadMeter, ReadOptions, Row, partitions, row};

/// Rows that are handed over at once.
const BATCH: usize = 8192;

/// Files as a table of texts.
pub(super) fn frame(
    context: &SessionContext,
    files: &[String],
    names: &[String],
    has_header: bool,
    options: &ReadOptions,
) -> Result<DataFrame> {
    let schema: SchemaRef = Arc::new(text_schema(names));
    let part = |file: &String| -> Arc<dyn PartitionStream> {
        Arc::new(OwnRows {
            file: file.clone(),
            schema: Arc::clone(&schema),
            has_header,
            options: options.clone(),
        })
    };
    let parts = files.iter().map(part).collect();
    StreamingTable::try_new(Arc::clone(&schema), parts)
        .and_then(|table| context.read_table(Arc::new(table)))
        .map_err(|error| failure::of_engine(&error))
}

/// Columns of texts.
pub(super) fn text_schema(names: &[String]) -> Schema {
    let field = |name: &String| SchemaField::new(name, DataType::Utf8View, true);
    Schema::new(names.iter().map(field).collect::<Vec<_>>())
}

/// One file.
#[derive(Debug, Clone)]
struct OwnRows {
    file: String,
    schema: SchemaRef,
    /// Whether row 1 names the columns.
    has_header: bool,
    options: ReadOptions,
}

impl PartitionStream for OwnRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let sender = stream.tx();
        let rows = self.clone();
        stream.spawn_blocking(move || {
            rows.read(|batch| sender.blocking_send(Ok(batch)).is_ok())
                .map_err(|error| DataFusionError::External(Box::new(error)))
        });
        stream.build()
    }
}

/// Options by which every column is read that a condition may speak of: readers of columns leave out what no option
/// names.
pub(super) fn every_column(options: &ReadOptions) -> Cow<'_, ReadOptions> {
    let engine = options.engine.as_ref();
    match engine.is_some_and(|engine| engine.condition.is_some()) {
        false => Cow::Borrowed(options),
        true => Cow::Owned(ReadOptions {
            observe: None,
            scores: None,
            ..options.clone()
        }),
    }
}

impl OwnRows {
    /// Reads a file batch by batch for as long as someone takes them.
    fn read(&self, mut take: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        let (file, schema) = (&self.file, &self.schema);
        let mut records =
            partitions::open(file, &ReadMeter::default(), &every_column(&self.options))?;
        let mut row = Row::new();
        if self.has_header {
            records.next(&mut row)?;
        }
        let width = schema.fields().len();
        let mut columns: Vec<StringViewBuilder> =
            (0..width).map(|_| StringViewBuilder::new()).collect();
        let mut waiting = 0;
        loop {
            let more = records.next(&mut row)?;
            if more {
                if row.len() != width {
                    return Err(Error::data(
                        row.place(file),
                        format!("has {} fields where {width} are expected", row.len()),
                    ));
                }
                for (at, (column, field)) in columns.iter_mut().zip(row.fields()).enumerate() {
                    if matches!(field, Field::Text(bytes) if std::str::from_utf8(bytes).is_err()) {
                        let place = row.place(file).column(schema.field(at).name());
                        return Err(row::not_utf8(place));
                    }
                    column.append_value(field.text());
                }
                waiting += 1;
            }
            if waiting == BATCH || (!more && waiting > 0) {
                let arrays = columns
                    .iter_mut()
                    .map(|column| Arc::new(column.finish()) as ArrayRef);
                let batch = RecordBatch::try_new(Arc::clone(schema), arrays.collect())
                    .map_err(|error| Error::file(file, error.to_string()))?;
                waiting = 0;
                if !take(batch) {
                    return Ok(());
                }
            }
            if !more {
                return Ok(());
            }
        }
    }
}
