//! Rows from this crate's own readers as a table of the engine.

use std::sync::Arc;

use csv::ByteRecord;
use datafusion::arrow::array::{ArrayRef, StringViewBuilder};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionContext;

use crate::{failure, scan};
use leakgauge_base::error::{Error, Result};
use leakgauge_log::{ReadMeter, ReadOptions, records, rows};

/// Rows that are handed over at once.
const BATCH: usize = 8192;

/// Files as a table of texts.
pub(super) fn frame(
    context: &SessionContext,
    files: &[String],
    names: &[String],
    options: &ReadOptions,
) -> Result<DataFrame> {
    let schema: SchemaRef = Arc::new(scan::text_schema(names));
    let part = |file: &String| -> Arc<dyn PartitionStream> {
        Arc::new(OwnRows {
            file: file.clone(),
            schema: Arc::clone(&schema),
            options: options.clone(),
        })
    };
    let parts = files.iter().map(part).collect();
    StreamingTable::try_new(Arc::clone(&schema), parts)
        .and_then(|table| context.read_table(Arc::new(table)))
        .map_err(|error| failure::of_engine(&error))
}

/// One file.
#[derive(Debug)]
struct OwnRows {
    file: String,
    schema: SchemaRef,
    options: ReadOptions,
}

impl PartitionStream for OwnRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let sender = stream.tx();
        let (file, options, schema) = (
            self.file.clone(),
            self.options.clone(),
            Arc::clone(&self.schema),
        );
        stream.spawn_blocking(move || {
            read(&file, &options, &schema, |batch| {
                sender.blocking_send(Ok(batch)).is_ok()
            })
            .map_err(|error| DataFusionError::External(Box::new(error)))
        });
        stream.build()
    }
}

/// Reads a file batch by batch for as long as someone takes them.
fn read(
    file: &str,
    options: &ReadOptions,
    schema: &SchemaRef,
    mut take: impl FnMut(RecordBatch) -> bool,
) -> Result<()> {
    let mut records = records::open_file(file, &ReadMeter::default(), options)?;
    let mut record = ByteRecord::new();
    if records.is_named() {
        records.next(&mut record)?;
    }
    let width = schema.fields().len();
    let mut columns: Vec<StringViewBuilder> =
        (0..width).map(|_| StringViewBuilder::new()).collect();
    let mut waiting = 0;
    loop {
        let more = records.next(&mut record)?;
        if more {
            if record.len() != width {
                return Err(Error::data(
                    rows::place_of(file, &record),
                    format!("has {} fields where {width} are expected", record.len()),
                ));
            }
            for (at, column) in columns.iter_mut().enumerate() {
                let text = std::str::from_utf8(&record[at]).map_err(|_| {
                    let name = schema.field(at).name();
                    rows::not_utf8(rows::place_of(file, &record).column(name))
                })?;
                column.append_value(text);
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
