//! Differences between secrets in the unit of the measurements.

mod last;
pub(crate) mod paired;
mod rows_in_order;
pub(crate) mod times;
pub(crate) mod unpaired;

use std::sync::Arc;

use crate::audit::figures::differences::times::{SecretTimes, quantile};
use crate::audit::pair::Pair;
use crate::audit::warnings::order::ALARM;
use crate::audit::warnings::warning::Warning;
use crate::estimate::Estimate;
use leakgauge_attack::blocks::Reference;
use leakgauge_base::time::TimeUnit;
use leakgauge_stats::clock::Clock;
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::paired::{
    Located, Sense, median_above, median_below, median_beyond, of_sorted,
};
use leakgauge_stats::unpaired::{Ranked, quantile_beyond};

/// How measurements in blocks were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlocksCompared {
    /// What the attacks saw measurements relative to.
    pub reference: Reference,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that the attacks saw: all, or a random sample.
    pub attacked: u64,
    /// Of all, blocks that lack a secret.
    pub incomplete: u64,
    /// Blocks of one measurement, which were left out.
    pub alone: u64,
}

/// The differences between all pairs of secrets: inside blocks, or of times that were taken one by one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Differences {
    /// The unit of the measurements, if it is known.
    pub unit: Option<TimeUnit>,
    /// The blocks, if measurements come in blocks; else they are compared as independent samples.
    pub blocks: Option<BlocksCompared>,
    /// Every pair that has rows to compare, those that differ most first.
    pub pairs: Vec<Difference>,
    /// The clock that recorded the measurements: limits are of the times themselves, not of what it recorded.
    pub clock: Clock,
    /// Whether its step was given, and not found.
    pub step_is_given: bool,
    /// Measurements below zero, of a log that is known to hold times.
    pub(crate) negative: u64,
    /// The least number of blocks, or of rows of each secret, that gives the medians limits, all pairs together.
    pub least: u64,
    /// Whether times that nobody waited for count as longer than all others: means of their secrets have no limits.
    pub counts_last: bool,
    /// The p-value of "no secret differs from another", all pairs together.
    pub p_value: f64,
    /// The times of every secret, for a picture.
    pub times: Vec<SecretTimes>,
}

impl Differences {
    /// The largest size that the median of any pair may have: each pair at the level alone, for the truly largest is one
    /// fixed pair. A claim about all pairs is shown by it.
    pub(crate) fn largest(&self) -> f64 {
        let pairs = self.pairs.iter();
        pairs.map(Difference::largest).fold(0.0, f64::max)
    }

    /// The same by the intervals of all pairs together, which are printed.
    pub(crate) fn largest_by_intervals(&self) -> f64 {
        let pairs = self.pairs.iter().map(|pair| &pair.median);
        let sizes = pairs.map(|median| median.lower.abs().max(median.upper.abs()));
        sizes.fold(0.0, f64::max)
    }

    /// Whether consecutive blocks depend on each other beyond doubt, at some pair: false alarms of all pairs together
    /// are as rare as those of other diagnostics of the order.
    pub(crate) fn dependent_blocks(&self) -> Option<Warning> {
        let level = ALARM / self.pairs.len() as f64;
        let alarms = self.pairs.iter().filter_map(|pair| match &pair.compared {
            Compared::Blocks(blocks) if blocks.dependence < level => Some((pair, blocks)),
            _ => None,
        });
        let (worst, blocks) = alarms
            .clone()
            .min_by(|x, y| x.1.dependence.total_cmp(&y.1.dependence))?;
        Some(Warning::DependentBlocks {
            secrets: worst.secrets.labels().map(str::to_owned),
            pairs: alarms.count(),
            blocks: blocks.sorted.len() as u64,
            worth: blocks.signs.worth(blocks.sorted.len() as f64).floor() as u64,
        })
    }

    /// Whether some times are negative.
    pub(crate) fn negative_times(&self) -> Option<Warning> {
        (self.negative > 0).then_some(Warning::NegativeTimes {
            times: self.negative,
        })
    }

    /// The paired advantage at two secrets.
    pub(crate) fn paired_advantage(&self, [a, b]: [u32; 2]) -> Option<Estimate> {
        let is_of = |pair: &&Difference| [[a, b], [b, a]].contains(&pair.secrets.secrets());
        let pair = self.pairs.iter().find(is_of)?;
        pair.paired_advantage.clone()
    }
}

/// How the second secret of a pair differs from the first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The two secrets, the one with the shorter times first.
    pub secrets: Pair,
    /// The median of the differences inside blocks; of times taken one by one, the difference of their medians. The
    /// limits of all pairs hold together, and likewise of each figure below.
    pub median: Located,
    /// The median of all pairwise means of differences; without blocks, of all differences between the two.
    pub hodges_lehmann: Located,
    /// The mean without the smallest and the largest tenth; without blocks, the difference of such means.
    pub trimmed_mean: Located,
    /// The mean of the differences.
    pub mean: Located,
    /// By how much each decile of the times differs; `None` with too few blocks. All nine hold together.
    pub deciles: Option<[Located; 9]>,
    /// The advantage of an observer who is asked which of two measurements of a block is which; nothing without blocks.
    pub paired_advantage: Option<Estimate>,
    /// The upper limit of the advantage of the rule that was found, at the whole level.
    pub(crate) paired_at_most: Option<f64>,
    /// The p-value of "which is which makes no difference", corrected so that all pairs hold together.
    pub p_value: f64,
    /// Where the evidence is.
    pub sense: Sense,
    /// The limits of the median at the whole level, one by one: a claim holds over all pairs by these.
    pub(crate) alone: Located,
    /// What was compared.
    pub(crate) compared: Compared,
}

