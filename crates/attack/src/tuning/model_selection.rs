//! Attackers compared on the tune rows; the first of equals wins.

use std::sync::Arc;

use crate::pairwise::{Judging, PairChoice, Target, choose_rules, promises};
use crate::scorer::{Kind, Parameters, Scorer, Thinned, score_table, thinned};
use crate::scores::ScoreTable;
use crate::split::Split;
use crate::tuning::attacks::Attacks;
use crate::tuning::families::{Family, ScorerChoice};
use crate::tuning::naming::Naming;
use crate::tuning::quality::{Quality, quality};
use crate::tuning::{Budget, Failure, Goals, Tried};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::observations::{Counts, Observations};

/// Nominal seconds of comparing a score of a tune row with those of other secrets.
const COMPARING: f64 = 2e-9;

/// What there is to attack.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub observations: &'a Observations,
    pub split: &'a Split,
    pub attacks: &'a Attacks,
    pub budget: Budget,
    pub goals: Goals<'a>,
    /// Kinds to be tried, each with the seconds that it may take; all of them if there is no such list.
    pub restrict_to: Option<&'a [(Kind, f64)]>,
    /// Columns that recur among the fit rows.
    pub recurring: usize,
    /// See [`observations_to_score`].
    pub scored: f64,
}

impl<'a> Task<'a> {
    /// Whether the user asked for certain attacks, and is ready to wait for them.
    pub fn is_patient(&self) -> bool {
        !self.attacks.are_auto()
    }

    /// Seconds that a kind was granted beforehand.
    fn granted(&self, kind: &Kind) -> Option<f64> {
        let mut granted = self.restrict_to?.iter();
        granted
            .find(|(granted, _)| granted == kind)
            .map(|&(_, seconds)| seconds)
    }

    /// Whether a kind may be tried.
    pub fn is_wanted(&self, kind: &Kind) -> bool {
        self.restrict_to.is_none() || self.granted(kind).is_some()
    }

    /// The number of numeric columns.
    pub fn dimensions(&self) -> usize {
        self.observations.dimensions()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.observations.columns().len()
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.split.fit.secrets()
    }

    /// The rows there are to learn from.
    pub fn fit(&self) -> &'a Counts {
        &self.split.fit
    }

    /// Observations to be scored.
    pub fn scored(&self) -> f64 {
        self.scored
    }

    /// Comparing the scores of the tune rows pair by pair.
    pub fn comparing(&self) -> f64 {
        let cells = self.split.tune.cells().len() as f64;
        COMPARING * cells * self.secrets() as f64
    }
}

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
type Chosen = (Finalist, Option<PrivacyCandidate>, Vec<Naming>, Vec<Tried>);

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
    /// Nominal seconds.
    spent: f64,
    /// At most this many rows were learned from.
    most_rows: Option<u64>,
    /// The best of the kind that is running.
    best: Option<Finalist>,
    /// That kind.
    kind: Kind,
    /// The one with the largest limits of privacy, if that is wanted: of attackers that cannot learn rows by heart, which
    /// are compared on the fit rows too, and of the others.
    private: [Option<PrivacyCandidate>; 2],
    /// For each prior, the best guess among all secrets.
    naming: Vec<Naming>,
    /// The best of each kind, the best first, the first of equals first.
    finalists: Vec<Finalist>,
}

