//! Differences between secrets in the unit of the measurements, where these come in blocks.

use crate::audit::measured::Reference;
use crate::audit::pair::Pair;
use crate::audit::times::{SecretTimes, quantile};
use crate::estimate::Estimate;
use leakgauge_base::time::TimeUnit;
use leakgauge_stats::paired::{Located, Sense};

/// The differences between all pairs of secrets, inside blocks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Differences {
    /// The unit of the measurements, if it is known.
    pub unit: Option<TimeUnit>,
    /// What the attacks saw measurements relative to.
    pub reference: Reference,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that lack a secret.
    pub incomplete: u64,
    /// Blocks of one measurement, which were left out.
    pub alone: u64,
    /// Every pair that some block has both secrets of, those that differ most first.
    pub pairs: Vec<Difference>,
    /// The p-value of "no secret differs from another", all pairs together.
    pub p_value: f64,
    /// The times of every secret, for a picture.
    pub times: Vec<SecretTimes>,
}

impl Differences {
    /// The paired advantage at two secrets.
    pub(super) fn paired_advantage(&self, [a, b]: [u32; 2]) -> Option<Estimate> {
        let is_of = |pair: &&Difference| [[a, b], [b, a]].contains(&pair.secrets.secrets());
        let pair = self.pairs.iter().find(is_of)?;
        Some(pair.paired_advantage.clone())
    }
}

/// How the second secret of a pair differs from the first, in blocks that have both.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The two secrets, the one with the shorter times first.
    pub secrets: Pair,
    /// Blocks that have both.
    pub blocks: u64,
    /// The median of the differences. The limits of all pairs hold together, and likewise of each figure below.
    pub median: Located,
    /// The median of all pairwise means of differences.
    pub hodges_lehmann: Located,
    /// The mean without the smallest and the largest tenth.
    pub trimmed_mean: Located,
    /// The mean.
    pub mean: Located,
    /// By how much each decile of the times differs; `None` with too few blocks. All nine hold together.
    pub deciles: Option<[Located; 9]>,
    /// The advantage of an observer who is asked which of two measurements of a block is which.
    pub paired_advantage: Estimate,
    /// The p-value of "which is which makes no difference", corrected so that all pairs hold together.
    pub p_value: f64,
    /// Where the evidence is.
    pub sense: Sense,
    /// The limits of the median at the whole level, one by one: a claim holds over all pairs by these.
    pub(super) alone: Located,
    /// The differences, sorted.
    pub(super) sorted: Vec<f64>,
}

impl Difference {
    /// The difference that this share of the blocks does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.sorted, share)
    }

    /// The largest size that the median may have.
    pub(super) fn largest(&self) -> f64 {
        self.alone.lower.abs().max(self.alone.upper.abs())
    }

    /// The smallest size that the median may have, all pairs together.
    pub(super) fn smallest(&self) -> f64 {
        self.median.lower.max(-self.median.upper).max(0.0)
    }
}
