//! Options that several commands share, and their conversion to checked values.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::builder::{ArgPredicate, PossibleValue};
use clap::{Args, ValueEnum};
use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{self, PriorChoice, SplitChoice};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::naming::setting;
use leakgauge::base::time::{ClockStep, TimeUnit};
use leakgauge::log::{
    HeaderChoice, Like, ListReading, MAX_ROWS, Missing, ReadOptions, RowFilter, ScoreColumns,
    SecretRules, expand, is_directory,
};
use leakgauge::report::{Format, Layout};

use crate::cli::engine::EngineArguments;
use crate::cli::terminal;

/// The group of options that say how a log is read.
const HEADING_LOG: &str = "Reading the log";

/// In place of a column of blocks: there are none.
const NO_BLOCKS: &str = "none";

/// The log to read, and how to read it.
#[derive(Args, Clone)]
#[command(next_help_heading = HEADING_LOG)]
pub struct LogArguments {
    /// CSV, TSV, JSON lines, JSON arrays, arrays of NumPy or trace sets (`.trs`); `-` for standard input
    ///
    /// Plain, gzip or zstd. Logs of tlsfuzzer, RTLF and hyperfine, audits of prompt caches and the output of `uniq -c` are recognized. Parquet
    /// and Arrow too in a build with `--features parquet`. Several files, or all that match a pattern such as
    /// `'logs/*.csv'`, form one log, and so do all files below a directory: `day=1` in the name of a directory is a
    /// column of its files.
    #[arg(required = true, value_name = "LOG", help_heading = None::<&'static str>)]
    pub logs: Vec<String>,
    /// The directories among the logs, once they are replaced by their files.
    #[arg(skip)]
    directories: Vec<String>,
    /// The column of the secret, by name or number from 1; `X,Y` if the secret is a point in two columns
    /// [default: the column named `secret`, else the only one of a few labels]
    #[arg(long, value_name = "COLUMN")]
    pub secret: Option<String>,
    /// The secrets are in a file of their own, one for each row of the log in its order: a text with a secret a line, or an
    /// array of NumPy; of several columns, `--secret` names one. The word `file` says that each file of the log is a secret,
    /// called by the name of the file
    #[arg(long, value_name = "FILE")]
    pub secret_from: Option<String>,
    /// The observation columns, also `pkt_*` or `x1..x40` [default: all other columns]
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub observe: Option<Vec<String>>,
    /// Read row 1 as data
    #[arg(long, conflicts_with = "header")]
    pub no_header: bool,
    /// Read row 1 as a header
    #[arg(long)]
    pub header: bool,
    /// The field delimiter, one character or `tab` [default: detected in the first line]
    #[arg(long, value_name = "C")]
    pub delimiter: Option<String>,
    /// Read these columns as labels, each text as it is written
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Read these columns as numbers only: a word among them is an error
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub numeric: Vec<String>,
    /// The rows are aggregated: this column has the number of times that each row occurred
    #[arg(long, value_name = "COLUMN")]
    pub count: Option<String>,
    /// The unit that each row comes from: user, device, session
    ///
    /// Rows of one unit may depend on each other: no unit is split between training and certification, and limits
    /// count units.
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// The column that names the block of each row: measurements taken close together
    ///
    /// A block has one measurement of each secret, which are compared inside their block; it may lack secrets. `none`
    /// reads rows one by one where a log is recognized as one in blocks.
    #[arg(long, value_name = "COLUMN")]
    pub block: Option<String>,
    /// With `--wide`: each row is a block, measurements taken close together, one of each secret
    #[arg(long)]
    pub blocks: bool,
    /// The column that identifies rows
    ///
    /// Rows whose value there was seen before are copies and are left out.
    #[arg(long, value_name = "COLUMN")]
    pub row_id: Option<String>,
    /// Use only these secrets, which must be chosen before this log was collected [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub secrets: Vec<String>,
    /// Every column is a secret and every cell an observation of it, as timing tools write logs
    #[arg(long)]
    pub wide: bool,
    /// What the observer sees of a column of lists such as `[1,-1,1]`
    ///
    /// `first:N` elements, `length`, `sum`, `set`, `parts`: words and numbers in columns of their own, also of cells like
    /// `below/3.52/stop`, or `items`: frequent items of cells like `a:1;b:2`. Can be repeated.
    #[arg(long, value_name = "COLUMN=HOW", value_delimiter = ',')]
    pub list: Vec<String>,
    /// Train and tune on this log, certify on the main one
    #[arg(long, value_name = "FILE")]
    pub fit_on: Option<String>,
    /// The resolution of the observer: the column is binned, which makes upper limits possible
    #[arg(long, value_name = "COLUMN=WIDTH,…", value_delimiter = ',')]
    pub resolution: Vec<String>,
    /// Join secrets by rules that must be chosen before this log was collected: labels between `|`, ranges of numbers
    /// with both ends, or `*` for all others, `0..3=few,4..=many`, `admin=admin,*=others`; other secrets stay
    #[arg(
        long,
        value_name = "WHICH=LABEL,…",
        conflicts_with = "secret_map",
        allow_hyphen_values = true
    )]
    pub merge: Option<String>,
    /// Join secrets as this file says, chosen before this log was collected: a row `from,to` for each label
    #[arg(long, value_name = "FILE")]
    pub secret_map: Option<String>,
    /// Rows with a blank, a null or NaN in a column that is used: `drop` leaves them out, `label` makes it a value of its
    /// own, of a secret too, `last` makes it a time that is longer than all others, as `timeout` and `inf` are then
    /// [default: a blank secret is an error, a blank observation a value]
    #[arg(long, value_enum, value_name = "HOW")]
    pub missing: Option<MissingName>,
    /// Look only at rows with one of these values in the column; given several times, all must hold. The column itself is
    /// not observed unless asked for
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    pub keep: Vec<String>,
    /// Leave out rows with one of these values in the column
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    pub drop: Vec<String>,
    /// Leave out up to this many rows that cannot be read; the verdict names them
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub skip_bad: u64,
    /// Read a log of this program, which cannot be told by looking: `fbleau` has no header, numbers only, the secret
    /// first; of two files the first is trained on and the second measured, at its own prior. `nothing` reads columns
    /// by their names, even if the file looks like the log of a known program
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub like: Option<LikeName>,
    #[command(flatten)]
    pub engine: EngineArguments,
}

