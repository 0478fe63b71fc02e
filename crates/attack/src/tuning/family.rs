//! What every kind of attacker says of itself.

use crate::scorer::Kind;
use crate::tuning::attacks::Attacks;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use leakgauge_log::observations::Counts;

/// A kind of attacker: one or more attackers that are fitted together.
pub(super) trait Family {
    /// What it is called, should it not even be fitted or be tried again.
    fn kind(&self) -> Kind;

    /// The names by which users ask for it alone; none if it takes part only where all do.
    fn names(&self) -> &'static [ScorerChoice];

    /// Whether it takes part in what the user asked for.
    fn is_asked(&self, attacks: &Attacks) -> bool {
        attacks.include(self.names())
    }

    /// Whether it can say anything about such a log.
    fn applies(&self, task: &Task) -> bool;

    /// Rows beyond which it learns nothing worth the time.
    fn most_rows(&self, _: &Task) -> u64 {
        u64::MAX
    }

    /// Nominal seconds that it may take of any budget when others are tried too.
    fn most_seconds(&self) -> f64 {
        f64::INFINITY
    }

    /// Nominal seconds, on two cores, of learning from so many rows, choosing on the tuning rows and judging on the
    /// certification rows. They come from a count of operations and never from a clock, so that every run
    /// decides alike. They grow with the rows.
    fn cost(&self, task: &Task, fit_rows: u64) -> f64;

    /// Learns from rows and enters its attackers by [`ModelSelection::enter`] or [`ModelSelection::enter_scored`].
    ///
    /// # Errors
    /// Why it cannot learn, for the report.
    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String>;
}
