//! Constant-time tests of what Python can call.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Duration;

use leakgauge_timing::{Outcome, Report, Test, Threshold};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::panicked;

/// How many inputs are made before the interpreter is asked whether to stop.
const PULSE: u32 = 256;

/// A call of Python raised.
struct Raised;

/// What Python raised, until it can be handed on.
#[derive(Default)]
struct Stopper {
    raised: RefCell<Option<PyErr>>,
    made: Cell<u32>,
}

impl Stopper {
    /// The value, or the end of the test without a message: no closure of a test can return an error.
    fn or_stop<T>(&self, result: PyResult<T>) -> T {
        result.unwrap_or_else(|error| {
            self.raised.replace(Some(error));
            resume_unwind(Box::new(Raised))
        })
    }

    /// Ctrl-C, from time to time.
    fn check(&self, py: Python<'_>) {
        self.made.set(self.made.get() + 1);
        if self.made.get().is_multiple_of(PULSE) {
            self.or_stop(py.check_signals());
        }
    }
}

/// Keyword arguments of a test.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    name: String,
    /// In nanoseconds.
    threshold: f64,
    classes: Vec<(String, Py<PyAny>)>,
    run: Py<PyAny>,
    /// In seconds.
    time_limit: f64,
    max_blocks: usize,
    seed: Option<u64>,
    log: PathBuf,
}

/// Measures how long `run` takes on inputs of each class. The interpreter's lock is held: whoever calls sees to it that
/// one test at a time measures.
#[pyfunction]
pub fn constant_time<'py>(py: Python<'py>, asked: Asked) -> PyResult<Bound<'py, PyDict>> {
    let stopper = Stopper::default();
    let measure = || {
        let mut test = Test::new(
            asked.name.as_str(),
            Threshold::in_nanoseconds(asked.threshold),
        )
        .time_limit(Duration::try_from_secs_f64(asked.time_limit).unwrap_or(Duration::MAX / 4))
        .max_blocks(asked.max_blocks)
        .log_directory(&asked.log);
        if let Some(seed) = asked.seed {
            test = test.seed(seed);
        }
        for (name, make) in &asked.classes {
            test = test.class(name.as_str(), || {
                stopper.check(py);
                stopper.or_stop(make.call0(py))
            });
        }
        let run = asked.run.bind(py);
        test.run(|input: &mut Py<PyAny>| stopper.or_stop(run.call1((input.bind(py),))))
    };
    match catch_unwind(AssertUnwindSafe(measure)) {
        Ok(report) => keys(py, &report),
        Err(cause) => Err(stopper.raised.take().unwrap_or_else(|| panicked(&*cause))),
    }
}

/// What was found, for Python.
fn keys<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let keys = PyDict::new(py);
    let outcome = match report.outcome {
        Outcome::Passes => "passes",
        Outcome::Leaks => "leaks",
        _ => "too noisy",
    };
    keys.set_item("outcome", outcome)?;
    keys.set_item("text", report.to_string())?;
    let finite = |limit: f64| limit.is_finite().then_some(limit);
    if let Some(found) = &report.difference {
        keys.set_item("slower", &found.slower)?;
        keys.set_item("faster", &found.faster)?;
        keys.set_item("at_least", finite(found.at_least))?;
        keys.set_item("estimate", found.estimate)?;
        keys.set_item("at_most", finite(found.at_most))?;
    }
    keys.set_item("largest", finite(report.largest))?;
    keys.set_item("blocks", report.measured_blocks)?;
    keys.set_item("calls_per_time", report.calls_per_time)?;
    keys.set_item("false_alarms", report.false_alarms)?;
    keys.set_item("seed", report.seed)?;
    let log = report.log.as_ref().map(|path| path.display().to_string());
    keys.set_item("log", log)?;
    Ok(keys)
}
