//! Claims and warnings.

use serde::{Serialize, Serializer};

use super::described_by;
use crate::audit::{ClaimReport, Fit, Pair, RecordedGrid, Verdict, Warning};
use crate::estimate::Estimate;
use crate::follow::FollowedReason;
use crate::report::sentences::{claims, fit, follow, warnings};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::Claim;
use leakgauge_stats::grid::{Convention, Grid};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ClaimKeys<'a> {
    /// The claim as it was written.
    claim: &'a Claim,
    /// Which quantity decides.
    quantity: Quantity,
    /// What the claim says of it; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    analytic: f64,
    /// The pair that decides; null where it is some pair.
    pair: Option<&'a Pair>,
    /// What the log says of it.
    estimate: &'a Estimate,
    /// The verdict.
    verdict: Verdict,
    /// Whether the log could be judged: not if nothing was observed, or if rows depend on each other in a way that limits do not
    /// allow for.
    judged: bool,
    /// Why.
    reason: String,
    /// The smallest α at which the claim would be violated; 1 where that is more than a quarter and not
    /// computed; null if nothing was judged.
    p_value: Option<f64>,
    /// Rows at which the same rates would decide in nine of ten logs; null if no number would.
    rows_needed: Option<u64>,
    /// The same in units with as many rows each, where limits count units.
    #[serde(skip_serializing_if = "Option::is_none")]
    units_needed: Option<u64>,
    /// How well the log fits a claimed mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: &'a Option<Fit>,
}

impl Serialize for ClaimReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = ClaimKeys {
            claim: &self.claim,
            quantity: self.quantity,
            analytic: self.analytic,
            pair: self.deciding_pair(),
            estimate: &self.estimate,
            verdict: self.verdict,
            judged: self.is_judged(),
            reason: claims::reason(self),
            p_value: self.p_value,
            rows_needed: self.rows_needed,
            units_needed: self.units_needed,
            fit: &self.fit,
        };
        keys.serialize(serializer)
    }
}

described_by!(ClaimReport => ClaimKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FitKeys {
    /// Smallest p-value over secrets, Holm-corrected; `None` if the law cannot be compared.
    p_value: Option<f64>,
    /// The test, or why there is none.
    test: String,
    /// For each column of real numbers, the grid that it was found to be recorded on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grids: Vec<GridKeys>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct GridKeys {
    /// The column.
    column: String,
    /// `full`, `step` or `digits`.
    grid: &'static str,
    /// The distance of neighboring values.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    /// The value from 0 up to the step that all others are whole steps from.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<f64>,
    /// Significant decimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<u32>,
    /// How numbers were rounded, by what fits the claim best: `nearest`, `down`, `toward-zero` or `up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounding: Option<&'static str>,
}

impl From<&RecordedGrid> for GridKeys {
    fn from(found: &RecordedGrid) -> Self {
        let rounding = match found.convention {
            Convention::Nearest => "nearest",
            Convention::Down => "down",
            Convention::TowardZero => "toward-zero",
            Convention::Up => "up",
        };
        let full = GridKeys {
            column: found.column.clone(),
            grid: "full",
            step: None,
            offset: None,
            digits: None,
            rounding: None,
        };
        match found.grid {
            Grid::Full => full,
            Grid::Step { step, offset } => GridKeys {
                grid: "step",
                step: Some(step),
                offset: Some(offset),
                rounding: Some(rounding),
                ..full
            },
            Grid::Digits(digits) => GridKeys {
                grid: "digits",
                digits: Some(digits),
                rounding: Some(rounding),
                ..full
            },
        }
    }
}

impl Serialize for Fit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = FitKeys {
            p_value: self.p_value,
            test: fit::test(&self.test),
            grids: self.grids.iter().map(GridKeys::from).collect(),
        };
        keys.serialize(serializer)
    }
}

described_by!(Fit => FitKeys);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WarningKeys {
    /// A name for scripts.
    code: &'static str,
    /// The text.
    message: String,
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = WarningKeys {
            code: self.code(),
            message: warnings::message(self),
        };
        keys.serialize(serializer)
    }
}

described_by!(Warning => WarningKeys);

impl Serialize for FollowedReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&follow::reason(self))
    }
}

described_by!(FollowedReason => String);
