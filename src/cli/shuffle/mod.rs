//! `leakgauge shuffle`.

mod information;
mod reidentify;
mod shared;
mod vulnerability;

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
