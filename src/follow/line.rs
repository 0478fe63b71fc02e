//! What is known of a log that is followed at some row.

use serde::Serialize;

use crate::audit::{Verdict, Warning};
use crate::estimate::Estimate;
use leakgauge_base::time::TimeUnit;
use leakgauge_exact::claim::Claim;

/// What is known at some row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Version of this layout.
    pub schema_version: u32,
    /// Rows so far.
    pub rows: u64,
    /// Blocks so far that are whole, of a log in blocks: these are what limits count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Rows that were judged, in pairs of one row of either secret.
    pub judged: u64,
    /// The pair of secrets that is judged now.
    pub pair: Option<[String; 2]>,
    /// The point is of the attacks that judged last; the limit is of the largest advantage of all pairs.
    pub advantage: Estimate,
    /// Level of that limit. It has half of the error probability that it may have, for the limit of epsilon reads it too; where
    /// claims are about the advantage alone, these raise it once they are refuted, and their share is added.
    pub advantage_confidence: f64,
    /// The pairs of secrets that bets are about now; no two share a secret.
    pub epsilon_pairs: Vec<[String; 2]>,
    /// The same as `judged`.
    pub epsilon_judged: u64,
    /// Epsilon at delta = 0. The point is of the guesses that were judged last; the limit is of the largest
    /// epsilon that some pair needs.
    pub epsilon: Estimate,
    /// Level of that limit, which rests on that of the advantage as well: the error probabilities of both.
    pub epsilon_confidence: f64,
    /// Level of all lines together: of the verdicts on all claims together, and without claims of each limit.
    pub confidence: f64,
    /// Of a log in blocks: by how much the times of two secrets differ, the largest limits first, at most ten pairs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<FollowedDifference>,
    /// What became of the claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<FollowedClaim>,
    /// What the order of the rows gives reason to doubt, at the latest when there were a tenth fewer rows; at
    /// this row if a claim is violated.
    pub warnings: Vec<Warning>,
}

impl Line {
    /// Whether some claim is violated.
    pub fn is_violated(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| claim.verdict == Verdict::Violated)
    }

    /// Whether there are claims and all of them hold.
    pub fn all_hold(&self) -> bool {
        let mut claims = self.claims.iter();
        !self.claims.is_empty() && claims.all(|claim| claim.verdict == Verdict::Holds)
    }
}

/// By how much the times of two secrets differ inside blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowedDifference {
    /// The two secrets, the one with the shorter times first.
    pub secrets: [String; 2],
    /// The unit of the figures; null: that of the log.
    pub unit: Option<&'static str>,
    /// Blocks that have both.
    pub blocks: u64,
    /// The median of the differences.
    pub median: f64,
    /// Its lower limit, for all pairs and all lines together; null with too few blocks.
    pub lower: Option<f64>,
    /// Its upper limit, likewise.
    pub upper: Option<f64>,
}

/// A claim at some row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowedClaim {
    /// The claim; in JSON as it was written.
    pub claim: Claim,
    /// The largest advantage that it leaves possible; of a claim about times the largest median of differences, in the
    /// unit of the log.
    pub analytic: f64,
    /// The epsilon that it leaves possible, if it is a promise of one or a mechanism that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// The delta of that epsilon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Violated or inconclusive; a claim about times may also hold, for the secrets so far.
    pub verdict: Verdict,
    /// The smallest error probability, shared by all claims and all lines, at which it would be violated by now.
    /// It holds however often it is looked at, and never rises while the secrets stay the same.
    pub p_value: f64,
    /// Why, and what it rests on.
    pub reason: FollowedReason,
}

/// Why a claim is judged as it is at some row.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedReason {
    /// What became of the claim: violated, and by what; else what has the least p-value.
    pub verdict: Verdict,
    /// Whether blocks are judged, and not rows.
    pub of_blocks: bool,
    /// The only secret that the claim says is no slower than the others, if it names one.
    pub slower: Option<String>,
    /// What the p-value is of.
    pub grounds: FollowedGrounds,
    /// The p-value.
    pub p_value: f64,
    /// What puts a violation in doubt, or takes the verdict away.
    pub doubt: Option<Warning>,
}

/// What decides about a claim at some row, or comes nearest to it.
#[derive(Debug, Clone, PartialEq)]
pub enum FollowedGrounds {
    /// The advantage.
    Advantage {
        /// Its lower limit.
        lower: f64,
        /// The largest advantage that the claim leaves possible.
        bound: f64,
    },
    /// Epsilon at delta = 0.
    Epsilon {
        /// Its lower limit.
        lower: f64,
        /// The epsilon that the claim leaves possible.
        bound: f64,
    },
    /// Bets against one (epsilon, delta) with a positive delta.
    Approximate {
        /// The epsilon of the claim.
        epsilon: f64,
        /// The delta of the claim.
        delta: f64,
    },
    /// Bets against what a claim says of several inequalities.
    Claim,
    /// The median of the differences of times of two secrets.
    TimeDifference {
        /// The two secrets, the one with the shorter times first.
        pair: [String; 2],
        /// Its lower limit in the unit of the log; 0 if it is not shown which takes longer.
        lower: f64,
        /// What the claim leaves possible, in the same unit.
        bound: f64,
        /// The unit, if it is known.
        unit: Option<TimeUnit>,
    },
}
