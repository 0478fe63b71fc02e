//! Logs from values in memory.

mod columns;
mod table;

use crate::builder::columns::{Column, Kind, Labels, Mixed};
use crate::builder::table::Table;
use crate::format::Format;
use crate::ingest::{Ingest, Part};
use crate::log::Log;
use crate::options::{HeaderChoice, ReadOptions, ScoreColumns};
use leakgauge_base::error::{Error, Place, Result};

pub use columns::Value;

/// The name of the log in messages and reports, if it is given none.
const NAME: &str = "memory";

/// Builds a [`Log`] from values in memory, whole columns at a time or row by row.
///
/// Nothing is inferred. [`numbers`](Self::numbers) are numbers, where order and distance mean something;
/// [`integers`](Self::integers) are numbers too, and a log of integers that recur is discrete, so that limits from
/// above exist; [`labels`](Self::labels) are equal or not. The log is the one that reading the same values from a
/// file gives, with the columns typed by [`ReadOptions::numeric`] and [`ReadOptions::categorical`].
///
/// All columns have as many values as there are secrets. Problems name the column and the row, counted from 1.
///
/// ```
/// use leakgauge_log::LogBuilder;
///
/// let log = LogBuilder::new()
///     .secrets(&["odd", "even", "odd"])
///     .numbers("time", &[1.5, 2.0, 1.25])
///     .labels("cache", &["hit", "miss", "hit"])
///     .build()?;
/// assert_eq!(log.secrets, ["even", "odd"]);
/// assert_eq!(log.counts.rows(), [1, 2]);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
///
/// Row by row, into columns that were declared before:
///
/// ```
/// use leakgauge_log::{LogBuilder, Value};
///
/// let mut log = LogBuilder::new().number_column("time").label_column("cache");
/// for (secret, time, cache) in [("odd", 1.5, "hit"), ("even", 2.0, "miss")] {
///     log.push(secret, &[time.into(), cache.into()])?;
/// }
/// assert_eq!(log.build()?.counts.total(), 2);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct LogBuilder {
    name: Option<String>,
    secrets: Labels,
    columns: Vec<Column>,
    counts: Option<Vec<u64>>,
    groups: Option<(String, Labels)>,
    fit_on: Option<Box<LogBuilder>>,
    options: ReadOptions,
}

impl LogBuilder {
    /// A log without rows or columns.
    pub fn new() -> Self {
        LogBuilder::default()
    }

    /// The name of the log in messages and reports; `memory` if not given.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Adds the secrets of rows, one label a row. Blanks around a label are no part of it.
    #[must_use]
    pub fn secrets<T: AsRef<str>>(mut self, labels: &[T]) -> Self {
        labels
            .iter()
            .for_each(|label| self.secrets.push(Some(label.as_ref())));
        self
    }

    /// An observation column of numbers: finite, one a row.
    #[must_use]
    pub fn numbers(mut self, name: &str, values: &[f64]) -> Self {
        let values = values.iter().map(|&value| Some(value)).collect();
        self.columns.push(Column::new(name, Kind::Numbers(values)));
        self
    }

    /// An observation column of integers, one a row. Beyond 2^53 neighbors may become equal.
    #[must_use]
    pub fn integers(mut self, name: &str, values: &[i64]) -> Self {
        let values = values.iter().map(|&value| Some(value)).collect();
        self.columns.push(Column::new(name, Kind::Integers(values)));
        self
    }

    /// An observation column of labels, one a row. A label is what it is, blanks around it included.
    #[must_use]
    pub fn labels<T: AsRef<str>>(self, name: &str, labels: &[T]) -> Self {
        let labels = labels.iter().map(|label| Some(label.as_ref()));
        self.label_values(name, labels)
    }

    /// As [`labels`](Self::labels), where values may be missing: that is a label of its own, `(null)`.
    #[must_use]
    pub fn optional_labels<T: AsRef<str>>(self, name: &str, labels: &[Option<T>]) -> Self {
        let labels = labels.iter().map(|label| label.as_ref().map(AsRef::as_ref));
        self.label_values(name, labels)
    }

    /// As [`numbers`](Self::numbers) of data that has places for missing values. A value that is missing is an
    /// observation of its own, the word `(null)`: the column is mixed then.
    #[must_use]
    pub fn optional_numbers(mut self, name: &str, values: &[Option<f64>]) -> Self {
        self.columns
            .push(Column::new(name, Kind::Numbers(values.to_vec())));
        self
    }

    /// An observation column of numbers and of words that stand in place of one, such as `timeout`. A word must not
    /// begin like a number; one that is a number is taken for it.
    #[must_use]
    pub fn mixed(mut self, name: &str, values: &[Value]) -> Self {
        let mut column = Mixed::default();
        values.iter().for_each(|value| column.push(value));
        self.columns.push(Column::new(name, Kind::Mixed(column)));
        self
    }

