//! Attackers compared on the tune rows; the first of equals wins.

use std::borrow::Cow;
use std::sync::Arc;

use crate::pairwise::average;
use crate::pairwise::{Judging, PairChoice, Target, choose_rules, promises};
use crate::past::{PastRows, out_of_fold, overfits};
use crate::scorer::{Kind, Scorer, Thinned, score_table, thinned};
use crate::scores::ScoreTable;
use crate::split::Split;
use crate::tuning::for_average::ForAverage;
use crate::tuning::goals::Goals;
use crate::tuning::naming::Naming;
use crate::tuning::quality::{Quality, quality};
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use crate::tuning::tried::Tried;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_log::observations::Counts;

/// An attacker that is among the best of the kinds tried so far.
pub(super) struct Finalist {
    pub quality: Quality,
    pub scorer: Arc<dyn Scorer>,
    pub scores: ScoreTable,
}

/// The attacker with the largest limits of privacy on past rows, and its rules.
pub(super) struct PrivacyCandidate {
    limits: f64,
    /// On the tune rows alone.
    on_tune: f64,
    pub scorer: Arc<dyn Scorer>,
    pub choices: Vec<PairChoice>,
}

/// What was chosen, and everything that was tried.
pub(super) struct Chosen {
    /// For all pairs.
    pub best: Finalist,
    /// For limits of privacy.
    pub private: Option<PrivacyCandidate>,
    /// For each prior.
    pub naming: Vec<Naming>,
    /// For all pairs on the average.
    pub average: Option<ForAverage>,
    pub tried: Vec<Tried>,
}

/// Blind guessing at each prior, equal ones once.
fn naming(task: &Task) -> Vec<Naming> {
    let mut naming: Vec<Naming> = Vec::new();
    for prior in task.goals.priors {
        if !naming.iter().any(|known| known.is_at(prior)) {
            naming.push(Naming::blind(prior, &task.split.tune));
        }
    }
    naming
}

/// The selection: what was tried and which did best.
pub(super) struct ModelSelection<'a> {
    task: Task<'a>,
    ids: Vec<u32>,
    tried: Vec<Tried>,
    /// At most this many rows were learned from.
    most_rows: Option<u64>,
    /// The best of the kind that is running.
    best: Option<Finalist>,
    /// That kind.
    kind: Kind,
    /// The one with the largest limits of privacy, if that is wanted: of attackers that cannot learn rows by heart,
    /// which are compared on the fit rows too, and of the others.
    private: [Option<PrivacyCandidate>; 2],
    /// For each prior, the best guess among all secrets.
    naming: Vec<Naming>,
    /// The best rule for all pairs, if one is wanted.
    average: Option<ForAverage>,
    /// The best of each kind, the best first, the first of equals first.
    finalists: Vec<Finalist>,
}

/// Fit and tune rows, one a distinct observation of a secret, on which limits of privacy are compared at most, times
/// the number of secrets; 200,000 of them whatever that number.
const MOST_PAST: usize = 1_200_000;
const LEAST_PAST: usize = 200_000;
/// What is clearly more, as a factor.
const CLEARLY: f64 = 1.25;
/// Kinds whose best attackers are remembered.
const MAX_FINALISTS: usize = 3;

impl<'a> ModelSelection<'a> {
    pub fn new(task: Task<'a>) -> Self {
        ModelSelection {
            task,
            ids: task.split.tune.symbols(),
            tried: Vec::new(),
            most_rows: None,
            best: None,
            kind: Kind::named("none"),
            private: [None, None],
            naming: naming(&task),
            average: None,
            finalists: Vec::new(),
        }
    }

