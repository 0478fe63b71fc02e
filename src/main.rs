//! The `leakgauge` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    leakgauge::cli::run(std::env::args_os())
}
