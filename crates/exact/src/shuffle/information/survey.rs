//! Tables of informations over numbers of messages, as they are reported.

use serde::Serialize;

use super::{
    Basic, Blanket, Distribution, MonteCarlo, Signal, StoppingRule, Users, check_size, informed,
    message_coefficient, optimal_decoys, privacy_bounds,
};
use crate::channel::{Channel, Prior};
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};

/// An exact value and its expansion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// Exactly, in nats.
    pub exact: f64,
    /// Its expansion to the order of 1/n; no bound.
    pub asymptotic: f64,
    /// By simulation, if asked for.
    pub monte_carlo: Option<MonteCarlo>,
}

/// At one number of messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Messages, the target's included.
    pub n: u64,
    /// I(K; Z).
    pub position: Figure,
    /// I(Y₁; Z).
    pub message: Figure,
}

/// A target among decoys.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Survey {
    /// 1.
    pub schema_version: u32,
    /// What computed this.
    pub tool: Tool,
    /// Seed of the simulations.
    pub seed: u64,
    /// Different messages in both laws together.
    pub messages: usize,
    /// β, the probability that the target's message is one that no decoy sends.
    pub revealed: f64,
    /// D(P′‖Q), the information about the position in the limit, of messages that decoys send.
    pub divergence: f64,
    /// χ²(P′‖Q).
    pub chi_squared: f64,
    /// Σ p(1 − p)/q: I(Y₁; Z) ≈ this/2n; null if infinite.
    pub coefficient: Option<f64>,
    /// The same constant of the best decoys.
    pub best_coefficient: f64,
    /// The entropy of the target's message: no information about it is larger.
    pub entropy: f64,
    /// The best decoys, q ∝ √(p(1 − p)), if asked for.
    pub best_decoys: Option<Vec<LabelProbability>>,
    /// One a number of messages.
    pub rows: Vec<Row>,
}

/// A label with its probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelProbability {
    /// The label.
    pub label: String,
    /// Its probability.
    pub probability: f64,
}

/// What to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyOptions {
    /// Numbers of messages.
    pub sizes: Vec<u64>,
    /// Simulate, too.
    pub simulation: Option<StoppingRule>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Give the best decoys.
    pub list_best: bool,
}

/// The target's law against decoys; without decoys, against the best.
///
/// # Errors
/// No probability distributions, no numbers of messages, a number that is 0.
pub fn survey(
    target: &Distribution,
    decoys: Option<&Distribution>,
    options: &SurveyOptions,
) -> Result<Survey> {
    check_sizes(&options.sizes)?;
    let best = optimal_decoys(&target.probabilities)?;
    let own = Distribution {
        labels: target.labels.clone(),
        probabilities: best.decoys,
    };
    let (labels, laws) = Distribution::align(&[target, decoys.unwrap_or(&own)]);
    let basic = Basic::new(&laws[0], &laws[1])?;
    let c = basic.coefficients();
    let list = |law: &Distribution| {
        law.labels
            .iter()
            .zip(&law.probabilities)
            .map(|(label, &probability)| LabelProbability {
                label: label.clone(),
                probability,
            })
            .collect()
    };
    Ok(Survey {
        schema_version: 1,
        tool: Tool::default(),
        seed: options.seed,
        messages: labels.len(),
        revealed: c.revealed,
        divergence: c.divergence,
        chi_squared: c.chi_squared,
        coefficient: Some(message_coefficient(&laws[0], &laws[1])?).filter(|c| c.is_finite()),
        best_coefficient: best.coefficient,
        entropy: entropy(&laws[0]),
        best_decoys: options.list_best.then(|| list(&own)),
        rows: options
            .sizes
            .iter()
            .map(|&n| row(&basic, n, options))
            .collect::<Result<_>>()?,
    })
}

fn row(basic: &Basic, n: u64, options: &SurveyOptions) -> Result<Row> {
    let simulated = options
        .simulation
        .map(|rule| basic.simulate(n, rule, options.seed))
        .transpose()?;
    let [position, message] = simulated.map_or([None; 2], |both| both.map(Some));
    Ok(Row {
        n,
        position: Figure {
            exact: basic.position(n)?,
            asymptotic: basic.position_asymptotic(n)?,
            monte_carlo: position,
        },
        message: Figure {
            exact: basic.message(n)?,
            asymptotic: basic.message_asymptotic(n)?,
            monte_carlo: message,
        },
    })
}

fn entropy(law: &[f64]) -> f64 {
    let each = law.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln());
    // Of a certain message it is 0, not −0.
    each.sum::<f64>() + 0.0
}

fn check_sizes(sizes: &[u64]) -> Result<()> {
    if sizes.is_empty() {
        return Err(Error::parameter("--n", "no number of messages is given"));
    }
    sizes.iter().try_for_each(|&n| check_size(n))
}

/// What is told of the input of a user of a randomizer, at one number of messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RandomizerRow {
    /// Messages, the target's included.
    pub n: u64,
    /// I(K; Z | X) is at most that, 2ε; null if infinite.
    pub position_bound: Option<f64>,
    /// I(X₁; Z), the others' inputs independent with the same prior.
    pub input: RandomizerFigure,
    /// (m − 1)·e^ε/2n, the leading term of a bound on I(Y₁; Z | X₋₁) by clones; null if infinite.
    pub message_clone: Option<f64>,
}

