//! Errors of the library as Python exceptions, and how messages name options.

use std::cell::Cell;
use std::fmt::Display;

use leakgauge::base::{error, naming};
use leakgauge::cli::flags;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(
    leakgauge,
    Error,
    PyException,
    "What leakgauge raises, in one hierarchy. The text says what is wrong, where, and what to do."
);
create_exception!(
    leakgauge,
    DataError,
    Error,
    "The data is wrong: a row, a column, a value, or the log as a whole."
);
create_exception!(
    leakgauge,
    OptionError,
    Error,
    "A keyword argument has a value that it cannot have, or does not go with another."
);
create_exception!(
    leakgauge,
    GrammarError,
    OptionError,
    "The text of a mechanism or of a claim is wrong."
);
create_exception!(
    leakgauge,
    FileError,
    Error,
    "A file cannot be opened, read or written, or is unusable as a whole."
);
create_exception!(
    leakgauge,
    InternalError,
    Error,
    "A defect of leakgauge itself. Please report it with the data that caused it."
);

/// Keyword arguments that are not called like the field that they set.
const KEYWORDS: [(&str, &str); 9] = [
    ("alternative_radii", "also"),
    ("attacks", "scorer"),
    ("claim", "claims"),
    ("condition", "where"),
    ("files", "data"),
    ("lists", "list"),
    ("moved", "move"),
    ("other_files", "also_group_file"),
    ("prior_epsilon", "already_epsilon"),
];

/// Keyword arguments that are dicts, `NAME=VALUE,…` on the command line.
const BY_COLUMN: [&str; 4] = ["list", "prior", "resolution", "scores"];

/// `a=1,b=x` as entries of a dict.
fn entries(value: &str) -> Vec<String> {
    let quoted = |text: &str| match text.parse::<f64>() {
        Ok(_) => text.to_owned(),
        Err(_) => format!("{text:?}"),
    };
    let entry = |text: &str| match text.rsplit_once('=') {
        Some((name, value)) => format!("{name:?}: {}", quoted(value)),
        None => text.to_owned(),
    };
    value.split(',').map(entry).collect()
}

thread_local! {
    /// Whether this thread writes what the command line would write.
    static WRITES_FLAGS: Cell<bool> = const { Cell::new(false) };
}

/// Runs something during which this thread names options as the command line does, so that reports that scripts
/// read are the same from both.
pub fn with_flags<T>(write: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            WRITES_FLAGS.set(false);
        }
    }
    WRITES_FLAGS.set(true);
    let _reset = Reset;
    write()
}

/// An option as Python writes it: `claims=`, `observe="x"`.
fn keyword(field: &str, value: Option<&str>) -> String {
    if WRITES_FLAGS.get() {
        return flags::flag(field, value);
    }
    match (field, value) {
        ("keep_order", _) => return "split=\"blocks\"".to_owned(),
        ("header", Some("present")) => return "header=True".to_owned(),
        ("header", Some("absent")) => return "header=False".to_owned(),
        _ => {}
    }
    let known = KEYWORDS.iter().find(|(name, _)| *name == field);
    let name = known.map_or(field, |found| found.1);
    match value {
        None => format!("{name}="),
        Some(value) if BY_COLUMN.contains(&name) && value.contains('=') => {
            format!("{name}={{{}}}", entries(value).join(", "))
        }
        Some(value) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
        Some(value) => format!("{name}={value:?}"),
    }
}

/// Makes messages name options the Python way. The first caller of a process decides, so that the command line,
/// run from Python, keeps its flags.
pub fn name_options() {
    naming::install(keyword);
}

/// The exception of an error of the library.
pub fn raised(found: error::Error) -> PyErr {
    let text = found.to_string();
    match found {
        error::Error::Data { .. } => DataError::new_err(text),
        error::Error::File { source: None, .. } => DataError::new_err(text),
        error::Error::File { .. } => FileError::new_err(text),
        error::Error::Grammar { .. } | error::Error::Call { .. } => GrammarError::new_err(text),
        error::Error::Option { .. } | error::Error::Parameter { .. } => OptionError::new_err(text),
        _ => Error::new_err(text),
    }
}

/// The exception of a panic.
pub fn panicked(cause: &(dyn std::any::Any + Send)) -> PyErr {
    let text = cause
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| cause.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    InternalError::new_err(format!(
        "leakgauge failed: {text}\nthis is a defect of leakgauge: please report it"
    ))
}

/// What Arrow says of data that it cannot take.
pub fn unreadable(problem: impl Display) -> PyErr {
    DataError::new_err(format!(
        "data: cannot be read as Arrow: {problem}\n  hint: give every column values of one type, at least one"
    ))
}

/// A report that could not be written; no data causes this.
pub fn unwritten(problem: impl Display) -> PyErr {
    PyRuntimeError::new_err(problem.to_string())
}
