//! What shuffled messages tell: the commands of `leakgauge shuffle`, with distributions in memory.

use leakgauge::base::error::{Error, Result};
use leakgauge::exact::channel::Channel;
use leakgauge::exact::shuffle::information::{
    self, Distribution, Reports, StoppingRule, SurveyOptions,
};
use leakgauge::exact::shuffle::parse_numbers;
use leakgauge::exact::shuffle::privacy;
use leakgauge::exact::shuffle::reidentification::{
    Asked, Density, Game, Pair, Question, RatioLaw, Reidentification, Source, pair,
};
use leakgauge::exact::shuffle::vulnerability;
use leakgauge::input::distribution;
use leakgauge::log::{self, ReadMeter};
use leakgauge::report::{self, shuffle as pictures};
use pyo3::prelude::*;

use crate::exact::ChannelInput;
use crate::work;
use crate::written::Written;

/// The largest number of games in one report.
const MAX_GAMES: usize = 100_000;

/// A distribution, or a sample of one.
#[derive(FromPyObject, Clone)]
pub enum Law {
    /// `zipf(…)`, `uniform`, or a path.
    Text(String),
    /// Labels, their weights, and whether these are counts.
    Table(Vec<String>, Vec<f64>, bool),
    /// Messages.
    Samples((Vec<String>,)),
}

impl Law {
    fn source(self) -> Result<Source> {
        match self {
            Law::Text(text) => match Source::named(&text)? {
                Some(named) => Ok(named),
                None => distribution::read(&text, log::open(&text, &ReadMeter::default())?, None),
            },
            Law::Table(labels, weights, counts) => Ok(Source::Table {
                labels,
                weights,
                counts,
            }),
            Law::Samples((messages,)) => Ok(Source::Samples(messages)),
        }
    }

    fn name(&self, field: &str) -> String {
        match self {
            Law::Text(text) => text.clone(),
            _ => field.to_owned(),
        }
    }
}

/// Keyword arguments of `shuffle.reidentify`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReidentifyKeywords {
    target: Option<Law>,
    decoys: Option<Law>,
    log_ratios: Option<Law>,
    randomizer: Option<ChannelInput>,
    randomizer_name: String,
    inputs: Vec<String>,
    input: Vec<String>,
    against: Option<String>,
    known: Option<Vec<u64>>,
    input_law: Option<String>,
    against_law: Option<String>,
    n: Option<String>,
    guesses: String,
    success: Vec<f64>,
    samples: bool,
    confidence: f64,
    seed: u64,
    threads: Option<usize>,
}

/// How likely one user's message is found among n.
#[pyfunction]
pub fn reidentify(py: Python<'_>, keywords: ReidentifyKeywords) -> PyResult<Written> {
    work::run(py, keywords.threads, move || {
        let found = reidentified(&keywords)?;
        let written =
            Written::of(|format, out| pictures::write_reidentification(&found, format, out))?;
        Ok(written.with(pictures::pictures(&found)))
    })
}

fn reidentified(keywords: &ReidentifyKeywords) -> Result<Reidentification> {
    let (target, decoys) = (&keywords.target, &keywords.decoys);
    if let Some(input) = &keywords.randomizer {
        if target.is_some() || decoys.is_some() || keywords.log_ratios.is_some() {
            let problem = "goes with neither target= nor decoys= nor log_ratios=";
            return Err(Error::option("randomizer", problem));
        }
        return of_randomizer(input, keywords);
    }
    let games = games(keywords)?;
    match (&keywords.log_ratios, target, decoys) {
        (Some(table), None, None) => {
            let name = table.name("log_ratios");
            let law = RatioLaw::from_log_ratios(&table.clone().source()?.log_ratios(&name)?)?;
            exact((&name, "its decoys"), &law, keywords, &games)
        }
        (Some(_), ..) => {
            let problem = "goes with neither target= nor decoys=";
            Err(Error::option("log_ratios", problem))
        }
        (None, Some(target), Some(decoys)) => of_laws(target, decoys, keywords, &games),
        (None, None, _) => Err(Error::option("target", "is missing")),
        (None, Some(_), None) => Err(Error::option("decoys", "is missing")),
    }
}

fn exact(
    names: (&str, &str),
    law: &RatioLaw,
    keywords: &ReidentifyKeywords,
    games: &[Game],
) -> Result<Reidentification> {
    let guesses = parse_numbers("guesses", &keywords.guesses)?;
    Reidentification::exact(names, law, games, (&keywords.success, &guesses))
}

fn sizes(n: Option<&str>) -> Result<Vec<u64>> {
    n.map_or_else(|| Ok(Vec::new()), |text| parse_numbers("n", text))
}

