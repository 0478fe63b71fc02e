//! What becomes of a claim.

use std::fmt;

use serde::Serialize;

use crate::audit::claims::goodness::Fit;
use crate::audit::claims::reason::{ClaimReason, Grounds};
use crate::audit::pair::Pair;
use crate::estimate::{Estimate, Method};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::Claim;

/// The answer to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A certified upper limit is within the claim for every pair.
    Holds,
    /// A certified lower limit exceeds what the claim allows.
    Violated,
    /// Neither.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// A claim and its verdict.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaimReport {
    /// The claim; in JSON as it was written.
    pub claim: Claim,
    /// Which quantity decides.
    pub quantity: Quantity,
    /// What the claim says of it.
    pub analytic: f64,
    /// The pair that decides.
    pub pair: Pair,
    /// What the log says of it.
    pub estimate: Estimate,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: ClaimReason,
    /// Rows at which the same rates would decide in nine of ten logs, if any number would.
    pub rows_needed: Option<u64>,
    /// The same in units with as many rows each as those of the log, where limits count units.
    pub units_needed: Option<u64>,
    /// The smallest α at which the claim would be violated, other claims judged along with it; 1 where that is
    /// more than a quarter and not computed; `None` if nothing was judged.
    pub p_value: Option<f64>,
    /// How well the log fits a claimed mechanism.
    pub fit: Option<Fit>,
}

impl ClaimReport {
    /// Whether the log was judged by the claim. Where it was not, an inconclusive verdict says nothing of the size of a leak.
    pub fn is_judged(&self) -> bool {
        !matches!(
            self.reason.grounds,
            Grounds::OneModel { .. }
                | Grounds::NothingObserved { .. }
                | Grounds::DependentRows { .. }
        )
    }

    /// Whether it is about all secrets together, so that no pair stands for it.
    pub fn is_about_all_secrets(&self) -> bool {
        matches!(self.quantity, Quantity::Overall(_))
    }

    /// The pair that decides, where one does: not if some pair leaks more than is claimed and it is not said which, and not of
    /// a claim about all secrets together.
    pub fn deciding_pair(&self) -> Option<&Pair> {
        if self.is_about_all_secrets() {
            return None;
        }
        let method = &self.estimate.method;
        let sides = [method.lower, method.upper];
        let is_of_some = sides.into_iter().flatten().any(Method::is_of_some_pair);
        (!is_of_some).then_some(&self.pair)
    }
}