/// Information about an input and what bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RandomizerFigure {
    /// I(X₁; Z), exactly.
    pub exact: f64,
    /// Its leading term (Lemma 1); null if infinite.
    pub asymptotic: Option<f64>,
    /// A bound on I(X₁; Z | X₋₁) whatever the others' inputs: that of the blanket-mixed instance, exactly.
    pub blanket: f64,
    /// The leading term of that bound, by the mechanism's own blanket; null if infinite.
    pub blanket_asymptotic: Option<f64>,
    /// (e^ε − 1)/2n, the leading term of the bound for any ε-private randomizer; null if infinite.
    pub unified: Option<f64>,
}

/// A randomizer before a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomizerSurvey {
    /// 1.
    pub schema_version: u32,
    /// What computed this.
    pub tool: Tool,
    /// The randomizer.
    pub randomizer: String,
    /// The ε of local differential privacy; null if infinite.
    pub epsilon: Option<f64>,
    /// γ, the share of the blanket in any message.
    pub gamma: f64,
    /// I(X₁; Z | X₋₁) where it is known how many others have each input; null if that was not given.
    pub informed: Option<f64>,
    /// One a number of messages.
    pub rows: Vec<RandomizerRow>,
}

/// A randomizer over a prior of inputs, for numbers of messages; with known inputs of others, that too.
///
/// # Errors
/// Neither numbers of messages nor known inputs; what does not fit the randomizer.
pub fn survey_randomizer(
    name: &str,
    randomizer: &Channel,
    prior: &Prior,
    sizes: &[u64],
    known: Option<&[u64]>,
) -> Result<RandomizerSurvey> {
    if known.is_none() || !sizes.is_empty() {
        check_sizes(sizes)?;
    }
    let among = Signal::among(randomizer, prior, prior)?;
    let blanket = Signal::blanket(randomizer, prior)?;
    let epsilon = randomizer.epsilon();
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let messages = randomizer.observations().len() as u64;
    let row = |&n: &u64| -> Result<RandomizerRow> {
        let bounds = privacy_bounds(epsilon.unwrap_or(f64::INFINITY), messages, n)?;
        Ok(RandomizerRow {
            n,
            position_bound: finite(bounds.position),
            input: RandomizerFigure {
                exact: among.information(n)?,
                asymptotic: finite(among.coefficient() / (2.0 * n as f64)),
                blanket: blanket.information(n)?,
                blanket_asymptotic: finite(blanket.coefficient() / (2.0 * n as f64)),
                unified: finite(bounds.input),
            },
            message_clone: finite(bounds.message),
        })
    };
    Ok(RandomizerSurvey {
        schema_version: 1,
        tool: Tool::default(),
        randomizer: name.to_owned(),
        epsilon,
        gamma: Blanket::of(randomizer).gamma,
        informed: known
            .map(|known| informed(randomizer, prior, known))
            .transpose()?,
        rows: sizes.iter().map(row).collect::<Result<_>>()?,
    })
}

/// A target among users with laws of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsersSurvey {
    /// 1.
    pub schema_version: u32,
    /// What computed this.
    pub tool: Tool,
    /// Messages, the target's included.
    pub n: u64,
    /// I(K; Z) exactly; null if there are too many histograms.
    pub position: Option<f64>,
    /// I(K; Z) is at most that (Theorem 12); null if infinite.
    pub position_bound: Option<f64>,
    /// I(Y₁; Z) exactly; null if there are too many histograms.
    pub message: Option<f64>,
    /// I(Y₁; Z) is at most that, by what all other users have in common (Theorem 10).
    pub message_bound: f64,
    /// The same without outliers, if that is less.
    pub message_bound_without_outliers: f64,
    /// The files of the users left out.
    pub outliers: Vec<String>,
    /// The generalized blanket of the users kept: labels, then what is not from the blanket.
    pub blanket: Vec<LabelProbability>,
}

/// A target among users with laws of their own, each with a name and a number of users.
///
/// # Errors
/// No probability distributions; more users than can be counted.
pub fn survey_users(
    target: &Distribution,
    others: &[(String, Distribution, u64)],
) -> Result<UsersSurvey> {
    let all: Vec<&Distribution> = [target]
        .into_iter()
        .chain(others.iter().map(|(_, law, _)| law))
        .collect();
    let (labels, laws) = Distribution::align(&all);
    let groups: Vec<(Vec<f64>, u64)> = laws[1..]
        .iter()
        .cloned()
        .zip(others.iter().map(|(_, _, count)| *count))
        .collect();
    let users = Users::new(&laws[0], &groups)?;
    let (whole, kept) = (users.blanket_bound(false)?, users.blanket_bound(true)?);
    let names = labels
        .into_iter()
        .chain(["not from the blanket".to_owned()]);
    let blanket = names
        .zip(&kept.blanket)
        .map(|(label, &probability)| LabelProbability { label, probability });
    Ok(UsersSurvey {
        schema_version: 1,
        tool: Tool::default(),
        n: users.messages(),
        position: users.position().ok(),
        position_bound: Some(users.position_bound()).filter(|bound| bound.is_finite()),
        message: users.message().ok(),
        message_bound: whole.information,
        message_bound_without_outliers: kept.information,
        outliers: kept.excluded.iter().map(|&i| others[i].0.clone()).collect(),
        blanket: blanket.collect(),
    })
}
