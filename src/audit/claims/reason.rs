//! Why a claim is judged as it is.

use crate::audit::advice::LogAdvice;
use crate::audit::claims::goodness::Impossible;
use crate::audit::pair::Pair;
use crate::audit::warnings::warning::MissingTimes;
use crate::audit::warnings::warning::Warning;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::time::TimeUnit;
use leakgauge_log::observations::Column;
use leakgauge_log::{ListReading, PooledKinds};

/// Why a claim is judged as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimReason {
    /// What decided.
    pub grounds: Grounds,
    /// What the verdict rests on beyond that.
    pub qualifications: Vec<Qualification>,
}

impl From<Grounds> for ClaimReason {
    fn from(grounds: Grounds) -> Self {
        ClaimReason {
            grounds,
            qualifications: Vec::new(),
        }
    }
}

/// What decided about a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Grounds {
    /// The limits of the advantage.
    Advantage,
    /// The limits of Bayes security.
    BayesSecurity,
    /// Tests of no leak at all, of a claim that allows none.
    NoLeak,
    /// The limits of the best attack found.
    AttackAdvantage,
    /// The limits of a figure of all secrets together.
    Overall,
    /// The limits of the largest median of differences inside blocks, or difference of medians.
    TimeDifference {
        /// Whether measurements come in blocks.
        in_blocks: bool,
        /// Their unit, if it is known.
        unit: Option<TimeUnit>,
        /// The smallest bound that a clock of this step can show to hold, in that unit, where it is above that of the
        /// claim.
        least: Option<f64>,
        /// The least number of blocks, or of rows of each secret, that gives limits, where some pair has fewer.
        needed: Option<u64>,
    },
    /// The limits of Bayes security, against those of the mechanism.
    Mechanism {
        /// An observation of the log that the mechanism cannot produce.
        impossible: Option<Impossible>,
        /// How close to the analytic value an upper limit had to come.
        margin: f64,
        /// Where the total variation is within the margin: a divergence at the mechanism's ε that may not be.
        divergence: Option<Divergence>,
    },
    /// The limit of ε, against that of the mechanism.
    MechanismEpsilon,
    /// Several (ε, δ) at once, all of which the claim implies.
    Curve,
    /// Rows that show the same, as where nothing was observed.
    NothingObserved {
        /// What they show.
        value: String,
        /// Whether all rows of the log do, or those of some secret.
        all: bool,
        /// The unit of times, where the claim is about times.
        unit: Option<TimeUnit>,
    },
    /// Several kinds of measurements in one column.
    PooledKinds {
        /// What tells them apart.
        kinds: PooledKinds,
        /// The unit of times, where the claim is about times.
        unit: Option<TimeUnit>,
    },
    /// Which times are missing depends on the secret: slow answers that were not recorded would show no difference.
    MissingTimes {
        /// Which are missing.
        missing: MissingTimes,
        /// The unit of times, where the claim is about times.
        unit: Option<TimeUnit>,
    },
    /// Units that differ in their mix of secrets, and it was not said whose success is meant.
    UnevenMix {
        /// The secret whose share differs.
        secret: String,
        /// Its share in the tenth of the units that have least of it, at most.
        from: f64,
        /// Its share in the tenth that have most of it, at least.
        to: f64,
    },
    /// Labels that hardly recur, of which no attack can have learned anything.
    LabelsSeenOnce {
        /// Their column.
        column: String,
        /// The part of the rows whose label no other row has.
        share: f64,
    },
    /// Rows whose observations depend on the secret of the row before or behind.
    ShiftedRows {
        /// Whether it is the row before.
        before: bool,
    },
    /// Rows that share a value of a column beside one secret only, and may be of one unit.
    MayBeUnits {
        /// The column.
        column: String,
    },
    /// The last bits of a column depend on the secret, and no attack read them.
    LastBits {
        /// The column.
        column: String,
    },
    /// Times below zero.
    NegativeTimes {
        /// How many.
        times: u64,
        /// The unit of times.
        unit: Option<TimeUnit>,
    },
    /// A column that was left out because it never falls, and may have been measured.
    MayBeMeasured {
        /// The column.
        column: String,
    },
    /// Numbers with more digits than are read.
    LostDigits {
        /// Their column.
        column: String,
    },
    /// A secret that nobody named.
    ChosenSecret {
        /// Its column.
        column: String,
    },
    /// Lists of which attacks saw a part only, and nobody said that this is what an observer sees.
    ListsInPart {
        /// Their column.
        column: String,
        /// How to say it.
        reading: ListReading,
    },
    /// Many labels that look like numbers: attacks saw neither their order nor how far they are apart.
    NumbersAsLabels {
        /// Their column.
        column: String,
        /// One of them.
        example: String,
    },
    /// Texts of items, some of them too rare for a column of their own: of these attacks saw the number only.
    RareItems {
        /// Their column.
        column: String,
        /// The share of the rows that have such items.
        share: f64,
    },
    /// Members and others, most often of one model, for which limits for independent runs were not read.
    OneModel {
        /// Whether the rows are scores of the user's own attack.
        scores: bool,
    },
    /// Rows that depend on each other, for which no limit allows.
    DependentRows {
        /// What shows it.
        warning: Warning,
        /// Whether rows of equal secrets stand together.
        are_apart: bool,
        /// The unit of the times that the claim is about.
        unit: Option<TimeUnit>,
    },
    /// A limit of what privacy needs.
    Privacy(PrivacyGrounds),
    /// Limits of ε at the δ of every point of a curve.
    PrivacyCurve(CurveGrounds),
}