impl LogArguments {
    /// The same arguments, with patterns replaced by the matching files.
    pub fn expanded(&self) -> Result<Self> {
        Ok(LogArguments {
            directories: self
                .logs
                .iter()
                .filter(|name| is_directory(name))
                .cloned()
                .collect(),
            logs: expand(&self.logs)?,
            ..self.clone()
        })
    }

    /// The same arguments, with the files of another program in their parts.
    pub fn in_parts(self) -> Result<Self> {
        match (self.like, &self.logs[..], &self.fit_on) {
            (Some(LikeName(Like::Fbleau)), [train, eval], None) => Ok(LogArguments {
                logs: vec![eval.clone()],
                fit_on: Some(train.clone()),
                ..self
            }),
            (Some(LikeName(Like::Fbleau)), [_, _, ..], _) => Err(Error::parameter(
                "--like fbleau",
                format!(
                    "needs two files, one to train on and one to measure; {} are given",
                    self.logs.len()
                ),
            )
            .with_hint("name the training file first, then the other")),
            _ => Ok(self),
        }
    }

    /// The conditions that rows pass.
    fn filters(&self) -> Result<Vec<RowFilter>> {
        let all = [("keep", &self.keep, true), ("drop", &self.drop, false)];
        let mut filters = Vec::new();
        for (name, texts, keeps) in all {
            for text in texts {
                filters.push(RowFilter::parse(text, keeps).ok_or_else(|| {
                    Error::parameter(setting(name, text), "is no condition on a column")
                        .with_hint(format!("write {}", setting(name, "COLUMN=VALUE")))
                })?);
            }
        }
        Ok(filters)
    }

