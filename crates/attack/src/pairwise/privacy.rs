//! Parameters of privacy that thresholds are chosen for.

use leakgauge_base::quantity::PrivacyParameter;

/// The parameter of privacy for which a threshold is chosen at every pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The same at all pairs.
    All(PrivacyParameter),
    /// One for each pair, in the order of [`pairs`](crate::pairwise::pairs); `None` at a pair that is not looked at.
    Each(Vec<Option<PrivacyParameter>>),
}

impl Target {
    /// The parameter at a pair; `None` if the pair is not looked at.
    pub fn at(&self, pair: usize) -> Option<PrivacyParameter> {
        match self {
            Target::All(parameter) => Some(*parameter),
            Target::Each(parameters) => parameters[pair],
        }
    }

    /// The parameters, that of all pairs once.
    pub fn parameters(&self) -> impl Iterator<Item = PrivacyParameter> {
        let (all, each) = match self {
            Target::All(parameter) => (Some(*parameter), None),
            Target::Each(parameters) => (None, Some(parameters.iter().flatten().copied())),
        };
        all.into_iter().chain(each.into_iter().flatten())
    }
}
