//! `leakgauge shuffle reidentify`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use leakgauge::error::{Error, Result};
use leakgauge::log::{self, ReadMeter};
use leakgauge::mechanism;
use leakgauge::report::shuffle as report;
use leakgauge::shuffle::reidentification::{
    Game, Pair, Randomizer, RatioLaw, Reidentification, Source, honeyword, pair, parse_numbers,
};

use crate::cli::options::{FormatName, use_threads};
use crate::cli::shuffle::check_directory;
use crate::cli::to_stdout;

/// `shuffle reidentify`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct ReidentifyArguments {
    /// P, the law of the message that is looked for: a file with a label and its probability or count a
    /// row, a file with one message a row (a sample), or `zipf(exponent=0.7, size=1000)`
    #[arg(
        long,
        value_name = "P",
        requires = "decoys",
        required_unless_present = "randomizer"
    )]
    target: Option<String>,
    /// Q, the law of the others: the same, or `uniform`, `zipf(0.7)` over the labels of P
    #[arg(long, value_name = "Q", requires = "target")]
    decoys: Option<String>,
    /// Instead: the mechanism that every user applies before shuffling
    #[arg(long, value_name = "MECHANISM", conflicts_with_all = ["target", "decoys"])]
    randomizer: Option<String>,
    /// With --randomizer: the inputs there are [default: the secrets of the mechanism]; of noise added
    /// to a number its outermost inputs suffice
    #[arg(
        long,
        value_name = "X,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    inputs: Vec<String>,
    /// With --randomizer: bounds for these inputs of the target [default: all]
    #[arg(
        long,
        value_name = "X,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    input: Vec<String>,
    /// Numbers of messages, the target's included: `2,10,1000`, `2..50` or, spread evenly by their
    /// logarithm, `2..1e12:30`
    #[arg(long = "n", value_name = "N,…")]
    messages: Option<String>,
    /// Numbers of guesses, written the same way
    #[arg(long, value_name = "K,…", default_value = "1")]
    guesses: String,
    /// Also the smallest n at which no adversary succeeds with a higher probability
    #[arg(
        long,
        value_name = "S,…",
        value_delimiter = ',',
        conflicts_with = "randomizer"
    )]
    success: Vec<f64>,
    /// Read counts as samples: estimates with limits instead of exact figures of the frequencies
    #[arg(long, conflicts_with = "randomizer")]
    samples: bool,
    /// Row 1 of both files is data
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// Row 1 of both files names the columns
    #[arg(long)]
    header: bool,
    /// Level of every limit
    #[arg(long, default_value_t = 0.95, value_name = "C")]
    confidence: f64,
    /// Seed of the split of samples, and of the accounts of the success-number graph
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// With --plots and distributions: accounts simulated for the success-number graph
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    accounts: u64,
    /// Number of threads; the report does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Write every graph to this directory, data (CSV) and picture (SVG), in place of files of their
    /// names
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

const KEYS: &str = "\
Keys of the JSON: kind, notes and
  exact       rows: [{n, guesses, success, additive_advantage, multiplicative_advantage, asymptotic,
              total_variation_bounds}], certain_mass, max_ratio (null if infinite), total_variation,
              needed: [{success, guesses, n}]
  estimate    rows with {point, lower, upper} for the three figures, method, confidence, seed
  randomizer  rows: [{n, guesses, clone, blanket, limit, blanket_limit}], epsilon, blanket_mass,
              max_ratio, inputs: [{input, max_ratio, blanket}]
limit is guesses*exp(epsilon)/n, blanket_limit guesses*max_ratio/n, both cut at 1.";

/// The most games of one report.
const MOST_GAMES: usize = 100_000;

/// Runs `shuffle reidentify`.
pub fn reidentify(arguments: &ReidentifyArguments) -> Result<ExitCode> {
    use_threads(arguments.threads)?;
    check_directory(arguments.plots.as_deref())?;
    let games = games(arguments)?;
    let (found, weights) = match (&arguments.randomizer, &arguments.target, &arguments.decoys) {
        (Some(randomizer), ..) => (shuffled(randomizer, arguments, &games)?, None),
        (None, Some(target), Some(decoys)) => basic(target, decoys, arguments, &games)?,
        _ => return Err(Error::parameter("--decoys", "is missing")),
    };
    if let Some(directory) = &arguments.plots {
        draw(directory, &found, weights.as_ref(), arguments, &games)?;
    }
    to_stdout(|out| report::write_reidentification(&found, arguments.format.into(), out))?;
    Ok(ExitCode::SUCCESS)
}

/// P and Q, where they are known.
type Weights = (Vec<f64>, Vec<f64>);

