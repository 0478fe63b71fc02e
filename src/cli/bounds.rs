//! `leakgauge bounds`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::{AtomicFile, check_outputs};
use leakgauge::base::grammar::Parameter;
use leakgauge::claim::PROMISES;
use leakgauge::exact::bounds::{self as library, BoundsOptions};
use leakgauge::exact::mechanism::MECHANISMS;
use leakgauge::report;

use crate::cli::options::{FormatName, use_threads};
use crate::cli::to_stdout;

/// `bounds`.
#[derive(Args)]
#[command(after_long_help = after_help())]
pub struct BoundsArguments {
    /// A mechanism with its secrets, or a promise, or several mechanisms that are applied to the same two secrets, each so
    /// many times: `compose(gaussian(sigma=4, secrets=2)*10, laplace(scale=3, secrets=2))`; `a..b:n` stands for n values of a parameter:
    /// `randomized-response(epsilon=0.1..10:50, secrets=10)`, `ldp(epsilon=0.1..5:20)`
    #[arg(value_name = "MECHANISM")]
    mechanism: String,
    /// Also compute the smallest delta that holds with this epsilon
    #[arg(long, value_name = "E")]
    at_epsilon: Option<f64>,
    /// Also compute the smallest epsilon that holds with this delta
    #[arg(long, value_name = "D")]
    at_delta: Option<f64>,
    /// Also compute the largest success of a reconstruction whose success without the record is K: sup P(E) with Q(E)
    /// at most K
    #[arg(long, value_name = "K")]
    reconstruction: Option<f64>,
    /// Also compute the Renyi divergence of this order; `inf` is an order
    #[arg(long, value_name = "A")]
    at_order: Option<f64>,
    /// Also compute the smallest rho of zero-concentrated and mu of Gaussian differential privacy
    #[arg(long)]
    profile: bool,
    /// A mechanism, or one that keeps the promise, is applied T times to the same secret; figures are certified, of a
    /// mechanism from both sides
    #[arg(long, value_name = "T")]
    repeat: Option<u64>,
    /// Find the value of this parameter with which the mechanism just keeps what --keeps, or --at-epsilon and --at-delta
    /// together, name; it stands in the mechanism once, with a value to begin with
    #[arg(long, value_name = "PARAMETER")]
    solve: Option<String>,
    /// With --solve: a promise, such as `dp(epsilon=1, delta=1e-5)`, `gdp(0.5)`, `advantage(0.1)`
    #[arg(long, value_name = "CLAIM", requires = "solve")]
    keeps: Option<String>,
    /// Also write delta for many values of epsilon to this file, as rows `epsilon,delta`, with `delta_at_least` where figures
    /// have two sides; `dp-curve(FILE)` is a claim
    #[arg(long, value_name = "FILE", conflicts_with = "solve")]
    curve: Option<PathBuf>,
    /// For a promise: the number of secrets, for the capacity
    #[arg(long, value_name = "N")]
    secrets: Option<u64>,
    /// For a promise about neighboring secrets: also for secrets that are K steps apart
    #[arg(long, value_name = "K")]
    group: Option<u64>,
    /// For a differential privacy promise: also for whole databases whose records have V values, including
    /// absence (Theorem 6, Corollary 1)
    #[arg(long, value_name = "V")]
    values: Option<u64>,
    /// With --values: the number of records [default: 1]
    #[arg(long, value_name = "N")]
    records: Option<u64>,
    /// With --values: the largest prior probability of a database [default: the uniform prior]
    #[arg(long, value_name = "P")]
    largest_prior: Option<f64>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `bounds`.
pub fn bounds(arguments: &BoundsArguments) -> Result<ExitCode> {
    use_threads(None)?;
    if let Some(file) = &arguments.curve {
        let others = [
            ("--group", arguments.group.is_some()),
            ("--values", arguments.values.is_some()),
        ];
        if let Some((flag, _)) = others.iter().find(|(_, is_given)| *is_given) {
            let problem = format!("is about two neighboring secrets, and {flag} is not");
            return Err(Error::parameter("--curve", problem).with_hint("leave one of the two out"));
        }
        check_outputs(&[("curve", file)], &[], true)?;
    }
    let options = BoundsOptions {
        at_epsilon: arguments.at_epsilon,
        at_delta: arguments.at_delta,
        repeat: arguments.repeat,
        reconstruction: arguments.reconstruction,
        at_order: arguments.at_order,
        profile: arguments.profile,
        secrets: arguments.secrets,
        group: arguments.group,
        values: arguments.values,
        records: arguments.records,
        largest_prior: arguments.largest_prior,
    };
    let mechanism = &arguments.mechanism;
    let table = match &arguments.solve {
        Some(parameter) => {
            library::solve(mechanism, parameter, arguments.keeps.as_deref(), &options)?
        }
        None => library::bounds(mechanism, &options)?,
    };
    if let Some(file) = &arguments.curve {
        let points = library::curve(mechanism, &options)?;
        AtomicFile::write(file, |out| library::write_curve(&points, out))?.finish()?;
    }
    to_stdout(|out| report::write_bounds(&table, arguments.format.layout(), out))
        .map(|()| ExitCode::SUCCESS)
}

const KEYS: &str = "\
Keys of a row of the JSON: the parameters, then
  bayes_security         of the pair of secrets told apart best; a promise: at least this
  total_variation        1 - bayes_security; a promise: at most this
  advantage              of the optimal adversary, the same number
  epsilon                the smallest that holds between all secrets; a promise: what it promises,
                         together with its delta; null if infinite (gdp, zcdp) or unknown
  capacity               multiplicative capacity, the sum of column maxima; null if unknown
  delta_at_epsilon_zero  the mechanism is (0, delta)-private with this delta and no smaller one
  delta_at_epsilon       with --at-epsilon: the smallest delta for it; null if unknown
  epsilon_at_delta       with --at-delta: the smallest epsilon for it
  reconstruction         with --reconstruction: the largest probability of an event that has at most that
                         probability without the record; null if unknown
  renyi_divergence       with --at-order; null if unknown or infinite
  zcdp_rho, gdp_mu       with --profile: the smallest with which the mechanism is rho-zCDP and mu-GDP; null
                         if unknown or infinite
  steps                  with --repeat; figures are then certified bounds, and of a mechanism the other side is
                         bayes_security_at_most, total_variation_at_least, delta_at_epsilon_at_least,
                         epsilon_at_delta_at_least, capacity_at_least, gdp_mu_at_least
  bayes_security_closed_form  of repeated Gaussian noise: erfc(q sqrt(T) / (2 sqrt(2) sigma)), the leading
                         term of Cherubin et al. 2024, not a bound
  renyi_divergence_at_least, zcdp_rho_at_least, reconstruction_at_least  of batches of a fixed size, of which these
                         figures are bounded from both sides
  guess_probability      of guessing right between the two secrets, 1 - bayes_security/2
  worst_pair             labels of that pair; null for promises and for very many secrets
  parameters             all parameters; one with the name of a key above is only here
and of ldp and dp
  advantage_corollary_2  (e^eps - 1)/(e^eps + 1), delta = 0
  advantage_yeom         e^eps - 1, delta = 0, as published: not cut at 1; bayes_security_yeom
  advantage_humphries    (e^eps - 1 + 2 delta)/(e^eps + 1)
  group_size, group_epsilon, group_delta, group_advantage, group_bayes_security  with --group;
                         group_mu of gdp, group_rho of zcdp
  database_leakage, database_risk_leakage  with --values: Theorem 6 and Corollary 1, delta = 0
With --solve there is also
  solved                 parameter, value, edge (smallest or largest) and what it keeps
Infinite and unknown values are null.";

fn after_help() -> String {
    let mut text = mechanisms_help();
    text.push_str("\nPromises:\n");
    for entry in PROMISES {
        describe(entry.name, entry.about, entry.parameters, &mut text);
    }
    text.push('\n');
    text.push_str(KEYS);
    text
}

/// The names of all mechanisms with their parameters.
pub fn mechanisms_help() -> String {
    let mut text = "Mechanisms:\n".to_owned();
    for entry in MECHANISMS {
        describe(entry.name, entry.about, entry.parameters, &mut text);
    }
    text
}

fn describe(name: &str, about: &str, parameters: &[Parameter], text: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name}: {about}");
    for parameter in parameters {
        let _ = writeln!(text, "      {}  {}", parameter.name, parameter.about);
    }
}
