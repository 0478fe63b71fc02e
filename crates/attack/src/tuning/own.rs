//! Attacks from outside, in competition like any other.

use std::sync::Arc;

use crate::attack::{Attack, Fitted};
use crate::scorer::Kind;
use crate::tuning::attacks::Attacks;
use crate::tuning::families::{Family, ScorerChoice};
use crate::tuning::model_selection::{ModelSelection, Task};
use leakgauge_log::observations::Counts;

/// One of the caller's own attacks.
pub(super) struct OwnFamily {
    attack: Arc<dyn Attack>,
}

impl OwnFamily {
    pub fn new(attack: Arc<dyn Attack>) -> Self {
        OwnFamily { attack }
    }
}

impl Family for OwnFamily {
    fn kind(&self) -> Kind {
        Kind::named(self.attack.name().to_owned())
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[]
    }

    fn is_asked(&self, _: &Attacks) -> bool {
        true
    }

    /// The attack says so itself when it is fitted.
    fn applies(&self, _: &Task) -> bool {
        true
    }

    fn most_rows(&self, _: &Task) -> u64 {
        self.attack.max_rows()
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        self.attack.nominal_seconds(fit_rows, task.scored() as u64) + task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let fitted = Fitted::fit(&self.attack, selection.task().observations, fit)?;
        selection.enter(Arc::new(fitted));
        Ok(())
    }
}
