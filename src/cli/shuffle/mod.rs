//! `leakgauge shuffle`.

mod reidentify;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use leakgauge::error::Result;

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
}

/// Runs `shuffle`.
pub fn shuffle(arguments: &ShuffleArguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Reidentify(arguments) => reidentify::reidentify(arguments),
    }
}
