//! Which attacks a log is tried with.

use std::sync::Arc;

use crate::attack::Attack;
use crate::tuning::scorer_choice::ScorerChoice;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::option;

/// Which attacks are tried: built-in ones, the caller's own, or both in competition. The best on the tuning
/// rows is judged.
///
/// ```
/// use std::sync::Arc;
/// use leakgauge_attack::Attack;
/// use leakgauge_attack::tuning::{Attacks, ScorerChoice};
///
/// # fn choices(mine: Arc<dyn Attack>) {
/// Attacks::default(); // all built-in attacks
/// Attacks::from(ScorerChoice::Forest); // one of them
/// Attacks::only(mine.clone()); // an attack of the caller's own, and no other
/// Attacks::default().and(mine); // all built-in attacks and that one
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Attacks {
    /// `None`: none.
    built_in: Option<ScorerChoice>,
    own: Vec<Arc<dyn Attack>>,
}

/// All built-in attacks.
impl Default for Attacks {
    fn default() -> Self {
        ScorerChoice::Auto.into()
    }
}

impl From<ScorerChoice> for Attacks {
    fn from(choice: ScorerChoice) -> Self {
        Attacks {
            built_in: Some(choice),
            own: Vec::new(),
        }
    }
}

impl Attacks {
    /// An attack of the caller's own alone.
    pub fn only(attack: Arc<dyn Attack>) -> Self {
        Attacks {
            built_in: None,
            own: vec![attack],
        }
    }

    /// These, and an attack of the caller's own in competition with them.
    #[must_use]
    pub fn and(mut self, attack: Arc<dyn Attack>) -> Self {
        self.own.push(attack);
        self
    }

    /// The caller's own attacks.
    pub fn own(&self) -> &[Arc<dyn Attack>] {
        &self.own
    }

    /// The choice among the built-in attacks; `None` if there are only the caller's own.
    pub fn built_in(&self) -> Option<ScorerChoice> {
        self.built_in
    }

    /// Whether scores are read from columns of the log, so that nothing is learned.
    pub fn are_given(&self) -> bool {
        self.built_in == Some(ScorerChoice::Given)
    }

    /// Whether all built-in attacks that apply are tried.
    pub fn are_auto(&self) -> bool {
        self.built_in == Some(ScorerChoice::Auto)
    }

    /// Whether a built-in attack is tried that users ask for by one of these names.
    pub(super) fn include(&self, names: &[ScorerChoice]) -> bool {
        self.are_auto() || self.built_in.is_some_and(|choice| names.contains(&choice))
    }

    /// Refuses attacks that cannot be told apart in a report, and scores of the log beside attacks that learn.
    ///
    /// # Errors
    /// Two attacks have the same name, or one that a built-in attack has; scores given in the log
    /// together with other attacks.
    pub fn check(&self) -> Result<()> {
        if self.are_given() && !self.own.is_empty() {
            return Err(Error::parameter(
                option("attacks"),
                "scores given in the log cannot compete with attacks that learn from it",
            ));
        }
        for (at, attack) in self.own.iter().enumerate() {
            let name = attack.name();
            let known = ScorerChoice::ALL.iter().any(|choice| choice.name() == name);
            let twice = self.own[..at].iter().any(|other| other.name() == name);
            if known || twice || name == "combination" {
                return Err(Error::parameter(
                    option("attacks"),
                    format!("two attacks have the name {}", shorten(name)),
                )
                .with_hint("reports tell attacks apart by name"));
            }
        }
        Ok(())
    }
}
