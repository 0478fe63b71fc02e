//! What a comparison says, with the keys of the JSON report.

use leakgauge_base::Tool;
use serde::Serialize;

use super::Analytic;
use crate::audit::{ClaimReport, Pair, Sample, Verdict, Warning};
use crate::estimate::Estimate;

/// The whole comparison.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// Version of this layout.
    pub schema_version: u32,
    /// Program and version.
    pub tool: Tool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Level of every limit of a difference by itself, and of the verdicts on all logs together.
    pub confidence: f64,
    /// Level of the limits of single logs: closer to 1 where mechanisms are judged, so that the verdicts share one
    /// error probability.
    pub log_confidence: f64,
    /// `previous` or `first`: what each log is compared with.
    pub against: &'static str,
    /// One entry a log, in the order given.
    pub logs: Vec<LogEntry>,
    /// One entry for each log but the first.
    pub differences: Vec<Differences>,
    /// From the first log to the last; absent if `differences` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_to_last: Option<Differences>,
    /// Analytic values between those of the logs, where the mechanisms differ in one number only.
    pub curve: Option<Curve>,
    /// What to know when reading.
    pub notes: Vec<String>,
    /// Those of the notes that are about these logs only.
    #[serde(skip)]
    pub cautions: Vec<Caution>,
}

/// What makes a comparison doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caution {
    /// Rows may stand in two of the logs.
    SharedRows,
    /// The logs do not have the same secrets.
    OtherSecrets,
    /// The rows that each attack learned from, where they differ by more than a fifth, in the order of the logs.
    TrainingRows(Vec<u64>),
}

impl Comparison {
    /// Whether some log violates its mechanism: with probability 1 − `confidence` at most if none does.
    pub fn is_violated(&self) -> bool {
        let mut verdicts = self.logs.iter().filter_map(|log| log.verdict);
        verdicts.any(|verdict| verdict == Verdict::Violated)
    }

    /// Keeps at most so many pairs of each two logs: all in the order of their secrets, or those whose estimates
    /// changed most, these first.
    #[must_use]
    pub fn with_pairs(mut self, most: usize) -> Self {
        for found in self.differences.iter_mut().chain(&mut self.first_to_last) {
            let left_out = found.pairs.len().saturating_sub(most);
            if left_out > 0 {
                let change = |pair: &PairDifference| pair.difference.map_or(-1.0, f64::abs);
                found.pairs.sort_by(|x, y| change(y).total_cmp(&change(x)));
                found.pairs.truncate(most);
                found.pairs_left_out = Some(left_out + found.pairs_left_out.unwrap_or(0));
            }
        }
        self
    }
}

/// One log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogEntry {
    /// Its files.
    pub files: Vec<String>,
    /// Rows of the files.
    pub rows: u64,
    /// Rows used.
    pub rows_used: u64,
    /// What the rows used are a sample of, if they are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sample>,
    /// How many secrets it has.
    pub secrets: usize,
    /// The attacker.
    pub scorer: String,
    /// What the reader should know before believing.
    pub warnings: Vec<Warning>,
    /// Its mechanism.
    pub mechanism: Option<String>,
    /// The number in which the mechanisms differ.
    pub parameter: Option<ParameterPoint>,
    /// The pair that is easiest to tell apart.
    pub worst_pair: WorstPairEntry,
    /// What the mechanism says.
    pub analytic: Option<Analytic>,
    /// How far the estimate is from that.
    pub residual: Option<Residual>,
    /// The verdict on the mechanism.
    pub verdict: Option<Verdict>,
    /// The same in full.
    pub claim: Option<ClaimReport>,
    /// Figures of the whole log.
    pub overall: OverallEntry,
}

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ParameterPoint {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// The pair that is easiest to tell apart; its limits hold on their own.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WorstPairEntry {
    /// The two secrets.
    pub secrets: Pair,
    /// 1 − total variation.
    pub bayes_security: Estimate,
    /// Total variation.
    pub total_variation: Estimate,
    /// Of the attack found.
    pub attack_advantage: Estimate,
    /// Standard error of the point of total variation and Bayes security.
    pub standard_error: Option<f64>,
}

/// The estimate minus the analytic value at the pair estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Residual {
    /// Of total variation.
    pub total_variation: f64,
    /// The same in standard errors.
    pub standard_errors: Option<f64>,
}

/// Figures of a whole log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OverallEntry {
    /// The prior.
    pub prior: String,
    /// 1 − max π.
    pub guessing_error: f64,
    /// R*.
    pub bayes_risk: Estimate,
    /// V = 1 − R*.
    pub bayes_vulnerability: Estimate,
    /// Standard error of the points of both.
    pub standard_error: Option<f64>,
    /// How often the attack found guesses the secret.
    pub attack_vulnerability: Estimate,
    /// Standard error of its point.
    pub attack_standard_error: Option<f64>,
}

/// What changed from one log to another.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Differences {
    /// The numbers of the two logs, from 1: the earlier, the later.
    pub logs: [usize; 2],
    /// V, success of the best guess at the secret.
    pub bayes_vulnerability: Difference,
    /// Success of the attacks found.
    pub attack_vulnerability: Difference,
    /// Largest total variation of all pairs, 1 − Bayes security.
    pub total_variation: Difference,
    /// Advantage of the attacks found, each at the worst pair of its log.
    pub attack_advantage: Difference,
    /// How the pairs below changed together.
    pub pair_summary: PairSummary,
    /// Pairs that both logs have. Points, not limits.
    pub pairs: Vec<PairDifference>,
    /// How many pairs are not listed in `pairs`; absent if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs_left_out: Option<usize>,
    /// Secrets that only the earlier log has.
    pub only_in_earlier: Vec<String>,
    /// Secrets that only the later log has.
    pub only_in_later: Vec<String>,
}

/// A figure in two logs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Difference {
    /// In the earlier log.
    pub earlier: Option<f64>,
    /// In the later log.
    pub later: Option<f64>,
    /// The later minus the earlier.
    pub difference: Estimate,
    /// Standard error of its point.
    pub standard_error: Option<f64>,
    /// The point in standard errors.
    pub z: Option<f64>,
    /// What the mechanisms say it is.
    pub analytic: Option<f64>,
}

/// How the points of all pairs that both logs have changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PairSummary {
    /// Pairs with a point in both logs.
    pub compared: usize,
    /// Pairs that are harder to tell apart in the later log, by their points.
    pub fell: usize,
    /// Pairs that are easier to tell apart.
    pub rose: usize,
    /// The median of all differences.
    pub median: Option<f64>,
}

/// Total variation of a pair in two logs: points.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PairDifference {
    /// The two secrets.
    pub secrets: Pair,
    /// In the earlier log.
    pub earlier: Option<f64>,
    /// In the later log.
    pub later: Option<f64>,
    /// The later minus the earlier.
    pub difference: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The difference in standard errors.
    pub z: Option<f64>,
}

/// Analytic values over a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Curve {
    /// The parameter.
    pub parameter: String,
    /// From the least of its values to the largest.
    pub points: Vec<CurvePoint>,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CurvePoint {
    /// Of the parameter.
    pub value: f64,
    /// Of the worst pair.
    pub total_variation: f64,
    /// Of the worst pair.
    pub bayes_security: f64,
}
