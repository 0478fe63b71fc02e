//! Attackers compared on the tune rows; the first of equals wins.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::observations::{Counts, Observations};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use crate::split::Split;
use crate::tuning::families::Family;
use crate::tuning::quality::quality;
use crate::tuning::{ScorerChoice, Tried};

/// What there is to attack.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub observations: &'a Observations,
    pub split: &'a Split,
    pub choice: ScorerChoice,
}

impl<'a> Task<'a> {
    pub fn new(observations: &'a Observations, split: &'a Split, choice: ScorerChoice) -> Self {
        Task {
            observations,
            split,
            choice,
        }
    }

    /// Whether the user asked for one attack, and is ready to wait for it.
    pub fn is_patient(&self) -> bool {
        self.choice != ScorerChoice::Auto
    }

    /// The number of numeric columns.
    pub fn dimensions(&self) -> usize {
        self.observations.dimensions()
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.split.fit.secrets()
    }

    /// The rows there are to learn from.
    pub fn fit(&self) -> &'a Counts {
        &self.split.fit
    }

    /// Distinct observations to be scored: tune rows, then certify rows.
    pub fn scored(&self) -> f64 {
        (self.split.tune.cells().len() + self.split.certify.cells().len()) as f64
    }
}

/// The race: what was tried and which did best.
pub(super) struct Race<'a> {
    task: Task<'a>,
    symbols: Vec<u32>,
    alpha: f64,
    tried: Vec<Tried>,
    best: Option<(f64, Arc<dyn Scorer>, ScoreTable)>,
}

impl<'a> Race<'a> {
    pub fn new(task: Task<'a>, alpha: f64) -> Self {
        Race {
            task,
            symbols: task.split.tune.symbols(),
            alpha,
            tried: Vec::new(),
            best: None,
        }
    }

    /// What there is to attack.
    pub fn task(&self) -> Task<'a> {
        self.task
    }

    /// The distinct observations of the tune rows.
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    /// Lets a family enter its attackers. They share the family's cost.
    pub fn run(&mut self, family: &dyn Family) {
        let before = self.tried.len();
        let fit = self.task.fit();
        if let Err(reason) = family.enter(self, fit) {
            self.tried.push(Tried {
                scorer: family.name(),
                parameters: BTreeMap::new(),
                quality: Err(reason),
                cost: 0.0,
                rows: 0,
            });
        }
        let cost = family.cost(&self.task, fit.total());
        let entered = &mut self.tried[before..];
        let share = cost / entered.len() as f64;
        for tried in entered {
            tried.cost = share;
            tried.rows = fit.total();
        }
    }

    /// Scores the tune rows by an attacker and compares it with the best so far.
    pub fn enter(&mut self, scorer: Arc<dyn Scorer>) {
        let scores = score_table(
            &*scorer,
            self.task.observations,
            self.symbols.clone(),
            self.task.secrets(),
        );
        self.enter_scored(scorer, scores);
    }

    /// Compares an attacker that has scored the tune rows with the best so far.
    pub fn enter_scored(&mut self, scorer: Arc<dyn Scorer>, scores: ScoreTable) {
        let quality = quality(&scores, &self.task.split.tune, self.alpha);
        self.tried.push(Tried {
            scorer: scorer.name(),
            parameters: scorer.parameters(),
            quality: Ok(quality),
            cost: 0.0,
            rows: 0,
        });
        if self.best.as_ref().is_none_or(|(best, ..)| quality > *best) {
            self.best = Some((quality, scorer, scores));
        }
    }

    /// The attacker that did best, with its scores of the tune rows.
    ///
    /// # Errors
    /// None could be fitted.
    pub fn winner(&mut self) -> Result<(Arc<dyn Scorer>, ScoreTable)> {
        let best = self.best.take().map(|(_, scorer, scores)| (scorer, scores));
        best.ok_or_else(|| {
            let reasons = self
                .tried
                .iter()
                .filter_map(|tried| tried.quality.clone().err());
            Error::parameter(
                "--scorer",
                format!(
                    "could not be fitted: {}",
                    reasons.collect::<Vec<_>>().join("; ")
                ),
            )
            .with_hint("let `auto` choose another attack")
        })
    }

    /// Everything that was tried, in order.
    pub fn into_tried(self) -> Vec<Tried> {
        self.tried
    }
}
