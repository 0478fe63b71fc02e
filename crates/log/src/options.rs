//! What to read and how.

mod check;
mod list_reading;
mod missing;
mod row_filter;
mod score_columns;

use std::fmt::Debug;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use crate::merge::SecretRules;
use crate::objects::{ObjectReader, RemoteObject};
use crate::records::Records;
use crate::source::ReadMeter;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;

pub use check::is_same;
pub use list_reading::ListReading;
pub(crate) use missing::is_last;
pub use missing::{Like, Missing};
pub use row_filter::RowFilter;
pub use score_columns::ScoreColumns;

/// Rows that a command uses at most of a log that is not counted exactly; see [`ReadOptions::max_rows`].
pub const MAX_ROWS: u64 = 1_000_000;
/// In place of a file of secrets: each file of the log is one.
const EACH_FILE: &str = "file";

/// What to read and how.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The files that make up the log; `-` is standard input.
    pub files: Vec<String>,
    /// The directories, and URLs that end in `/`, that the files were found below: names such as `column=value` of
    /// directories between are columns of the files.
    pub directories: Vec<String>,
    /// A second log to learn and tune on.
    pub fit_on: Option<String>,
    /// The column of the secret, by name or number, or several between commas whose values together are
    /// the secret (a point in the plane); `secret` if not given.
    pub secret: Option<String>,
    /// A file that holds the secret of every row, where the log has no column of it: a line, or an item of an array, for
    /// each row in its order. Of several columns in it, [`secret`](Self::secret) names one. `file` says that each file of
    /// the log is a secret.
    pub secret_from: Option<String>,
    /// The observation columns; all others if not given.
    pub observe: Option<Vec<String>>,
    /// The column that says how often a row occurred.
    pub count: Option<String>,
    /// The column that names the unit a row comes from (user, device, session), where rows of one unit may
    /// depend on each other.
    pub group: Option<String>,
    /// The column that names the block that a row was measured in, where a block has one measurement of each secret,
    /// taken close together. A block may lack secrets.
    pub block: Option<String>,
    /// Whether each row of a wide file is a block, complete.
    pub blocks: bool,
    /// Whether rows are read one by one even if the log is recognized as one in blocks.
    pub one_by_one: bool,
    /// The column that identifies rows: a row whose value there was seen before is a copy, and is left out.
    pub row_id: Option<String>,
    /// Whether row 1 is a header.
    pub header: HeaderChoice,
    /// The delimiter; found if not given.
    pub delimiter: Option<u8>,
    /// Columns to read as labels.
    pub categorical: Vec<String>,
    /// Columns to read as numbers.
    pub numeric: Vec<String>,
    /// Whether what is observed are times: a column of few whole numbers, each seen often, holds numbers then and not
    /// labels.
    pub timed: bool,
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
    /// Secrets that are joined by rules fixed before the log was taken; [`secrets`](Self::secrets) are what they
    /// become.
    pub merge: Option<SecretRules>,
    /// What a blank or a null in a column that is used means.
    pub missing: Missing,
    /// Conditions that all rows pass which are looked at.
    pub filters: Vec<RowFilter>,
    /// Rows that may be left out because they cannot be read.
    pub skip_bad: u64,
    /// The program whose logs these are like, where that cannot be told by looking.
    pub like: Option<Like>,
    /// The query engine to read through; this crate's own readers if not given.
    pub engine: Option<EngineOptions>,
    /// What reads files that hold columns in binary; they are refused without it.
    pub columnar: Option<&'static dyn ColumnarReader>,
    /// What fetches logs behind URLs; they are refused without it.
    pub objects: Option<&'static dyn ObjectReader>,
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
    /// The columns that say when a row was recorded, the first one first; without them the order of rows is not looked
    /// at. They are numbers or dates, and part of the observation only where they are named as such.
    pub order_by: Vec<String>,
    /// The scheduler of a cluster to run on, `df://HOST:PORT`; this process if not given.
    pub cluster: Option<String>,
    /// Where groups that do not fit into memory go; the system's place for temporary files if not given.
    pub spill: Option<std::path::PathBuf>,
}

