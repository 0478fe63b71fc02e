//! Several attackers that vote together.

use std::sync::Arc;

use crate::scorer::{Kind, Parameter, Parameters, Scorer};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};

/// The weighted sum of several attackers' scores.
///
/// # Formula
/// score_s(x) = Σ_j w_j z_j,s(x), z_j the scores of attacker j less their mean over secrets, in units of
/// their root mean square over the tune rows.
pub struct Blend {
    members: Vec<Member>,
}

/// An attacker and what its scores are multiplied with.
#[derive(Clone)]
pub struct Member {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// Its weight.
    pub weight: f64,
    /// The root mean square of its centered scores.
    pub spread: f64,
}

impl Blend {
    /// Attackers that were fitted and weighed elsewhere.
    pub fn new(members: Vec<Member>) -> Self {
        Blend { members }
    }

    /// The root mean square of a table's scores, centered row by row; `None` if it is no use as a unit.
    pub fn spread(scores: &ScoreTable) -> Option<f64> {
        let rows = scores.observations().len();
        let cells = (rows * scores.secrets()) as f64;
        let squares = (0..rows).map(|row| {
            let row = scores.row(row);
            let mean = mean(row);
            row.iter().map(|score| (score - mean).powi(2)).sum::<f64>()
        });
        let spread = (squares.sum::<f64>() / cells).sqrt();
        (spread.is_finite() && spread > 0.0).then_some(spread)
    }

    /// Adds an attacker's scores to a sum of scores.
    pub fn add(sums: &mut [f64], scores: &[f64], secrets: usize, weight: f64, spread: f64) {
        let rows = sums.chunks_mut(secrets).zip(scores.chunks(secrets));
        for (sums, scores) in rows {
            let mean = mean(scores);
            for (sum, score) in sums.iter_mut().zip(scores) {
                *sum += weight * ((score - mean) / spread);
            }
        }
    }
}

fn mean(scores: &[f64]) -> f64 {
    // Divided first, because the sum may overflow.
    let secrets = scores.len() as f64;
    scores.iter().map(|score| score / secrets).sum()
}

impl Scorer for Blend {
    fn name(&self) -> &str {
        "combination"
    }

    /// The weights are few.
    fn memorizes(&self) -> bool {
        self.members.iter().any(|member| member.scorer.memorizes())
    }

    fn freedom(&self) -> f64 {
        let members = self.members.iter();
        members.fold(0.0, |most, member| most.max(member.scorer.freedom()))
    }

    /// The weight of every attacker.
    fn parameters(&self) -> Parameters {
        let weights = self.members.iter();
        weights
            .map(|member| {
                (
                    member.scorer.name().to_owned(),
                    Parameter::Real(member.weight),
                )
            })
            .collect()
    }

    fn description(&self) -> String {
        let members = self.members.iter();
        let members: Vec<String> = members
            .map(|member| {
                let scorer = &member.scorer;
                format!(
                    "{} × {} ({})",
                    member.weight,
                    scorer.name(),
                    scorer.description()
                )
            })
            .collect();
        members.join(" + ")
    }

    /// Those of the members, and the combination itself.
    fn kinds(&self) -> Vec<Kind> {
        let members = self.members.iter();
        let members = members.flat_map(|member| member.scorer.kinds());
        members
            .chain([Kind::named(self.name().to_owned())])
            .collect()
    }

    fn index(&self) -> Option<&'static str> {
        self.members.iter().find_map(|member| member.scorer.index())
    }

    fn is_portable(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.scorer.is_portable())
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        let secrets = scores.len() / ids.len().max(1);
        let mut part = vec![0.0; scores.len()];
        scores.fill(0.0);
        for member in &self.members {
            member.scorer.score(observations, ids, &mut part);
            Blend::add(scores, &part, secrets, member.weight, member.spread);
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        let members = self.members.iter().map(|member| {
            Ok(Member {
                scorer: member.scorer.refit(observations, fit)?,
                ..member.clone()
            })
        });
        Ok(Arc::new(Blend::new(
            members.collect::<Result<_, String>>()?,
        )))
    }
}
