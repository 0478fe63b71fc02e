//! `leakgauge optimal`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::{check_outputs, replace_file};
use leakgauge::exact::channel::{Optimal, PayoffTable, Wanted};
use leakgauge::input::matrix as read;
use leakgauge::log::{self, ReadMeter};
use leakgauge::report;

use crate::cli::channel::{LayoutArguments, layout};
use crate::cli::options::FormatName;
use crate::cli::to_stdout;

/// The distances of secrets that are numbers.
const DIFFERENCE: &str = "difference";

/// `optimal`.
#[derive(Args)]
pub struct OptimalArguments {
    /// The loss of each answer as a matrix: one row per answer, one column per secret
    #[arg(long, value_name = "FILE")]
    loss: String,
    /// The ε that is kept: no probability of an answer is more than e^ε times that under another secret
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: f64,
    /// Secrets d apart need to keep e^(ε·d) only: a matrix, one row and one column per secret, or `difference` of
    /// secrets that are numbers [default: all are 1 apart]
    #[arg(long, value_name = "FILE")]
    distance: Option<String>,
    /// The prior: `uniform`, `p1,p2,…` in the order of the columns, or `label=p,…` [default: uniform]
    #[arg(long, value_name = "PRIOR")]
    prior: Option<String>,
    /// Write the mechanism as a matrix that `leakgauge channel` reads
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Allow --matrix to replace a file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    layout: LayoutArguments,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `optimal`.
pub fn optimal(arguments: &OptimalArguments) -> Result<ExitCode> {
    let mut inputs = vec![Path::new(&arguments.loss)];
    let distance = arguments.distance.as_deref();
    inputs.extend(distance.filter(|name| *name != DIFFERENCE).map(Path::new));
    if let Some(output) = &arguments.matrix {
        check_outputs(&[("matrix", output)], &inputs, arguments.force)?;
    }
    let input = log::open(&arguments.loss, &ReadMeter::default())?;
    let table = read::losses(&arguments.loss, input, &layout(&arguments.layout))?;
    let wanted = Wanted::new(&table, arguments.prior.as_deref(), arguments.epsilon)?;
    let wanted = match distance {
        None => wanted,
        Some(DIFFERENCE) if !Path::new(DIFFERENCE).is_file() => wanted.with_differences()?,
        Some(file) => wanted.with_distances(&distances(file, arguments)?)?,
    };
    let found = wanted.solve()?;
    if let Some(output) = &arguments.matrix {
        replace_file(output, matrix(&found)?)?;
    }
    let written = arguments
        .matrix
        .as_ref()
        .map(|path| path.display().to_string());
    to_stdout(|out| {
        let layout = arguments.format.layout();
        report::write_optimal(&found, &arguments.loss, written.as_deref(), layout, out)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn distances(file: &str, arguments: &OptimalArguments) -> Result<PayoffTable> {
    let input = log::open(file, &ReadMeter::default())?;
    read::payoff(file, input, &layout(&arguments.layout))
}

/// The matrix as CSV, with the digits that give the same numbers again.
fn matrix(found: &Optimal) -> Result<Vec<u8>> {
    let failed = |error: csv::Error| Error::parameter("matrix", error.to_string());
    let mut csv = csv::Writer::from_writer(Vec::new());
    let header = std::iter::once("secret").chain(found.answers.iter().map(String::as_str));
    csv.write_record(header).map_err(failed)?;
    for (secret, row) in found.secrets.iter().zip(&found.matrix) {
        csv.write_field(secret).map_err(failed)?;
        let numbers = row.iter().map(f64::to_string);
        csv.write_record(numbers).map_err(failed)?;
    }
    csv.into_inner()
        .map_err(|error| Error::parameter("matrix", error.to_string()))
}