impl ReadOptions {
    /// The column of the unit: of what rows come from, or of their block.
    pub(crate) fn unit_column(&self) -> Option<&String> {
        self.group.as_ref().or(self.block.as_ref())
    }

    /// Whether the query engine reads rows in the order in which they were recorded.
    pub fn is_ordered_by_engine(&self) -> bool {
        let engine = self.engine.as_ref();
        engine.is_some_and(|engine| !engine.order_by.is_empty())
    }

    /// Whether rows come in units, blocks among them.
    pub fn has_units(&self) -> bool {
        self.group.is_some() || self.is_blocked()
    }

    /// Whether rows come in blocks of simultaneous measurements.
    pub fn is_blocked(&self) -> bool {
        self.block.is_some() || self.blocks
    }

    /// The columns that an option says how to observe.
    pub(crate) fn observed_columns(&self) -> impl Iterator<Item = &String> {
        let lists = self.lists.iter().map(|(name, _)| name);
        let resolved = self.resolution.iter().map(|(name, _)| name);
        let typed = self.categorical.iter().chain(&self.numeric);
        typed.chain(lists).chain(resolved)
    }

    /// Every column that an option names.
    pub fn named_columns(&self) -> impl Iterator<Item = &str> {
        let secret = self
            .secret
            .iter()
            .flat_map(|names| names.split(',').map(str::trim));
        let others = self
            .count
            .iter()
            .chain(self.unit_column())
            .chain(&self.row_id)
            .chain(self.engine.iter().flat_map(|engine| &engine.order_by))
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

    /// Whether each file of the log is a secret.
    pub(crate) fn is_file_a_secret(&self) -> bool {
        self.secret_from.as_deref() == Some(EACH_FILE)
    }

    /// Refuses the option that row 1 is data, where a format names its columns; `holds` says what the file holds.
    ///
    /// # Errors
    /// If [`header`](Self::header) is [`HeaderChoice::Absent`].
    pub fn refuse_no_header(&self, name: &str, holds: &str) -> Result<()> {
        if self.header != HeaderChoice::Absent {
            return Ok(());
        }
        let problem = format!("{name} holds {holds}");
        Err(Error::parameter(setting("header", "absent"), problem).with_hint("leave it out"))
    }
}

/// What reads Parquet and Arrow files. It is handed in, so that ingestion does not depend on their decoders.
pub trait ColumnarReader: Debug + Send + Sync {
    /// Opens a file, if its first bytes are those of a format with columns in binary.
    ///
    /// # Errors
    /// A file that is broken; columns that cannot become fields; options for delimited text.
    fn open_file(
        &self,
        name: &str,
        file: File,
        meter: &ReadMeter,
        options: &ReadOptions,
    ) -> Result<Opened>;

    /// Opens an object whose first bytes are those of Parquet or of an Arrow file, and reads the parts of it that
    /// are needed.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file).
    fn open_object(
        &self,
        name: &str,
        object: Arc<dyn RemoteObject>,
        meter: &ReadMeter,
        options: &ReadOptions,
    ) -> Result<Box<dyn Records>>;

    /// Opens a stream of record batches.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file).
    fn open_stream(
        &self,
        name: &str,
        stream: Box<dyn Read + Send>,
        options: &ReadOptions,
    ) -> Result<Box<dyn Records>>;
}

/// A file that was looked at.
pub enum Opened {
    /// Its rows.
    Records(Box<dyn Records>),
    /// It holds no columns in binary; it stands at its beginning.
    Other(File),
}

/// Whether the first row of a file names its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeaderChoice {
    /// Look and decide.
    #[default]
    Detect,
    /// It does.
    Present,
    /// It does not.
    Absent,
}