    /// What there is to attack.
    pub fn task(&self) -> Task<'a> {
        self.task
    }

    /// The distinct observations of the tune rows.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The best attackers of different kinds, the best first.
    pub fn finalists(&self) -> &[Finalist] {
        &self.finalists
    }

    /// What was tried so far.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// Notes what was tried and did not take part.
    pub fn note(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    /// Forgets that a kind was tried: it is to be tried anew.
    pub fn forget(&mut self, kind: &Kind) {
        self.tried.retain(|tried| tried.kind != *kind);
    }

    /// What is entered from now on is of this kind, and learns from at most so many rows when it is learned anew.
    pub fn begin(&mut self, kind: Kind, most_rows: Option<u64>) {
        self.kind = kind;
        self.most_rows = most_rows;
    }

    /// Ends a kind: what was noted after the first so many had this cost each, and learned from so many rows. The best
    /// of the kind is ranked among those of others.
    pub fn end(&mut self, before: usize, cost: f64, rows: u64) {
        for tried in &mut self.tried[before..] {
            tried.cost = cost;
            tried.rows = rows;
        }
        if let Some(best) = self.best.take() {
            let total = best.quality.total();
            let at = self
                .finalists
                .partition_point(|other| other.quality.total() >= total);
            self.finalists.insert(at, best);
            self.finalists.truncate(MAX_FINALISTS);
        }
    }

    /// Scores the tune rows by an attacker and compares it with the best so far.
    pub fn enter(&mut self, scorer: Arc<dyn Scorer>) {
        let scores = score_table(
            &*scorer,
            self.task.observations,
            self.ids.clone(),
            self.task.secrets(),
        );
        self.enter_scored(scorer, scores);
    }

    /// Compares an attacker that has scored the tune rows with the best so far.
    pub fn enter_scored(&mut self, scorer: Arc<dyn Scorer>, scores: ScoreTable) {
        let quality = quality(&scores, &self.task.split.tune, self.task.goals.alpha);
        self.enter_for_privacy(&scorer, &scores);
        self.tried.push(Tried {
            kind: self.kind.clone(),
            scorer: scorer.name().to_owned(),
            parameters: scorer.parameters(),
            description: scorer.description(),
            quality: Ok(quality),
            cost: 0.0,
            rows: 0,
        });
        let scorer = match self.most_rows {
            Some(most_rows) => Arc::new(Thinned::new(scorer, most_rows)),
            None => scorer,
        };
        for naming in &mut self.naming {
            naming.consider(&scorer, &scores, &self.task.split.tune);
        }
        self.enter_for_average(&scorer, &scores);
        let better = |best: &Finalist| quality.total() > best.quality.total();
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(Finalist {
                quality,
                scorer: self.within_budget(scorer),
                scores,
            });
        }
    }

    /// Compares an attacker by what one rule for all pairs promises.
    fn enter_for_average(&mut self, scorer: &Arc<dyn Scorer>, scores: &ScoreTable) {
        let Goals { alpha, average, .. } = self.task.goals;
        let Some(aim) = average else {
            return;
        };
        let known = self.average.as_ref().map_or(0.0, |best| best.rule.promised);
        let Split { tune, certify, .. } = self.task.split;
        let rule = average::choose(scores, tune, certify.total(), alpha, aim);
        if let Some(rule) = rule.filter(|rule| rule.promised > known) {
            self.average = Some(ForAverage {
                scorer: scorer.clone(),
                rule,
            });
        }
    }

    /// An attacker that, learned anew, takes no more rows than the budget allows.
    fn within_budget(&self, scorer: Arc<dyn Scorer>) -> Arc<dyn Scorer> {
        match self.most_rows {
            Some(most_rows) => Arc::new(Thinned::new(scorer, most_rows)),
            None => scorer,
        }
    }

    /// Compares an attacker by the sum over quantities of the largest limit of all pairs, by cross-validation inside
    /// past rows.
    fn enter_for_privacy(&mut self, scorer: &Arc<dyn Scorer>, scores: &ScoreTable) {
        let Goals { alpha, targets, .. } = self.task.goals;
        if self.task.goals.claimed.is_empty() {
            return;
        }
        let Task {
            observations,
            split,
            ..
        } = self.task;
        let memorizes = scorer.memorizes();
        let best = self.private[usize::from(memorizes)].as_ref();
        let is_worse = |limits: f64| best.is_some_and(|best| limits <= best.limits);
        let mut more = None;
        if !memorizes && let Some((fit, rows)) = self.past() {
            let mut scores = score_table(&**scorer, observations, rows.symbols(), fit.secrets());
            if overfits(&**scorer, &fit) {
                // Scores of rows that it learned from promise too much.
                if is_worse(self.promised(&scores, &rows)) {
                    return;
                }
                let Some(fair) = out_of_fold(&**scorer, observations, &fit, scores) else {
                    return;
                };
                scores = fair;
            }
            more = Some(PastRows { rows, scores });
        }
        let limits = match &more {
            Some(past) => self.promised(&past.scores, &past.rows),
            None => self.promised(scores, &split.tune),
        };
        if is_worse(limits) {
            return;
        }
        let (on_tune, choices) = match &more {
            Some(past) => (
                self.promised(scores, &split.tune),
                choose_rules(&past.scores, &past.rows, alpha, targets),
            ),
            None => (limits, choose_rules(scores, &split.tune, alpha, targets)),
        };
        self.private[usize::from(memorizes)] = Some(PrivacyCandidate {
            limits,
            on_tune,
            scorer: self.within_budget(scorer.clone()),
            choices,
        });
    }

    /// Fit rows, as many as the time allows, and these with the tune rows; nothing if the time allows none.
    fn past(&self) -> Option<(Cow<'a, Counts>, Counts)> {
        let Split { fit, tune, .. } = self.task.split;
        let most = (MOST_PAST / self.task.secrets().max(1)).max(LEAST_PAST);
        let left = most.checked_sub(tune.cells().len())?;
        let fit = match fit.cells().len() <= left {
            true => Cow::Borrowed(fit),
            false => thinned(fit, left as u64),
        };
        let all = fit.plus(tune);
        Some((fit, all))
    }

    /// The sum of the limits that claims read.
    fn promised(&self, scores: &ScoreTable, past: &Counts) -> f64 {
        let Goals {
            alpha,
            targets,
            claimed,
            ..
        } = self.task.goals;
        let Split { tune, certify, .. } = self.task.split;
        let judging = Judging {
            trials: if certify.total() > 0 {
                certify.total()
            } else {
                tune.total()
            },
            alpha,
        };
        let wanted: Vec<&Target> = claimed.iter().map(|&target| &targets[target]).collect();
        promises(scores, past, judging, &wanted).iter().sum()
    }

    /// An attacker that may have learned rows by heart is noisier than it seems: on the tune rows it must promise
    /// clearly more than one that may not, which has its threshold from all past rows.
    fn for_privacy(private: [Option<PrivacyCandidate>; 2]) -> Option<PrivacyCandidate> {
        let clearly = |other: &PrivacyCandidate, plain: &PrivacyCandidate| {
            other.on_tune > CLEARLY * plain.on_tune.max(plain.limits)
        };
        match private {
            [Some(plain), Some(other)] if !clearly(&other, &plain) => Some(plain),
            [plain, other] => other.or(plain),
        }
    }

    /// The attacker that did best, with its scores of the tune rows, the one for privacy, those that name one of
    /// all secrets, and everything that was tried.
    ///
    /// # Errors
    /// None could be fitted.
    pub fn finish(mut self) -> Result<Chosen> {
        if self.finalists.is_empty() {
            let reasons = self
                .tried
                .iter()
                .filter_map(|tried| tried.quality.as_ref().err());
            let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
            return Err(Error::parameter(
                option("attacks"),
                format!("could not be fitted: {}", reasons.join("; ")),
            )
            .with_hint("let `auto` choose another attack"));
        }
        let chosen = self.steadiest();
        // Equal priors were considered once.
        let naming = self.task.goals.priors.iter().map(|prior| {
            let known = self.naming.iter().find(|naming| naming.is_at(prior));
            known.expect("one for each prior").clone()
        });
        Ok(Chosen {
            naming: naming.collect(),
            best: self.finalists.swap_remove(chosen),
            private: Self::for_privacy(self.private),
            average: self.average,
            tried: self.tried,
        })
    }

    /// The finalist to keep. On one column of numbers neighbors are noisier than whatever cuts it in one or two
    /// places, so they must do better on the tune rows by more than chance may make of as good an attack.
    fn steadiest(&self) -> usize {
        let (task, best) = (self.task, &self.finalists[0]);
        let one_column = task.columns() == 1 && task.dimensions() == 1;
        if !one_column || best.scorer.name() != ScorerChoice::KNearest.name() {
            return 0;
        }
        let rows = task.split.tune.rows().iter();
        let rows = rows.copied().filter(|&rows| rows > 0).min().unwrap_or(1);
        // Half a standard error of each of the three figures, which is about that of a paired difference.
        let chance = 3.0 * 0.5 * (0.5 / rows as f64).sqrt();
        let near = |finalist: &Finalist| {
            finalist.scorer.name() != best.scorer.name()
                && finalist.quality.total() >= best.quality.total() - chance
        };
        self.finalists.iter().position(near).unwrap_or(0)
    }
}