/// Rows of a secret below which thinning would teach nothing.
const MIN_ROWS: u64 = 20;
/// Fit and tune rows, one a distinct observation of a secret, on which limits of privacy are compared at most, times the
/// number of secrets; 200,000 of them whatever that number.
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
            spent: 0.0,
            most_rows: None,
            best: None,
            kind: Kind::named("none"),
            private: [None, None],
            naming: naming(&task),
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

    /// Lets a family enter its attackers, from as many rows as the budget allows. They share the
    /// family's cost.
    pub fn run(&mut self, family: &dyn Family) {
        let all = self.task.fit().total();
        let least = all.min(MIN_ROWS * self.task.secrets() as u64);
        let left = self.task.budget.seconds() - self.spent;
        let share = match self.task.granted(&family.kind()) {
            Some(seconds) => seconds,
            None if self.task.is_patient() => left,
            // Half of what is left, so that one kind does not keep the others out.
            None => (left / 2.0).min(family.most_seconds()),
        };
        let wanted = family.most_rows(&self.task);
        let most = most_rows(family, &self.task, share, wanted.min(all));
        if most < least {
            let cost = family.cost(&self.task, least);
            let reason = self.too_long(family, cost);
            self.fail(family, cost, 0, Failure::Skipped(reason));
            return;
        }
        self.run_on(family, share, wanted, most);
    }

    /// Lets the cheapest family enter where all were left out for want of time, with the fewest rows that make
    /// sense, or all of them where they cost no more: a log has some answer.
    pub fn run_cheapest(&mut self, families: &[Box<dyn Family>]) {
        let task = self.task;
        let all = task.fit().total();
        let least = all.min(MIN_ROWS * task.secrets() as u64);
        let skipped = |tried: &Tried| matches!(tried.quality, Err(Failure::Skipped(_)));
        if !self.finalists.is_empty() || task.is_patient() || !self.tried.iter().all(skipped) {
            return;
        }
        // A combination has nothing to combine.
        let alone = families.iter().filter(|family| !family.names().is_empty());
        let costs = alone.map(|family| (family.cost(&task, least), family));
        if let Some((cost, family)) = costs.min_by(|x, y| x.0.total_cmp(&y.0)) {
            let kind = family.kind();
            self.tried.retain(|tried| tried.kind != kind);
            let wanted = family.most_rows(&task).min(all);
            let most = most_rows(&**family, &task, cost, wanted).max(least);
            self.run_on(&**family, cost, wanted, most);
        }
    }

    /// The same from so many rows, and later from as many as so many nominal seconds allow.
    fn run_on(&mut self, family: &dyn Family, share: f64, wanted: u64, most: u64) {
        let all = self.task.fit().total();
        let before = self.tried.len();
        let fit = thinned(self.task.fit(), most);
        // More rows may come later, when it is learned anew: as many as would have been in the budget.
        self.most_rows = (wanted < u64::MAX || most < all)
            .then(|| most_rows(family, &self.task, share, wanted.min(u64::from(u32::MAX))));
        let cost = family.cost(&self.task, fit.total());
        self.spent += cost;
        self.kind = family.kind();
        if let Err(reason) = family.enter(self, &fit) {
            self.fail(family, cost, fit.total(), Failure::Unfit(reason));
        }
        let entered = &mut self.tried[before..];
        let each = significant(cost / entered.len().max(1) as f64);
        for tried in entered {
            tried.cost = each;
            tried.rows = fit.total();
        }
        self.keep();
    }

    /// Why a family is left out that costs so much with the fewest rows that make sense.
    fn too_long(&self, family: &dyn Family, cost: f64) -> String {
        let takes = format!("takes about {} s or more", significant(cost));
        if !self.task.is_patient() && cost > family.most_seconds() {
            let alone = setting("attacks", family.kind().name);
            return format!("{takes}: {alone} would try it");
        }
        // Half of what is left must be enough.
        let shares = if self.task.is_patient() { 1.0 } else { 2.0 };
        let budget = self.task.budget.whole(self.spent + shares * cost).ceil();
        let larger = setting("budget", format!("{budget}s"));
        format!("{takes}: {larger} would include it")
    }

    fn fail(&mut self, family: &dyn Family, cost: f64, rows: u64, failure: Failure) {
        self.tried.push(Tried {
            kind: family.kind(),
            scorer: family.kind().name.into_owned(),
            parameters: Parameters::new(),
            description: String::new(),
            quality: Err(failure),
            cost: significant(cost),
            rows,
        });
    }

    /// Ranks the best of a family among those of others.
    fn keep(&mut self) {
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
        let better = |best: &Finalist| quality.total() > best.quality.total();
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(Finalist {
                quality,
                scorer: self.within_budget(scorer),
                scores,
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

    /// Compares an attacker by the sum over quantities of the largest limit of all pairs, by cross-validation inside past
    /// rows.
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
        let secrets = self.task.secrets();
        let more = (!memorizes).then(|| self.past()).flatten().map(|past| {
            let scores = score_table(&**scorer, observations, past.symbols(), secrets);
            (past, scores)
        });
        let limits = match &more {
            Some((past, scores)) => self.promised(scores, past),
            None => self.promised(scores, &split.tune),
        };
        let best = self.private[usize::from(memorizes)].as_ref();
        if best.is_some_and(|best| limits <= best.limits) {
            return;
        }
        let (on_tune, choices) = match &more {
            Some((past, all)) => (
                self.promised(scores, &split.tune),
                choose_rules(all, past, alpha, targets),
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

    /// Fit and tune rows, of the former as many as the time allows; nothing if that is none.
    fn past(&self) -> Option<Counts> {
        let Split { fit, tune, .. } = self.task.split;
        let most = (MOST_PAST / self.task.secrets().max(1)).max(LEAST_PAST);
        let left = most.checked_sub(tune.cells().len())?;
        if fit.cells().len() <= left {
            return Some(fit.plus(tune));
        }
        Some(thinned(fit, left as u64).plus(tune))
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

    /// An attacker that may have learned rows by heart is noisier than it seems: on the tune rows it must promise clearly
    /// more than one that may not, which has its threshold from all past rows.
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
        Ok((
            self.finalists.swap_remove(chosen),
            Self::for_privacy(self.private),
            naming.collect(),
            self.tried,
        ))
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

/// Distinct observations of the tune rows, and about those of the certify rows, of which only the number of rows is
/// looked at.
pub(super) fn observations_to_score(split: &Split) -> f64 {
    let size = |part: &Counts| (part.total() as f64, part.by_symbol().count() as f64);
    let (fit, tune) = (size(&split.fit), size(&split.tune));
    tune.1 + expected(fit, tune, split.certify.total() as f64)
}

/// How many distinct observations so many more rows have, from two parts' numbers of rows and of distinct observations:
/// their number grows with a power of the number of rows (Heaps' law), 0 where nothing new comes, 1 where all is new.
fn expected(mut few: (f64, f64), mut many: (f64, f64), rows: f64) -> f64 {
    if few.0 > many.0 {
        (few, many) = (many, few);
    }
    let power = if few.1 > 0.0 && many.0 > few.0 {
        ((many.1 / few.1).ln() / (many.0 / few.0).ln()).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let observations = many.1 * (rows / many.0.max(1.0)).powf(power);
    observations.min(rows)
}

/// The most rows, but `wanted`, that a family can learn from in so many nominal seconds; 0 if none.
fn most_rows(family: &dyn Family, task: &Task, seconds: f64, wanted: u64) -> u64 {
    if family.cost(task, wanted) <= seconds {
        return wanted;
    }
    let (mut fits, mut too_many) = (0, wanted);
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if family.cost(task, middle) <= seconds {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    fits
}

/// Three significant digits.
pub(super) fn significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