    fn label_values<'l>(
        mut self,
        name: &str,
        labels: impl Iterator<Item = Option<&'l str>>,
    ) -> Self {
        let mut column = Labels::default();
        labels.for_each(|label| column.push(label));
        self.columns.push(Column::new(name, Kind::Labels(column)));
        self
    }

    /// Declares an observation column of numbers, for [`push`](Self::push).
    #[must_use]
    pub fn number_column(self, name: &str) -> Self {
        self.numbers(name, &[])
    }

    /// Declares an observation column of integers, for [`push`](Self::push).
    #[must_use]
    pub fn integer_column(self, name: &str) -> Self {
        self.integers(name, &[])
    }

    /// Declares an observation column of labels, for [`push`](Self::push).
    #[must_use]
    pub fn label_column(self, name: &str) -> Self {
        self.labels::<&str>(name, &[])
    }

    /// Declares an observation column of numbers and words, for [`push`](Self::push).
    #[must_use]
    pub fn mixed_column(self, name: &str) -> Self {
        self.mixed(name, &[])
    }

    /// Adds a row: its secret, and a value for every observation column in the order in which they were declared.
    ///
    /// # Errors
    /// Another number of values than columns; a value that is not of its column's type. The row is left out then.
    pub fn push(&mut self, secret: &str, values: &[Value]) -> Result<()> {
        let row = self.secrets.len() as u64 + 1;
        let place = || Place::file(self.display_name()).row(row);
        if values.len() != self.columns.len() {
            let (found, expected) = (values.len(), self.columns.len());
            let problem = format!("has {found} values where {expected} are expected");
            return Err(Error::data(place(), problem)
                .with_hint("declare the columns first, and give every row a value for each"));
        }
        for (column, value) in self.columns.iter().zip(values) {
            if !column.accepts(value) {
                let place = place().column(&column.name).value(value.to_string());
                let problem = format!("is not what the column holds: {}", column.description());
                return Err(Error::data(place, problem));
            }
        }
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
        self.secrets.push(Some(secret));
        Ok(())
    }

    /// How often each row occurred, if the rows are aggregated. The log has no order then.
    #[must_use]
    pub fn counts(mut self, counts: &[u64]) -> Self {
        self.counts = Some(counts.to_vec());
        self
    }

    /// The unit that each row comes from (user, device, session), one label a row, and the name of that column.
    /// Rows of one unit may depend on each other; see [`ReadOptions::group`].
    #[must_use]
    pub fn groups<T: AsRef<str>>(mut self, name: &str, labels: &[T]) -> Self {
        let mut units = Labels::default();
        labels
            .iter()
            .for_each(|label| units.push(Some(label.as_ref())));
        self.groups = Some((name.to_owned(), units));
        self
    }

    /// The columns of numbers that hold the scores of an attack of one's own. They are the observation; other
    /// columns are left aside.
    #[must_use]
    pub fn scores(mut self, columns: ScoreColumns) -> Self {
        self.options.scores = Some(columns);
        self
    }

    /// A second log to learn and tune on, with the same columns. Then the whole first log certifies.
    #[must_use]
    pub fn fit_on(mut self, log: LogBuilder) -> Self {
        self.fit_on = Some(Box::new(log));
        self
    }

    /// The only secrets to look at, known to matter before this log was taken; all if none are given.
    #[must_use]
    pub fn restrict_to<T: AsRef<str>>(mut self, secrets: &[T]) -> Self {
        let secrets = secrets.iter().map(|label| label.as_ref().to_owned());
        self.options.secrets.extend(secrets);
        self
    }

    /// The width of the bins that an observer can resolve of a column of numbers, in the column's unit. The
    /// observation is the number of the bin; bins are anchored at 0.
    #[must_use]
    pub fn resolution(mut self, column: &str, width: f64) -> Self {
        self.options.resolution.push((column.to_owned(), width));
        self
    }

    /// Keeps the order of all rows, for a split by time. Some of it is always kept, to look for drift.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.options.keep_order = true;
        self
    }

    /// How many distinct pairs of a secret and an observation are counted exactly, and how many rows are sampled
    /// where there are more; see [`ReadOptions::max_rows`]. All rows are counted if not given.
    #[must_use]
    pub fn max_rows(mut self, rows: u64, seed: u64) -> Self {
        self.options.max_rows = Some(rows);
        self.options.seed = seed;
        self
    }

    /// Counts the rows.
    ///
    /// # Errors
    /// Columns of unequal lengths or equal names; no rows; numbers that are not finite; blank secrets, only one
    /// secret, or more than 2,000; a resolution, a score or a secret asked for that the log does not have; counts
    /// together with an order to be kept.
    pub fn build(self) -> Result<Log> {
        let name = self.display_name().to_owned();
        let fit_on = self.fit_on.as_deref();
        let fit_name = fit_on.map(|fit| match &fit.name {
            Some(fit) => fit.clone(),
            None => format!("{name} to learn on"),
        });
        let options = ReadOptions {
            files: vec![name.clone()],
            fit_on: fit_name.clone(),
            count: self.counts.as_ref().map(|_| table::COUNT.to_owned()),
            group: self.groups.as_ref().map(|groups| groups.0.clone()),
            header: HeaderChoice::Present,
            ..self.options.clone()
        };
        options.check()?;
        let table = Table::new(&name, &self, &options)?;
        let mut ingest = Ingest::new(&options);
        ingest.settle_with(table.layout().clone(), table.plans(&options)?);
        ingest.rows(&name, Part::Log, table.layout(), table.rows())?;
        if let (Some(fit), Some(fit_name)) = (fit_on, &fit_name) {
            let fit = Table::new(fit_name, fit, &options)?;
            fit.check_alike(&table, &name)?;
            ingest.rows(fit_name, Part::FitOn, fit.layout(), fit.rows())?;
        }
        let mut log = ingest.finish()?;
        log.facts.format = Format::Memory;
        Ok(log)
    }

    fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAME)
    }
}

#[cfg(test)]
mod tests;
