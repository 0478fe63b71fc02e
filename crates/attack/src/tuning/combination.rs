//! The best attackers of different kinds, voting together.

use std::sync::Arc;

use crate::scorer::{Blend, Kind, Member};
use crate::scores::ScoreTable;
use crate::tuning::family::Family;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use leakgauge_log::observations::Counts;

pub(super) struct CombinationFamily;

impl CombinationFamily {
    /// Weights of the first, second and third best.
    const WEIGHTS: [[f64; 3]; 8] = [
        [1.0, 1.0, 0.0],
        [2.0, 1.0, 0.0],
        [1.0, 2.0, 0.0],
        [1.0, 0.0, 1.0],
        [2.0, 0.0, 1.0],
        [0.0, 1.0, 1.0],
        [1.0, 1.0, 1.0],
        [2.0, 1.0, 1.0],
    ];
}

impl Family for CombinationFamily {
    fn kind(&self) -> Kind {
        Kind::named("combination")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[]
    }

    /// Several views of one column are much the same.
    fn applies(&self, task: &Task) -> bool {
        task.columns() > 1
    }

    /// Nothing is learned: only sums are made, and the members judged once more.
    fn cost(&self, task: &Task, _: u64) -> f64 {
        let tune = task.split.tune.cells().len() as f64;
        1e-8 * tune * (Self::WEIGHTS.len() * task.secrets()) as f64
    }

    fn enter(&self, selection: &mut ModelSelection, _: &Counts) -> Result<(), String> {
        let members: Vec<(Member, ScoreTable)> = selection
            .finalists()
            .iter()
            .filter(|finalist| finalist.quality.total() > 0.0)
            .filter_map(|finalist| {
                let spread = Blend::spread(&finalist.scores)?;
                let member = Member {
                    scorer: finalist.scorer.clone(),
                    weight: 1.0,
                    spread,
                };
                Some((member, finalist.scores.clone()))
            })
            .collect();
        for weights in Self::WEIGHTS {
            let used = weights
                .iter()
                .rposition(|&weight| weight > 0.0)
                .unwrap_or(0);
            if used < members.len() {
                enter(selection, &members, &weights);
            }
        }
        Ok(())
    }
}

fn enter(selection: &mut ModelSelection, members: &[(Member, ScoreTable)], weights: &[f64]) {
    let secrets = selection.task().secrets();
    let mut sums = vec![0.0; selection.ids().len() * secrets];
    let mut used = Vec::new();
    for ((member, scores), &weight) in members.iter().zip(weights) {
        if weight > 0.0 {
            Blend::add(&mut sums, scores.values(), secrets, weight, member.spread);
            used.push(Member {
                weight,
                ..member.clone()
            });
        }
    }
    let scores = ScoreTable::new(selection.ids().to_vec(), secrets, sums);
    selection.enter_scored(Arc::new(Blend::new(used)), scores);
}
