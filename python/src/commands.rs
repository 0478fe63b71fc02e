//! The command line, from Python.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command line with these arguments, the first of which is the program's name, and returns its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| leakgauge::cli::run(arguments));
    // An exit code can be compared, but not read.
    let same = (0..=u8::MAX).find(|&number| ExitCode::from(number) == code);
    same.unwrap_or(u8::MAX)
}

/// The version of the package.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
