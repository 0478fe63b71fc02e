//! Reports about members and others.

use leakgauge_base::Tool;
use serde::{Serialize, Serializer};

use super::described_by;
use crate::audit::{ClaimReport, PrivacyLimit};
use crate::estimate::Estimate;
use crate::membership::{AnswerTable, Direction, OneRun, RunGuesses};
use crate::report::sentences::membership::{of_one_run, of_table};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AnswerTableKeys<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// Level of every limit.
    confidence: f64,
    /// Members that the attack called members.
    true_positives: u64,
    /// Members that it called non-members.
    false_negatives: u64,
    /// Non-members that it called members.
    false_positives: u64,
    /// Non-members that it called non-members.
    true_negatives: u64,
    /// Share of members that the attack calls members.
    true_positive_rate: &'a Estimate,
    /// Share of non-members that the attack calls members.
    false_positive_rate: &'a Estimate,
    /// True positive rate − false positive rate.
    advantage: &'a Estimate,
    /// (1 + advantage)/2.
    balanced_accuracy: &'a Estimate,
    /// Of the optimal adversary.
    total_variation: &'a Estimate,
    /// Lower limits of ε at every δ, of μ and of ρ; they hold together.
    privacy: &'a [PrivacyLimit],
    /// What the limits rest on.
    assumptions: Vec<String>,
    /// One entry a claim.
    claims: &'a [ClaimReport],
}

impl Serialize for AnswerTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [tp, missed, fp, tn] = self.counts;
        let keys = AnswerTableKeys {
            schema_version: 1,
            tool: Tool::default(),
            confidence: self.confidence,
            true_positives: tp,
            false_negatives: missed,
            false_positives: fp,
            true_negatives: tn,
            true_positive_rate: &self.true_positive_rate,
            false_positive_rate: &self.false_positive_rate,
            advantage: &self.advantage,
            balanced_accuracy: &self.balanced_accuracy,
            total_variation: &self.total_variation,
            privacy: &self.privacy,
            assumptions: of_table(),
            claims: &self.claims,
        };
        keys.serialize(serializer)
    }
}

described_by!(AnswerTable => AnswerTableKeys<'static>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RunGuessesKeys {
    /// Whose scores were taken to be larger: `members` or `others`.
    larger: &'static str,
    /// Canaries guessed to be included.
    included: u64,
    /// Canaries guessed not to be.
    excluded: u64,
    /// Right guesses.
    right: u64,
    /// Their part of the level.
    part: f64,
}

impl Serialize for RunGuesses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = RunGuessesKeys {
            larger: match self.direction {
                Direction::High => "members",
                Direction::Low => "others",
            },
            included: self.included,
            excluded: self.excluded,
            right: self.right,
            part: self.part,
        };
        keys.serialize(serializer)
    }
}

described_by!(RunGuesses => RunGuessesKeys);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OneRunKeys<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// `one-run`.
    design: &'static str,
    /// Seed of the order of equal scores.
    seed: u64,
    /// Level of the limits.
    confidence: f64,
    /// The files.
    files: &'a [String],
    /// The columns of scores.
    scores: &'a [String],
    /// The number of canaries.
    canaries: u64,
    /// Those that were included in the training.
    included: u64,
    /// Everything that was guessed; the parts of the level add up to 1.
    guesses: &'a [RunGuesses],
    /// Lower limits of what claims read, without claims of ε at two δ; and of μ. They hold together.
    privacy: &'a [PrivacyLimit],
    /// Lower limits of ε of a training that keeps no more than Gaussian differential privacy: what the limit of μ implies.
    privacy_if_gaussian: &'a [PrivacyLimit],
    /// What the limits rest on.
    assumptions: Vec<String>,
    /// One entry a claim.
    claims: &'a [ClaimReport],
}

impl Serialize for OneRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = OneRunKeys {
            schema_version: 1,
            tool: Tool::default(),
            design: "one-run",
            seed: self.seed,
            confidence: self.confidence,
            files: &self.files,
            scores: &self.scores,
            canaries: self.canaries,
            included: self.included,
            guesses: &self.guesses,
            privacy: &self.privacy,
            privacy_if_gaussian: &self.privacy_if_gaussian,
            assumptions: of_one_run(self),
            claims: &self.claims,
        };
        keys.serialize(serializer)
    }
}

described_by!(OneRun => OneRunKeys<'static>);
