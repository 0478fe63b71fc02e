//! An estimate with its limits.

use serde::{Serialize, Serializer};

use super::with_keys;
use crate::estimate::{Estimate, Methods, Reason};
use crate::report::sentences::reasons::reason;

#[derive(Serialize)]
#[serde(remote = "Estimate")]
struct EstimateKeys {
    point: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    method: Methods,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

with_keys!(Estimate => EstimateKeys);

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&reason(self))
    }
}
