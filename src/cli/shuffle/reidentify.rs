//! `leakgauge shuffle reidentify`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::exact::shuffle::parse_numbers;
use leakgauge::exact::shuffle::reidentification::{
    Asked, Density, Game, Pair, Question, RatioLaw, Reidentification, honeyword, pair,
};
use leakgauge::plot::Figure;
use leakgauge::report::shuffle as report;

use super::shared::{Files, Shared, randomizer};

/// `shuffle reidentify`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct ReidentifyArguments {
    /// P, the distribution of the target's message: a file with a label and its probability or count per row, a file
    /// with one message per row (a sample), `zipf(exponent=0.7, size=1000)`, or a density such as
    /// `0.9*normal(mean=0, sigma=1) + 0.1*laplace(mean=3, scale=2)`
    #[arg(
        long,
        value_name = "P",
        requires = "decoys",
        required_unless_present_any = ["randomizer", "log_ratios"]
    )]
    target: Option<String>,
    /// Q, the distribution of the other messages: the same, or `uniform`, `zipf(0.7)` over the labels of P
    #[arg(long, value_name = "Q", requires = "target")]
    decoys: Option<String>,
    /// Instead of P and Q: a table of ln P/Q, which may be inf, with its probability under P
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "decoys", "randomizer"])]
    log_ratios: Option<String>,
    /// Instead of P and Q: the mechanism that every user applies before shuffling
    #[arg(long, value_name = "MECHANISM", conflicts_with_all = ["target", "decoys"])]
    randomizer: Option<String>,
    /// With --randomizer: the possible inputs [default: the secrets of the mechanism]; for noise added to a number,
    /// the outermost inputs are enough
    #[arg(
        long,
        value_name = "X,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    inputs: Vec<String>,
    /// With --randomizer: the inputs of the target for which bounds are computed [default: all]
    #[arg(
        long,
        value_name = "X,…",
        value_delimiter = ',',
        requires = "randomizer"
    )]
    input: Vec<String>,
    /// With --randomizer and one --input: exact figures if all other users have this input
    #[arg(long, value_name = "X", requires = "randomizer")]
    against: Option<String>,
    /// With --randomizer: for each input, the number of other users known to have it; exact figures of --input, or of
    /// every input, for an adversary who knows the inputs of all users
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "randomizer", conflicts_with_all = ["messages", "against", "inputs", "success"])]
    known: Option<Vec<u64>>,
    /// With --randomizer: the law of the target's input, which is then random: `uniform`, `p1,p2,…` or `label=p,…`
    #[arg(long, value_name = "LAW", requires = "randomizer", conflicts_with_all = ["input", "against", "known", "inputs"])]
    input_law: Option<String>,
    /// With --input-law: exact figures if the other users' inputs are independent with this law
    #[arg(long, value_name = "LAW", requires = "input_law")]
    against_law: Option<String>,
    /// The numbers of guesses, in the same form as --n
    #[arg(long, value_name = "K,…", default_value = "1")]
    guesses: String,
    /// Also compute the smallest n for which no adversary has a higher probability of success
    #[arg(long, value_name = "S,…", value_delimiter = ',')]
    success: Vec<f64>,
    /// Read counts as samples, which gives estimates with limits instead of exact figures of the frequencies
    #[arg(long, conflicts_with = "randomizer")]
    samples: bool,
    /// The confidence level of every limit
    #[arg(long, default_value_t = 0.95, value_name = "C")]
    confidence: f64,
    /// With --plots and distributions: the number of accounts simulated for the success-number graph
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    accounts: u64,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    shared: Shared,
}

const KEYS: &str = "\
Keys of the JSON: kind, notes and
  exact       rows: [{n, guesses, success, additive_advantage, multiplicative_advantage, asymptotic,
              total_variation_bounds}], certain_mass, max_ratio (null if infinite), total_variation,
              needed: [{success, guesses, n}]
  estimate    rows with {point, lower, upper} for the three figures, method, confidence, seed
  randomizer  rows: [{n, guesses, clone, blanket, limit, blanket_limit}], epsilon, blanket_mass,
              max_ratio, inputs: [{input, max_ratio, blanket}]
  given-inputs  rows: [{input, n, guesses, success, additive_advantage, multiplicative_advantage}]
limit is guesses*exp(epsilon)/n, blanket_limit guesses*max_ratio/n, both at most 1.";

/// The largest number of games in one report.
const MAX_GAMES: usize = 100_000;

/// Runs `shuffle reidentify`.
pub fn reidentify(arguments: &ReidentifyArguments) -> Result<ExitCode> {
    arguments.shared.prepare()?;
    if let Some(text) = &arguments.randomizer {
        let found = of_randomizer(text, arguments)?;
        return arguments.shared.finish(
            || Ok(report::pictures(&found)),
            |format, out| report::write_reidentification(&found, format, out),
        );
    }
    let games = games(arguments)?;
    let (found, weights) = match (&arguments.target, &arguments.decoys) {
        _ if arguments.log_ratios.is_some() => (of_ratios(arguments, &games)?, None),
        (Some(target), Some(decoys)) => basic(target, decoys, arguments, &games)?,
        _ => return Err(Error::option("decoys", "is missing")),
    };
    arguments.shared.finish(
        || graphs(&found, weights.as_ref(), arguments, &games),
        |format, out| report::write_reidentification(&found, format, out),
    )
}

