//! The native module of the Python package `leakgauge`: takes data, runs the library without the interpreter's lock,
//! and returns reports. What users see is `leakgauge/*.py`; nothing here is public to them.

mod commands;
mod data;
mod errors;
mod findings;
mod options;
mod work;

use pyo3::prelude::*;

/// The module `leakgauge._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::commands::{main, version};
    #[pymodule_export]
    use crate::errors::{DataError, Error, FileError, GrammarError, InternalError, OptionError};
    #[pymodule_export]
    use crate::findings::{Findings, audit_files, audit_table};
}
