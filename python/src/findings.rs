//! Audits, and what they found.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use leakgauge::{audit, log, report};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::data::{Missing, Table};
use crate::errors::{name_options, raised, unreadable, unwritten, with_flags};
use crate::options::{Keywords, one_of};
use crate::work;

/// What an audit found. Reports are written when they are asked for.
#[pyclass(frozen, module = "leakgauge._native")]
pub struct Findings(audit::Findings);

#[pymethods]
impl Findings {
    /// The JSON report, byte by byte as the command line prints it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        with_flags(|| self.written(py, report::Format::Json))
    }

    /// A report as `text`, `json` or `markdown`, where sentences name keyword arguments.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let known = report::Format::ALL.into_iter();
        let found = known.clone().find(|known| known.about().0 == format);
        let names = known.map(|known| known.about().0);
        self.written(
            py,
            found.ok_or_else(|| raised(one_of("format", format, names)))?,
        )
    }

    /// The report page. `command` is shown as what made it.
    fn html(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        py.detach(|| report::page(&self.0, command)).map_err(raised)
    }

    /// Every picture: its name, and one `<svg>` element.
    fn pictures(&self, py: Python<'_>) -> Vec<(&'static str, String)> {
        let drawn = py.detach(|| report::pictures(&self.0));
        drawn
            .into_iter()
            .map(|picture| (picture.name, picture.svg))
            .collect()
    }

    /// All pairs as an Arrow stream of one batch.
    #[pyo3(signature = (requested_schema = None))]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batch = pairs(&self.0).map_err(unreadable)?;
        let field = arrow::datatypes::Field::new_struct("", batch.schema().fields().clone(), false);
        let array: ArrayRef = Arc::new(arrow::array::StructArray::from(batch));
        let reader = ArrayIterator::new([Ok(array)], Arc::new(field));
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }
}

impl Findings {
    fn written(&self, py: Python<'_>, format: report::Format) -> PyResult<String> {
        let text = py.detach(|| {
            let mut text = Vec::new();
            report::write_audit(&self.0, format, &mut text).map(|()| text)
        });
        String::from_utf8(text.map_err(unwritten)?).map_err(unwritten)
    }
}

fn pairs(found: &audit::Findings) -> Result<RecordBatch, arrow::error::ArrowError> {
    let of_secret = |at: usize| -> ArrayRef {
        let labels = found.pairs.iter().map(|pair| pair.secrets.labels()[at]);
        Arc::new(StringArray::from_iter_values(labels))
    };
    let numbers = |of: &dyn Fn(&audit::PairFigures) -> Option<f64>| -> ArrayRef {
        Arc::new(found.pairs.iter().map(of).collect::<Float64Array>())
    };
    RecordBatch::try_from_iter_with_nullable([
        ("secret_1", of_secret(0), false),
        ("secret_2", of_secret(1), false),
        (
            "bayes_security",
            numbers(&|pair| pair.bayes_security.point),
            true,
        ),
        (
            "bayes_security_upper",
            numbers(&|pair| pair.bayes_security.upper),
            true,
        ),
        (
            "bayes_security_lower",
            numbers(&|pair| pair.bayes_security.lower),
            true,
        ),
        (
            "total_variation",
            numbers(&|pair| pair.total_variation.point),
            true,
        ),
        (
            "total_variation_lower",
            numbers(&|pair| pair.total_variation.lower),
            true,
        ),
        (
            "total_variation_upper",
            numbers(&|pair| pair.total_variation.upper),
            true,
        ),
        (
            "no_leak_p_value",
            numbers(&|pair| pair.no_leak_p_value),
            true,
        ),
    ])
}

/// Audits files.
#[pyfunction]
pub fn audit_files(py: Python<'_>, files: Vec<String>, keywords: Keywords) -> PyResult<Findings> {
    name_options();
    let files = log::expand(&files).map_err(raised)?;
    let read = keywords.reading(files).map_err(raised)?;
    let options = keywords.auditing().map_err(raised)?;
    work::run(py, keywords.threads, move || {
        let log = log::read(&read, &log::ReadMeter::default())?;
        audit::audit(&log, &options)
    })
    .map(Findings)
}

/// Audits data in memory: a frame or columns, see [`Table`].
#[pyfunction]
pub fn audit_table(
    py: Python<'_>,
    table: &Bound<'_, PyDict>,
    keywords: Keywords,
) -> PyResult<Findings> {
    name_options();
    let table = Source::extract_from(table)?;
    let options = keywords.auditing().map_err(raised)?;
    let read = keywords.reading(vec![table.name.clone()]).map_err(raised)?;
    let batches = table.batches()?;
    work::run(py, keywords.threads, move || {
        let log = log::from_batches(batches, &read)?;
        audit::audit(&log, &options)
    })
    .map(Findings)
}

/// A table as Python hands it over.
struct Source;

impl Source {
    fn extract_from<'py>(table: &Bound<'py, PyDict>) -> PyResult<Table<'py>> {
        let item = |name: &str| table.as_any().get_item(name);
        Ok(Table {
            name: item("name")?.extract()?,
            frame: item("frame")?.extract()?,
            columns: item("columns")?.extract()?,
            missing: Missing::parse(&item("missing")?.extract::<String>()?).map_err(raised)?,
            used: item("used")?.extract()?,
        })
    }
}
