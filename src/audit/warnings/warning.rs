//! What an audit warns of.

use leakgauge_log::{Merged, PooledKinds, RepeatedRuns, Words, is_of_units};

/// Something to know before believing. It names columns and a few secrets, for it is shown apart from the
/// other findings too: beside a comparison, or while a log is followed.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Rows of equal secrets stand together.
    LabelsNotInterleaved {
        /// Share of neighboring rows with the same secret.
        share: f64,
        /// The share expected in random order.
        expected: f64,
        /// Whether a split by time is possible: secrets occur early, midway and late.
        splits: bool,
    },
    /// Rows of equal secrets avoid each other.
    LabelsAlternate {
        /// Share of neighboring rows with the same secret.
        share: f64,
        /// The share expected in random order.
        expected: f64,
    },
    /// Neighboring rows of a secret resemble each other.
    Autocorrelation {
        /// The column.
        column: String,
        /// Correlation, or excess agreement for labels.
        correlation: f64,
        /// Whether a split by time is possible: secrets occur early, midway and late.
        splits: bool,
        /// How many times fewer independent rows the rows are worth; infinite where nothing says, because secrets stand together.
        inflation: f64,
    },
    /// Rows so far apart resemble each other, or differ, and secrets are not in random order.
    Periodic {
        /// The column.
        column: String,
        /// Rows apart.
        lag: usize,
        /// Their correlation.
        correlation: f64,
        /// How many times fewer independent rows the rows are worth; infinite where nothing says.
        inflation: f64,
    },
    /// Observations of a secret change across the file.
    Drift {
        /// The column.
        column: String,
        /// Correlation with the position, or effect size for labels.
        correlation: f64,
        /// Whether a split by time is possible: secrets occur early, midway and late.
        splits: bool,
        /// How many times fewer independent rows the rows are worth; infinite where nothing says, because secrets stand together.
        inflation: f64,
    },
    /// Every cell has a multiple of so many rows: one part was kept.
    ReadSeveralTimes {
        /// How often the log was read.
        times: u64,
    },
    /// Times below zero: the clock ran backwards, or its counter wrapped around.
    NegativeTimes {
        /// How many.
        times: u64,
    },
    /// Differences of consecutive blocks resemble each other.
    DependentBlocks {
        /// The two secrets where that is plainest.
        secrets: [String; 2],
        /// How many pairs of secrets it is seen at.
        pairs: usize,
        /// Blocks that have the two secrets.
        blocks: u64,
        /// About how many independent blocks they are worth.
        worth: u64,
    },
    /// Equal rows are copies: one of each was kept.
    CopiesDropped {
        /// Rows that were read.
        rows: u64,
        /// Rows that were left out.
        copies: u64,
    },
    /// Some rows may be copies of others; none was left out.
    CopiesSuspected {
        /// About how many, at least; 0 if that cannot be said.
        copies: u64,
    },
    /// Rows of fine values equal others of their secret, and hardly any of another one; none was left out.
    TiesOfOneSecret {
        /// How many, but for one of each.
        rows: u64,
    },
    /// Rows of the log to learn on are also in the log itself: they were not learned from.
    SharedRows {
        /// How many different ones.
        rows: u64,
    },
    /// Some rows may also be rows of a log that must be independent of this one; none was left out.
    SharedRowsSuspected {
        /// The other log: the one to learn on, or one that it is compared with.
        with: String,
    },
    /// Rows that were left out because another row has the same value in the column that identifies rows.
    RepeatedIds {
        /// The column.
        column: String,
        /// How many.
        rows: u64,
    },
    /// Several kinds of measurements stand in the observed column, told apart by a column that is not used.
    PooledKinds(PooledKinds),
    /// Every row, or every row of some secrets, shows the same, as where nothing was observed.
    NothingObserved {
        /// What they show.
        value: String,
        /// How many secrets; 0 for all, with the same observation.
        secrets: usize,
        /// Labels, at most five.
        examples: Vec<String>,
    },
    /// Rows that were left out because they could not be read.
    RowsSkipped {
        /// How many.
        rows: u64,
        /// What was wrong with the first of them.
        first: String,
    },
    /// Rows that were left out because a value is missing.
    MissingDropped {
        /// How many.
        rows: u64,
        /// How many the log has.
        of: u64,
        /// What they lack.
        lack: Lack,
    },
    /// Long runs of rows stand in the files twice.
    RepeatedRuns(RepeatedRuns),
    /// Aggregated rows have no order.
    OrderNotChecked,
    /// Secrets with hardly any rows to certify on.
    FewRows {
        /// Labels, at most five.
        examples: Vec<String>,
        /// How many there are.
        secrets: usize,
    },
    /// Secrets with hardly any units to certify on, where limits count units.
    FewUnits {
        /// Labels, at most five.
        examples: Vec<String>,
        /// How many there are.
        secrets: usize,
    },
    /// Values are missing, and which are depends on the secret.
    MissingTimes(MissingTimes),
    /// Units that have a secret in different shares, so that a random row says more than a random unit's.
    UnevenMix {
        /// The secret.
        secret: String,
        /// Its share of the rows of a unit: the tenth of the units with the least has at most this.
        from: f64,
        /// The tenth with the most has at least this.
        to: f64,
    },
    /// Units of the log to learn on that the log itself has: their rows there were left out.
    SharedUnits {
        /// Labels of units, at most five.
        examples: Vec<String>,
        /// How many there are.
        units: usize,
    },
    /// Secrets without a row to certify on.
    NotCertifiable {
        /// The column of the secret.
        column: String,
        /// Labels, at most five.
        examples: Vec<String>,
        /// How many there are.
        secrets: usize,
    },
    /// Secrets that the learning rows do not have.
    NotLearned {
        /// Labels, at most five.
        examples: Vec<String>,
        /// How many there are.
        secrets: usize,
    },
    /// Most rows show an observation that was seen once.
    MostlySeenOnce {
        /// Share of rows.
        share: f64,
    },
    /// A column with one value only.
    ConstantColumn {
        /// The column.
        column: String,
    },
    /// A column of numbers holds words too.
    WordsAmongNumbers(Words),
    /// Reading numbers lost how they were written, or digits of them.
    MergedSpellings(Merged),
    /// A column of labels, not asked for, of which many are numbers.
    MostlyNumbers {
        /// The column.
        column: String,
    },
    /// A column of labels that look like numbers in a notation that is not read.
    NumbersAsLabels {
        /// The column.
        column: String,
        /// A value.
        example: String,
    },
    /// The last bits of numbers depend on the secret, and no attack read them.
    LastBits {
        /// The column.
        column: String,
        /// The probability of such a dependence, or a stronger one, if there is none.
        p_value: f64,
    },
    /// A column that is observed and names the secret in all of the first rows.
    NamesSecret {
        /// The column.
        column: String,
    },
    /// A column that is not observed, each of whose values stands beside one secret only: rows of one may be of one unit.
    MayBeUnits {
        /// The column.
        column: String,
    },
    /// A column that is observed and called as users or devices are: rows of one may depend on each other.
    ObservedUnits {
        /// The column.
        column: String,
    },
    /// Secrets whose labels differ in upper and lower case alone.
    SecretsAlike {
        /// The first two.
        labels: [String; 2],
        /// How many secrets have such a label.
        secrets: usize,
    },
    /// Observations depend on the secret of the row before or behind, more than on their own.
    ShiftedRows {
        /// The column of numbers; `None` for labels.
        column: Option<String>,
        /// Whether it is the row before.
        before: bool,
        /// The probability of such a dependence, or a stronger one, if there is none.
        p_value: f64,
    },
    /// Not every numeric column was given a resolution.
    ResolutionIncomplete {
        /// The columns without one.
        columns: Vec<String>,
    },
}