/// What is compared of two secrets.
#[derive(Debug, Clone)]
pub(crate) enum Compared {
    /// The differences inside blocks that have both.
    Blocks(InBlocks),
    /// Two samples.
    Samples {
        /// The times of the two, each the shortest that it can be, and each the longest.
        ends: [[Arc<Ranked>; 2]; 2],
        /// How much the difference of their medians varies in the long run.
        varies: LongRun,
    },
}

/// Differences inside blocks.
#[derive(Debug, Clone)]
pub(crate) struct InBlocks {
    /// The p-value of "differences of consecutive blocks do not resemble each other", for a warning: limits allow for
    /// dependent blocks whatever it says.
    pub dependence: f64,
    /// How much the signs of the differences about their median vary in the long run.
    pub signs: LongRun,
    /// The differences, sorted; with the longest time that was recorded for one that nobody waited for.
    pub sorted: Vec<f64>,
    /// The smallest and the largest that they can be, sorted, where nobody waited for some of the times.
    pub ends: Option<[Vec<f64>; 2]>,
}

impl InBlocks {
    /// The smallest and the largest that differences can be, sorted.
    fn ends(&self) -> [&[f64]; 2] {
        match &self.ends {
            Some(ends) => ends.each_ref().map(Vec::as_slice),
            None => [&self.sorted; 2],
        }
    }
}

impl Difference {
    /// Blocks that have both secrets; `None` without blocks.
    pub fn blocks(&self) -> Option<u64> {
        Some(self.in_blocks()?.sorted.len() as u64)
    }

    /// Rows of the two secrets that were compared.
    pub fn rows(&self) -> [u64; 2] {
        match &self.compared {
            Compared::Blocks(blocks) => [blocks.sorted.len() as u64; 2],
            Compared::Samples { ends, .. } => [ends[0][0].rows(), ends[1][0].rows()],
        }
    }

    /// The p-value of "differences of consecutive blocks do not resemble each other", for a warning: limits allow for
    /// dependent blocks whatever it says. `None` without blocks.
    pub fn dependence(&self) -> Option<f64> {
        Some(self.in_blocks()?.dependence)
    }

    /// The difference that this share of the blocks does not exceed; `None` without blocks.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        Some(quantile(&self.in_blocks()?.sorted, share))
    }

    /// Those that differ most first.
    pub(crate) fn sort(pairs: &mut [Difference]) {
        pairs.sort_by(|x, y| {
            let by_limit = y.smallest().total_cmp(&x.smallest());
            by_limit.then(y.median.point.total_cmp(&x.median.point))
        });
    }

    fn in_blocks(&self) -> Option<&InBlocks> {
        match &self.compared {
            Compared::Blocks(blocks) => Some(blocks),
            Compared::Samples { .. } => None,
        }
    }

    /// The p-value of "the size of the median is at most this", by the direction in which it is smaller.
    pub(crate) fn beyond(&self, at_most: f64) -> f64 {
        match &self.compared {
            Compared::Blocks(blocks) => median_beyond(blocks.ends(), at_most, blocks.signs),
            Compared::Samples {
                ends: [a, b],
                varies,
            } => {
                // The shortest that the longer one can be against the longest that the other can.
                let beyond = |x: &[Arc<Ranked>; 2], y: &[Arc<Ranked>; 2]| {
                    quantile_beyond(&x[1], &y[0], 0.5, at_most)
                };
                varies.p_value(beyond(a, b).min(beyond(b, a)))
            }
        }
    }

    /// The median with limits at a level of each side.
    fn median_at(&self, alpha: f64) -> Located {
        match &self.compared {
            Compared::Blocks(blocks) => {
                let [least, most] = blocks.ends();
                let found = |sorted| of_sorted(sorted, alpha, blocks.signs);
                last::between(found(least), found(most))
            }
            Compared::Samples {
                ends: [a, b],
                varies,
            } => {
                let found = |x, y| last::quantile_shift([x, y], 0.5, alpha, *varies);
                last::between(found(&a[1], &b[0]), found(&a[0], &b[1]))
            }
        }
    }

    /// By how much this secret takes longer than the other of the pair, by limits of the median at a level of one side;
    /// `None` if it is neither of the two.
    pub(crate) fn slower_by(&self, secret: u32, alpha: f64, clock: &Clock) -> Option<Located> {
        let found = clock.around(self.median_at(alpha));
        let [a, b] = self.secrets.secrets();
        if secret == b {
            return Some(found);
        }
        (secret == a).then_some(Located {
            point: 0.0 - found.point,
            lower: -found.upper,
            upper: -found.lower,
        })
    }

    /// The p-value of "this secret of the pair takes longer by at most so much", of the median.
    pub(crate) fn slower_beyond(&self, secret: u32, at_most: f64) -> f64 {
        let is_longer = self.secrets.secrets()[1] == secret;
        match &self.compared {
            Compared::Blocks(blocks) => {
                let [least, most] = blocks.ends();
                match is_longer {
                    true => median_above(least, at_most, blocks.signs),
                    false => median_below(most, at_most, blocks.signs),
                }
            }
            Compared::Samples {
                ends: [a, b],
                varies,
            } => {
                let [other, own] = if is_longer { [a, b] } else { [b, a] };
                varies.p_value(quantile_beyond(&other[1], &own[0], 0.5, at_most))
            }
        }
    }

    /// The largest size that the median may have.
    pub(crate) fn largest(&self) -> f64 {
        self.alone.lower.abs().max(self.alone.upper.abs())
    }

    /// The smallest size that the median may have, all pairs together.
    pub(crate) fn smallest(&self) -> f64 {
        self.median.lower.max(-self.median.upper).max(0.0)
    }
}
