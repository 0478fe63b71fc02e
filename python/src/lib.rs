//! The native module of the Python package `leakgauge`: takes data, runs the library without the interpreter's lock,
//! and returns reports. What users see is `leakgauge/*.py`; nothing here is public to them.

mod columns;
mod commands;
mod data;
mod errors;
mod exact;
mod findings;
mod membership;
mod options;
mod query;
mod shuffle;
mod shuffling;
mod timing;
mod work;
mod written;

use pyo3::prelude::*;

/// The module `leakgauge._native`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::columns::columns_stream;
    #[pymodule_export]
    use crate::commands::{main, version};
    #[pymodule_export]
    use crate::errors::{DataError, Error, FileError, GrammarError, InternalError, OptionError};
    #[pymodule_export]
    use crate::exact::{analyze_channel, confusion, mechanism_bounds, simulate};
    #[pymodule_export]
    use crate::findings::{Comparison, Findings, audit_log, compare_logs};
    #[pymodule_export]
    use crate::membership::audit_one_run;
    #[pymodule_export]
    use crate::query::{Auditor, Power};
    #[pymodule_export]
    use crate::shuffle::{guess_value, reidentify, shuffled_information, shuffled_privacy};
    #[pymodule_export]
    use crate::shuffling::permute;
    #[pymodule_export]
    use crate::timing::constant_time;
    #[pymodule_export]
    use crate::written::Written;
}