fn games(keywords: &ReidentifyKeywords) -> Result<Vec<Game>> {
    let messages = sizes(keywords.n.as_deref())?;
    if messages.is_empty() && keywords.success.is_empty() {
        return Err(Error::option("n", "is missing")
            .with_hint("pass the numbers of messages, n=[10, 100], or success=0.2"));
    }
    let guesses = parse_numbers("guesses", &keywords.guesses)?;
    if messages.len().saturating_mul(guesses.len()) > MAX_GAMES {
        let problem = format!("gives more than {MAX_GAMES} rows with guesses=");
        return Err(Error::option("n", problem));
    }
    let pairs = messages
        .iter()
        .flat_map(|&n| guesses.iter().map(move |&k| (n, k)));
    pairs.map(|(n, k)| Game::new(n, k)).collect()
}

fn of_laws(
    target: &Law,
    decoys: &Law,
    keywords: &ReidentifyKeywords,
    games: &[Game],
) -> Result<Reidentification> {
    let names = (&*target.name("target"), &*decoys.name("decoys"));
    if let (Law::Text(p), Law::Text(q)) = (target, decoys)
        && let (Some(p), Some(q)) = (Density::parse(p)?, Density::parse(q)?)
    {
        return exact(names, &RatioLaw::from_densities(&p, &q)?, keywords, games);
    }
    let sources = (target.clone().source()?, decoys.clone().source()?);
    match pair(sources.0, sources.1, keywords.samples)? {
        Pair::Weights(p, q) => exact(names, &RatioLaw::from_weights(&p, &q)?, keywords, games),
        Pair::Samples(_) if !keywords.success.is_empty() => Err(Error::option(
            "success",
            "needs known distributions, but these are samples",
        )),
        Pair::Samples(messages) => {
            let level = (keywords.confidence, keywords.seed);
            Reidentification::estimate(names, &messages, games, level)
        }
    }
}

fn of_randomizer(input: &ChannelInput, keywords: &ReidentifyKeywords) -> Result<Reidentification> {
    let games = match keywords.known {
        Some(_) => Vec::new(),
        None => games(keywords)?,
    };
    let question = Question {
        inputs: &keywords.inputs,
        input: &keywords.input,
        against: keywords.against.as_deref(),
        known: keywords.known.as_deref(),
        input_law: keywords.input_law.as_deref(),
        against_law: keywords.against_law.as_deref(),
        success: &keywords.success,
        guesses: &parse_numbers("guesses", &keywords.guesses)?,
        games: &games,
    };
    question.answer(Asked {
        name: &keywords.randomizer_name,
        is_mechanism: input.is_mechanism(),
        channel: &|| Ok(input.clone().read(false)?.0),
    })
}

/// Keyword arguments of `shuffle.information`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct InformationKeywords {
    target: Option<Law>,
    decoys: Option<Law>,
    best_decoys: bool,
    users: Vec<(String, Law, u64)>,
    randomizer: Option<ChannelInput>,
    randomizer_name: String,
    prior: String,
    others: Option<String>,
    known: Option<Vec<u64>>,
    observed: Option<Law>,
    samples: Option<u64>,
    standard_error: Option<f64>,
    n: Option<String>,
    seed: u64,
    threads: Option<usize>,
}

/// How many nats shuffled messages tell.
#[pyfunction]
pub fn shuffled_information(py: Python<'_>, keywords: InformationKeywords) -> PyResult<Written> {
    work::run(py, keywords.threads, move || {
        let sizes = sizes(keywords.n.as_deref())?;
        if let Some(input) = keywords.randomizer {
            let reports = input.reports()?;
            let others = keywords.others.as_deref();
            let others = others.map(|text| reports.prior(text)).transpose()?;
            let question = information::Question {
                prior: &reports.prior(&keywords.prior)?,
                others: others.as_ref(),
                sizes: &sizes,
                known: keywords.known.as_deref(),
            };
            let survey =
                information::survey_reports(&keywords.randomizer_name, &reports, &question)?;
            let written =
                Written::of(|format, out| report::write_shuffle_randomizer(&survey, format, out))?;
            return Ok(written.with(pictures::randomizer_pictures(&survey)));
        }
        let Some(target) = &keywords.target else {
            return Err(Error::option("target", "is missing"));
        };
        let name = target.name("target");
        if !keywords.users.is_empty() {
            let target = Distribution::of(&name, target.clone().source()?)?;
            let others = keywords.users.into_iter().map(|(name, law, count)| {
                let law = Distribution::of(&name, law.source()?)?;
                Ok((name, law, count))
            });
            let others: Vec<_> = others.collect::<Result<_>>()?;
            let survey = information::survey_users(&target, &others)?;
            return Written::of(|format, out| report::write_shuffle_users(&survey, format, out));
        }
        let (target, decoys) = match &keywords.decoys {
            Some(decoys) => {
                let sources = [target.clone().source()?, decoys.clone().source()?];
                let names = [&*name, &*decoys.name("decoys")];
                let [target, decoys] = Distribution::both(names, sources)?;
                (target, Some(decoys))
            }
            None if keywords.best_decoys => {
                (Distribution::of(&name, target.clone().source()?)?, None)
            }
            None => {
                return Err(Error::option("decoys", "is missing")
                    .with_hint("pass decoys=, users= or best_decoys=True"));
            }
        };
        let options = SurveyOptions {
            sizes,
            simulation: keywords.samples.map(|max_samples| StoppingRule {
                max_samples,
                standard_error: keywords.standard_error,
            }),
            seed: keywords.seed,
            list_best: keywords.best_decoys,
            observed: keywords
                .observed
                .map(|messages| {
                    let name = messages.name("observed");
                    messages.source()?.messages(&name)
                })
                .transpose()?,
        };
        let survey = information::survey(&target, decoys.as_ref(), &options)?;
        let written =
            Written::of(|format, out| report::write_shuffle_information(&survey, format, out))?;
        Ok(written.with(pictures::information_pictures(&survey)))
    })
}

