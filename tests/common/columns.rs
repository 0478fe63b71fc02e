//! Logs in Parquet and Arrow IPC, written with the libraries that read them.
#![allow(dead_code)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::common::rows_of;

/// Columns by name.
pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let nullable = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(nullable).expect("columns of one length")
}

/// The rows of `numeric_log`.
pub fn numeric_batch(rows: usize) -> RecordBatch {
    let (secrets, times): (Vec<&str>, Vec<f64>) = rows_of(rows).into_iter().unzip();
    let rounded = |time: f64| -> f64 { format!("{time:.3}").parse().expect("a number") };
    batch(vec![
        ("secret", Arc::new(StringArray::from(secrets))),
        (
            "time",
            Arc::new(Float64Array::from_iter_values(
                times.into_iter().map(rounded),
            )),
        ),
    ])
}

/// Parquet with row groups of 100 rows.
pub fn parquet(rows: &RecordBatch, compression: Compression, dictionary: bool) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(dictionary)
        .set_max_row_group_row_count(Some(100))
        .build();
    let mut file = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut file, rows.schema(), Some(properties)).expect("a schema");
    writer.write(rows).expect("memory can be written");
    writer.close().expect("memory can be written");
    file
}

pub fn plain_parquet(rows: &RecordBatch) -> Vec<u8> {
    parquet(rows, Compression::UNCOMPRESSED, false)
}

fn packed(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default()
        .try_with_compression(compression)
        .expect("a compression")
}

/// An Arrow file with batches of 100 rows.
pub fn arrow_file(rows: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer =
        FileWriter::try_new_with_options(&mut file, &rows.schema(), packed(compression))
            .expect("a schema");
    for part in parts(rows) {
        writer.write(&part).expect("memory can be written");
    }
    writer.finish().expect("memory can be written");
    drop(writer);
    file
}

/// An Arrow stream with batches of 100 rows.
pub fn arrow_stream(rows: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer =
        StreamWriter::try_new_with_options(&mut file, &rows.schema(), packed(compression))
            .expect("a schema");
    for part in parts(rows) {
        writer.write(&part).expect("memory can be written");
    }
    writer.finish().expect("memory can be written");
    drop(writer);
    file
}

fn parts(rows: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let all = rows.num_rows();
    (0..all)
        .step_by(100)
        .map(move |from| rows.slice(from, 100.min(all - from)))
}
