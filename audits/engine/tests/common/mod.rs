//! Logs for the engine and what is asked about them.
#![allow(dead_code)]

pub mod cluster;

use std::fs::File;
use std::path::Path;

use arrow::array::{ArrayRef, RecordBatch};
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::log::{EngineOptions, ReadMeter, ReadOptions, read};
use leakgauge::report::{Format, write_audit};
use parquet::arrow::ArrowWriter;

/// A portable stream of random words (SplitMix64).
pub struct Words(pub u64);

impl Words {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Writes a Parquet file.
pub fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A log through the engine, of which at most 5,000 different rows are kept.
pub fn options(files: &[String], condition: Option<&str>, cluster: Option<String>) -> ReadOptions {
    ReadOptions {
        files: files.to_vec(),
        max_rows: Some(5_000),
        engine: Some(EngineOptions {
            condition: condition.map(str::to_owned),
            cluster,
            ..EngineOptions::default()
        }),
        ..ReadOptions::default()
    }
}

/// The report of a log.
pub fn json(options: &ReadOptions) -> Vec<u8> {
    let log = read(options, &ReadMeter::default()).expect("the log can be read");
    let audit_options = AuditOptions {
        quick: true,
        ..AuditOptions::default()
    };
    let found = audit(&log, &audit_options).expect("the log can be audited");
    let mut out = Vec::new();
    write_audit(&found, Format::Json, &mut out).unwrap();
    out
}
