//! `leakgauge shuffle`.

mod information;
mod privacy;
mod reidentify;
mod shared;
mod vulnerability;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use leakgauge::base::error::Result;

/// `shuffle`.
#[derive(Args)]
pub struct ShuffleArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Re-identification: the probability of finding one user's message among n shuffled messages
    Reidentify(reidentify::ReidentifyArguments),
    /// Mutual information between the shuffled messages and the target's position, message or input
    Information(information::InformationArguments),
    /// Differential privacy: delta of the shuffled reports, from above and from below
    Privacy(privacy::PrivacyArguments),
    /// Vulnerability: the probability of guessing one user's value from shuffled, randomized values
    Vulnerability(vulnerability::VulnerabilityArguments),
}

/// Runs `shuffle`.
pub fn shuffle(arguments: &ShuffleArguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Reidentify(arguments) => reidentify::reidentify(arguments),
        Command::Information(arguments) => information::information(arguments),
        Command::Privacy(arguments) => privacy::privacy(arguments),
        Command::Vulnerability(arguments) => vulnerability::vulnerability(arguments),
    }
}
