//! What a claim is judged by.

use leakgauge_attack::pairwise::Rule;
use leakgauge_stats::variational::Divergence;

/// A limit that can refute a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CertifiedLimit {
    /// The total variations of all pairs, by the parts of α of this table.
    Table(usize),
    /// The error rates of a rule, limited together: μ and ρ follow from them, and ε.
    Errors(Rule),
    /// The same for a rule on the scores of the attack that was chosen for privacy.
    PrivacyErrors(Rule),
    /// The guesses between two secrets: ε follows from them, at every δ.
    Guesses([u32; 2]),
    /// The scores of two secrets in bins, weighed for this divergence.
    Divergence([u32; 2], Divergence),
    /// The medians of differences of times, all pairs together.
    TimeDifference,
}
