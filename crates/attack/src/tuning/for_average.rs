//! The attacker for all pairs of secrets together.

use std::fmt;
use std::sync::Arc;

use crate::pairwise::average::AverageRule;
use crate::scorer::Scorer;

/// An attacker whose errors, averaged over all pairs, promise most.
#[derive(Clone)]
pub struct ForAverage {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// The rule that cuts its scores.
    pub rule: AverageRule,
}

impl fmt::Debug for ForAverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForAverage")
            .field("scorer", &self.scorer.name())
            .field("rule", &self.rule)
            .finish()
    }
}
