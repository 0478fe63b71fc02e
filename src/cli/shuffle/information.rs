//! `leakgauge shuffle information`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::replace_file;
use leakgauge::exact::shuffle::information::{
    self as library, Distribution, Question, StoppingRule, SurveyOptions, optimal_decoys,
};
use leakgauge::report::{self, shuffle as pictures};

use super::shared::{Files, Shared, reports};

/// `shuffle information`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct InformationArguments {
    /// P, the distribution of the target's message: a file with a label and its probability or count per row, or
    /// `zipf(exponent=0.7, size=1000)`
    #[arg(long, value_name = "P", required_unless_present = "randomizer")]
    target: Option<String>,
    /// Q, the distribution of every decoy: the same, or `uniform`, `zipf(0.7)` over the labels of P
    #[arg(long, value_name = "Q", requires = "target")]
    decoys: Option<String>,
    /// Report the optimal decoys for hiding the message, q proportional to sqrt(p(1 - p)); without --decoys, use
    /// them
    #[arg(long, requires = "target", conflicts_with = "users")]
    best_decoys: bool,
    /// Write the optimal decoys to this file as `label,probability`; replaces an existing file
    #[arg(
        long,
        value_name = "FILE",
        requires = "target",
        conflicts_with = "users"
    )]
    best_decoys_to: Option<PathBuf>,
    /// Groups of other users: a distribution and the number of users that have it [default of N: 1]; instead of
    /// --decoys and --n
    #[arg(long, value_name = "FILE[=N],…", value_delimiter = ',', requires = "target", conflicts_with_all = ["decoys", "messages"])]
    users: Vec<String>,
    /// The randomizer of every user: a mechanism, or a matrix with one row per input
    #[arg(long, value_name = "MECHANISM", conflicts_with = "target")]
    randomizer: Option<String>,
    /// With --randomizer: the prior of the inputs
    #[arg(
        long,
        default_value = "uniform",
        value_name = "PRIOR",
        conflicts_with = "target"
    )]
    prior: String,
    /// With --randomizer: the prior of the other users' inputs [default: that of --prior]
    #[arg(long, value_name = "PRIOR", requires = "randomizer")]
    others: Option<String>,
    /// Messages that were observed after shuffling, one per row or with counts: prints what each tells about the target
    #[arg(
        long,
        value_name = "FILE",
        requires = "target",
        conflicts_with = "users"
    )]
    observed: Option<String>,
    /// With --randomizer: for each input, the number of other users known to have it
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    known: Option<Vec<u64>>,
    /// Also estimate by simulation, with at most this many samples
    #[arg(long, value_name = "N", requires = "target", conflicts_with = "users")]
    samples: Option<u64>,
    /// With --samples: stop once both standard errors are at most this
    #[arg(long, value_name = "X", requires = "samples")]
    standard_error: Option<f64>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    shared: Shared,
}

const KEYS: &str = "\
Keys of the JSON, in nats:
  rows  n, position (the place of the target's message), message (what it is), each with
        exact, asymptotic (to the order of 1/n; no bound) and monte_carlo {mean, standard_error, samples}
  revealed, divergence, chi_squared, coefficient, best_coefficient, entropy, best_decoys
  posteriors  (with --observed) label, count, message and position, the probabilities that the target
        sent it and that it is the target's
with --randomizer
  rows  n, position_bound (2 epsilon), position_blanket (a bound for any inputs), message_clone, input:
        exact, asymptotic, blanket (a bound for any inputs of the others), blanket_asymptotic, unified
        ((e^epsilon - 1)/2n)
  epsilon, gamma, position_bound (for every n); with --known: informed, positions (input, n, position)
with --users
  n, position, position_bound, message, message_bound, message_bound_without_outliers, outliers, blanket
Infinite and unavailable figures are null.";

/// Runs `shuffle information`.
pub fn information(arguments: &InformationArguments) -> Result<ExitCode> {
    arguments.shared.prepare()?;
    if let Some(text) = &arguments.randomizer {
        return of_randomizer(arguments, text);
    }
    let name = arguments.target.as_deref().unwrap_or("-");
    if !arguments.users.is_empty() {
        return of_users(arguments, name);
    }
    let list_best = arguments.best_decoys || arguments.best_decoys_to.is_some();
    let (target, decoys) = match &arguments.decoys {
        None if list_best => (Distribution::of(name, arguments.files.source(name)?)?, None),
        None => {
            return Err(
                Error::parameter("shuffle information", "decoys are missing")
                    .with_hint("add --decoys Q, --users FILE,… or --best-decoys"),
            );
        }
        Some(decoys) => {
            let sources = arguments.files.sources(name, decoys)?;
            let [target, decoys] = Distribution::both([name, decoys], sources)?;
            (target, Some(decoys))
        }
    };
    if let Some(file) = &arguments.best_decoys_to {
        let best = optimal_decoys(&target.probabilities)?;
        let law = Distribution {
            labels: target.labels.clone(),
            probabilities: best.decoys,
        };
        replace_file(file, &law.to_csv()?)?;
    }
    let options = SurveyOptions {
        sizes: arguments.shared.sizes()?,
        simulation: arguments.samples.map(|max_samples| StoppingRule {
            max_samples,
            standard_error: arguments.standard_error,
        }),
        seed: arguments.shared.seed,
        list_best,
        observed: arguments
            .observed
            .as_deref()
            .map(|name| arguments.files.messages(name))
            .transpose()?,
    };
    let survey = library::survey(&target, decoys.as_ref(), &options)?;
    arguments.shared.finish(
        || Ok(pictures::information_pictures(&survey)),
        |format, out| report::write_shuffle_information(&survey, format, out),
    )
}

fn of_randomizer(arguments: &InformationArguments, text: &str) -> Result<ExitCode> {
    let reports = reports(text)?;
    let named = |text: &str| reports.prior(text);
    let prior = named(&arguments.prior)?;
    let others = arguments.others.as_deref().map(named).transpose()?;
    let sizes = arguments.shared.sizes()?;
    let question = Question {
        prior: &prior,
        others: others.as_ref(),
        sizes: &sizes,
        known: arguments.known.as_deref(),
    };
    let survey = library::survey_reports(text, &reports, &question)?;
    arguments.shared.finish(
        || Ok(pictures::randomizer_pictures(&survey)),
        |format, out| report::write_shuffle_randomizer(&survey, format, out),
    )
}

fn of_users(arguments: &InformationArguments, name: &str) -> Result<ExitCode> {
    if arguments.shared.plots.is_some() {
        return Err(Error::parameter(
            "--plots",
            "does not apply to --users, which has only one number of messages",
        ));
    }
    let read = |name: &str| Distribution::of(name, arguments.files.source(name)?);
    let user = |text: &String| -> Result<(String, Distribution, u64)> {
        let (file, count) = match text.rsplit_once('=') {
            None => (text.as_str(), 1),
            Some((file, count)) => {
                let parsed = count.parse().map_err(|_| {
                    Error::parameter(
                        format!("--users {text}"),
                        format!("{count} is not a number of users"),
                    )
                })?;
                (file, parsed)
            }
        };
        Ok((file.to_owned(), read(file)?, count))
    };
    let target = read(name)?;
    let others = arguments.users.iter().map(user);
    let survey = library::survey_users(&target, &others.collect::<Result<Vec<_>>>()?)?;
    arguments.shared.finish(
        || Ok(Vec::new()),
        |format, out| report::write_shuffle_users(&survey, format, out),
    )
}
