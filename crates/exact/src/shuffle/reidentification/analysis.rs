//! The report of `leakgauge shuffle reidentify`.

use crate::extreme::Extreme;
use serde::Serialize;

use super::bounds::{TotalVariationBounds, total_variation_bounds};
use super::game::{Game, Success};
use super::given::{Given, GivenRow, given_inputs};
use super::law::RatioLaw;
use super::randomizer::{InputLaw, ShuffleBounds};
use super::samples::{Estimate, Figure, Messages};
use super::source::Form;
use crate::channel::Channel;
use leakgauge_base::Tool;
use leakgauge_base::error::Result;

/// The report: the inputs, and one row for each game (number of messages n and number of guesses k).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reidentification {
    /// The version of this layout.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// P: the file or the named family, or the randomizer.
    pub target: String,
    /// Q: the file or the named family; `None` for a randomizer.
    pub decoys: Option<String>,
    /// How the target and the decoys were read, if they are distributions or samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<[Form; 2]>,
    /// The figures; which ones depends on the inputs.
    #[serde(flatten)]
    pub figures: Figures,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The figures of a report, by the kind of its inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Figures {
    /// For known distributions.
    Exact(Exact),
    /// From samples of P and Q.
    Estimate(Estimated),
    /// For a shuffled local randomizer.
    Randomizer(Shuffled),
    /// For known inputs of all users.
    GivenInputs(Given),
}

/// The exact figures of known distributions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exact {
    /// One entry for each game.
    pub rows: Vec<ExactRow>,
    /// f(∞), the mass of P outside the support of Q.
    pub certain_mass: f64,
    /// M, the largest likelihood ratio; `None` if infinite.
    pub max_ratio: Option<f64>,
    /// The total variation Δ(P, Q).
    pub total_variation: f64,
    /// For each requested success, the number of messages needed.
    pub needed: Vec<MessagesNeeded>,
}

/// The exact figures of one game.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactRow {
    /// The success β_n^k and the advantages.
    #[serde(flatten)]
    pub success: Success,
    /// min(f(∞) + kM/n, 1); `None` if M is infinite.
    pub asymptotic: Option<f64>,
    /// The bounds by total variation, for one guess.
    pub total_variation_bounds: Option<TotalVariationBounds>,
}

/// The smallest number of messages for which the success is at most a given value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessagesNeeded {
    /// The largest acceptable success.
    pub success: f64,
    /// The number k of guesses.
    pub guesses: u64,
    /// The number n of messages; `None` if no number is enough.
    pub n: Option<u64>,
}

/// The figures estimated from samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimated {
    /// One entry for each game.
    pub rows: Vec<EstimatedRow>,
    /// The confidence level of the limits.
    pub confidence: f64,
    /// The seed of the random split.
    pub seed: u64,
    /// How the figures were estimated.
    pub method: Method,
}

/// How figures were estimated from samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Method {
    /// `labels` or `numbers`.
    pub messages: &'static str,
    /// The scorer.
    pub scorer: &'static str,
    /// The method of the estimate.
    pub point: &'static str,
    /// The method of the lower limits.
    pub lower: &'static str,
    /// The method of the upper limits; `None` if there are none.
    pub upper: Option<&'static str>,
    /// The number of training rows: of the target, of the decoys.
    pub fit: [u64; 2],
    /// The number of certification rows: of the target, of the decoys.
    pub certify: [u64; 2],
    /// The number of thresholds certified together.
    pub thresholds: usize,
}

/// The estimated figures of one game.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimatedRow {
    /// The number n of messages.
    pub n: u64,
    /// The number k of guesses.
    pub guesses: u64,
    /// The success β_n^k.
    pub success: Figure,
    /// The additive advantage Adv⁺.
    pub additive_advantage: Figure,
    /// The multiplicative advantage Adv×.
    pub multiplicative_advantage: Figure,
}

