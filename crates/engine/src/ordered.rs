//! Rows in the order in which they were recorded, as columns of the log say it, one by one for everything that
//! reads logs. Rows that were recorded at the same time are put in random order among each other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use datafusion::dataframe::DataFrame;
use datafusion::functions::expr_fn::{btrim, nullif};
use datafusion::logical_expr::{Expr, cast, ident, lit, try_cast};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::condition::Meaning;
use crate::failure;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_columnar::{Values, values};
use leakgauge_log::format::Format;
use leakgauge_log::layout::Layout;
use leakgauge_log::row::{MISSING, NULL};
use leakgauge_log::{Field, ReadOptions, Records, Row};

/// Rows that may share their time: with more of them, their order is not known.
const MAX_TIED: usize = 1 << 20;
/// Batches that wait to be read.
const WAITING: usize = 2;

/// The name of a column that says when a row was recorded.
pub(super) fn key(at: usize) -> String {
    format!("o{at}")
}

/// The column of the unit or block.
pub(super) const UNIT: &str = "u";

/// A column that says when a row was recorded, as something whose order is that of time.
///
/// # Errors
/// A column of texts that are neither numbers nor dates.
pub(super) fn time(
    name: &str,
    cell: Expr,
    kind: &DataType,
    meaning: Option<&Meaning>,
) -> Result<Expr> {
    let is_text = match kind {
        DataType::Dictionary(_, values) => values.is_string(),
        kind => kind.is_string(),
    };
    if kind.is_numeric() || kind.is_temporal() {
        return Ok(cell);
    }
    match meaning {
        Some(Meaning::Typed(kind)) if is_text => {
            let text = btrim(vec![cast(cell, DataType::Utf8View)]);
            let blank = ["", NULL, MISSING];
            let filled = blank
                .into_iter()
                .fold(text, |text, nothing| nullif(text, lit(nothing)));
            Ok(try_cast(filled, kind.clone()))
        }
        _ => Err(Error::parameter(
            setting("order_by", name),
            "its first rows are not all numbers, and not all dates: their order is not that of time",
        )
        .with_hint("name a column of time stamps or running numbers")),
    }
}

/// The rows in order. Those of one time are sorted by what they hold, so that nothing depends on who sorted them.
pub(super) fn sorted(frame: DataFrame, times: usize) -> Result<DataFrame> {
    let names = frame.schema().fields().iter().map(|field| field.name());
    let (first, rest): (Vec<_>, Vec<_>) =
        names.partition(|name| (0..times).any(|at| **name == key(at)));
    let by = first.into_iter().chain(rest);
    let by = by
        .map(|name| ident(name.as_str()).sort(true, false))
        .collect();
    frame.sort(by).map_err(|error| failure::of_engine(&error))
}

/// A channel from the engine to who reads its rows.
pub(super) fn channel() -> (
    SyncSender<Result<RecordBatch>>,
    Receiver<Result<RecordBatch>>,
) {
    sync_channel(WAITING)
}

/// What the engine does to a log, for the report: the same wherever it runs.
pub(super) fn note(options: &ReadOptions, tied: u64) -> String {
    let engine = options.engine.as_ref();
    let by = engine.map_or_else(String::new, |engine| engine.order_by.join(", "));
    let rows = match engine.and_then(|engine| engine.condition.as_deref()) {
        None => format!("The query engine read the rows in the order of {by}."),
        Some(condition) => format!(
            "The query engine read only the rows for which {condition}, in the order of {by}: the figures are about these. \
             A condition on what is observed changes what there is to tell."
        ),
    };
    match tied {
        0 => rows,
        tied => format!(
            "{rows} {tied} rows share their value there with another row, and were put in random order among these."
        ),
    }
}

/// A batch of sorted rows.
struct Batch {
    columns: Vec<Values>,
    keys: Rows,
}

/// Sorted rows, for everything that reads logs.
pub(super) struct Ordered {
    incoming: Receiver<Result<RecordBatch>>,
    /// Columns of the layout, of the batches: their positions there.
    sources: Vec<(usize, String)>,
    names: Vec<String>,
    /// Names of the columns that say when a row was recorded.
    times: Vec<String>,
    converter: Option<RowConverter>,
    header: bool,
    batch: Option<Arc<Batch>>,
    at: usize,
    /// Rows of one time, in the order in which they are given out.
    ready: VecDeque<(Arc<Batch>, usize)>,
    random: ChaCha8Rng,
    /// Rows that share their time with another.
    pub(super) tied: u64,
    /// Rows that were given out.
    pub(super) given: u64,
    /// Whether the engine had no more rows, and no error.
    pub(super) is_over: bool,
}