fn games(arguments: &ReidentifyArguments) -> Result<Vec<Game>> {
    let messages = match &arguments.messages {
        Some(text) => parse_numbers("--n", text)?,
        None if arguments.success.is_empty() => {
            return Err(Error::parameter("--n", "is missing").with_hint(
                "the number of messages: --n 10, --n 2..1e6:20; or ask for it with --success 0.2",
            ));
        }
        None => Vec::new(),
    };
    let guesses = parse_numbers("--guesses", &arguments.guesses)?;
    if messages.len().saturating_mul(guesses.len()) > MOST_GAMES {
        return Err(Error::parameter(
            "--n",
            format!("with --guesses makes more than {MOST_GAMES} rows"),
        ));
    }
    let pairs = messages
        .iter()
        .flat_map(|&n| guesses.iter().map(move |&k| (n, k)));
    pairs.map(|(n, k)| Game::new(n, k)).collect()
}

fn source(text: &str, arguments: &ReidentifyArguments) -> Result<Source> {
    if let Some(named) = Source::named(text)? {
        return Ok(named);
    }
    let header = match (arguments.header, arguments.no_header) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    Source::read(text, log::open(text, &ReadMeter::default())?, header)
}

fn basic(
    target: &str,
    decoys: &str,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<(Reidentification, Option<Weights>)> {
    if target == decoys && target == log::STDIN {
        return Err(Error::parameter(
            "-",
            "standard input can be read only once",
        ));
    }
    let both = pair(
        source(target, arguments)?,
        source(decoys, arguments)?,
        arguments.samples,
    )?;
    match both {
        Pair::Weights(p, q) => {
            let law = RatioLaw::from_weights(&p, &q)?;
            let guesses = parse_numbers("--guesses", &arguments.guesses)?;
            let asked = (&arguments.success[..], &guesses[..]);
            let found = Reidentification::exact((target, decoys), &law, games, asked)?;
            Ok((found, Some((p, q))))
        }
        Pair::Samples(_) if !arguments.success.is_empty() => Err(Error::parameter(
            "--success",
            "needs known distributions, and these are samples",
        )),
        Pair::Samples(messages) => {
            let level = (arguments.confidence, arguments.seed);
            let found = Reidentification::estimate((target, decoys), &messages, games, level)?;
            Ok((found, None))
        }
    }
}

fn shuffled(
    text: &str,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<Reidentification> {
    let mechanism = mechanism::parse(text)?;
    let mut inputs = arguments.inputs.clone();
    let given = !inputs.is_empty();
    if given {
        // Noise added to a number has the same blanket for inputs in between.
        let more = arguments
            .input
            .iter()
            .filter(|input| !inputs.contains(input));
        inputs.extend(more.cloned().collect::<Vec<_>>());
    }
    let randomizer = Randomizer::new(&*mechanism, given.then_some(&inputs[..]))?;
    if given && !randomizer.same_blanket(&arguments.inputs)? {
        return Err(Error::parameter(
            format!("--input {}", arguments.input.join(",")),
            "is none of --inputs, nor between them",
        ));
    }
    let numbers: Vec<usize> = if arguments.input.is_empty() {
        (0..randomizer.inputs().len()).collect()
    } else {
        let number = |input: &String| randomizer.number(input);
        arguments.input.iter().map(number).collect::<Result<_>>()?
    };
    const MOST_INPUTS: usize = 2_000;
    if numbers.len() > MOST_INPUTS {
        return Err(Error::parameter(
            text,
            format!("has {} inputs, too many to bound each", numbers.len()),
        )
        .with_hint("name those that matter with --input"));
    }
    let laws: Vec<_> = numbers
        .into_iter()
        .map(|number| randomizer.input(number))
        .collect::<Result<_>>()?;
    Reidentification::randomizer(text, randomizer.epsilon(), &laws, games)
}

/// Writes the graphs.
fn draw(
    directory: &Path,
    found: &Reidentification,
    weights: Option<&Weights>,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<()> {
    let mut pictures = report::pictures(found);
    if let (Some((p, q)), Some(game)) = (weights, games.first()) {
        let law = RatioLaw::from_weights(p, q)?;
        pictures.push(report::flatness(&law, game.messages())?);
        let most = honeyword::MOST_SWEETWORDS / game.messages().max(1);
        let system = honeyword::System {
            sweetwords: game.messages(),
            guesses: game.guesses().min(game.messages()),
            accounts: arguments.accounts.min(most),
            seed: arguments.seed,
        };
        if system.accounts > 0 {
            let points = honeyword::success_number(p, q, &system)?;
            pictures.push(report::success_number(&points, &system));
        }
    }
    report::write_pictures(pictures, directory).map(|_| ())
}
