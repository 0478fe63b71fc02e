//! Reading logs: delimited text or JSON lines, plain or packed, from files or standard input, and columns
//! in Parquet or Arrow IPC, into counts.

mod cell;
mod encode;
mod files;
pub mod first_row;
mod fold;
pub mod format;
pub mod ingest;
mod json_lines;
pub mod layout;
mod lines;
mod lists;
pub mod observations;
mod order;
pub mod records;
mod repeats;
pub mod rows;
pub mod sample;
mod score_columns;
pub mod source;
mod stream;
mod tabulate;
mod tail;
mod tally;
mod typing;
pub mod units;
pub mod unpack;
mod wide;

use std::io::Read;

use crate::observations::{Counts, Observations};
use leakgauge_base::error::{Error, Result};

pub use files::expand;
pub use format::Format;
pub use layout::HeaderChoice;
pub use layout::delimiter;
pub use lists::ListReading;
pub use order::OrderSketch;
pub use order::RowOrder;
pub use records::{ColumnarReader, Opened, Records};
pub use score_columns::ScoreColumns;
pub use source::{ReadMeter, STDIN, open};
pub use source::{Source, read_error};
pub use stream::RowStream;
pub use tail::{Tail, follow};
pub use tally::SampledFrom;
pub use typing::Decision;

/// Rows that a command uses at most of a log that is not counted exactly; see [`ReadOptions::max_rows`].
pub const MAX_ROWS: u64 = 1_000_000;
/// A limit below this is a slip of the pen.
const LEAST_MAX_ROWS: u64 = 1_000;

/// What to read and how.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The files that make up the log; `-` is standard input.
    pub files: Vec<String>,
    /// A second log to learn and tune on.
    pub fit_on: Option<String>,
    /// The column of the secret, by name or number, or several between commas whose values together are
    /// the secret (a point in the plane); `secret` if not given.
    pub secret: Option<String>,
    /// The observation columns; all others if not given.
    pub observe: Option<Vec<String>>,
    /// The column that says how often a row occurred.
    pub count: Option<String>,
    /// Whether row 1 is a header.
    pub header: HeaderChoice,
    /// The delimiter; found if not given.
    pub delimiter: Option<u8>,
    /// Columns to read as labels.
    pub categorical: Vec<String>,
    /// Columns to read as numbers.
    pub numeric: Vec<String>,
    /// Width of the bins an observer can resolve, by column.
    pub resolution: Vec<(String, f64)>,
    /// What is observed of columns whose cells are lists.
    pub lists: Vec<(String, ListReading)>,
    /// Whether every column is a secret, and every cell an observation of it.
    pub wide: bool,
    /// The columns that hold the scores of the user's own attack: they are the observation.
    pub scores: Option<ScoreColumns>,
    /// The only secrets to look at; all if empty.
    pub secrets: Vec<String>,
    /// The query engine to read through; this crate's own readers if not given.
    pub engine: Option<EngineOptions>,
    /// What reads files that hold columns in binary; they are refused without it.
    pub columnar: Option<&'static dyn ColumnarReader>,
    /// Whether to keep the order of all rows, for a split by time. Not for aggregated logs.
    pub keep_order: bool,
    /// How much is held in memory. With at most so many distinct pairs of a secret and an observation all
    /// rows are counted, however many there are. Of a log with more of them a random sample of at most so
    /// many rows is used: the same number of every secret, but all rows of secrets that have fewer. The same
    /// for the log to learn on, by itself. Without a limit all rows are counted.
    pub max_rows: Option<u64>,
    /// Seed of that sample.
    pub seed: u64,
}

/// How a log is read through a query engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// The rows to look at: a condition on columns, as behind `WHERE` in SQL; all if not given.
    pub condition: Option<String>,
    /// The scheduler of a cluster to run on, `df://HOST:PORT`; this process if not given.
    pub cluster: Option<String>,
    /// Where groups that do not fit into memory go; the system's place for temporary files if not given.
    pub spill: Option<std::path::PathBuf>,
}

impl ReadOptions {
    /// Every column that an option names.
    pub fn named_columns(&self) -> impl Iterator<Item = &str> {
        let secret = self
            .secret
            .iter()
            .flat_map(|names| names.split(',').map(str::trim));
        let others = self
            .count
            .iter()
            .chain(self.observe.iter().flatten())
            .chain(&self.categorical)
            .chain(&self.numeric)
            .chain(self.lists.iter().map(|(name, _)| name))
            .chain(self.resolution.iter().map(|(name, _)| name));
        let scores = self.scores.iter().flat_map(ScoreColumns::columns);
        secret
            .chain(self.secret.as_deref())
            .chain(scores)
            .chain(others.map(String::as_str))
    }

