//! The verdicts of an audit, by short names.

use leakgauge::audit::{Findings, Verdict};

/// The verdicts on the claims, in their order.
pub fn verdicts(found: &Findings) -> Vec<Verdict> {
    found.claims.iter().map(|claim| claim.verdict).collect()
}

pub const REFUTED: Verdict = Verdict::Violated;
pub const OPEN: Verdict = Verdict::Inconclusive;