fn of_randomizer(text: &str, arguments: &ReidentifyArguments) -> Result<Reidentification> {
    let games = match arguments.known {
        Some(_) => Vec::new(),
        None => games(arguments)?,
    };
    let question = Question {
        inputs: &arguments.inputs,
        input: &arguments.input,
        against: arguments.against.as_deref(),
        known: arguments.known.as_deref(),
        input_law: arguments.input_law.as_deref(),
        against_law: arguments.against_law.as_deref(),
        success: &arguments.success,
        guesses: &parse_numbers("guesses", &arguments.guesses)?,
        games: &games,
    };
    question.answer(Asked {
        name: text,
        is_mechanism: !Path::new(text).is_file(),
        channel: &|| randomizer(text),
    })
}

/// The report for P and Q.
type Weights = (Vec<f64>, Vec<f64>);

fn games(arguments: &ReidentifyArguments) -> Result<Vec<Game>> {
    let messages = arguments.shared.sizes()?;
    if messages.is_empty() && arguments.success.is_empty() {
        return Err(Error::option("n", "is missing").with_hint(
            "give the number of messages, as in --n 10 or --n 2..1e6:20, or compute it with --success 0.2",
        ));
    }
    let guesses = parse_numbers("guesses", &arguments.guesses)?;
    if messages.len().saturating_mul(guesses.len()) > MAX_GAMES {
        return Err(Error::parameter(
            "--n",
            format!("with --guesses gives more than {MAX_GAMES} rows"),
        ));
    }
    let pairs = messages
        .iter()
        .flat_map(|&n| guesses.iter().map(move |&k| (n, k)));
    pairs.map(|(n, k)| Game::new(n, k)).collect()
}

fn exact(
    names: (&str, &str),
    law: &RatioLaw,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<Reidentification> {
    let guesses = parse_numbers("guesses", &arguments.guesses)?;
    Reidentification::exact(names, law, games, (&arguments.success, &guesses))
}

/// The report for a table of log-likelihood ratios.
fn of_ratios(arguments: &ReidentifyArguments, games: &[Game]) -> Result<Reidentification> {
    let file = arguments.log_ratios.as_deref().unwrap_or("-");
    let table = arguments.files.log_ratios(file)?;
    let law = RatioLaw::from_log_ratios(&table)?;
    exact((file, "its decoys"), &law, arguments, games)
}

/// The report for two densities, if P and Q are densities.
fn of_densities(
    target: &str,
    decoys: &str,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<Option<Reidentification>> {
    match (Density::parse(target)?, Density::parse(decoys)?) {
        (Some(p), Some(q)) => {
            let law = RatioLaw::from_densities(&p, &q)?;
            exact((target, decoys), &law, arguments, games).map(Some)
        }
        (None, None) => Ok(None),
        _ => Err(Error::parameter(
            "--target and --decoys",
            "must both be densities, or both be distributions or samples of labels",
        )),
    }
}

fn basic(
    target: &str,
    decoys: &str,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<(Reidentification, Option<Weights>)> {
    if let Some(found) = of_densities(target, decoys, arguments, games)? {
        return Ok((found, None));
    }
    let [p, q] = arguments.files.sources(target, decoys)?;
    let read = Some([p.form(), q.form()]);
    let both = pair(p, q, arguments.samples)?;
    match both {
        Pair::Weights(p, q) => {
            let law = RatioLaw::from_weights(&p, &q)?;
            let guesses = parse_numbers("guesses", &arguments.guesses)?;
            let asked = (&arguments.success[..], &guesses[..]);
            let found = Reidentification::exact((target, decoys), &law, games, asked)?;
            Ok((Reidentification { read, ..found }, Some((p, q))))
        }
        Pair::Samples(_) if !arguments.success.is_empty() => Err(Error::parameter(
            "--success",
            "needs known distributions, but these are samples",
        )),
        Pair::Samples(messages) => {
            let level = (arguments.confidence, arguments.shared.seed);
            let found = Reidentification::estimate((target, decoys), &messages, games, level)?;
            Ok((Reidentification { read, ..found }, None))
        }
    }
}

fn graphs(
    found: &Reidentification,
    weights: Option<&Weights>,
    arguments: &ReidentifyArguments,
    games: &[Game],
) -> Result<Vec<Figure>> {
    let mut pictures = report::pictures(found);
    let (Some((p, q)), Some(game)) = (weights, games.first()) else {
        return Ok(pictures);
    };
    let law = RatioLaw::from_weights(p, q)?;
    pictures.push(report::flatness(&law, game.messages())?);
    let most = honeyword::MAX_SWEETWORDS / game.messages().max(1);
    let system = honeyword::System {
        sweetwords: game.messages(),
        guesses: game.guesses().min(game.messages()),
        accounts: arguments.accounts.min(most),
        seed: arguments.shared.seed,
    };
    if system.accounts > 0 {
        let points = honeyword::success_number(p, q, &system)?;
        pictures.push(report::success_number(&points, &system));
    }
    Ok(pictures)
}
