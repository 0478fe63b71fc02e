//! What `leakgauge shuffle reidentify` reports.

use serde::Serialize;

use super::bounds::{TotalVariationBounds, total_variation_bounds};
use super::game::{Game, Success};
use super::law::RatioLaw;
use super::randomizer::{InputLaw, ShuffleBounds};
use super::samples::{Estimate, Figure, Messages};
use leakgauge_base::Tool;
use leakgauge_base::error::Result;

/// A report: what was asked, and one row for each game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reidentification {
    /// Of the keys.
    pub schema_version: u32,
    /// What made it.
    pub tool: Tool,
    /// P: a file or family; the randomizer.
    pub target: String,
    /// Q; `None` for a randomizer.
    pub decoys: Option<String>,
    /// What is known, by what was given.
    #[serde(flatten)]
    pub found: Found,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

/// The figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Found {
    /// Of known distributions.
    Exact(Exact),
    /// From samples.
    Estimate(Estimated),
    /// Of a shuffled local randomizer.
    Randomizer(Shuffled),
}

/// Exact figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exact {
    /// One for each game.
    pub rows: Vec<ExactRow>,
    /// f(∞).
    pub certain_mass: f64,
    /// M; `None` if it is infinite.
    pub max_ratio: Option<f64>,
    /// Δ(P, Q).
    pub total_variation: f64,
    /// The n that each success asked for needs.
    pub needed: Vec<Needed>,
}

/// One game between known distributions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExactRow {
    /// β_n^k and the advantages.
    #[serde(flatten)]
    pub success: Success,
    /// f(∞) + kM/n, cut at 1; `None` if M is infinite.
    pub asymptotic: Option<f64>,
    /// The bounds by total variation, of one guess.
    pub total_variation_bounds: Option<TotalVariationBounds>,
}

/// The smallest n for a success.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Needed {
    /// The success not to exceed.
    pub success: f64,
    /// k.
    pub guesses: u64,
    /// n; `None` if none is enough.
    pub n: Option<u64>,
}

/// Figures from samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimated {
    /// One for each game.
    pub rows: Vec<EstimatedRow>,
    /// Of every limit.
    pub confidence: f64,
    /// Of the split.
    pub seed: u64,
    /// How rows were used.
    pub method: Method,
}

/// How figures came from samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// `labels` or `numbers`.
    pub messages: &'static str,
    /// How scores were learned.
    pub scorer: &'static str,
    /// Where the point is from.
    pub point: &'static str,
    /// The lower limits.
    pub lower: &'static str,
    /// The upper limits; `None` where there are none.
    pub upper: Option<&'static str>,
    /// Rows that taught: of target and decoys.
    pub fit: [u64; 2],
    /// Rows that judged.
    pub certify: [u64; 2],
    /// Thresholds certified together.
    pub thresholds: usize,
}

/// One game from samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimatedRow {
    /// n.
    pub n: u64,
    /// k.
    pub guesses: u64,
    /// β_n^k.
    pub success: Figure,
    /// Adv⁺.
    pub additive_advantage: Figure,
    /// Adv×.
    pub multiplicative_advantage: Figure,
}

/// Bounds for a randomizer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shuffled {
    /// The worst input's bound of each game.
    pub rows: Vec<ShuffleBounds>,
    /// ε of local differential privacy; `None` if infinite.
    pub epsilon: Option<f64>,
    /// γ of the blanket.
    pub blanket_mass: f64,
    /// M of the worst input; `None` if infinite.
    pub max_ratio: Option<f64>,
    /// Each input by itself.
    pub inputs: Vec<InputBounds>,
}

/// Bounds for one input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputBounds {
    /// The input.
    pub input: String,
    /// Its M; `None` if infinite.
    pub max_ratio: Option<f64>,
    /// ψ of each game.
    pub blanket: Vec<f64>,
}

fn finite(x: f64) -> Option<f64> {
    (x < f64::INFINITY).then_some(x)
}

impl Reidentification {
    fn new(target: &str, decoys: Option<&str>, found: Found, notes: Vec<String>) -> Self {
        Reidentification {
            schema_version: 1,
            tool: Tool::default(),
            target: target.to_owned(),
            decoys: decoys.map(str::to_owned),
            found,
            notes,
        }
    }

    /// The figures of known distributions; `successes` are those that an n is asked for.
    ///
    /// # Errors
    /// A success that is not strictly between 0 and 1.
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
                asymptotic: law.asymptotic(game).map(|most| most.min(1.0)),
                total_variation_bounds: (game.guesses() == 1).then(bounds).transpose()?,
            })
        };
        let rows = games.iter().zip(law.grid(games)).map(row);
        let mut needed = Vec::new();
        for &success in successes {
            for &guesses in guesses {
                let n = law.messages_for(success, guesses)?;
                needed.push(Needed {
                    success,
                    guesses,
                    n,
                });
            }
        }
        let mut notes =
            vec!["Advantages compare with k blind guesses among n messages.".to_owned()];
        if law.certain_mass() >= 1.0 {
            notes.push(
                "No message of the target can be a decoy: it is found whatever n is.".to_owned(),
            );
        }
        let exact = Exact {
            rows: rows.collect::<Result<_>>()?,
            certain_mass: law.certain_mass(),
            max_ratio: finite(law.max_ratio()),
            total_variation: law.total_variation(),
            needed,
        };
        Ok(Self::new(target, Some(decoys), Found::Exact(exact), notes))
    }

    /// The figures from samples.
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
            "The point is what the learned attack reaches on rows it has not seen; limits are those of the best adversary. Rows are taken as independent.".to_owned(),
            "Where both limits are given they hold together, for all n and k at once.".to_owned(),
        ];
        if !is_labels {
            notes.push("No upper limit: of continuous messages none exists.".to_owned());
        }
        let estimated = Estimated {
            rows: rows.collect(),
            confidence,
            seed,
            method,
        };
        if estimated.rows.iter().any(|row| row.success.point.is_none()) {
            notes.push(format!(
                "No point where n - 1 exceeds the {} decoys that judge.",
                estimate.certify[1]
            ));
        }
        Ok(Self::new(
            target,
            Some(decoys),
            Found::Estimate(estimated),
            notes,
        ))
    }

    /// The bounds of a randomizer by its inputs, of which there is at least one.
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
        let most = inputs.iter().map(InputLaw::max_ratio).fold(0.0, f64::max);
        let worst = |at: usize| {
            let rows = all.iter().map(|rows| rows[at]);
            rows.reduce(|a, b| if b.blanket > a.blanket { b } else { a })
        };
        let mut rows: Vec<ShuffleBounds> = (0..games.len()).filter_map(worst).collect();
        for row in &mut rows {
            let share = row.guesses as f64 / row.n as f64;
            row.blanket_limit = finite(most).map(|m| (m * share).min(1.0));
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
            "Upper bounds of the success of any adversary, whatever the other users' inputs are; blanket is the best that a decomposition gives.".to_owned(),
        ];
        Ok(Self::new(name, None, Found::Randomizer(shuffled), notes))
    }
}
