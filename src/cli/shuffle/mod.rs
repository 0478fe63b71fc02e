//! `leakgauge shuffle`.

mod information;
mod reidentify;
mod vulnerability;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use leakgauge::error::{Error, Result};
use leakgauge::plot::on_white;

/// `shuffle`.
#[derive(Args)]
pub struct ShuffleArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How surely one user's message is picked out among n shuffled ones
    Reidentify(reidentify::ReidentifyArguments),
    /// Mutual information: what shuffled messages tell of the target's position, message and input
    Information(information::InformationArguments),
    /// How likely one user's value is guessed from shuffled, randomized values
    Vulnerability(vulnerability::VulnerabilityArguments),
}

/// Runs `shuffle`.
pub fn shuffle(arguments: &ShuffleArguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Reidentify(arguments) => reidentify::reidentify(arguments),
        Command::Information(arguments) => information::information(arguments),
        Command::Vulnerability(arguments) => vulnerability::vulnerability(arguments),
    }
}

/// Refuses, before anything is computed, a directory that is not there.
fn check_directory(directory: Option<&Path>) -> Result<()> {
    match directory {
        Some(directory) if !directory.is_dir() => {
            Err(Error::file(directory, "there is no such directory")
                .with_hint("make it first, or name another with --plots"))
        }
        _ => Ok(()),
    }
}

/// Writes a picture into a directory, over one that is there.
fn write_picture(directory: &Path, name: &str, svg: &str) -> Result<()> {
    let path = directory.join(name);
    std::fs::write(&path, on_white(svg))
        .map_err(|error| Error::file(&path, format!("cannot be written: {error}")))
}

/// A channel: a mechanism that can be written out, or a matrix in a file.
fn randomizer(text: &str) -> Result<leakgauge::channel::Channel> {
    use leakgauge::channel::{Channel, read};
    if text.contains('(') {
        return Channel::of_mechanism(&*leakgauge::mechanism::parse(text)?);
    }
    let meter = leakgauge::log::ReadMeter::default();
    let input = leakgauge::log::open(text, &meter)?;
    Ok(read::channel(text, input, &read::MatrixOptions::default())?.0)
}
