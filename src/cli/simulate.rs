//! `leakgauge simulate`.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::progress::Work;
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;

use crate::cli::progress::{Progress, Stage};
use crate::cli::{terminal, to_stdout};

/// `simulate`.
#[derive(Args)]
#[command(after_long_help = crate::cli::bounds::mechanisms_help())]
pub struct SimulateArguments {
    /// The mechanism with its secrets: `laplace(scale=2, secrets=0..9)`
    #[arg(value_name = "MECHANISM")]
    mechanism: String,
    /// The number of rows
    #[arg(long, value_name = "N")]
    rows: u64,
    /// The seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Do not write a header
    #[arg(long)]
    no_header: bool,
}

/// Runs `simulate`: a CSV log on standard output.
pub fn simulate(arguments: &SimulateArguments) -> Result<ExitCode> {
    if arguments.rows == 0 {
        return Err(Error::parameter("--rows 0", "must be at least 1"));
    }
    let mechanism = mechanism::parse(&arguments.mechanism)?;
    let mut simulation = Simulation::new(&*mechanism, arguments.seed)?;
    // Rows that go to the terminal show how far it is.
    let is_shown = terminal::has_output() || !io::stdout().is_terminal();
    let _progress = is_shown.then(|| Progress::of_stage(Stage::Writing));
    to_stdout(|out| {
        let mut csv = csv::Writer::from_writer(out);
        if !arguments.no_header {
            csv.write_record(["secret"].iter().chain(simulation.columns()))
                .map_err(io_error)?;
        }
        for _ in 0..arguments.rows {
            let (secret, fields) = simulation.next_row();
            csv.write_field(secret).map_err(io_error)?;
            csv.write_record(&fields).map_err(io_error)?;
            Work::RowsWritten.advance(1);
        }
        csv.flush()
    })
    .map(|()| ExitCode::SUCCESS)
}

/// An error of the CSV writer as an I/O error, so that a closed pipe stays recognizable.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