/// Values that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTimes {
    /// The secret that most are of.
    pub secret: String,
    /// How many are of it.
    pub lacking: u64,
    /// How many there are in all.
    pub all: u64,
    /// Whether they are times that blocks lack; otherwise rows without a value, which were left out.
    pub in_blocks: bool,
    /// What they lack.
    pub lack: Lack,
}

/// Why rows were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A value is missing.
    Value,
    /// A word was dropped that stands in the place of a number.
    Number,
    /// They could not be read.
    Form,
}

impl Warning {
    /// The stable code of the JSON report.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::LabelsNotInterleaved { .. } => "labels-not-interleaved",
            Warning::LabelsAlternate { .. } => "labels-alternate",
            Warning::Autocorrelation { .. } => "autocorrelation",
            Warning::Periodic { .. } => "periodic",
            Warning::Drift { .. } => "drift",
            Warning::DependentBlocks { .. } => "dependent-blocks",
            Warning::NegativeTimes { .. } => "negative-times",
            Warning::ReadSeveralTimes { .. } => "read-several-times",
            Warning::CopiesDropped { .. } => "copies-dropped",
            Warning::CopiesSuspected { .. } => "copies-suspected",
            Warning::TiesOfOneSecret { .. } => "ties-of-one-secret",
            Warning::SharedRows { .. } => "shared-rows",
            Warning::SharedRowsSuspected { .. } => "shared-rows-suspected",
            Warning::RepeatedIds { .. } => "repeated-ids",
            Warning::PooledKinds(_) => "pooled-kinds",
            Warning::NothingObserved { .. } => "nothing-observed",
            Warning::RowsSkipped { .. } => "rows-skipped",
            Warning::MissingDropped { .. } => "missing-dropped",
            Warning::RepeatedRuns(_) => "repeated-runs",
            Warning::OrderNotChecked => "order-not-checked",
            Warning::FewRows { .. } => "few-rows",
            Warning::FewUnits { .. } => "few-units",
            Warning::UnevenMix { .. } => "uneven-mix",
            Warning::MissingTimes(_) => "missing-by-secret",
            Warning::SharedUnits { .. } => "shared-units",
            Warning::NotCertifiable { .. } => "secret-not-certifiable",
            Warning::NotLearned { .. } => "secret-not-learned",
            Warning::MostlySeenOnce { .. } => "mostly-seen-once",
            Warning::ConstantColumn { .. } => "constant-column",
            Warning::WordsAmongNumbers(_) => "words-among-numbers",
            Warning::MergedSpellings(_) => "merged-spellings",
            Warning::MostlyNumbers { .. } => "mostly-numbers",
            Warning::NumbersAsLabels { .. } => "numbers-as-labels",
            Warning::LastBits { .. } => "last-bits",
            Warning::NamesSecret { .. } => "names-secret",
            Warning::MayBeUnits { .. } => "may-be-units",
            Warning::ObservedUnits { .. } => "observed-units",
            Warning::SecretsAlike { .. } => "secrets-alike",
            Warning::ShiftedRows { .. } => "shifted-rows",
            Warning::ResolutionIncomplete { .. } => "resolution-incomplete",
        }
    }

    /// What it is about: the compiler asks this of every warning, because verdicts repeat what these doubt.
    fn topic(&self) -> Topic {
        match self {
            Warning::LabelsNotInterleaved { .. } | Warning::LabelsAlternate { .. } => {
                Topic::OrderOfSecrets
            }
            Warning::Autocorrelation { .. }
            | Warning::Periodic { .. }
            | Warning::Drift { .. }
            | Warning::DependentBlocks { .. }
            | Warning::MayBeUnits { .. } => Topic::OrderOfObservations,
            Warning::ReadSeveralTimes { .. }
            | Warning::CopiesDropped { .. }
            | Warning::CopiesSuspected { .. }
            | Warning::TiesOfOneSecret { .. }
            | Warning::SharedRowsSuspected { .. }
            | Warning::RepeatedRuns(_) => Topic::Copies,
            Warning::RowsSkipped { .. } | Warning::MissingDropped { .. } => Topic::LeftOut,
            Warning::WordsAmongNumbers(_) => Topic::Words,
            Warning::MergedSpellings(_) => Topic::Spellings,
            Warning::MostlyNumbers { .. }
            | Warning::NumbersAsLabels { .. }
            | Warning::LastBits { .. } => Topic::Typing,
            Warning::SharedRows { .. }
            | Warning::NegativeTimes { .. }
            | Warning::RepeatedIds { .. }
            | Warning::NothingObserved { .. }
            | Warning::PooledKinds(_)
            | Warning::OrderNotChecked
            | Warning::FewRows { .. }
            | Warning::FewUnits { .. }
            | Warning::SharedUnits { .. }
            | Warning::UnevenMix { .. }
            | Warning::MissingTimes(_)
            | Warning::NotCertifiable { .. }
            | Warning::NotLearned { .. }
            | Warning::MostlySeenOnce { .. }
            | Warning::ConstantColumn { .. }
            | Warning::NamesSecret { .. }
            | Warning::ObservedUnits { .. }
            | Warning::SecretsAlike { .. }
            | Warning::ShiftedRows { .. }
            | Warning::ResolutionIncomplete { .. } => Topic::Rows,
        }
    }

    /// How many times fewer independent rows the rows are worth, by what they depend on each other; 1 where limits allow for
    /// it, infinite where nothing says.
    pub fn inflation(&self) -> f64 {
        match self {
            Warning::Autocorrelation { inflation, .. }
            | Warning::Periodic { inflation, .. }
            | Warning::Drift { inflation, .. } => *inflation,
            Warning::MayBeUnits { column } if is_of_units(column) => f64::INFINITY,
            _ => 1.0,
        }
    }

    /// Whether it doubts that the clock of times was right.
    pub fn is_about_clock(&self) -> bool {
        matches!(self, Warning::NegativeTimes { .. })
    }

    /// Whether it is about the order of secrets, whatever was observed.
    pub fn is_about_secrets(&self) -> bool {
        self.topic() == Topic::OrderOfSecrets
    }

    /// Whether rows are, or may be, copies of others.
    pub fn is_about_copies(&self) -> bool {
        self.topic() == Topic::Copies
    }

    /// Whether rows were left out, as the user allowed.
    pub fn is_about_left_out(&self) -> bool {
        self.topic() == Topic::LeftOut
    }

    /// Whether it says how a column was read: what an observer is taken to see.
    pub fn is_about_reading(&self) -> bool {
        matches!(
            self.topic(),
            Topic::Words | Topic::Spellings | Topic::Typing
        )
    }

    /// Whether it doubts that a column was read as all that it is.
    pub fn is_about_typing(&self) -> bool {
        self.topic() == Topic::Typing
    }

    /// Whether reading a column otherwise may show more.
    pub fn needs_another_look(&self) -> bool {
        matches!(self.topic(), Topic::Spellings | Topic::Typing)
    }

    /// Whether it puts the independence of rows in doubt.
    pub fn is_about_order(&self) -> bool {
        matches!(
            self.topic(),
            Topic::OrderOfSecrets | Topic::OrderOfObservations
        )
    }
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    OrderOfSecrets,
    OrderOfObservations,
    Copies,
    /// Rows that were left out.
    LeftOut,
    /// Words among numbers.
    Words,
    /// Values that were written differently and read alike.
    Spellings,
    /// Whether a column was read as all that it is: numbers or labels, and numbers to their last bits.
    Typing,
    /// Rows that say too little, or nothing that a verdict has to repeat.
    Rows,
}
