//! What was read.

use leakgauge_log::observations::{Column, ObservationKind};
use leakgauge_log::{Form, Format, MergedSecret, RecordKeeping};
use serde::{Serialize, Serializer};

use super::described_by;
use crate::audit::{self, Sample};

/// The keys of what was read.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input<'a> {
    /// The files of the log.
    files: &'a [String],
    /// The log to learn on.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_on: Option<&'a str>,
    /// Rows (occurrences) in the log's files.
    rows: u64,
    /// Rows used: those of the secrets asked for, of a sample those in it.
    rows_used: u64,
    /// What the rows used are a sample of, if they are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<Sample>,
    /// The same of the rows that were learned from, if they are in another log.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_on_sampled: Option<Sample>,
    /// Whether the rows carried counts.
    aggregated: bool,
    /// Whether row 1 was read as a header.
    header: bool,
    /// Whether the header was found or forced.
    header_detected: bool,
    /// How the first file is written down.
    format: Format,
    /// The delimiter of the first file; `None` for a format without one.
    delimiter: Option<char>,
    /// Whether every column was a secret.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wide: bool,
    /// The tool whose log this is, if it was told by looking.
    #[serde(skip_serializing_if = "Option::is_none")]
    recognized: Option<Form>,
    /// Whether the secret's column was taken because it is the only one of a few labels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret_chosen: bool,
    /// Columns that are not observed because they number rows, or say when they were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out_columns: Vec<LeftOutColumn<'a>>,
    /// Secrets that were joined.
    #[serde(skip_serializing_if = "<[MergedSecret]>::is_empty")]
    merged_secrets: &'a [MergedSecret],
    /// Rows left out because a value is missing.
    #[serde(skip_serializing_if = "is_zero")]
    missing_rows: u64,
    /// Rows without a time, which count as longer than all others.
    #[serde(skip_serializing_if = "is_zero")]
    last_rows: u64,
    /// Rows left out because they could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    skipped_rows: u64,
    /// What was made of the log beyond reading it: lists taken apart, units.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// The name of the secret's column.
    secret_column: &'a str,
    /// Every secret with its rows.
    secrets: Vec<SecretRows<'a>>,
    /// The units that limits count, where they do not count rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<Units<'a>>,
    /// What an observer sees.
    observation: Observation<'a>,
}

/// The units that limits count.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Units<'a> {
    /// The column that names them.
    column: &'a str,
    /// How many there are.
    units: u64,
    /// Every secret with the units that have rows of it.
    secrets: Vec<SecretUnits<'a>>,
}

/// A column that is not observed unless it is asked for.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LeftOutColumn<'a> {
    /// Its name.
    column: &'a str,
    /// Why.
    why: WhyLeftOut,
}

/// Why a column is not observed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum WhyLeftOut {
    /// It counts with the rows.
    CountsWithRows,
    /// It counts with blocks of rows.
    CountsWithBlocks,
    /// It says when a row was recorded.
    Clock,
    /// It never falls, and its name is one of clocks.
    NeverFalls,
    /// Each row has a name of its own.
    RowId,
    /// Rows were chosen by its values.
    Filter,
    /// It is blank in the first rows.
    Blank,
}

impl<'a> LeftOutColumn<'a> {
    fn of(column: &'a leakgauge_log::LeftOutColumn) -> Self {
        LeftOutColumn {
            column: &column.name,
            why: match column.why {
                RecordKeeping::Counts => WhyLeftOut::CountsWithRows,
                RecordKeeping::CountsBlocks => WhyLeftOut::CountsWithBlocks,
                RecordKeeping::Clock => WhyLeftOut::Clock,
                RecordKeeping::NeverFalls => WhyLeftOut::NeverFalls,
                RecordKeeping::RowId => WhyLeftOut::RowId,
                RecordKeeping::Filter => WhyLeftOut::Filter,
                RecordKeeping::Blank => WhyLeftOut::Blank,
            },
        }
    }
}

/// A secret and its units.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SecretUnits<'a> {
    /// Its label.
    label: &'a str,
    /// Units that have rows of it.
    units: u64,
}

/// A secret and its rows.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecretRows<'a> {
    /// Its label.
    label: &'a str,
    /// Its rows.
    rows: u64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Observation<'a> {
    /// Discrete, numeric or mixed.
    kind: ObservationKind,
    /// The columns that an observer sees.
    columns: &'a [Column],
    /// Distinct observations.
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
            recognized: facts.recognized,
            secret_chosen: facts.secret_chosen,
            left_out_columns: facts
                .left_out_columns
                .iter()
                .map(LeftOutColumn::of)
                .collect(),
            merged_secrets: &facts.merged_secrets,
            missing_rows: facts.missing_rows,
            last_rows: facts.last.as_ref().map_or(0, |last| last.rows),
            skipped_rows: facts.skipped.rows,
            notes: &facts.notes,
            secret_column: &facts.secret_column,
            secrets: secret_rows(&input.secrets, &input.rows_of_secrets),
            units: input.units.as_ref().map(|units| Units::of(input, units)),
            observation: Observation {
                kind: input.kind,
                columns: &input.columns,
                distinct: input.distinct,
            },
        }
    }
}

impl<'a> Units<'a> {
    fn of(input: &'a audit::Input, units: &'a audit::CountedUnits) -> Self {
        let secrets = input.secrets.iter().zip(&units.of_secrets);
        Units {
            column: &units.column,
            units: units.units,
            secrets: secrets
                .map(|(label, &units)| SecretUnits { label, units })
                .collect(),
        }
    }
}

/// Whether nothing was left out; serde asks by reference.
fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

/// Every secret with its rows.
pub fn secret_rows<'a>(labels: &'a [String], rows: &[u64]) -> Vec<SecretRows<'a>> {
    let secrets = labels.iter().zip(rows);
    secrets
        .map(|(label, &rows)| SecretRows { label, rows })
        .collect()
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SampledKeys<'a> {
    /// The limit of rows that was given.
    max_rows: u64,
    /// Rows of a secret that the sample has at most.
    cap: u64,
    /// Rows in the sample.
    rows_used: u64,
    /// Rows in the whole log.
    rows: u64,
    /// Every secret with its rows in the whole log.
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

described_by!(Sample => SampledKeys<'static>);
