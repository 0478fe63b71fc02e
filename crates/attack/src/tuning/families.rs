//! The kinds of attackers.
//!
//! To add an attacker: write its scorer in a file of its own, name the file in `scorer/mod.rs`, and add here a
//! family and its line in [`all`], and its name in the list of `scorer_choice.rs`. The command line's names and help
//! follow.

use std::sync::Arc;

use crate::attack::Attack;
use crate::scorer::{
    Additive, Columns, Covariance, Forest, Frequentist, Gaussian, Growth, Kind, Linear, Threshold,
    View,
};
use crate::tuning::attacks::Attacks;
use crate::tuning::combination::CombinationFamily;
use crate::tuning::family::Family;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::neighbors::NeighborFamily;
use crate::tuning::own::OwnFamily;
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use leakgauge_log::observations::Counts;

/// All kinds, in the order in which they are tried: the first of equals wins. The caller's own come after
/// the built-in ones, and before their combination.
pub(super) fn all(own: &[Arc<dyn Attack>]) -> Vec<Box<dyn Family>> {
    let before: [Box<dyn Family>; 7] = [
        Box::new(FrequentistFamily),
        Box::new(ThresholdFamily),
        Box::new(AdditiveFamily),
        Box::new(BitsFamily),
        Box::new(GaussianFamily),
        Box::new(TemplateFamily),
        Box::new(LinearFamily),
    ];
    let neighbors = NeighborFamily::all().map(|family| Box::new(family) as Box<dyn Family>);
    let forest: Box<dyn Family> = Box::new(ForestFamily);
    let own = own
        .iter()
        .map(|attack| Box::new(OwnFamily::new(attack.clone())) as Box<dyn Family>);
    let combination: Box<dyn Family> = Box::new(CombinationFamily);
    let before = before.into_iter().chain(neighbors).chain([forest]);
    before.chain(own).chain([combination]).collect()
}

/// Ten times as many rows for a user who asked for one attack.
fn patient(task: &Task, rows: u64) -> u64 {
    if task.is_patient() { 10 * rows } else { rows }
}

struct FrequentistFamily;

impl Family for FrequentistFamily {
    fn kind(&self) -> Kind {
        Kind::named("frequentist")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Frequentist]
    }

    fn applies(&self, _: &Task) -> bool {
        true
    }

    /// A lookup is not worth thinning.
    fn cost(&self, task: &Task, _: u64) -> f64 {
        let scores = task.scored() * task.secrets() as f64;
        2.0 * task.comparing() + 5e-9 * (task.fit().cells().len() as f64 + scores)
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        selection.enter(Arc::new(Frequentist::fit(fit)));
        if let Some(by_column) = Frequentist::fit_by_column(selection.task().observations, fit) {
            selection.enter(Arc::new(by_column));
        }
        Ok(())
    }
}

struct ThresholdFamily;

impl Family for ThresholdFamily {
    fn kind(&self) -> Kind {
        Kind::named("threshold")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Threshold]
    }

    /// One column of many secrets is left to neighbors unless the user asks.
    fn applies(&self, task: &Task) -> bool {
        task.dimensions() > usize::from(!task.is_patient() && task.secrets() > 2)
    }

    fn most_rows(&self, task: &Task) -> u64 {
        patient(task, 1_000_000)
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let sorting = task.dimensions() as f64 * sorting(fit_rows);
        sorting + 4e-9 * task.scored() * task.secrets() as f64 + task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let threshold = Threshold::fit(selection.task().observations, fit)?;
        selection.enter(Arc::new(threshold));
        Ok(())
    }
}

struct AdditiveFamily;

impl AdditiveFamily {
    /// Learning and scoring of so many features a row, the choice of a shape included.
    fn seconds(task: &Task, fit_rows: u64, features: usize) -> f64 {
        let (features, secrets) = (features as f64, task.secrets() as f64);
        let learning = fit_rows as f64 * features * (1.2e-7 + 2e-8 * secrets);
        learning + task.scored() * features * (2e-8 + 1e-9 * secrets)
    }
}

