//! Claims and warnings.

use serde::{Serialize, Serializer};

use crate::audit::{ClaimReport, Fit, Pair, Verdict, Warning};
use crate::estimate::Estimate;
use crate::follow::FollowedReason;
use crate::report::sentences::{claims, fit, follow, warnings};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::Claim;

#[derive(Serialize)]
struct ClaimKeys<'a> {
    claim: &'a Claim,
    quantity: Quantity,
    analytic: f64,
    pair: &'a Pair,
    estimate: &'a Estimate,
    verdict: Verdict,
    reason: String,
    rows_needed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: &'a Option<Fit>,
}

impl Serialize for ClaimReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = ClaimKeys {
            claim: &self.claim,
            quantity: self.quantity,
            analytic: self.analytic,
            pair: &self.pair,
            estimate: &self.estimate,
            verdict: self.verdict,
            reason: claims::reason(self),
            rows_needed: self.rows_needed,
            fit: &self.fit,
        };
        keys.serialize(serializer)
    }
}

#[derive(Serialize)]
struct FitKeys {
    p_value: Option<f64>,
    test: String,
}

impl Serialize for Fit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = FitKeys {
            p_value: self.p_value,
            test: fit::test(&self.test),
        };
        keys.serialize(serializer)
    }
}

#[derive(Serialize)]
struct WarningKeys {
    code: &'static str,
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

impl Serialize for FollowedReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&follow::reason(self))
    }
}
