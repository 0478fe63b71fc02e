//! `leakgauge shuffle privacy`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::Result;
use leakgauge::exact::mechanism;
use leakgauge::exact::shuffle::parse_numbers;
use leakgauge::exact::shuffle::privacy::{Reports, survey};
use leakgauge::report;

use super::shared::randomizer;
use crate::cli::options::{FormatName, use_threads};
use crate::cli::to_stdout;

/// `shuffle privacy`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct PrivacyArguments {
    /// The randomizer of every user: any mechanism, or a matrix with one row per input
    #[arg(long, value_name = "MECHANISM")]
    randomizer: String,
    /// The numbers of users: `2,10,1000`, `2..50` or, evenly spaced by their logarithm, `2..1e6:30`
    #[arg(long = "n", value_name = "N,…")]
    users: String,
    /// The epsilons to give delta for
    #[arg(long, value_name = "E,…", value_delimiter = ',', required = true)]
    at_epsilon: Vec<f64>,
    /// The number of threads; it does not change the report [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

const KEYS: &str = "\
Keys of a row of the JSON:
  n, epsilon, best (the smallest upper bound), clone, stronger_clone, variation_ratio (null if the
  randomizer has no finite epsilon), blanket (null if messages are too many to list and no noise on a
  number), least (a lower limit by enumeration; null if there are too many histograms)";

/// Runs `shuffle privacy`.
pub fn privacy(arguments: &PrivacyArguments) -> Result<ExitCode> {
    use_threads(arguments.threads)?;
    let text = &arguments.randomizer;
    let reports = if text.contains('(') {
        Reports::of(&*mechanism::parse(text)?)?
    } else {
        Reports::Listed(randomizer(text)?)
    };
    let sizes = parse_numbers("n", &arguments.users)?;
    let survey = survey(
        &arguments.randomizer,
        &reports,
        &sizes,
        &arguments.at_epsilon,
    )?;
    to_stdout(|out| report::write_shuffle_privacy(&survey, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}
