//! Audits, and what they found.

use arrow::array::RecordBatch;
use leakgauge::base::error::Result;
use leakgauge::{audit, compare, log, report};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Table;
use crate::errors::{name_options, raised, unwritten, with_flags};
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
}

impl Findings {
    fn written(&self, py: Python<'_>, format: report::Format) -> PyResult<String> {
        text(py, |out| report::write_audit(&self.0, format, out))
    }
}

fn format_named(name: &str) -> PyResult<report::Format> {
    let known = report::Format::ALL.into_iter();
    let found = known.clone().find(|known| known.about().0 == name);
    found.ok_or_else(|| raised(one_of("format", name, known.map(|known| known.about().0))))
}

/// What a writer writes, without the interpreter's lock.
fn text(
    py: Python<'_>,
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()> + Send,
) -> PyResult<String> {
    let text = py.detach(|| {
        let mut text = Vec::new();
        write(&mut text).map(|()| text)
    });
    String::from_utf8(text.map_err(unwritten)?).map_err(unwritten)
}

/// A log as Python hands it over: files, or batches in memory.
pub enum Source {
    /// Paths.
    Files {
        /// Of files.
        files: Vec<String>,
        /// Of the directories that stand for some of them.
        directories: Vec<String>,
    },
    /// The name for messages and reports, and the rows; the same of a log to learn and tune on.
    Batches(Batches, Option<Batches>),
}

/// Rows with the name that stands for them.
type Batches = (String, Vec<RecordBatch>);

/// # Errors
/// Data that Arrow cannot hold, columns of unequal lengths, missing values where they are refused.
fn batches(given: &Bound<'_, PyAny>, keywords: &Keywords) -> PyResult<Batches> {
    let item = |name: &str| given.get_item(name);
    let table = Table {
        name: item("name")?.extract()?,
        frame: item("frame")?.extract()?,
        columns: item("columns")?.extract()?,
        refuses_missing: keywords.refuses_missing(),
        used: item("used")?.extract()?,
    };
    let batches = table.batches()?;
    Ok((table.name, batches))
}

impl Source {
    /// # Errors
    /// Data that Arrow cannot hold, columns of unequal lengths, missing values where they are refused.
    pub fn of(given: &Bound<'_, PyDict>, keywords: &Keywords) -> PyResult<Self> {
        if given.contains("files")? {
            let files: Vec<String> = given.as_any().get_item("files")?.extract()?;
            let directories = files.iter().filter(|name| log::is_directory(name));
            return Ok(Source::Files {
                directories: directories.cloned().collect(),
                files: log::expand(&files).map_err(raised)?,
            });
        }
        let fit_on = match given.contains("fit_on")? {
            true => Some(batches(&given.as_any().get_item("fit_on")?, keywords)?),
            false => None,
        };
        Ok(Source::Batches(batches(given.as_any(), keywords)?, fit_on))
    }

    /// # Errors
    /// Anything wrong with the log or with options of reading.
    pub fn read(self, keywords: &Keywords) -> Result<log::Log> {
        self.read_as(|names| keywords.reading(names))
    }

    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_as(
        self,
        options: impl FnOnce(Vec<String>) -> Result<log::ReadOptions>,
    ) -> Result<log::Log> {
        match self {
            Source::Files { files, directories } => {
                let options = log::ReadOptions {
                    directories,
                    ..options(files)?
                };
                log::read(&options, &log::ReadMeter::default())
            }
            Source::Batches((name, batches), fit_on) => {
                let read = options(vec![name])?;
                match fit_on {
                    None => log::from_batches(batches, &read),
                    Some((name, fit_on)) => {
                        log::from_batches_fit_on(batches, (&name, fit_on), &read)
                    }
                }
            }
        }
    }
}

/// Audits a log.
#[pyfunction]
pub fn audit_log(
    py: Python<'_>,
    data: &Bound<'_, PyDict>,
    keywords: Keywords,
) -> PyResult<Findings> {
    name_options();
    // What is wrong with options is said before the data is looked at.
    let options = keywords.auditing().map_err(raised)?;
    keywords.reading(Vec::new()).map_err(raised)?;
    let source = Source::of(data, &keywords)?;
    work::run(py, keywords.threads, move || {
        audit::audit_owned(source.read(&keywords)?, &options)
    })
    .map(Findings)
}

/// What a comparison found.
#[pyclass(frozen, module = "leakgauge._native")]
pub struct Comparison(compare::Comparison);

#[pymethods]
impl Comparison {
    /// The JSON report, byte by byte as the command line prints it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        with_flags(|| self.written(py, report::Format::Json))
    }

    /// A report as `text`, `json` or `markdown`, where sentences name keyword arguments.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        self.written(py, format_named(format)?)
    }

    /// The report page. `command` is shown as what made it.
    fn html(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        py.detach(|| report::comparison_page(&self.0, command))
            .map_err(raised)
    }

    /// Every picture: its name, and one `<svg>` element.
    fn pictures(&self, py: Python<'_>) -> Vec<(&'static str, String)> {
        let drawn = py.detach(|| report::comparison_plots(&self.0));
        drawn
            .into_iter()
            .map(|picture| (picture.name, picture.svg))
            .collect()
    }
}

impl Comparison {
    fn written(&self, py: Python<'_>, format: report::Format) -> PyResult<String> {
        text(py, |out| report::write_comparison(&self.0, format, out))
    }
}

/// Audits several logs, each with its mechanism if there are some, and compares them.
#[pyfunction]
pub fn compare_logs(
    py: Python<'_>,
    logs: Vec<Bound<'_, PyDict>>,
    mechanisms: Vec<String>,
    against: &str,
    keywords: Keywords,
) -> PyResult<Comparison> {
    name_options();
    let against = match against {
        "previous" => compare::Against::Previous,
        "first" => compare::Against::First,
        other => return Err(raised(one_of("against", other, ["previous", "first"]))),
    };
    if logs.len() < 2 {
        return Err(raised(compare::too_few(logs.len())));
    }
    if keywords.has_units() {
        return Err(raised(compare::grouped()));
    }
    let mechanisms = compare::mechanisms(&mechanisms, logs.len()).map_err(raised)?;
    keywords.reading(Vec::new()).map_err(raised)?;
    let sources = logs.iter().map(|log| Source::of(log, &keywords));
    let sources: Vec<Source> = sources.collect::<PyResult<_>>()?;
    work::run(py, keywords.threads, move || {
        let count = sources.len();
        let measured = sources.into_iter().enumerate().map(|(at, source)| {
            let options = keywords.auditing()?;
            compare::measure(&source.read(&keywords)?, options, mechanisms.get(at), count)
        });
        compare::compare(measured.collect::<Result<_>>()?, against)
    })
    .map(Comparison)
}