    /// Checks options that can be wrong before anything is read.
    ///
    /// # Errors
    /// A file named twice, numbers out of range, options that exclude each other.
    pub fn check(&self) -> Result<()> {
        if self.files.is_empty() {
            return Err(Error::parameter("LOG", "no file is named"));
        }
        let names = self.files.iter().chain(&self.fit_on);
        if names.filter(|name| *name == STDIN).count() > 1 {
            return Err(Error::parameter(
                "-",
                "standard input can be read only once",
            ));
        }
        for (at, file) in self.files.iter().enumerate() {
            if self.files[..at].iter().any(|before| is_same(before, file)) {
                return Err(Error::file(file, "is named twice")
                    .with_hint("its rows would count twice; several files are read as one log"));
            }
            if self
                .fit_on
                .as_ref()
                .is_some_and(|fit_on| is_same(file, fit_on))
            {
                return Err(Error::file(file, "is the log and also the one of --fit-on").with_hint(
                    "rows that were learned from certify nothing: leave --fit-on out, and the log is split",
                ));
            }
        }
        if let Some(most) = self.max_rows.filter(|&most| most < LEAST_MAX_ROWS) {
            return Err(Error::parameter(
                format!("--max-rows {most}"),
                format!("must be at least {LEAST_MAX_ROWS}"),
            )
            .with_hint(format!(
                "the default is {MAX_ROWS}; fewer than that save little memory"
            )));
        }
        if self.scores.is_some() {
            score_columns::refuse_others(self)?;
        }
        if self.wide {
            wide::refuse_others(self)?;
        }
        if self.keep_order && self.count.is_some() {
            return Err(Error::parameter(
                "--split blocks",
                "an aggregated log (--count) has lost the order of its rows",
            )
            .with_hint("give the rows one by one as they were recorded, or use --split random"));
        }
        for (column, width) in &self.resolution {
            if !(width.is_finite() && *width > 0.0) {
                return Err(Error::parameter(
                    format!("--resolution {column}={width}"),
                    "the width of a bin must be a positive number",
                ));
            }
        }
        Ok(())
    }
}

/// Whether two names are of one file.
pub fn is_same(one: &str, other: &str) -> bool {
    let file = |name: &str| std::fs::canonicalize(name).ok();
    one == other || file(one).is_some_and(|one| file(other) == Some(one))
}

/// A log as read: what was observed, how often under each secret, and what the file looked like.
#[derive(Debug, Clone)]
pub struct Log {
    /// The secrets' labels: in numeric order if all are numbers, else alphabetical.
    pub secrets: Vec<String>,
    /// Secrets of the log that were left out with `--secrets`.
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
    /// Rows used after `--secrets`, of a sample those in it.
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
    /// Categorical columns that hold numbers nearly everywhere.
    pub suspicious_columns: Vec<String>,
    /// Whether the user narrowed the log to some secrets.
    pub narrowed: bool,
    /// What was made of the log beyond reading it: lists taken apart, units; for the report.
    pub notes: Vec<String>,
    /// The columns of scores that were read in place of observations.
    pub scores: Option<ScoreColumns>,
}

/// Reads a log.
///
/// # Errors
/// Anything wrong with a file or its content, with file, row, column and value.
pub fn read(options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    options.check()?;
    let meter = &meter.expecting(options.files.iter().chain(&options.fit_on));
    let mut ingest = ingest::Ingest::new(options);
    for file in &options.files {
        let records = records::open_file(file, meter, options)?;
        ingest.file(file, ingest::Part::Log, records)?;
    }
    if let Some(file) = &options.fit_on {
        let records = records::open_file(file, meter, options)?;
        ingest.file(file, ingest::Part::FitOn, records)?;
    }
    ingest.finish()
}

/// Reads a log from anything that can be read; `options.files` and `options.fit_on` are not looked at.
///
/// ```
/// use leakgauge_log::{ReadOptions, read_from};
///
/// let log = read_from("example", "secret,time\na,1.5\nb,2.5\n".as_bytes(), &ReadOptions::default())?;
/// assert_eq!(log.secrets, ["a", "b"]);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_from(
    name: &str,
    input: impl Read + Send + 'static,
    options: &ReadOptions,
) -> Result<Log> {
    let options = ReadOptions {
        files: vec![name.to_owned()],
        fit_on: None,
        ..options.clone()
    };
    options.check()?;
    let mut ingest = ingest::Ingest::new(&options);
    let input = source::unpack(name, input, &ReadMeter::default())?;
    let records = records::open(name, input, &options)?;
    ingest.file(name, ingest::Part::Log, records)?;
    ingest.finish()
}
