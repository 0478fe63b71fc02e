//! Reports of mutual information over several numbers of messages.

use serde::Serialize;

use super::posterior::{Posterior, posteriors};
use super::{
    Basic, Distribution, MonteCarlo, StoppingRule, Users, check_size, message_coefficient,
    optimal_decoys,
};
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};

/// An exact value and its asymptotic expansion, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// The exact value.
    pub exact: f64,
    /// Its expansion to order 1/n; not a bound.
    pub asymptotic: f64,
    /// The estimate by simulation, if requested.
    pub monte_carlo: Option<MonteCarlo>,
}

/// The figures for one number of messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The number of messages, including the target's.
    pub n: u64,
    /// I(K; Z), about the position of the target's message.
    pub position: Figure,
    /// I(Y₁; Z), about the target's message.
    pub message: Figure,
}

/// The report about a target among decoys.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The version of this layout, 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The seed of the simulations.
    pub seed: u64,
    /// The number of distinct messages of both distributions together.
    pub messages: usize,
    /// β, the probability that the target sends a message that no decoy sends.
    pub revealed: f64,
    /// D(P′‖Q), the limit of the information about the position, given a message that decoys send.
    pub divergence: f64,
    /// χ²(P′‖Q).
    pub chi_squared: f64,
    /// The coefficient c of I(Y₁; Z) ≈ c/2n: Σ p(1 − p)/q; null if infinite.
    pub coefficient: Option<f64>,
    /// The same coefficient for the optimal decoys.
    pub best_coefficient: f64,
    /// The entropy of the target's message, an upper bound on any information about it.
    pub entropy: f64,
    /// The optimal decoys, q ∝ √(p(1 − p)), if requested.
    pub best_decoys: Option<Vec<LabelProbability>>,
    /// What observed messages tell about the target, if they are given (Theorem 1).
    pub posteriors: Option<Vec<Posterior>>,
    /// One entry per number of messages.
    pub rows: Vec<Row>,
}

/// A label with its probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelProbability {
    /// The label.
    pub label: String,
    /// Its probability.
    pub probability: f64,
}

/// What to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyOptions {
    /// The numbers of messages.
    pub sizes: Vec<u64>,
    /// Also estimate by simulation, with this stopping rule.
    pub simulation: Option<StoppingRule>,
    /// The seed of the simulations.
    pub seed: u64,
    /// Whether to list the optimal decoys.
    pub list_best: bool,
    /// Shuffled messages that were observed: labels and how often each occurred.
    pub observed: Option<Vec<(String, u64)>>,
}

/// Computes the report for a target's distribution and decoys; without decoys, for the optimal ones.
///
/// # Errors
/// A distribution is invalid, there are no numbers of messages, or one is 0.
pub fn survey(
    target: &Distribution,
    decoys: Option<&Distribution>,
    options: &SurveyOptions,
) -> Result<Survey> {
    if options.observed.is_none() || !options.sizes.is_empty() {
        check_sizes(&options.sizes)?;
    }
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
        posteriors: options
            .observed
            .as_deref()
            .map(|seen| posteriors(&labels, [&laws[0], &laws[1]], seen))
            .transpose()?,
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

pub(super) fn check_sizes(sizes: &[u64]) -> Result<()> {
    if sizes.is_empty() {
        return Err(Error::option("n", "no number of messages is given"));
    }
    sizes.iter().try_for_each(|&n| check_size(n))
}

/// The report about a target among users with different distributions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsersSurvey {
    /// The version of this layout, 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The number of messages, including the target's.
    pub n: u64,
    /// The exact I(K; Z); null if there are too many histograms.
    pub position: Option<f64>,
    /// An upper bound on I(K; Z) (Theorem 12); null if infinite.
    pub position_bound: Option<f64>,
    /// The exact I(Y₁; Z); null if there are too many histograms.
    pub message: Option<f64>,
    /// An upper bound on I(Y₁; Z) from the blanket of all other users (Theorem 10).
    pub message_bound: f64,
    /// The same bound without outliers, if that is smaller.
    pub message_bound_without_outliers: f64,
    /// The files of the users left out as outliers.
    pub outliers: Vec<String>,
    /// The generalized blanket of the remaining users: labels, then "not from the blanket".
    pub blanket: Vec<LabelProbability>,
}

/// Computes the report for a target among groups of users (name, distribution, number of users).
///
/// # Errors
/// A distribution is invalid, or there are too many users.
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