impl Ordered {
    pub(super) fn new(
        incoming: Receiver<Result<RecordBatch>>,
        layout: &Layout,
        times: &[String],
        seed: u64,
    ) -> Self {
        let used = layout.used().enumerate();
        let mut sources: Vec<_> = used.map(|(at, to)| (to, format!("c{at}"))).collect();
        sources.extend(layout.group.map(|to| (to, UNIT.to_owned())));
        Ordered {
            incoming,
            sources,
            names: layout.names.clone(),
            times: times.to_vec(),
            converter: None,
            header: true,
            batch: None,
            at: 0,
            ready: VecDeque::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            tied: 0,
            given: 0,
            is_over: false,
        }
    }

    /// The batch with the next row; `None` at the end.
    fn current(&mut self) -> Result<Option<Arc<Batch>>> {
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| self.at == batch.keys.num_rows())
        {
            let Ok(next) = self.incoming.recv() else {
                self.is_over = true;
                return Ok(None);
            };
            self.batch = Some(Arc::new(self.decode(&next?)?));
            self.at = 0;
        }
        Ok(self.batch.clone())
    }

    fn decode(&mut self, batch: &RecordBatch) -> Result<Batch> {
        let named = |name: &str| {
            let column = batch.column_by_name(name);
            Arc::clone(column.expect("the query names its columns"))
        };
        let times: Vec<_> = (0..self.times.len()).map(|at| named(&key(at))).collect();
        for (name, column) in self.times.iter().zip(&times) {
            if column.logical_null_count() > 0 {
                return Err(Error::parameter(
                    setting("order_by", name),
                    "a row has nothing there that says when it was recorded",
                )
                .with_hint(
                    "fill it, or leave such rows out with a condition: `NAME IS NOT NULL`",
                ));
            }
        }
        let failed = |error: datafusion::arrow::error::ArrowError| {
            Error::parameter(failure::engine(), error.to_string())
        };
        if self.converter.is_none() {
            let kinds = times
                .iter()
                .map(|column| SortField::new(column.data_type().clone()));
            self.converter = Some(RowConverter::new(kinds.collect()).map_err(failed)?);
        }
        let converter = self.converter.as_ref().expect("just made");
        let of_column = |(to, name): &(usize, String)| {
            values(&named(name), None)
                .map_err(|problem| Error::parameter(&self.names[*to], problem.words))
        };
        Ok(Batch {
            columns: self.sources.iter().map(of_column).collect::<Result<_>>()?,
            keys: converter.convert_columns(&times).map_err(failed)?,
        })
    }

    /// Takes the rows of the next time.
    fn take_tied(&mut self) -> Result<()> {
        let mut time: Option<OwnedRow> = None;
        while let Some(batch) = self.current()? {
            let here = batch.keys.row(self.at);
            match &time {
                None => time = Some(here.owned()),
                Some(time) if time.row() == here => {}
                Some(_) => break,
            }
            self.ready.push_back((batch, self.at));
            self.at += 1;
            if self.ready.len() > MAX_TIED {
                return Err(Error::parameter(
                    setting("order_by", self.times.join(",")),
                    format!("more than {MAX_TIED} rows share one value there: the order of rows is not known"),
                )
                .with_hint("name a finer column, or a second one"));
            }
        }
        if self.ready.len() > 1 {
            self.tied += self.ready.len() as u64;
            self.ready.make_contiguous().shuffle(&mut self.random);
        }
        Ok(())
    }
}

impl Records for Ordered {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::default()
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if std::mem::take(&mut self.header) {
            let names = self.names.iter();
            names.for_each(|name| row.push(Field::Text(name.as_bytes())));
            return Ok(true);
        }
        if self.ready.is_empty() {
            self.take_tied()?;
        }
        let Some((batch, at)) = self.ready.pop_front() else {
            return Ok(false);
        };
        self.given += 1;
        for to in 0..self.names.len() {
            let source = self.sources.iter().position(|(column, _)| *column == to);
            row.push(match source {
                Some(source) => batch.columns[source].field(at),
                None => Field::Text(b""),
            });
        }
        Ok(true)
    }
}
