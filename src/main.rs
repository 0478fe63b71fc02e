//! The `leakgauge` program.

mod memory;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: memory::OrEnd = memory::OrEnd;

fn main() -> ExitCode {
    memory::reserve();
    leakgauge::cli::run(std::env::args_os())
}
