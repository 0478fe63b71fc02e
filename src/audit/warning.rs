//! What an audit warns of.

use leakgauge_log::{Merged, Words};

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
    },
    /// Rows of equal secrets avoid each other.
    LabelsAlternate {
        /// Share of neighboring rows with the same secret.
        share: f64,
        /// The share expected in random order.
        expected: f64,
    },
    /// Neighbouring rows of a secret resemble each other.
    Autocorrelation {
        /// The column.
        column: String,
        /// Correlation, or excess agreement for labels.
        correlation: f64,
    },
    /// Observations of a secret change across the file.
    Drift {
        /// The column.
        column: String,
        /// Correlation with the position, or effect size for labels.
        correlation: f64,
    },
    /// Aggregated rows have no order.
    OrderNotChecked,
    /// Secrets with hardly any rows to certify on.
    FewRows {
        /// Labels, at most five.
        examples: Vec<String>,
        /// How many there are.
        secrets: usize,
    },
    /// Secrets without a row to certify on.
    NotCertifiable {
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
    /// Not every numeric column was given a resolution.
    ResolutionIncomplete {
        /// The columns without one.
        columns: Vec<String>,
    },
}

impl Warning {
    /// The stable code of the JSON report.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::LabelsNotInterleaved { .. } => "labels-not-interleaved",
            Warning::LabelsAlternate { .. } => "labels-alternate",
            Warning::Autocorrelation { .. } => "autocorrelation",
            Warning::Drift { .. } => "drift",
            Warning::OrderNotChecked => "order-not-checked",
            Warning::FewRows { .. } => "few-rows",
            Warning::NotCertifiable { .. } => "secret-not-certifiable",
            Warning::NotLearned { .. } => "secret-not-learned",
            Warning::MostlySeenOnce { .. } => "mostly-seen-once",
            Warning::ConstantColumn { .. } => "constant-column",
            Warning::WordsAmongNumbers(_) => "words-among-numbers",
            Warning::MergedSpellings(_) => "merged-spellings",
            Warning::MostlyNumbers { .. } => "mostly-numbers",
            Warning::NumbersAsLabels { .. } => "numbers-as-labels",
            Warning::ResolutionIncomplete { .. } => "resolution-incomplete",
        }
    }

    /// Whether it is about the order of secrets, whatever was observed.
    pub fn is_about_secrets(&self) -> bool {
        matches!(
            self,
            Warning::LabelsNotInterleaved { .. } | Warning::LabelsAlternate { .. }
        )
    }

    /// Whether it says how a column was read: what an observer is taken to see.
    pub fn is_about_reading(&self) -> bool {
        matches!(
            self,
            Warning::WordsAmongNumbers(_) | Warning::MergedSpellings(_)
        ) || self.is_about_typing()
    }

    /// Whether it doubts that a column was read as what it is.
    pub fn is_about_typing(&self) -> bool {
        matches!(
            self,
            Warning::MostlyNumbers { .. } | Warning::NumbersAsLabels { .. }
        )
    }

    /// Whether reading a column otherwise may show more.
    pub fn needs_another_look(&self) -> bool {
        matches!(self, Warning::MergedSpellings(_)) || self.is_about_typing()
    }

    /// Whether it puts the independence of rows in doubt.
    pub fn is_about_order(&self) -> bool {
        matches!(
            self,
            Warning::LabelsNotInterleaved { .. }
                | Warning::LabelsAlternate { .. }
                | Warning::Autocorrelation { .. }
                | Warning::Drift { .. }
        )
    }
}