/// Keyword arguments of `shuffle.vulnerability`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct VulnerabilityKeywords {
    values: Vec<u64>,
    keep: Vec<f64>,
    randomizer: Option<ChannelInput>,
    randomizer_name: String,
    prior: String,
    known: Option<Vec<u64>>,
    samples: Option<u64>,
    n: Option<String>,
    seed: u64,
    threads: Option<usize>,
}

/// How likely one user's value is guessed.
#[pyfunction]
pub fn guess_value(py: Python<'_>, keywords: VulnerabilityKeywords) -> PyResult<Written> {
    work::run(py, keywords.threads, move || {
        let sizes = sizes(keywords.n.as_deref())?;
        let special =
            keywords.prior != "uniform" || keywords.known.is_some() || keywords.samples.is_some();
        let (name, reports) = match keywords.randomizer {
            Some(input) => (keywords.randomizer_name.clone(), input.reports()?),
            None if special => {
                let (name, channel) = randomized_response(&keywords.values, &keywords.keep)?;
                (name, Reports::Listed(channel))
            }
            None => {
                let survey = vulnerability::survey(&keywords.values, &keywords.keep, &sizes)?;
                let written = Written::of(|format, out| {
                    report::write_shuffle_vulnerability(&survey, format, out)
                })?;
                return Ok(written.with(vec![pictures::vulnerability_picture(&survey)]));
            }
        };
        let prior = reports.prior(&keywords.prior)?;
        let simulation = vulnerability::Simulation {
            samples: keywords.samples.unwrap_or(100_000),
            always: keywords.samples.is_some(),
            seed: keywords.seed,
        };
        let known = keywords.known.as_deref();
        let survey =
            vulnerability::survey_reports(&name, &reports, &prior, &sizes, known, simulation)?;
        let written =
            Written::of(|format, out| report::write_shuffle_mechanism(&survey, format, out))?;
        Ok(written.with(vec![pictures::mechanism_picture(&survey)]))
    })
}

/// Keyword arguments of `shuffle.privacy`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PrivacyKeywords {
    randomizer: ChannelInput,
    randomizer_name: String,
    at_epsilon: Vec<f64>,
    n: Option<String>,
    threads: Option<usize>,
}

/// How private shuffled reports are, whatever the other users report.
#[pyfunction]
pub fn shuffled_privacy(py: Python<'_>, keywords: PrivacyKeywords) -> PyResult<Written> {
    work::run(py, keywords.threads, move || {
        let sizes = sizes(keywords.n.as_deref())?;
        let reports = keywords.randomizer.private_reports()?;
        let survey = privacy::survey(
            &keywords.randomizer_name,
            &reports,
            &sizes,
            &keywords.at_epsilon,
        )?;
        Written::of(|format, out| report::write_shuffle_privacy(&survey, format, out))
    })
}

fn randomized_response(values: &[u64], keep: &[f64]) -> Result<(String, Channel)> {
    let (&[values], &[keep]) = (values, keep) else {
        let problem = "values= and keep= must be one number each with prior=, known= or samples=";
        return Err(Error::parameter("shuffle.vulnerability", problem));
    };
    let channel = vulnerability::randomized_response(values, keep)?;
    let name = format!("randomized response over {values} values, keep {keep}");
    Ok((name, channel))
}
