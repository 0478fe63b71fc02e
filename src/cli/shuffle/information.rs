//! `leakgauge shuffle information`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::channel::Prior;
use leakgauge::error::{Error, Result};
use leakgauge::report;
use leakgauge::shuffle::information::{self as library, Distribution, StoppingRule, SurveyOptions};

use super::{check_directory, randomizer, write_picture};
use crate::cli::options::{self, FormatName};
use crate::cli::to_stdout;

/// `shuffle information`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct InformationArguments {
    /// The law of the target's message, `label,probability`
    #[arg(long, value_name = "FILE", required_unless_present = "randomizer")]
    target: Option<String>,
    /// The law of every decoy
    #[arg(long, value_name = "FILE", requires = "target")]
    decoys: Option<String>,
    /// Without --decoys: the best decoys against a guess of the message, q proportional to the root of
    /// p(1 - p); their law is part of the report
    #[arg(long, requires = "target", conflicts_with = "users")]
    best_decoys: bool,
    /// Other users with laws of their own, so many of each [default of N: 1]; instead of --decoys and --n
    #[arg(long, value_name = "FILE[=N],…", value_delimiter = ',', requires = "target", conflicts_with_all = ["decoys", "sizes"])]
    users: Vec<String>,
    /// Users who randomize: a mechanism, or a matrix with one row an input
    #[arg(long, value_name = "MECHANISM", conflicts_with = "target")]
    randomizer: Option<String>,
    /// With --randomizer: the law of the inputs
    #[arg(long, default_value = "uniform", value_name = "PRIOR")]
    prior: String,
    /// With --randomizer: how many other users are known to have each input
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    known: Option<Vec<u64>>,
    /// Numbers of messages, the target's included
    #[arg(long = "n", value_name = "N,…", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// Simulate, too, with at most so many samples
    #[arg(long, value_name = "N", requires = "target", conflicts_with = "users")]
    samples: Option<u64>,
    /// With --samples: stop once both standard errors are at most that
    #[arg(long, value_name = "X", requires = "samples")]
    standard_error: Option<f64>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Number of threads; the report does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Also draw what is in the report, as SVG
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

const KEYS: &str = "\
Keys of the JSON, in nats:
  rows  n, position (the place of the target's message), message (what it is), each with
        exact, asymptotic (to the order of 1/n; no bound) and monte_carlo {mean, standard_error, samples}
  revealed, divergence, chi_squared, coefficient, best_coefficient, entropy, best_decoys
with --randomizer
  rows  n, position_bound (2 epsilon), message_clone, input: exact, asymptotic, blanket (a bound for any
        inputs of the others), blanket_asymptotic, unified ((e^epsilon - 1)/2n)
  epsilon, gamma, informed (with --known)
with --users
  n, position, position_bound, message, message_bound, message_bound_without_outliers, outliers, blanket
A figure that is infinite or that cannot be had is null.";

/// Runs `shuffle information`.
pub fn information(arguments: &InformationArguments) -> Result<ExitCode> {
    options::use_threads(arguments.threads)?;
    check_directory(arguments.plots.as_deref())?;
    if let Some(text) = &arguments.randomizer {
        return of_randomizer(arguments, text);
    }
    let target = Distribution::read(arguments.target.as_deref().unwrap_or("-"))?;
    if !arguments.users.is_empty() {
        return of_users(arguments, &target);
    }
    if arguments.decoys.is_none() && !arguments.best_decoys {
        return Err(
            Error::parameter("shuffle information", "the decoys are not given")
                .with_hint("--decoys FILE, --users FILE,…, or --best-decoys"),
        );
    }
    let decoys = arguments
        .decoys
        .as_deref()
        .map(Distribution::read)
        .transpose()?;
    let rule = arguments.samples.map(|most_samples| StoppingRule {
        most_samples,
        standard_error: arguments.standard_error,
    });
    let options = SurveyOptions {
        sizes: arguments.sizes.clone(),
        simulation: rule,
        seed: arguments.seed,
        list_best: arguments.best_decoys,
    };
    let survey = library::survey(&target, decoys.as_ref(), &options)?;
    if let Some(directory) = &arguments.plots {
        for (name, svg) in library::pictures(&survey) {
            write_picture(directory, name, &svg)?;
        }
    }
    to_stdout(|out| report::write_shuffle_information(&survey, arguments.format.into(), out))?;
    Ok(ExitCode::SUCCESS)
}

fn of_randomizer(arguments: &InformationArguments, text: &str) -> Result<ExitCode> {
    let channel = randomizer(text)?;
    let prior = Prior::parse(&arguments.prior, &channel)?;
    let known = arguments.known.as_deref();
    let survey = library::survey_randomizer(text, &channel, &prior, &arguments.sizes, known)?;
    if let Some(directory) = &arguments.plots {
        for (name, svg) in library::randomizer_pictures(&survey) {
            write_picture(directory, name, &svg)?;
        }
    }
    to_stdout(|out| report::write_shuffle_randomizer(&survey, arguments.format.into(), out))?;
    Ok(ExitCode::SUCCESS)
}

fn of_users(arguments: &InformationArguments, target: &Distribution) -> Result<ExitCode> {
    if arguments.plots.is_some() {
        return Err(Error::parameter(
            "--plots",
            "there is no picture of --users: it is one number of messages",
        ));
    }
    let read = |text: &String| -> Result<(String, Distribution, u64)> {
        let (file, count) = match text.rsplit_once('=') {
            None => (text.as_str(), 1),
            Some((file, count)) => {
                let parsed = count.parse().map_err(|_| {
                    Error::parameter(
                        format!("--users {text}"),
                        format!("{count} is no number of users"),
                    )
                })?;
                (file, parsed)
            }
        };
        Ok((file.to_owned(), Distribution::read(file)?, count))
    };
    let others = arguments
        .users
        .iter()
        .map(read)
        .collect::<Result<Vec<_>>>()?;
    let survey = library::survey_users(target, &others)?;
    to_stdout(|out| report::write_shuffle_users(&survey, arguments.format.into(), out))?;
    Ok(ExitCode::SUCCESS)
}