impl Family for AdditiveFamily {
    fn kind(&self) -> Kind {
        Kind::named("additive")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Additive]
    }

    /// One column is left to others unless the user asks.
    fn applies(&self, task: &Task) -> bool {
        task.columns() > usize::from(!task.is_patient())
    }

    fn most_rows(&self, task: &Task) -> u64 {
        patient(task, 300_000)
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let views = 1 + usize::from(task.dimensions() > 1);
        Self::seconds(task, fit_rows, task.columns() * views) + 2.0 * task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let observations = selection.task().observations;
        let columns = Additive::fit(observations, fit, View::Columns);
        let steps = Additive::fit(observations, fit, View::Steps);
        match (columns, steps) {
            (Err(reason), Err(_)) => Err(reason),
            (columns, steps) => {
                for additive in [columns, steps].into_iter().flatten() {
                    selection.enter(Arc::new(additive));
                }
                Ok(())
            }
        }
    }
}

struct BitsFamily;

impl Family for BitsFamily {
    fn kind(&self) -> Kind {
        Kind::named("bits")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Bits]
    }

    /// By name alone: floating-point noise of any sampler that does not round it differs from the law that it is
    /// meant to have, so that logs of mechanisms as the papers define them would be refuted for their printing.
    fn is_asked(&self, attacks: &Attacks) -> bool {
        attacks.built_in() == Some(ScorerChoice::Bits)
    }

    fn applies(&self, task: &Task) -> bool {
        let observations = task.observations;
        let full = |at: usize| Additive::is_printed_in_full(observations, task.fit(), at);
        (0..task.dimensions()).any(full)
    }

    fn most_rows(&self, task: &Task) -> u64 {
        patient(task, 300_000)
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        AdditiveFamily::seconds(task, fit_rows, 2 * task.columns()) + task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let bits = Additive::fit(selection.task().observations, fit, View::Bits)?;
        selection.enter(Arc::new(bits));
        Ok(())
    }
}

struct GaussianFamily;

impl GaussianFamily {
    /// As if so many rows a column had the covariance of all secrets together.
    const SHRINKAGE: [f64; 2] = [0.25, 5.0];
}

impl Family for GaussianFamily {
    fn kind(&self) -> Kind {
        Kind::named("gaussian")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Gaussian]
    }

    fn applies(&self, task: &Task) -> bool {
        task.dimensions() > 0
    }

    /// Enough for every entry of the covariances.
    fn most_rows(&self, task: &Task) -> u64 {
        patient(
            task,
            100 * (task.dimensions() * task.secrets()) as u64 + 50_000,
        )
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let (d, secrets) = (task.dimensions() as f64, task.secrets() as f64);
        let fitting = 4.0 * d * sorting(fit_rows) + 6e-9 * fit_rows as f64 * d * d;
        let factors = 4e-9 * secrets * d * d * d;
        let scoring = task.scored() * (5e-8 * d + 1e-9 * secrets * d * d);
        fitting + factors + scoring + 8.0 * task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let covariances = [Covariance::Independent, Covariance::Shared].into_iter();
        let covariances = covariances.chain(Self::SHRINKAGE.map(Covariance::PerSecret));
        // One column has one variance, or one a secret: no more is told apart by few rows.
        let alone = selection.task().dimensions() == 1 && !selection.task().is_patient();
        let covariances = covariances.filter(|&covariance| {
            !alone || covariance == Covariance::Shared || covariance == Covariance::Independent
        });
        let mut failed = None;
        let mut entered = false;
        for covariance in covariances {
            let ranked = (!alone).then_some(Columns::Ranked);
            for columns in [Some(Columns::Scaled), ranked].into_iter().flatten() {
                match Gaussian::fit(selection.task().observations, fit, covariance, columns) {
                    Ok(gaussian) => {
                        selection.enter(Arc::new(gaussian));
                        entered = true;
                    }
                    Err(reason) => failed = failed.or(Some(reason)),
                }
            }
        }
        match failed {
            Some(reason) if !entered => Err(reason),
            _ => Ok(()),
        }
    }
}

/// What analysts of power traces call templates at points of interest: a density of few columns learned well beats one
/// of all that are there.
struct TemplateFamily;

impl TemplateFamily {
    /// With fewer columns, others learn all of them.
    const FEWEST_COLUMNS: usize = 20;
    /// Columns that are kept.
    const KEPT: [usize; 4] = [4, 16, 64, 256];
}

