//! Reports of the information about an input of a randomizer over several numbers of messages.

use crate::extreme::Extreme;
use serde::Serialize;

use super::reports::{Alike, Reports};
use super::survey::check_sizes;
use super::{Basic, Blanket, Signal, Users, informed, privacy_bounds};
use crate::channel::{Channel, Prior};
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};

/// The information about the input of a user of a randomizer, for one number of messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RandomizerRow {
    /// The number of messages, including the target's.
    pub n: u64,
    /// An upper bound on I(K; Z | X), 2ε; null if infinite.
    pub position_bound: Option<f64>,
    /// An upper bound on I(K; Z | X) for any inputs of the users: the largest I(K; Z) of an input among decoys of the
    /// blanket, at most the bound for every n; null if it does not apply.
    pub position_blanket: Option<f64>,
    /// I(X₁; Z), if the other users' inputs are independent with the prior of others.
    pub input: RandomizerFigure,
    /// (m − 1)·e^ε/2n, the leading term of the clone bound on I(Y₁; Z | X₋₁); null if infinite.
    pub message_clone: Option<f64>,
}

/// The information about an input, and its bounds, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RandomizerFigure {
    /// The exact I(X₁; Z).
    pub exact: f64,
    /// Its leading term (Lemma 1); null if infinite.
    pub asymptotic: Option<f64>,
    /// An upper bound on I(X₁; Z | X₋₁) for any inputs of the other users: the exact value of the blanket-mixed
    /// instance.
    pub blanket: f64,
    /// The leading term of that bound; null if infinite.
    pub blanket_asymptotic: Option<f64>,
    /// (e^ε − 1)/2n, the leading term of the bound for any ε-private randomizer; null if infinite.
    pub unified: Option<f64>,
}

/// The report about a randomizer before a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RandomizerSurvey {
    /// The version of this layout, 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The randomizer.
    pub randomizer: String,
    /// The ε of local differential privacy; null if infinite.
    pub epsilon: Option<f64>,
    /// γ, the mass of the blanket.
    pub gamma: f64,
    /// An upper bound on I(K; Z | X) for every n and any inputs: the largest Σ R_x·ln(R_x/min R); null if infinite.
    pub position_bound: Option<f64>,
    /// I(X₁; Z | X₋₁) for an adversary who knows how many other users have each input; null if not requested.
    pub informed: Option<f64>,
    /// The exact I(K; Z | X = x) for each possible input of the target, given how many other users have each input;
    /// null if not requested.
    pub positions: Option<Vec<InputPosition>>,
    /// One entry per number of messages.
    pub rows: Vec<RandomizerRow>,
}

/// The information about the position of the target's message, given the inputs of all users.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputPosition {
    /// The target's input.
    pub input: String,
    /// The number of messages, including the target's.
    pub n: u64,
    /// I(K; Z | X = x), in nats.
    pub position: f64,
}

/// What is asked about a randomizer.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The prior of the target's input.
    pub prior: &'a Prior,
    /// The prior of every other user's input; without it, the target's.
    pub others: Option<&'a Prior>,
    /// The numbers of messages.
    pub sizes: &'a [u64],
    /// For each input, the number of other users that have it.
    pub known: Option<&'a [u64]>,
}

/// Computes the report for a randomizer and a prior of inputs, over numbers of messages, for known inputs of the
/// other users, or for both.
///
/// # Errors
/// Neither numbers of messages nor known inputs are given, or an argument does not fit the randomizer.
pub fn survey_randomizer(
    name: &str,
    randomizer: &Channel,
    prior: &Prior,
    sizes: &[u64],
    known: Option<&[u64]>,
) -> Result<RandomizerSurvey> {
    let question = Question {
        prior,
        others: None,
        sizes,
        known,
    };
    survey_reports(name, &Reports::Listed(randomizer.clone()), &question)
}

/// The same for any randomizer whose messages can be listed, integrated over or put into classes, with a law of the
/// other users' inputs of its own.
///
/// # Errors
/// As [`survey_randomizer`]; a prior other than the uniform one, or known inputs, where messages are in classes only.
pub fn survey_reports(
    name: &str,
    reports: &Reports,
    question: &Question<'_>,
) -> Result<RandomizerSurvey> {
    if question.known.is_none() || !question.sizes.is_empty() {
        check_sizes(question.sizes)?;
    }
    match reports {
        Reports::Listed(channel) => {
            let messages = Some(channel.observations().len() as u64);
            listed(name, channel, (channel.epsilon(), messages), question)
        }
        Reports::Nodes {
            channel, epsilon, ..
        } => listed(name, channel, (*epsilon, None), question),
        Reports::Alike(alike) => of_classes(name, alike, question),
    }
}

fn finite(x: f64) -> Option<f64> {
    Some(x).filter(|x| x.is_finite())
}

