//! How many rows an audit needs, and whether a log could have shown a leak.

use leakgauge_base::Tool;
use leakgauge_exact::claim::Claim;
use serde::{Serialize, Serializer};

use super::described_by;
use crate::audit::{Detection, Planted, SmallestLeak};
use crate::power::RowsPlan;
use crate::report::sentences::power;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DetectionKeys {
    /// The leak: `epsilon=1.25`.
    leak: String,
    /// The share of logs with this leak in which it must be found.
    power: f64,
    /// Simulated logs.
    logs: u64,
    /// Those in which it was found.
    found: u64,
    /// What the rows of simulated logs show: `two-outcomes`, `labels` or `numbers`.
    planted: &'static str,
    /// Whether so few are found that the log is too small.
    too_weak: bool,
    /// The same in words.
    reason: String,
}

impl DetectionKeys {
    fn of(detection: &Detection) -> Self {
        DetectionKeys {
            leak: detection.leak.to_string(),
            power: detection.power,
            logs: detection.logs,
            found: detection.found,
            planted: match detection.planted {
                Planted::TwoOutcomes => "two-outcomes",
                Planted::Labels => "labels",
                Planted::Numbers { .. } => "numbers",
            },
            too_weak: detection.is_too_weak(),
            reason: power::reason(detection),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SmallestLeakKeys {
    /// Its advantage between two secrets.
    advantage: f64,
    /// What is proved of the advantage: that it is above this, the least that an undecided claim allows, or 0.
    beyond: f64,
    /// The share of logs that prove it.
    power: f64,
}

impl Serialize for SmallestLeak {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = SmallestLeakKeys {
            advantage: self.advantage,
            beyond: self.beyond,
            power: SmallestLeak::POWER,
        };
        keys.serialize(serializer)
    }
}

described_by!(SmallestLeak => SmallestLeakKeys);

impl Serialize for Detection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DetectionKeys::of(self).serialize(serializer)
    }
}

described_by!(Detection => DetectionKeys);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PlanKeys<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// Seed of the simulated logs.
    seed: u64,
    /// Confidence of the audit.
    confidence: f64,
    /// What the audit judges.
    claims: &'a [Claim],
    /// The leak that must be found: `epsilon=1.25`.
    leak: String,
    /// The share of logs with this leak in which it must be found.
    power: f64,
    /// The labels of the secrets.
    secrets: &'a [String],
    /// The two secrets that were taken to leak.
    pair: &'a [String; 2],
    /// Rows that the log needs.
    rows: u64,
    /// The same for each secret.
    rows_of_a_secret: u64,
    /// Simulated logs with so many rows.
    logs: u64,
    /// Those in which the leak was found.
    found: u64,
}

impl Serialize for RowsPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let options = &self.options;
        let keys = PlanKeys {
            schema_version: 1,
            tool: Tool::default(),
            seed: options.seed,
            confidence: options.confidence,
            claims: &options.claims,
            leak: options.leak.to_string(),
            power: options.power,
            secrets: &options.secrets,
            pair: &self.pair,
            rows: self.rows,
            rows_of_a_secret: self.rows_of_a_secret,
            logs: self.detection.logs,
            found: self.detection.found,
        };
        keys.serialize(serializer)
    }
}

described_by!(RowsPlan => PlanKeys<'static>);
