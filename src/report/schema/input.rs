//! What was read.

use leakgauge_log::Format;
use leakgauge_log::observations::{Column, ObservationKind};
use serde::{Serialize, Serializer};

use crate::audit::{self, Sample};

/// The keys of what was read.
#[derive(Serialize)]
pub struct Input<'a> {
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_on: Option<&'a str>,
    rows: u64,
    rows_used: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<Sample>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_on_sampled: Option<Sample>,
    aggregated: bool,
    header: bool,
    header_detected: bool,
    format: Format,
    delimiter: Option<char>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wide: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    secret_column: &'a str,
    secrets: Vec<SecretRows<'a>>,
    observation: Observation<'a>,
}

/// A secret and its rows.
#[derive(Serialize)]
pub struct SecretRows<'a> {
    label: &'a str,
    rows: u64,
}

#[derive(Serialize)]
struct Observation<'a> {
    kind: ObservationKind,
    columns: &'a [Column],
    distinct: usize,
}

impl<'a> Input<'a> {
    pub fn of(input: &'a audit::Input) -> Self {
        let facts = &input.facts;
        Input {
            files: &facts.files,
            fit_on: facts.fit_on.as_deref(),
            rows: facts.rows,
            rows_used: facts.rows_used,
            sampled: input.sampled(),
            fit_on_sampled: input.fit_sampled(),
            aggregated: facts.aggregated,
            header: facts.header,
            header_detected: facts.header_detected,
            format: facts.format,
            delimiter: facts.delimiter,
            wide: facts.wide,
            notes: &facts.notes,
            secret_column: &facts.secret_column,
            secrets: secret_rows(&input.secrets, &input.rows_of_secrets),
            observation: Observation {
                kind: input.kind,
                columns: &input.columns,
                distinct: input.distinct,
            },
        }
    }
}

/// Every secret with its rows.
pub fn secret_rows<'a>(labels: &'a [String], rows: &[u64]) -> Vec<SecretRows<'a>> {
    let secrets = labels.iter().zip(rows);
    secrets
        .map(|(label, &rows)| SecretRows { label, rows })
        .collect()
}

#[derive(Serialize)]
struct SampledKeys<'a> {
    max_rows: u64,
    cap: u64,
    rows_used: u64,
    rows: u64,
    secrets: Vec<SecretRows<'a>>,
}

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = SampledKeys {
            max_rows: self.from.max_rows,
            cap: self.from.cap,
            rows_used: self.from.rows_used(),
            rows: self.from.rows_in_all(),
            secrets: secret_rows(&self.secrets, &self.from.rows),
        };
        keys.serialize(serializer)
    }
}
