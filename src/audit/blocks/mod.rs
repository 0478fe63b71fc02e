//! Measurements in blocks: one of each secret, taken close together, so that drift meets all secrets alike.
//!
//! Blocks are the units of the log. An observer sees a measurement and the others of its block: [`observed`] makes
//! of the measurements what it sees, relative to the block if that separates secrets better on training blocks.
//! [`differences`] answers in the unit of the measurements, pair by pair, from the measurements themselves.

mod claim;
pub(super) mod differences;
mod observed;

pub(super) use claim::{check, judge};
pub use differences::{Difference, Differences};
pub(super) use observed::{Measured, observed};

use serde::Serialize;

/// What measurements are seen relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Nothing: as they are.
    Nothing,
    /// The median of the other measurements of the block.
    MedianOfOthers,
    /// Their mean.
    MeanOfOthers,
}
