//! A log as it was read or built: counts, and what was found on the way.

use crate::blocks::BlockFacts;
use crate::format::Format;
use crate::groups::Units;
use crate::last::CountedLast;
use crate::merge::MergedSecret;
use crate::observations::{Counts, Observations};
use crate::options::{ListReading, ScoreColumns};
use crate::order::RowOrder;
use crate::overlaps::RepeatedRuns;
use crate::pooled::PooledKinds;
use crate::pure::PureColumn;
use crate::recognize::Form;
use crate::record_keeping::LeftOutColumn;
use crate::row_store::SampledFrom;
use crate::spelling::Merged;
use crate::typing::Decision;
use crate::words::Words;
use leakgauge_stats::random::Randomness;
use std::collections::BTreeMap;

/// A log as read: what was observed, how often under each secret, and what the file looked like.
#[derive(Debug, Clone)]
pub struct Log {
    /// The secrets' labels: in numeric order if all are numbers, else alphabetical.
    pub secrets: Vec<String>,
    /// Secrets of the log that are not among those asked for.
    pub left_out: Vec<String>,
    /// The distinct observations.
    pub observations: Observations,
    /// The rows of the log itself, all or a sample: see [`rows_of_secrets`](Log::rows_of_secrets).
    pub counts: Counts,
    /// The rows of the log to learn on, if one was given.
    pub fit_counts: Option<Counts>,
    /// The order of rows, as far as it was kept; `None` for aggregated logs.
    pub order: Option<RowOrder>,
    /// All rows of the log itself in their order, (secret, observation), if that was asked for.
    pub sequence: Option<Vec<(u32, u32)>>,
    /// The units that rows come from, if a column says so.
    pub units: Option<Units>,
    /// What was found while reading.
    pub facts: InputFacts,
}

impl Log {
    /// How many rows of each secret the log has, whether they are all used or sampled. How often a secret
    /// occurs is to be taken from here: a sample has as many rows of one secret as of another.
    pub fn rows_of_secrets(&self) -> &[u64] {
        let sampled = self.facts.sampled.as_ref();
        sampled.map_or(self.counts.rows(), |sampled| &sampled.rows)
    }

    /// The random numbers of a seed for this log: other logs have others.
    pub fn randomness(&self, seed: u64) -> Randomness {
        let rows = match &self.units {
            Some(units) => units.rows.digest(),
            None => self.counts.digest(),
        };
        Randomness::new(seed, rows)
    }
}

/// Rows left out because they could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedRows {
    /// How many.
    pub rows: u64,
    /// What was wrong with the first of them.
    pub first: Option<String>,
}

/// The names of all columns and the first rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstRows {
    /// The names, in the order of the file.
    pub columns: Vec<String>,
    /// Their texts, row by row.
    pub rows: Vec<Vec<String>>,
}

/// What was found while reading, for the report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputFacts {
    /// The files of the log.
    pub files: Vec<String>,
    /// The log to learn on.
    pub fit_on: Option<String>,
    /// Rows (occurrences) in the log's files.
    pub rows: u64,
    /// Rows used: those of the secrets asked for, of a sample those in it.
    pub rows_used: u64,
    /// What the rows used are a sample of, if they are one.
    pub sampled: Option<SampledFrom>,
    /// The same of the rows of the log to learn on.
    pub fit_sampled: Option<SampledFrom>,
    /// Whether row 1 was read as a header.
    pub header: bool,
    /// Whether the header was found or forced.
    pub header_detected: bool,
    /// How the first file is written down.
    pub format: Format,
    /// The delimiter of the first file; `None` for a format without one.
    pub delimiter: Option<char>,
    /// Whether every column was a secret.
    pub wide: bool,
    /// The name of the secret's column.
    pub secret_column: String,
    /// Whether the rows carried counts.
    pub aggregated: bool,
    /// Per observation column: who decided its type.
    pub decided: Vec<Decision>,
    /// Per observation column: the most decimals a number was written with, `None` if categorical or
    /// written with exponents.
    pub decimals: Vec<Option<u32>>,
    /// Columns of labels that look like numbers written otherwise, with an example.
    pub like_numbers: Vec<(String, String)>,
    /// Columns of labels, not asked for, that hold many different numbers.
    pub suspicious_columns: Vec<String>,
    /// Words in columns of numbers.
    pub words: Vec<Words>,
    /// What reading numbers lost: how they were written, digits that a number has not.
    pub merged: Vec<Merged>,
    /// Whether the user narrowed the log to some secrets.
    pub narrowed: bool,
    /// What was made of the log beyond reading it: lists taken apart, units; for the report.
    pub notes: Vec<String>,
    /// Columns each of whose values stands beside one secret only.
    pub pure_columns: Vec<PureColumn>,
    /// Rows that could not be read and were left out, by their secret where that can be told.
    pub unread_of: BTreeMap<String, u64>,
    /// Columns of lists of which a part is observed, and nobody said so; with how to say it.
    pub lists_in_part: Vec<(String, ListReading)>,
    /// The columns that frequent items of texts became.
    pub item_columns: Vec<String>,
    /// A column that is not used and tells several kinds of measurements apart.
    pub pooled: Option<PooledKinds>,
    /// Whether observed numbers are seconds because cells said a unit or a date.
    pub in_seconds: bool,
    /// Whether the times of a recognized form are too long to be in its unit, by their median: they are counts of a
    /// clock.
    pub ticks: bool,
    /// Labels of units of the log to learn on that the log itself has: their rows there were left out.
    pub shared_units: Vec<String>,
    /// What was found of blocks of simultaneous measurements, which are the units of such a log.
    pub blocks: Option<BlockFacts>,
    /// The column that tells rows apart, if one was named.
    pub row_id: Option<String>,
    /// Rows that were left out as copies: another row has the same value in that column.
    pub repeated_ids: u64,
    /// Long runs of rows that stand in the files twice.
    pub repeated_runs: RepeatedRuns,
    /// The tool whose log this is, if it was told by looking.
    pub recognized: Option<Form>,
    /// Whether the secret's column was taken because it is the only one of a few labels.
    pub secret_chosen: bool,
    /// Columns that are not observed because they number rows, or say when they were recorded.
    pub left_out_columns: Vec<LeftOutColumn>,
    /// Secrets that were joined.
    pub merged_secrets: Vec<MergedSecret>,
    /// Rows left out because a value is missing.
    pub missing_rows: u64,
    /// Of these, the rows of each secret, by its label; of at most 1,000 secrets.
    pub missing_of: BTreeMap<String, u64>,
    /// Observations that count as larger than all others, if there are any.
    pub last: Option<CountedLast>,
    /// Whether rows were left out because a word stands in the place of a number.
    pub drops_words: bool,
    /// Rows left out because they could not be read.
    pub skipped: SkippedRows,
    /// The names of all columns and the first rows, as they stand in the first file.
    pub first_rows: FirstRows,
    /// The columns of scores that were read in place of observations.
    pub scores: Option<ScoreColumns>,
}
