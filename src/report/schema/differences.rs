//! Differences of times between secrets.

use serde::Serialize;

use crate::audit::{Difference, Differences, Pair, Reference};
use crate::estimate::Estimate;
use crate::report::sentences::differences::{FEW_DECIDE, NO_MEAN, reference, sense};
use leakgauge_stats::paired::Located;

/// What was measured in blocks.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockKeys {
    /// Blocks with at least two secrets.
    blocks: u64,
    /// Blocks that the attacks and the paired advantage saw: all, or a random sample of a large log.
    attacked: u64,
    /// Blocks that lack a secret.
    incomplete: u64,
    /// Blocks of one measurement, which were left out.
    alone: u64,
    /// What the attacks saw measurements relative to.
    reference: Reference,
    /// The same in words.
    description: &'static str,
    /// p-value of "no secret differs from another inside blocks".
    p_value: f64,
}

impl BlockKeys {
    /// `None` for times without blocks.
    pub fn of(found: &Differences) -> Option<Self> {
        let blocks = found.blocks?;
        Some(BlockKeys {
            blocks: blocks.blocks,
            attacked: blocks.attacked,
            incomplete: blocks.incomplete,
            alone: blocks.alone,
            reference: blocks.reference,
            description: reference(blocks.reference),
            p_value: found.p_value,
        })
    }
}

/// By how much the times of the second secret exceed those of the first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceKeys<'a> {
    /// The two secrets, the one with the shorter times first.
    secrets: &'a Pair,
    /// The unit of the figures; null: that of the log.
    unit: Option<&'static str>,
    /// The step in which times were recorded, in this unit; 0 if none was found. Limits are two steps wider for it.
    clock_step: f64,
    /// Blocks that have both; null if times were taken one by one.
    blocks: Option<u64>,
    /// Rows of the two secrets that were compared.
    rows: [u64; 2],
    /// The median of the differences inside blocks; without blocks, the difference of the medians. Limits of all pairs
    /// hold together, and likewise of each figure below.
    median: LocatedKeys,
    /// The median of all pairwise means of differences; without blocks, of all differences between the two.
    hodges_lehmann: LocatedKeys,
    /// The mean without the smallest and the largest tenth.
    trimmed_mean: LocatedKeys,
    /// The mean.
    mean: LocatedKeys,
    /// By how much each decile of the times differs, 0.1 to 0.9; null with fewer than 20 blocks.
    deciles: Option<Vec<LocatedKeys>>,
    /// The advantage of an observer who is asked which of two measurements of a block is which; null without blocks.
    paired_advantage: Option<&'a Estimate>,
    /// p-value of "which is which makes no difference", all pairs together.
    p_value: f64,
    /// Where the evidence is.
    evidence: &'static str,
    /// p-value of "differences of consecutive blocks do not resemble each other". Limits allow for blocks that depend
    /// on each other whatever it says; null without blocks.
    dependence: Option<f64>,
}

impl<'a> DifferenceKeys<'a> {
    pub fn all(found: &'a Differences) -> Vec<Self> {
        let unit = found.unit.map(|unit| unit.name());
        let step = found.clock.step();
        let keys = found
            .pairs
            .iter()
            .map(|pair| DifferenceKeys::of(pair, unit, step));
        keys.collect()
    }

    fn of(pair: &'a Difference, unit: Option<&'static str>, clock_step: f64) -> Self {
        DifferenceKeys {
            secrets: &pair.secrets,
            unit,
            clock_step,
            blocks: pair.blocks(),
            rows: pair.rows(),
            median: pair.median.into(),
            hodges_lehmann: pair.hodges_lehmann.into(),
            trimmed_mean: pair.trimmed_mean.into(),
            mean: LocatedKeys::of_mean(pair.mean),
            deciles: pair
                .deciles
                .map(|all| all.into_iter().map(LocatedKeys::from).collect()),
            paired_advantage: pair.paired_advantage.as_ref(),
            p_value: pair.p_value,
            evidence: sense(pair.sense),
            dependence: pair.dependence(),
        }
    }
}

/// A figure in the unit of the measurements.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LocatedKeys {
    /// The estimate; null for a mean of times without an end.
    point: Option<f64>,
    /// Lower limit; null with too few blocks or rows, or where times without an end decide.
    lower: Option<f64>,
    /// Upper limit; null with too few blocks or rows, or where times without an end decide.
    upper: Option<f64>,
    /// Why an estimate or a limit of a mean is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl LocatedKeys {
    /// A mean, with the reason why it has no limits.
    fn of_mean(found: Located) -> Self {
        let keys = LocatedKeys::from(found);
        let is_limited = keys.lower.is_some() && keys.upper.is_some();
        LocatedKeys {
            reason: keys.reason.or((!is_limited).then_some(FEW_DECIDE)),
            ..keys
        }
    }
}

impl From<Located> for LocatedKeys {
    fn from(found: Located) -> Self {
        let finite = |limit: f64| limit.is_finite().then_some(limit);
        LocatedKeys {
            point: finite(found.point),
            reason: found.point.is_nan().then_some(NO_MEAN),
            lower: finite(found.lower),
            upper: finite(found.upper),
        }
    }
}
