//! An estimate with its limits.

use serde::{Serialize, Serializer};

use super::{described_by, with_keys};
use crate::estimate::{Estimate, Methods, Reason};
use crate::report::sentences::reasons::reason;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Estimate")]
struct EstimateKeys {
    /// The best available estimate within what is possible and certified: the nearest such value. Not a bound.
    point: Option<f64>,
    /// The estimate as it was computed, where that is another number.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<f64>,
    /// Lower limit.
    lower: Option<f64>,
    /// Upper limit.
    upper: Option<f64>,
    /// How each was obtained.
    method: Methods,
    /// Why a limit is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

with_keys!(Estimate => EstimateKeys);

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&reason(self))
    }
}

described_by!(Reason => String);
