//! What an audit warns of, in words.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use leakgauge_base::error::{listing, shorten};

/// Something to know before believing.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Rows of equal secrets stand together.
    LabelsNotInterleaved {
        /// Share of neighbouring rows with the same secret.
        share: f64,
        /// The share expected in random order.
        expected: f64,
    },
    /// Rows of equal secrets avoid each other.
    LabelsAlternate {
        /// Share of neighbouring rows with the same secret.
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
    /// A column of labels that are nearly all numbers.
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

    /// What a warning about the order does to a verdict, in a sentence.
    pub(crate) fn doubt(&self) -> String {
        let doubt = match self {
            Warning::LabelsNotInterleaved { .. } => {
                "its secrets were not logged in random order, so that drift could imitate a leak"
            }
            Warning::LabelsAlternate { .. } => {
                "its secrets alternate, so that anything of the same period could imitate a leak"
            }
            _ => "limits count on independent rows, and those of this log are not",
        };
        format!("But {doubt} ({}).", self.code())
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

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::LabelsNotInterleaved { share, expected } => write!(
                f,
                "secrets are not in random order: {:.0} % of neighbouring rows have the same secret where {:.0} % are \
                 expected. Whatever changed while the log was taken can look like leakage; take the log again with \
                 secrets in random order",
                100.0 * share,
                100.0 * expected
            ),
            Warning::LabelsAlternate { share, expected } => write!(
                f,
                "secrets alternate: {:.0} % of neighbouring rows have the same secret where {:.0} % are expected. \
                 Anything of the same period can look like leakage; take the log again with secrets in random order",
                100.0 * share,
                100.0 * expected
            ),
            Warning::Autocorrelation {
                column,
                correlation,
            } if *correlation > 0.999 => write!(
                f,
                "column {} counts up or down with the rows: if it is a row number, leave it out with --observe",
                shorten(column)
            ),
            Warning::Autocorrelation {
                column,
                correlation,
            } => write!(
                f,
                "rows are not independent: neighbouring rows of the same secret resemble each other in column {} \
                 (correlation {correlation:.2}). Limits count every row as new evidence and are too narrow",
                shorten(column)
            ),
            Warning::Drift {
                column,
                correlation,
            } => write!(
                f,
                "column {} drifts across the file within a secret (correlation with position {correlation:.2}). \
                 Drift can look like leakage unless secrets are in random order",
                shorten(column)
            ),
            Warning::OrderNotChecked => {
                write!(
                    f,
                    "the order of rows was not checked: an aggregated log has none, neither has a wide one, nor one that the query \
                     engine counted"
                )
            }
            Warning::FewRows { examples, secrets } => write!(
                f,
                "{} fewer than 30 rows to certify on: {}. Little can be certified about them",
                counted(*secrets, "secret has", "secrets have"),
                list(examples, *secrets)
            ),
            Warning::NotCertifiable { examples, secrets } => write!(
                f,
                "{} no row to certify on: {}. Nothing can be certified about them",
                counted(*secrets, "secret has", "secrets have"),
                list(examples, *secrets)
            ),
            Warning::NotLearned { examples, secrets } => write!(
                f,
                "{} no row to learn from: {}. No attack on them can be found",
                counted(*secrets, "secret has", "secrets have"),
                list(examples, *secrets)
            ),
            Warning::MostlySeenOnce { share } => write!(
                f,
                "{:.0} % of rows show an observation that occurs once among the rows used: secrets that are alike and secrets that \
                 share nothing look the same in such a log, and estimates say what attacks reach, no more. Observe fewer \
                 columns, or coarser ones",
                100.0 * share
            ),
            Warning::ConstantColumn { column } => {
                write!(
                    f,
                    "column {} has the same value in every row and tells nothing",
                    shorten(column)
                )
            }
            Warning::MostlyNumbers { column } => write!(
                f,
                "column {} is read as labels, but nearly all its values are numbers: if it is numeric, say \
                 --numeric {} and the other values will be reported",
                shorten(column),
                shorten(column)
            ),
            Warning::NumbersAsLabels { column, example } => write!(
                f,
                "column {column} is read as labels, but its values look like numbers ({example}): as labels they show \
                 next to nothing. Write them with a decimal point and without a unit"
            ),
            Warning::ResolutionIncomplete { columns } => write!(
                f,
                "--resolution does not cover the numeric columns {}: no upper limit exists until every numeric column \
                 has a resolution",
                listing(columns.iter().map(String::as_str))
            ),
        }
    }
}

fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}

fn list(examples: &[String], all: usize) -> String {
    let more = if all > examples.len() { ", …" } else { "" };
    format!("{}{more}", listing(examples.iter().map(String::as_str)))
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BTreeMap::from([
            ("code", self.code().to_owned()),
            ("message", self.to_string()),
        ])
        .serialize(serializer)
    }
}
