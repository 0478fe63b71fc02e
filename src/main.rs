//! The `leakgauge` program.

mod memory;
mod standard_output;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: memory::OrEnd = memory::OrEnd;

fn main() -> ExitCode {
    memory::reserve();
    if standard_output::was_closed() {
        leakgauge::cli::without_standard_output();
    }
    leakgauge::cli::run(std::env::args_os())
}
