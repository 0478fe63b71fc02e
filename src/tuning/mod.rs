//! Choosing the attacker on the tune rows.
//!
//! Every kind of attacker is a `Family`; those that apply to a log enter a `Race`, which keeps the
//! one that does best. To add a kind, write a family and name it in `families::all`.

mod families;
mod neighbors;
mod quality;
mod race;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::observations::Observations;
use crate::pairwise::{PairChoice, Target, choose_rules};
use crate::scorer::{Parameter, Scorer};
use crate::scores::ScoreTable;
use crate::split::Split;

use families::Family;
pub use quality::quality;
use race::{Race, Task};

/// Numbers that the points of a neighbour search may be, 8 bytes each, some of them held twice.
const MOST_NUMBERS: u64 = 200_000_000;

/// Which attacker to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorerChoice {
    /// Whichever does best on the tune rows.
    #[default]
    Auto,
    /// Counts.
    Frequentist,
    /// The k-th neighbour of each secret, k chosen on the tune rows.
    KNearest,
    /// The nearest neighbour of each secret.
    Nearest,
    /// Logistic regression on the numeric columns.
    Linear,
    /// The user's own attack, whose scores stand in the log.
    Given,
}

/// An attacker that was tried on the tune rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its name.
    pub scorer: &'static str,
    /// Its parameters.
    pub parameters: BTreeMap<&'static str, Parameter>,
    /// Its quality on the tune rows, see [`quality()`]; or why it could not be fitted.
    pub quality: std::result::Result<f64, String>,
    /// What it costs, in nominal seconds: an estimate from the size of the log, never a measurement.
    pub cost: f64,
    /// Rows it learned from.
    pub rows: u64,
}

/// The chosen attacker and the rules that it brings.
pub struct Tuned {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// A rule for every pair, in the order of [`crate::pairwise::pairs`].
    pub choices: Vec<PairChoice>,
    /// The attacker's scores of the tune rows.
    pub scores: ScoreTable,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// How neighbours are found, if they are.
    pub index: Option<&'static str>,
}

/// Fits the attackers asked for on the fit rows, keeps the one that does best on the tune rows, and
/// chooses its rules there.
///
/// # Errors
/// An attack on numbers and a log without numeric columns; an attack asked for that cannot be fitted;
/// more rows than a neighbour search can hold.
pub fn tune(
    observations: &Observations,
    split: &Split,
    choice: ScorerChoice,
    alpha: f64,
    targets: &[Target],
) -> Result<Tuned> {
    refuse_large(observations, split, choice)?;
    let task = Task::new(observations, split, choice);
    let families: Vec<Box<dyn Family>> = families::all()
        .into_iter()
        .filter(|family| family.is_asked(choice) && family.applies(&task))
        .collect();
    if families.is_empty() {
        return Err(no_numbers());
    }
    let mut race = Race::new(task, alpha);
    for family in &families {
        race.run(&**family);
    }
    let (scorer, scores) = race.winner()?;
    Ok(Tuned {
        choices: choose_rules(&scores, &split.tune, alpha, targets),
        scores,
        index: scorer.index(),
        scorer,
        tried: race.into_tried(),
    })
}

fn no_numbers() -> Error {
    Error::parameter(
        "--scorer",
        "this attack needs a numeric observation column, and the log has only labels",
    )
    .with_hint("use --scorer frequentist, or read a column as numbers with --numeric COLUMN")
}

/// Refuses more numbers than can be held.
fn refuse_large(observations: &Observations, split: &Split, choice: ScorerChoice) -> Result<()> {
    let numbers = split
        .fit
        .total()
        .saturating_mul(observations.dimensions() as u64);
    if observations.dimensions() > 1
        && numbers > MOST_NUMBERS
        && choice != ScorerChoice::Frequentist
    {
        return Err(Error::parameter(
            "--scorer",
            format!(
                "neighbours in several numeric columns hold every row in memory, and {} rows are too many",
                split.fit.total()
            ),
        )
        .with_hint("use --scorer frequentist, --observe one column, or fewer rows"));
    }
    Ok(())
}
