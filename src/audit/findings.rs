//! What an audit finds: indices, enums and numbers. The texts in it are the user's own: labels of secrets,
//! names of columns and files. How findings are written and which keys they have in JSON is the matter of
//! [`report`](crate::report).

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

use crate::audit::assumptions::Assumption;
use crate::audit::claims::report::ClaimReport;
use crate::audit::claims::smallest::SmallestLeak;
use crate::audit::detection::Detection;
use crate::audit::evidence::column_limits::ColumnLimits;
use crate::audit::evidence::leaking_columns::LeakingColumns;
use crate::audit::evidence::no_leak::NoLeak;
use crate::audit::figures::Figures;
use crate::audit::figures::differences::Differences;
use crate::audit::figures::overall::Overall;
use crate::audit::figures::pairs::{PairFigures, WorstPair};
use crate::audit::figures::privacy::PrivacyLimit;
use crate::audit::level::LevelShare;
use crate::audit::options::SplitChoice;
use crate::audit::pair::{Labels, Pair};
use crate::audit::tallies::Tallies;
use crate::audit::warnings::dependence;
use crate::audit::warnings::warning::Warning;
use leakgauge_attack::scorer::{Origin, Parameters};
use leakgauge_attack::tuning::{Budget, Tried};
use leakgauge_base::quantity::Quantity;
use leakgauge_log::observations::{Column, ObservationKind};
use leakgauge_log::{InputFacts, SampledFrom};

/// All findings about a log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Findings {
    /// Seed of every random choice.
    pub seed: u64,
    /// Level of every limit.
    pub confidence: f64,
    /// What was read.
    pub input: Input,
    /// What the reader should know before believing.
    pub warnings: Vec<Warning>,
    /// How it was done.
    pub method: MethodUsed,
    /// What the limits rest on.
    pub assumptions: Vec<Assumption>,
    /// The pair that is easiest to tell apart.
    pub worst_pair: WorstPair,
    /// What privacy needs at least: ε at δ = 0, then what claims of privacy are judged by.
    pub privacy: Vec<PrivacyLimit>,
    /// Every pair.
    pub pairs: Vec<PairFigures>,
    /// How the figures of `pairs` hold together.
    pub multiplicity: Multiplicity,
    /// How the error probability was shared.
    pub level: Vec<LevelShare>,
    /// Differences in the unit of the measurements, where they come in blocks.
    pub differences: Option<Differences>,
    /// Evidence that the log leaks anything at all; `None` where rows may depend on those nearby, and where only
    /// limits were asked for.
    pub no_leak: Option<NoLeak>,
    /// Which of several columns of numbers depend on the secret; `None` for the same reasons, and of one column.
    pub leaking_columns: Option<LeakingColumns>,
    /// How well single columns tell the pair apart that promised most; `None` of fewer than ten columns of numbers.
    pub column_limits: Option<ColumnLimits>,
    /// The pairs that claims of privacy are about, if not all.
    pub neighbors: Option<Vec<Pair>>,
    /// Figures of the whole log.
    pub overall: Overall,
    /// Figures that nothing else here rests on. Their fields are read as if they were fields of the findings.
    pub figures: Figures,
    /// One entry a claim.
    pub claims: Vec<ClaimReport>,
    /// Whether a log of this size could have shown leaks of given sizes, where that was asked for
    /// ([`crate::power::detection`]).
    pub detections: Vec<Detection>,
    /// The smallest leak that a log of this size shows, where that can be said and none was shown.
    pub smallest_leak: Option<SmallestLeak>,
    /// The counts behind points and limits, for figures of several logs.
    pub tallies: Tallies,
}

impl Deref for Findings {
    type Target = Figures;

    fn deref(&self) -> &Figures {
        &self.figures
    }
}

impl Findings {
    /// Whether all claims are about times, whose limits allow for rows that depend on those before.
    pub fn is_about_times(&self) -> bool {
        let is_time = |claim: &ClaimReport| claim.quantity == Quantity::TimeDifference;
        !self.claims.is_empty() && self.claims.iter().all(is_time)
    }