/// Upper bounds for a randomizer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shuffled {
    /// For each game, the bound for the worst input.
    pub rows: Vec<ShuffleBounds>,
    /// ε of local differential privacy; `None` if infinite.
    pub epsilon: Option<f64>,
    /// γ, the mass of the blanket.
    pub blanket_mass: f64,
    /// M of the worst input; `None` if infinite.
    pub max_ratio: Option<f64>,
    /// The bounds for each input.
    pub inputs: Vec<InputBounds>,
}

/// Upper bounds for one input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputBounds {
    /// The input.
    pub input: String,
    /// Its M; `None` if infinite.
    pub max_ratio: Option<f64>,
    /// ψ, for each game.
    pub blanket: Vec<f64>,
}

fn finite(x: f64) -> Option<f64> {
    (x < f64::INFINITY).then_some(x)
}

impl Reidentification {
    fn new(target: &str, decoys: Option<&str>, figures: Figures, notes: Vec<String>) -> Self {
        Reidentification {
            schema_version: 1,
            tool: Tool::default(),
            target: target.to_owned(),
            decoys: decoys.map(str::to_owned),
            read: None,
            figures,
            notes,
        }
    }

    /// The report for known distributions. `successes` are the values for which the number of messages is computed.
    ///
    /// # Errors
    /// A success is not strictly between 0 and 1.
    pub fn exact(
        (target, decoys): (&str, &str),
        law: &RatioLaw,
        games: &[Game],
        (successes, guesses): (&[f64], &[u64]),
    ) -> Result<Self> {
        let row = |(game, success): (&Game, Success)| {
            let bounds = || total_variation_bounds(law.total_variation(), game.messages());
            Ok(ExactRow {
                success,
                asymptotic: law.asymptotic(game).map(|most| most.at_most(1.0)),
                total_variation_bounds: (game.guesses() == 1).then(bounds).transpose()?,
            })
        };
        let rows = games.iter().zip(law.grid(games)).map(row);
        let mut needed = Vec::new();
        for &success in successes {
            for &guesses in guesses {
                let n = law.messages_for(success, guesses)?;
                needed.push(MessagesNeeded {
                    success,
                    guesses,
                    n,
                });
            }
        }
        let mut notes =
            vec!["Advantages are relative to k random guesses among n messages.".to_owned()];
        let nearly = law.nearly_certain_mass();
        if nearly > 1e-9 {
            notes.push(format!(
                "With probability {nearly:.6} the target's message is more than e^680 times as likely for the target as \
                 for a decoy: it counts as one that no decoy has."
            ));
        }
        if law.certain_mass() >= 1.0 {
            notes.push(
                "P and Q share no message, so the target's message is always identified."
                    .to_owned(),
            );
        }
        let exact = Exact {
            rows: rows.collect::<Result<_>>()?,
            certain_mass: law.certain_mass(),
            max_ratio: finite(law.max_ratio()),
            total_variation: law.total_variation(),
            needed,
        };
        Ok(Self::new(
            target,
            Some(decoys),
            Figures::Exact(exact),
            notes,
        ))
    }

    /// The report for inputs (given by their positions) of a randomizer among users with known inputs.
    ///
    /// # Errors
    /// As [`given_inputs`].
    pub fn given(
        name: &str,
        randomizer: &Channel,
        inputs: &[usize],
        known: &[u64],
        guesses: &[u64],
    ) -> Result<Self> {
        let mut rows = Vec::new();
        for &input in inputs {
            let found = given_inputs(randomizer, input, known, guesses)?;
            rows.extend(found.into_iter().map(|success| GivenRow {
                input: randomizer.secrets()[input].clone(),
                success,
            }));
        }
        let notes = vec![
            "Exact for an adversary who knows the inputs of all users. Advantages are relative to k random guesses among n messages.".to_owned(),
        ];
        Ok(Self::new(
            name,
            None,
            Figures::GivenInputs(Given { rows }),
            notes,
        ))
    }