    /// The rules that join secrets.
    fn rules(&self) -> Result<Option<SecretRules>> {
        match (&self.merge, &self.secret_map) {
            (Some(rules), _) => SecretRules::parse(rules).map(Some),
            (None, Some(file)) => SecretRules::read(file).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The checked options of the reader.
    pub fn read_options(&self, keep_order: bool) -> Result<ReadOptions> {
        let one_by_one = self.block.as_deref() == Some(NO_BLOCKS);
        Ok(ReadOptions {
            timed: false,
            columnar: leakgauge::log::COLUMNAR,
            objects: leakgauge::log::OBJECTS,
            files: self.logs.clone(),
            directories: self.directories.clone(),
            fit_on: self.fit_on.clone(),
            secret: self.secret.clone(),
            secret_from: self.secret_from.clone(),
            observe: self.observe.clone(),
            count: self.count.clone(),
            group: self.group.clone(),
            block: self.block.clone().filter(|_| !one_by_one),
            blocks: self.blocks,
            one_by_one,
            row_id: self.row_id.clone(),
            header: match (self.header, self.no_header) {
                (true, _) => HeaderChoice::Present,
                (_, true) => HeaderChoice::Absent,
                _ => HeaderChoice::Detect,
            },
            delimiter: self.delimiter.as_deref().map(delimiter).transpose()?,
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            resolution: self
                .resolution
                .iter()
                .map(|text| resolution(text))
                .collect::<Result<_>>()?,
            lists: self
                .list
                .iter()
                .map(|text| ListReading::parse(text))
                .collect::<Result<_>>()?,
            wide: self.wide,
            secrets: self.secrets.clone(),
            scores: None,
            merge: self.rules()?,
            missing: self.missing.map_or(Missing::Refuse, |name| name.0),
            filters: self.filters()?,
            skip_bad: self.skip_bad,
            like: self.like.map(|name| name.0),
            engine: self.engine.options()?,
            // Blocks are numbered in their order.
            keep_order: keep_order && (self.block.is_none() || one_by_one) && !self.blocks,
            max_rows: None,
            seed: 0,
        })
    }
}

/// Attackers by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum AttackerName {
    /// Who meets a random group and sees one of its rows
    Unit,
}

/// How to estimate.
#[derive(Args)]
#[command(next_help_heading = "Attack and limits")]
pub struct EstimateOptions {
    /// The attack; with --scores it is `given`
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        default_value_if("scores", ArgPredicate::IsPresent, "given"),
        value_name = "NAME"
    )]
    pub scorer: ScorerName,
    /// The time of the audit on two cores, by the estimated cost of attacks: `60s`, `500ms`, `2m`
    ///
    /// More time lets attacks learn from more rows.
    #[arg(long, default_value = "20s", value_name = "TIME")]
    pub budget: String,
    /// Compute only limits and verdicts
    ///
    /// Estimates use fewer rows, and there is no learning curve.
    #[arg(long)]
    pub quick: bool,
    /// The column of scores of your own attack
    ///
    /// One column separates two secrets (losses, likelihood ratios). `SECRET=COLUMN,…` names one column per secret,
    /// larger = more likely.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub scores: Option<Vec<String>>,
    /// How certification rows are chosen: at random, or the later rows
    #[arg(long, value_enum, default_value = "random", value_name = "HOW")]
    pub split: SplitName,
    /// With `--group`: whose success the figures are. `unit` is an attacker who meets a random group and sees one of its
    /// rows
    ///
    /// Where groups differ in their mix of secrets, who sees a random row of the log may learn more: nothing is said to
    /// hold until this says who is meant.
    #[arg(long, value_enum, requires = "group", value_name = "WHO")]
    pub attacker: Option<AttackerName>,
    /// The unit of times that were measured in blocks: `s`, `ms`, `us`, `ns` or `cycles`
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// The frequency of the clock in hertz, for times in cycles
    #[arg(long, value_name = "HERTZ")]
    pub clock_frequency: Option<f64>,
    /// The step in which times were recorded: `1ms`, `2cycles`; 0 for exact counts [default: by the values]
    ///
    /// A time is known to within a step, and a difference of two times to within two.
    #[arg(long, value_name = "STEP")]
    pub clock_step: Option<String>,
    /// The prior of the figures that depend on one: `uniform`, `empirical` or `label=p,…`
    ///
    /// The default is `uniform`, and `empirical` with --like fbleau.
    #[arg(long, value_name = "PRIOR")]
    pub prior: Option<String>,
    /// The confidence level of every limit [default: 0.95]
    #[arg(long, value_name = "C")]
    pub confidence: Option<f64>,
    /// The seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Use at most so many distinct rows [default: 1000000]
    ///
    /// If the log has more distinct rows (secret and observation), a random sample of this size is used, balanced over
    /// secrets. This limits memory and time.
    #[arg(long, value_name = "N")]
    pub max_rows: Option<u64>,
    /// The number of threads; it does not change the report [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The format on standard output
    #[arg(
        long,
        value_enum,
        default_value = "text",
        value_name = "FORMAT",
        help_heading = "Report"
    )]
    pub format: FormatName,
}

impl EstimateOptions {
    /// The reader options that depend on the options of the estimate.
    pub fn reading(&self, log: ReadOptions) -> Result<ReadOptions> {
        // A split by time or by units needs all rows, so only an explicit limit applies.
        let most = (!log.keep_order && !log.has_units()).then_some(MAX_ROWS);
        Ok(ReadOptions {
            columnar: leakgauge::log::COLUMNAR,
            objects: leakgauge::log::OBJECTS,
            scores: scores(self)?,
            max_rows: self.max_rows.or(most),
            seed: self.seed,
            ..log
        })
    }
}

/// An attacker by its name, from the list of all that there are.
#[derive(Clone, Copy)]
pub struct ScorerName(pub ScorerChoice);

impl ValueEnum for ScorerName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ScorerName>> =
            LazyLock::new(|| ScorerChoice::ALL.iter().copied().map(ScorerName).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}

/// Splits by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum SplitName {
    /// Random rows; assumes that rows are exchangeable
    Random,
    /// Train on the first 40 % of the log, tune on the next 20 %, certify on the last 40 %, with limits that
    /// account for autocorrelation (approximately)
    Blocks,
}

