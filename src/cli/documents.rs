//! `leakgauge completions` and `leakgauge man`: what a package installs beside the program.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use leakgauge::base::error::{Error, Result};

use crate::cli::{Arguments, terminal, to_stdout};

/// `completions`.
#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// `man`.
#[derive(Args)]
pub struct ManArguments {
    /// The directory to write to, which is created if necessary
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs `completions`: a script on standard output.
pub fn completions(arguments: &CompletionsArguments) -> Result<ExitCode> {
    to_stdout(|out| {
        let mut script = Vec::new();
        clap_complete::generate(
            arguments.shell,
            &mut Arguments::command(),
            "leakgauge",
            &mut script,
        );
        out.write_all(&script)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `man`: a page for the program and one for each command.
pub fn man(arguments: &ManArguments) -> Result<ExitCode> {
    if terminal::has_output() {
        return Err(Error::parameter("--output", "does not apply to man")
            .with_hint("its pages are written to the directory that is its argument"));
    }
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), directory))
        .map_err(|error| Error::io(directory.display().to_string(), error))?;
    Ok(ExitCode::SUCCESS)
}