impl Family for TemplateFamily {
    fn kind(&self) -> Kind {
        Kind::named("template")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Template]
    }

    fn applies(&self, task: &Task) -> bool {
        let fewest = if task.is_patient() {
            2
        } else {
            Self::FEWEST_COLUMNS
        };
        task.dimensions() >= fewest
    }

    fn most_rows(&self, task: &Task) -> u64 {
        patient(task, 100_000)
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let d = task.dimensions() as f64;
        let kept = d.min(256.0);
        let looking = d * (sorting(fit_rows) + 4e-9 * fit_rows as f64);
        let fitting = 6e-9 * fit_rows as f64 * kept * kept;
        let scoring = task.scored() * (5e-9 * kept + 1e-9 * (kept + task.secrets() as f64) * kept);
        2.0 * (2.0 * looking + fitting + scoring + 2.0 * task.comparing())
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let observations = selection.task().observations;
        let all = observations.dimensions();
        for kept in Self::KEPT {
            let columns = Columns::Telling(kept);
            let template = Gaussian::fit(observations, fit, Covariance::Shared, columns)?;
            selection.enter(Arc::new(template));
            if kept >= all {
                break;
            }
        }
        Ok(())
    }
}

struct LinearFamily;

impl LinearFamily {
    /// About as many as it has.
    fn features(task: &Task) -> usize {
        task.dimensions() + 3 * task.columns().saturating_sub(task.dimensions())
    }
}

impl Family for LinearFamily {
    fn kind(&self) -> Kind {
        Kind::named("linear")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Linear]
    }

    /// One column is left to neighbors unless the user asks, and one of labels to counts.
    fn applies(&self, task: &Task) -> bool {
        match task.columns() {
            0 => false,
            1 => task.is_patient() && task.dimensions() > 0,
            _ => true,
        }
    }

    /// Enough for every weight.
    fn most_rows(&self, task: &Task) -> u64 {
        patient(
            task,
            4_000 * (Self::features(task) * task.secrets()) as u64 + 20_000,
        )
    }

    /// Normal densities are much the same attack.
    fn most_seconds(&self) -> f64 {
        1.0
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let weights = (Self::features(task) * task.secrets()) as f64;
        weights * (3e-8 * fit_rows as f64 + 4e-10 * task.scored()) + task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let linear = Linear::fit(selection.task().observations, fit)?;
        selection.enter(Arc::new(linear));
        Ok(())
    }
}

struct ForestFamily;

impl ForestFamily {
    fn trees(task: &Task) -> usize {
        if task.is_patient() { 500 } else { 100 }
    }
}

impl Family for ForestFamily {
    fn kind(&self) -> Kind {
        Kind::named("forest")
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::Forest]
    }

    /// One column is left to others unless the user asks.
    fn applies(&self, task: &Task) -> bool {
        task.columns() > usize::from(!task.is_patient())
    }

    /// Leaves hold a share for every secret, all of them in memory.
    fn most_rows(&self, task: &Task) -> u64 {
        const MAX_SHARES: u64 = 50_000_000;
        let shares = (task.secrets() * Self::trees(task)) as u64;
        patient(task, 100_000).min(2 * MAX_SHARES / shares.max(1))
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let (rows, secrets) = (fit_rows.max(2) as f64, task.secrets() as f64);
        let depth = rows.log2();
        let tried = (task.columns() as f64).sqrt();
        let growing = 1.5e-8 * rows * depth * tried + 3e-9 * rows * secrets;
        let asking = task.scored() * (4e-9 * depth + 1e-9 * secrets);
        2.0 * (Self::trees(task) as f64 * (growing + asking) + task.comparing())
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let trees = Self::trees(&selection.task());
        for leaf in [1, 10] {
            let forest = Forest::fit(selection.task().observations, fit, Growth { trees, leaf })?;
            selection.enter(Arc::new(forest));
        }
        Ok(())
    }
}

/// Sorting the values of a column.
fn sorting(rows: u64) -> f64 {
    let rows = rows.max(2) as f64;
    4e-9 * rows * rows.log2()
}
