//! `leakgauge completions` and `leakgauge man`: what a package installs beside the program.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::replace_file;

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
        .map_err(|error| Error::io(directory.display().to_string(), error))?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    // Each page appears whole or not at all.
    for (name, page) in pages(command)? {
        replace_file(&directory.join(name), page)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The pages of a command's subcommands and its own, with the names of their files.
fn pages(command: clap::Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut pages = Vec::new();
    for inner in command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
    {
        pages.extend(self::pages(inner.clone().disable_help_subcommand(true))?);
    }
    let man = clap_mangen::Man::new(command);
    let (name, mut page) = (man.get_filename(), Vec::new());
    man.render(&mut page)
        .map_err(|error| Error::io(&name, error))?;
    pages.push((name, page));
    Ok(pages)
}