    /// The report for samples.
    ///
    /// # Errors
    /// As [`Estimate::new`].
    pub fn estimate(
        (target, decoys): (&str, &str),
        messages: &Messages,
        games: &[Game],
        (confidence, seed): (f64, u64),
    ) -> Result<Self> {
        let estimate = Estimate::new(messages, confidence, seed)?;
        let rows = games.iter().map(|game| {
            let success = estimate.success(game);
            let [additive_advantage, multiplicative_advantage] = success.advantages(game);
            EstimatedRow {
                n: game.messages(),
                guesses: game.guesses(),
                success,
                additive_advantage,
                multiplicative_advantage,
            }
        });
        let is_labels = matches!(messages, Messages::Labels { .. });
        let method = Method {
            messages: if is_labels { "labels" } else { "numbers" },
            scorer: if is_labels { "frequentist" } else { "knn" },
            point: "u-statistic of the learned attack",
            lower: "clopper-pearson of the ROC curve",
            upper: is_labels.then_some("mcdiarmid of hockey-stick divergences"),
            fit: estimate.fit,
            certify: estimate.certify,
            thresholds: estimate.thresholds,
        };
        let mut notes = vec![
            "Estimates are the success of the learned attack on rows it was not trained on; limits are for the optimal adversary. An estimate that noise put outside of its limits is printed at the nearest value inside. Rows are assumed independent.".to_owned(),
            "Lower and upper limits hold together, for all n and k at once.".to_owned(),
        ];
        if !is_labels {
            notes.push("No upper limit is possible for continuous messages.".to_owned());
        }
        let estimated = Estimated {
            rows: rows.collect(),
            confidence,
            seed,
            method,
        };
        if estimated.rows.iter().any(|row| row.success.point.is_none()) {
            notes.push(format!(
                "No estimate if n - 1 exceeds the {} certification rows of the decoys.",
                estimate.certify[1]
            ));
        }
        Ok(Self::new(
            target,
            Some(decoys),
            Figures::Estimate(estimated),
            notes,
        ))
    }

    /// The report for a randomizer and at least one of its inputs.
    ///
    /// # Errors
    /// As [`InputLaw::bounds`].
    pub fn randomizer(
        name: &str,
        epsilon: f64,
        inputs: &[InputLaw],
        games: &[Game],
    ) -> Result<Self> {
        let all = inputs.iter().map(|input| input.bounds(games));
        let all: Vec<Vec<ShuffleBounds>> = all.collect::<Result<_>>()?;
        let most = inputs
            .iter()
            .map(InputLaw::max_ratio)
            .fold(0.0, f64::at_least);
        let worst = |at: usize| {
            let rows = all.iter().map(|rows| rows[at]);
            rows.reduce(|a, b| if b.blanket > a.blanket { b } else { a })
        };
        let mut rows: Vec<ShuffleBounds> = (0..games.len()).filter_map(worst).collect();
        for row in &mut rows {
            let share = row.guesses as f64 / row.n as f64;
            row.blanket_limit = finite(most).map(|m| (m * share).at_most(1.0));
        }
        let blanket_mass = inputs.first().map_or(0.0, |input| input.blanket_mass);
        let inputs = inputs.iter().zip(&all).map(|(input, rows)| InputBounds {
            input: input.input.clone(),
            max_ratio: finite(input.max_ratio()),
            blanket: rows.iter().map(|row| row.blanket).collect(),
        });
        let shuffled = Shuffled {
            epsilon: finite(epsilon),
            blanket_mass,
            max_ratio: finite(most),
            inputs: inputs.collect(),
            rows,
        };
        let notes = vec![
            "Upper bounds on the success of any adversary, for any inputs of the other users. The blanket bound is the best that a decomposition gives.".to_owned(),
        ];
        Ok(Self::new(name, None, Figures::Randomizer(shuffled), notes))
    }
}
