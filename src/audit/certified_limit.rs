//! What is certified, and so what a claim is judged by.

use crate::estimate::Method;
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
    /// The errors of one rule for all pairs, averaged over pairs.
    Average,
    /// Tests of no leak at all.
    NoLeak,
    /// What rows gain by a posterior: mutual information.
    Information,
    /// The errors of the last attack's scores at all thresholds, at the worst pair.
    Band,
    /// The total variations of single columns, at the pair that promised most.
    Columns,
}

/// Where a certified statement comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Source {
    /// How it was obtained.
    pub method: Method,
    /// The planned limit of privacy that it is, if it is one.
    pub planned: Option<usize>,
}

/// Who takes a part of the error probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spender {
    /// Naming the secret, one of all.
    Identification,
    /// A limit.
    Limit(CertifiedLimit),
}