impl From<SplitName> for SplitChoice {
    fn from(name: SplitName) -> Self {
        match name {
            SplitName::Random => SplitChoice::Random,
            SplitName::Blocks => SplitChoice::Blocks,
        }
    }
}

/// What a missing value means, by name.
#[derive(Clone, Copy)]
pub struct MissingName(pub Missing);

impl ValueEnum for MissingName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [MissingName; Missing::ALL.len()] = [
            MissingName(Missing::ALL[0]),
            MissingName(Missing::ALL[1]),
            MissingName(Missing::ALL[2]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// A program whose logs are read, by name.
#[derive(Clone, Copy)]
pub struct LikeName(pub Like);

impl ValueEnum for LikeName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [LikeName; Like::ALL.len()] = [LikeName(Like::ALL[0]), LikeName(Like::ALL[1])];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// An output format by its name, from the list of all formats.
#[derive(Clone, Copy)]
pub struct FormatName(Format);

impl ValueEnum for FormatName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormatName; Format::ALL.len()] = {
            let mut all = [FormatName(Format::Text); Format::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = FormatName(Format::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = self.0.about();
        Some(PossibleValue::new(name).help(about))
    }
}

impl FormatName {
    /// How a report in this format is laid out here.
    pub fn layout(self) -> Layout {
        terminal::layout(self.0)
    }
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        name.0
    }
}

/// Sets the number of threads of the whole process.
pub fn use_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else {
        return rayon::ThreadPoolBuilder::new()
            .build_global()
            .map_err(|error| {
                Error::parameter("threads", format!("cannot be started: {error}"))
                    .with_hint("limit them, --threads 1, or allow this user more processes")
            });
    };
    if threads == 0 || threads > 1024 {
        return Err(Error::parameter(
            format!("--threads {threads}"),
            "must be between 1 and 1024",
        ));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Error::parameter(format!("--threads {threads}"), error.to_string()))
}

/// The columns of scores, for the scorer that reads them.
fn scores(options: &EstimateOptions) -> Result<Option<ScoreColumns>> {
    audit::check_scores(&options.scorer.0.into(), options.scores.is_some())?;
    options
        .scores
        .as_deref()
        .map(ScoreColumns::parse)
        .transpose()
}

/// Reads a unit of time.
pub fn unit(text: &str) -> Result<TimeUnit> {
    TimeUnit::parse(text).ok_or_else(|| {
        let names = TimeUnit::ALL.map(TimeUnit::name).join(", ");
        Error::parameter(
            format!("--unit {text}"),
            format!("no unit of time has this name; units are {names}"),
        )
    })
}

/// Reads the step of a clock.
pub fn clock_step(text: &str) -> Result<ClockStep> {
    ClockStep::parse(text).ok_or_else(|| {
        Error::parameter(
            format!("--clock-step {text}"),
            "is no step of a clock: a number that is not negative, with a unit (1ms) or in that of the log (0.5)",
        )
    })
}

/// Reads a prior.
pub fn prior(text: &str) -> Result<PriorChoice> {
    match text {
        "uniform" => Ok(PriorChoice::Uniform),
        "empirical" => Ok(PriorChoice::Empirical),
        _ => {
            let mut given = BTreeMap::new();
            for part in text.split(',') {
                let (label, p) = part
                    .rsplit_once('=')
                    .ok_or_else(|| bad_prior(text, "no `=`"))?;
                let p = p
                    .trim()
                    .parse()
                    .map_err(|_| bad_prior(text, &format!("{p:?} is not a number")))?;
                if given.insert(label.trim().to_owned(), p).is_some() {
                    return Err(bad_prior(text, &format!("{label} is given twice")));
                }
            }
            Ok(PriorChoice::Given(given))
        }
    }
}

fn bad_prior(text: &str, problem: &str) -> Error {
    Error::parameter(format!("--prior {text}"), problem)
        .with_hint("write `uniform`, `empirical` or `label=p,label=p,…`")
}

/// Reads a delimiter.
pub fn delimiter(text: &str) -> Result<u8> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
            _ => Err(Error::parameter(
                format!("--delimiter {text:?}"),
                "must be one ASCII character, or `tab`",
            )),
        },
    }
}

fn resolution(text: &str) -> Result<(String, f64)> {
    let (column, width) = text.rsplit_once('=').unwrap_or((text, ""));
    let width: f64 = width.trim().parse().map_err(|_| {
        Error::parameter(format!("--resolution {text}"), "is not COLUMN=WIDTH")
            .with_hint("for example --resolution time=1000")
    })?;
    Ok((column.trim().to_owned(), width))
}

/// Refuses the first combination that is given: whether it is, the option, and why it does not fit.
///
/// # Errors
/// One is given.
pub fn refuse_first(combinations: &[(bool, &str, &str)]) -> Result<()> {
    match combinations.iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, problem)) => Err(Error::parameter(*option, *problem)),
        None => Ok(()),
    }
}
