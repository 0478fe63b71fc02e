//! Logs of mechanisms that claim differential privacy wrongly, and of their correct counterparts.
//!
//! ```text
//! cargo run --release --example wrong_mechanisms -- --list
//! cargo run --release --example wrong_mechanisms -- sparse-vector-6 --rows 10000 --seed 1 > log.csv
//! cargo run --release --example wrong_mechanisms -- --table
//! cargo run --release --example wrong_mechanisms -- sparse-vector-6 --audit --rows 1896 --seeds 100
//! ```
//!
//! A row is the secret, which of two neighboring databases was asked (`a` or `b`), and what the
//! mechanism answered. `--list` says what each claims and what is true of it on its two inputs; `--table`
//! finds the rows at which `audit` sees through it.
//!
//! The sparse-vector variants are those of Lyu, Su, Li, *Understanding the Sparse Vector Technique for
//! Differential Privacy*, PVLDB 10(6), 2017.
//!
//! # What is true
//! The ε between the two inputs (at the δ of the claim), as `--list` computes it:
//!
//! | mechanism | claim | ε | by |
//! | --- | --- | --- | --- |
//! | sparse-vector-1, cutoff 1 | ε = 1 | 0.981 | all sequences of answers, quadrature over the threshold |
//! | sparse-vector-1-three, cutoff 3 | ε = 1 | 0.588 | the same |
//! | sparse-vector-2-three, cutoff 3 | ε = 1 | 0.404 | the same |
//! | sparse-vector-3 | ε = 1 | **4.5** | densities of (answers below, value), quadrature |
//! | sparse-vector-4, cutoff 1 | ε = 1 | **1.695** | all sequences |
//! | sparse-vector-4-three, cutoff 3 | ε = 1 | **4.181** | all sequences |
//! | sparse-vector-5 | ε = 1 | **∞** | all sequences |
//! | sparse-vector-6 | ε = 1 | **4.061** | all sequences |
//! | noisy-max | ε = 1 | 0.737 | quadrature |
//! | noisy-max-value, noisy-max-both | ε = 1 | **3** | six answers, each ε/2 in the lower tail |
//! | histogram, laplace, randomized-response | ε = 1 | 1 | closed form |
//! | histogram-sensitivity, laplace-half | ε = 1 | **2** | closed form |
//! | randomized-response-biased | ε = 1 | **1.352** | closed form |
//! | gaussian-1, -4, -8 | ε = 1, 4, 8, δ = 1e-5 | 0.751, 3.511, 7.914 | δ(ε) of Balle and Wang 2018 |
//! | gaussian-1-loose | ε = 1, δ = 0.3 | 0 | the same |
//! | gaussian-6-loose, gaussian-8-loose | ε = 6, 8, δ = 0.3 | **7.252**, **12.756** | the same |
//!
//! Those in bold are beyond the claim.
mod cases;
mod ideal;
mod ladder;
mod noise;
mod sparse_vector;
mod truth;

use std::error::Error;
use std::io::{Write, stdout};

use clap::Parser;
use leakgauge::attack::tuning::ScorerChoice;

use cases::{CASES, Case};
use ladder::Trial;

/// Writes a log of a mechanism that claims differential privacy, rightly or wrongly.
#[derive(Parser)]
struct Arguments {
    /// The mechanism, as in --list
    #[arg(required_unless_present_any = ["list", "table"])]
    name: Option<String>,
    /// The epsilon that it claims [default: as in --list]
    #[arg(long)]
    epsilon: Option<f64>,
    /// Number of rows
    #[arg(long, default_value_t = 10_000)]
    rows: u64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// List the mechanisms: claim, true epsilon on the two inputs, and what is wrong
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Print the rows that the best event and an audit need for the wrong ones, or for those whose name begins like
    /// this; minutes
    #[arg(long, conflicts_with = "list")]
    table: bool,
    /// Print how many of --seeds logs, from --seed on, are called violated
    #[arg(long, conflicts_with_all = ["list", "table"])]
    audit: bool,
    /// Logs a number of rows for --table, logs for --audit
    #[arg(long, default_value_t = 10)]
    seeds: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(epsilon) = arguments.epsilon
        && !(epsilon.is_finite() && epsilon > 0.0)
    {
        return Err("--epsilon must be positive".into());
    }
    let epsilon = |case: &Case| arguments.epsilon.unwrap_or(case.epsilon);
    if arguments.list || arguments.table {
        return list(&arguments, &epsilon);
    }
    let name = arguments.name.as_deref().unwrap_or_default();
    let case = cases::named(name).ok_or("no such mechanism: see --list")?;
    if arguments.audit {
        return audited(case, epsilon(case), &arguments);
    }
    let mut rng = ladder::generator(case, arguments.seed);
    let log = case.log(epsilon(case), arguments.rows, &mut rng);
    Ok(stdout().write_all(log.as_bytes())?)
}

/// The markdown table of all mechanisms, with the rows they need if asked for.
fn list(arguments: &Arguments, epsilon: &dyn Fn(&Case) -> f64) -> Result<(), Box<dyn Error>> {
    let extra = if arguments.table {
        [
            " rows of the best event | times these | times, `--scorer linear` |",
            " --- | --- | --- |",
        ]
    } else {
        ["", ""]
    };
    println!(
        "| mechanism | what is wrong | claim | true epsilon |{}",
        extra[0]
    );
    println!("| --- | --- | --- | --- |{}", extra[1]);
    let begins = arguments.name.as_deref().unwrap_or_default();
    let wanted =
        |case: &&Case| !arguments.table || (case.flaw.is_some() && case.name.starts_with(begins));
    for case in CASES.iter().filter(wanted) {
        let claimed = epsilon(case);
        let flaw = case.flaw.unwrap_or("–");
        let truth = format!("{:.3}", truth::epsilon(case, claimed)).replace("inf", "∞");
        print!(
            "| {} | {flaw} | `{}` | {truth} |",
            case.name,
            case.claim(claimed)
        );
        if arguments.table {
            print!("{}", measured(case, claimed, arguments.seeds)?);
        }
        println!();
        stdout().flush()?;
    }
    Ok(())
}

/// How many logs are called violated.
fn audited(case: &Case, epsilon: f64, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let trial = Trial {
        epsilon,
        scorer: ScorerChoice::Auto,
        quick: false,
    };
    let rows = arguments.rows;
    let seeds = arguments.seed..arguments.seed + arguments.seeds;
    let mut violated = 0;
    for seed in seeds {
        violated += u64::from(ladder::is_violated(case, trial, rows, seed)?);
    }
    println!(
        "{}: {violated} of {} logs of {rows} rows are called violated",
        case.name, arguments.seeds
    );
    Ok(())
}

/// What the last columns say: the rows that the best event needs to refute a wrong mechanism, and how many times these
/// the program does.
fn measured(case: &Case, epsilon: f64, seeds: u64) -> leakgauge::base::error::Result<String> {
    let ideal = ideal::rows(case, epsilon);
    let needed = |scorer| -> leakgauge::base::error::Result<String> {
        let trial = Trial {
            epsilon,
            scorer,
            quick: false,
        };
        let found = ladder::rows_needed(case, trial, ideal, seeds)?;
        Ok(found.map_or("more".to_owned(), |times| times.to_string()))
    };
    let linear = if case.has_numbers() {
        needed(ScorerChoice::Linear)?
    } else {
        String::new()
    };
    Ok(format!(
        " {ideal} | {} | {linear} |",
        needed(ScorerChoice::Auto)?
    ))
}