impl Grounds {
    /// The unit of the times that a claim is about.
    pub fn unit(&self) -> Option<TimeUnit> {
        match self {
            Grounds::TimeDifference { unit, .. }
            | Grounds::NothingObserved { unit, .. }
            | Grounds::MissingTimes { unit, .. }
            | Grounds::NegativeTimes { unit, .. }
            | Grounds::DependentRows { unit, .. }
            | Grounds::PooledKinds { unit, .. } => *unit,
            _ => None,
        }
    }
}

/// A claim of several (ε, δ) at the point that decides.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveGrounds {
    /// How many points the claim has.
    pub points: usize,
    /// The δ of the point that the limit comes nearest to exceeding, or exceeds most.
    pub delta: f64,
    /// What was found.
    pub outcome: CurveOutcome,
}

/// What was found about a claim of several (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveOutcome {
    /// The lower limit exceeds the ε of a point.
    Refuted,
    /// The divergences of all pairs are within δ at every point.
    Proved,
    /// Neither; they are at so many points.
    Open {
        /// How many.
        proved: usize,
    },
}

/// A claim of privacy at the pair that decides.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyGrounds {
    /// The parameter.
    pub quantity: PrivacyParameter,
    /// How far apart the two secrets are, if that matters.
    pub distance: Option<Distance>,
    /// What was found.
    pub outcome: PrivacyOutcome,
}

/// What was found about a claim of privacy.
#[derive(Debug, Clone, PartialEq)]
pub enum PrivacyOutcome {
    /// The lower limit exceeds what is allowed.
    Refuted,
    /// The upper limit of every hockey-stick divergence is within its δ; this one is the nearest to it.
    Proved(Divergence),
    /// Neither.
    Open(Unproved),
}

/// Why a claim of privacy cannot be said to hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Unproved {
    /// The upper limit of this hockey-stick divergence exceeds its δ.
    Divergence(Divergence),
    /// Upper limits need independent rows.
    DependentRows,
    /// A secret has no rows.
    SecretWithoutRows,
    /// Raw numbers have no upper limits.
    RawNumbers,
    /// One attack was looked at.
    OneAttack,
    /// Samples never prove this kind of privacy.
    Never(PrivacyKind),
}

/// A kind of differential privacy that samples can refute only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivacyKind {
    /// δ = 0.
    Pure,
    /// By a trade-off function.
    Gaussian,
    /// By Rényi divergences of all orders.
    Concentrated,
    /// By that of one order.
    Renyi,
}

/// Upper limit of the hockey-stick divergence of an ordered pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Divergence {
    /// The pair, in order.
    pub pair: Pair,
    /// How far apart the two are, if that matters.
    pub distance: Option<Distance>,
    /// The limit.
    pub upper: f64,
    /// The ε that the pair is allowed.
    pub epsilon: f64,
    /// The δ that the pair is allowed.
    pub delta: f64,
}

/// How far apart two secrets are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The distance in units.
    pub steps: f64,
    /// The unit of the claim.
    pub unit: f64,
}

/// What a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub enum Qualification {
    /// Blocks that compare nothing, or not all secrets.
    BlocksLeftOut {
        /// Blocks of one measurement, which were left out.
        alone: u64,
        /// Blocks that lack a secret.
        incomplete: u64,
        /// Blocks that were compared.
        blocks: u64,
    },
    /// Times were taken one by one: rows are taken to be independent.
    OneByOne,
    /// Some times are wrong.
    Clock(Warning),
    /// The order of rows puts their independence in doubt.
    Order(Warning),
    /// Rows are, or may be, copies of others.
    Copies(Warning),
    /// Rows were left out that could not be read or lack a value.
    LeftOut(Warning),
    /// The leakage is within what the mechanism leaks, but the log does not fit its law.
    NotThisMechanism {
        /// Of the test of fit.
        p_value: f64,
    },
    /// The limit rests on an effective number of rows.
    Approximate,
    /// A claim of privacy was judged on these pairs alone, so many as were given, not on all pairs of the log.
    Neighbors {
        /// How many were given.
        given: usize,
        /// How many pairs the log has.
        all: usize,
    },
    /// The scores of rows were given, and it was not said that every row comes from a run of its own.
    UnstatedRuns,
    /// So few or so many canaries were included that coins did not decide.
    UnevenInclusion {
        /// How many were included.
        included: u64,
        /// How many there are.
        canaries: u64,
    },
    /// Every pair of secrets was taken for neighbors, and nobody said so.
    AllNeighbors {
        /// How many pairs there are.
        pairs: usize,
    },
    /// The log has more rows than were used.
    MoreRows(LogAdvice),
    /// It is about an observer that sees these columns in bins.
    Observer(Vec<Column>),
    /// It is about an observer that sees a column as it was read, which is doubtful or less than what was written.
    Reading(Warning),
}
