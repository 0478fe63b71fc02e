//! How a log was read, before anything is measured.

use std::borrow::Cow;

use crate::audit::copies;
use crate::audit::findings::{CountedUnits, Input};
use crate::audit::pair::Labels;
use crate::audit::warnings::find as warnings;
use crate::audit::warnings::warning::Warning;
use leakgauge_base::error::Result;
use leakgauge_log::Log;

/// How a log was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reading {
    /// What was read.
    pub input: Input,
    /// What is doubtful about it, as far as that can be said before rows are split.
    pub warnings: Vec<Warning>,
}

/// Looks at a log without measuring anything.
///
/// # Errors
/// A log that holds nothing but copies.
pub fn reading(log: &Log) -> Result<Reading> {
    let (log, mut found) = copies::without_copies(Cow::Borrowed(log))?;
    found.extend(warnings::find_unsplit(&log));
    Ok(Reading {
        input: input_of(&log, log.secrets.as_slice().into(), units(&log)),
        warnings: found,
    })
}

/// The units of a log that is not split.
fn units(log: &Log) -> Option<CountedUnits> {
    let units = log.units.as_ref()?;
    Some(CountedUnits {
        column: units.column.clone(),
        units: units.rows.len() as u64,
        of_secrets: units.rows.units_of_secrets(log.secrets.len()),
        parts: None,
    })
}

/// What was read.
pub(super) fn input_of(log: &Log, secrets: Labels, units: Option<CountedUnits>) -> Input {
    Input {
        facts: log.facts.clone(),
        secrets,
        rows_of_secrets: log.counts.rows().to_vec(),
        kind: log.observations.kind(),
        columns: log.observations.columns().to_vec(),
        distinct: log.observations.len(),
        units,
    }
}