fn listed(
    name: &str,
    randomizer: &Channel,
    (epsilon, messages): (Option<f64>, Option<u64>),
    question: &Question<'_>,
) -> Result<RandomizerSurvey> {
    let prior = question.prior;
    let among = Signal::among(randomizer, prior, question.others.unwrap_or(prior))?;
    let mixed = Signal::blanket(randomizer, prior)?;
    let blanket = Blanket::of(randomizer);
    let hidden = hidden_positions(randomizer, &blanket)?;
    let row = |&n: &u64| -> Result<RandomizerRow> {
        let bounds = privacy_bounds(epsilon.unwrap_or(f64::INFINITY), messages.unwrap_or(1), n)?;
        let exact = among.information(n)?;
        let size = 2.0 * n as f64;
        Ok(RandomizerRow {
            n,
            position_bound: finite(bounds.position),
            position_blanket: largest(&hidden, n)?,
            input: RandomizerFigure {
                exact,
                asymptotic: finite(among.coefficient() / size),
                // Rounding must not put the bound below what it bounds.
                blanket: mixed.information(n)?.at_least(exact),
                blanket_asymptotic: finite(mixed.coefficient() / size),
                unified: finite(bounds.input),
            },
            message_clone: messages.and_then(|_| finite(bounds.message)),
        })
    };
    let known = question.known;
    Ok(RandomizerSurvey {
        schema_version: 1,
        tool: Tool::default(),
        randomizer: name.to_owned(),
        epsilon,
        gamma: blanket.gamma,
        position_bound: finite(blanket.position_bound(randomizer)),
        informed: known
            .map(|known| informed(randomizer, prior, known))
            .transpose()?,
        positions: known
            .map(|known| positions(randomizer, prior, known))
            .transpose()?,
        rows: question.sizes.iter().map(row).collect::<Result<_>>()?,
    })
}

/// Each input among decoys of the generalized blanket.
///
/// An adversary who is told which messages of the other users are not from the blanket knows at least as much as one
/// who sees the shuffled messages, whatever their inputs are.
fn hidden_positions(randomizer: &Channel, blanket: &Blanket) -> Result<Vec<Basic>> {
    let decoys = blanket.generalized();
    let whole: f64 = decoys.iter().sum();
    let decoys: Vec<f64> = decoys.iter().map(|q| q / whole).collect();
    let game = |row: &[f64]| {
        let whole: f64 = row.iter().sum();
        let target: Vec<f64> = row.iter().map(|p| p / whole).chain([0.0]).collect();
        Basic::new(&target, &decoys)
    };
    randomizer.rows().map(game).collect()
}

fn largest(games: &[Basic], n: u64) -> Result<Option<f64>> {
    let each = games.iter().map(|game| game.position(n));
    let all = each.collect::<Result<Vec<f64>>>()?;
    Ok(all.into_iter().reduce(f64::at_least))
}

/// I(K; Z | X = x) for every input of positive probability.
fn positions(randomizer: &Channel, prior: &Prior, known: &[u64]) -> Result<Vec<InputPosition>> {
    let others: Vec<(Vec<f64>, u64)> = randomizer
        .rows()
        .zip(known)
        .map(|(row, count)| (row.to_vec(), *count))
        .collect();
    let inputs = randomizer.secrets().iter().zip(randomizer.rows());
    let possible = inputs.zip(prior.weights()).filter(|(_, p)| **p > 0.0);
    possible
        .map(|((input, row), _)| {
            let users = Users::new(row, &others)?;
            Ok(InputPosition {
                input: input.clone(),
                n: users.messages(),
                position: users.position()?,
            })
        })
        .collect()
}

fn of_classes(name: &str, alike: &Alike, question: &Question<'_>) -> Result<RandomizerSurvey> {
    let uniform = |prior: &Prior| {
        let weights = prior.weights();
        weights.iter().all(|p| *p == weights[0])
    };
    let priors = [Some(question.prior), question.others];
    if !priors.into_iter().flatten().all(uniform) {
        return Err(Error::option(
            "prior",
            format!("must be uniform: {name} has too many messages to list"),
        ));
    }
    if question.known.is_some() {
        return Err(Error::option(
            "known",
            format!("does not apply: {name} has too many messages to list"),
        ));
    }
    let epsilon = finite(alike.epsilon);
    let row = |&n: &u64| -> Result<RandomizerRow> {
        let bounds = privacy_bounds(alike.epsilon, 1, n)?;
        let size = 2.0 * n as f64;
        let exact = alike.information(n);
        Ok(RandomizerRow {
            n,
            position_bound: finite(bounds.position),
            position_blanket: Some(alike.position(n)),
            input: RandomizerFigure {
                exact,
                asymptotic: finite(alike.coefficient() / size),
                blanket: alike.blanket_information(n).at_least(exact),
                blanket_asymptotic: finite(alike.blanket_coefficient() / size),
                unified: finite(bounds.input),
            },
            message_clone: None,
        })
    };
    Ok(RandomizerSurvey {
        schema_version: 1,
        tool: Tool::default(),
        randomizer: name.to_owned(),
        epsilon,
        gamma: alike.gamma(),
        position_bound: finite(alike.position_bound()),
        informed: None,
        positions: None,
        rows: question.sizes.iter().map(row).collect::<Result<_>>()?,
    })
}