    /// Whether rows depend on each other in a way that limits of rows do not allow for.
    pub fn rows_depend(&self) -> bool {
        let by_time = self.method.split == SplitChoice::Blocks;
        dependence::of(&self.warnings, by_time, false).is_some()
    }

    /// A pair with all estimates of its total variation.
    #[must_use]
    pub fn with_points(&self, pair: &PairFigures) -> PairFigures {
        let mut pair = pair.clone();
        let points = self.tallies.points(pair.secrets.secrets());
        pair.total_variation_points = points.map(Box::new);
        pair
    }
}

/// What was read. The labels of the secrets stand here and nowhere else.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Input {
    /// What was found while reading.
    pub facts: InputFacts,
    /// The labels of the secrets, by index.
    pub secrets: Labels,
    /// Rows of every secret.
    pub rows_of_secrets: Vec<u64>,
    /// Discrete, numeric or mixed.
    pub kind: ObservationKind,
    /// The columns that an observer sees.
    pub columns: Vec<Column>,
    /// Distinct observations.
    pub distinct: usize,
    /// The units that limits count, where they do not count rows.
    pub units: Option<CountedUnits>,
}

/// The units that limits count.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CountedUnits {
    /// The column that names them.
    pub column: String,
    /// How many there are.
    pub units: u64,
    /// How many have rows of each secret.
    pub of_secrets: Vec<u64>,
    /// How many are in each part; `None` before the log is split.
    pub parts: Option<PartRows>,
}

impl Input {
    /// What the rows used are a sample of, if they are one.
    pub fn sampled(&self) -> Option<Sample> {
        self.sample(self.facts.sampled.as_ref())
    }

    /// The same of the rows that were learned from, if they are in another log.
    pub fn fit_sampled(&self) -> Option<Sample> {
        self.sample(self.facts.fit_sampled.as_ref())
    }

    fn sample(&self, from: Option<&SampledFrom>) -> Option<Sample> {
        from.map(|from| Sample {
            secrets: self.secrets.clone(),
            from: from.clone(),
        })
    }
}

/// What a sample of rows was drawn from, with the labels of the secrets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sample {
    /// The labels of the secrets, by index.
    pub secrets: Labels,
    /// Rows and limits.
    pub from: SampledFrom,
}

/// How it was done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MethodUsed {
    /// The attacker.
    pub scorer: String,
    /// Where its scores come from.
    pub origin: Origin,
    /// What was chosen for it.
    pub parameters: Parameters,
    /// The same as the attacker describes it.
    pub description: String,
    /// How neighbors were found.
    pub index: Option<&'static str>,
    /// How rows were split.
    pub split: SplitChoice,
    /// How rows were used.
    pub rows: PartRows,
    /// Nominal seconds that trying and judging may take.
    pub budget: Budget,
    /// In a split by time, for each secret: how many independent rows its certification rows are worth, for
    /// the pair where that is least.
    pub effective_rows: Option<Vec<u64>>,
    /// Everything that was tried on the tuning rows.
    pub tried: Vec<Tried>,
}

/// Rows, or units, of the three parts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartRows {
    /// Learned from.
    pub fit: u64,
    /// Chosen on.
    pub tune: u64,
    /// Judged on.
    pub certify: u64,
}

/// How the limits of all pairs hold together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Multiplicity {
    /// The number of pairs.
    pub pairs: usize,
    /// The correction.
    pub correction: Correction,
    /// How many limits that a claim reads share the error probability.
    pub limits_read_by_claims: usize,
}

/// How limits of several pairs are made to hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// There is one pair only.
    None,
    /// Each at a part of the level, settled before the rows that judge were looked at.
    Bonferroni,
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Correction::None => "none",
            Correction::Bonferroni => "bonferroni",
        })
    }
}
