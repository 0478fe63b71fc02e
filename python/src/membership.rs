//! Canaries of one training run, from Python.

use leakgauge::log::ReadOptions;
use leakgauge::membership::{self, Direction, OneRunOptions};
use leakgauge::report;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{name_options, raised};
use crate::findings::Source;
use crate::options::{Keywords, one_of};
use crate::work;
use crate::written::Written;

/// Judges the scores of one training run. `member` is the secret of canaries that were included.
#[pyfunction]
#[pyo3(signature = (data, keywords, member, direction, guesses))]
pub fn audit_one_run(
    py: Python<'_>,
    data: &Bound<'_, PyDict>,
    keywords: Keywords,
    member: String,
    direction: Option<String>,
    guesses: Option<[u64; 2]>,
) -> PyResult<Written> {
    name_options();
    let direction = match direction.as_deref() {
        None => None,
        Some("high") => Some(Direction::High),
        Some("low") => Some(Direction::Low),
        Some(other) => return Err(raised(one_of("member_scores", other, ["high", "low"]))),
    };
    let auditing = keywords.auditing().map_err(raised)?;
    let options = OneRunOptions {
        confidence: auditing.confidence,
        seed: auditing.seed,
        claims: auditing.claims,
        member: Some(member),
        direction,
        guesses,
    };
    let source = Source::of(data, &keywords)?;
    work::run(py, keywords.threads, move || {
        // Every canary counts.
        let log = source.read_as(|names| {
            Ok(ReadOptions {
                max_rows: None,
                ..keywords.reading(names)?
            })
        })?;
        let found = membership::one_run(&log, &options)?;
        Written::of(|format, out| report::write_one_run(&found, format, out))
    })
}
