//! The files of a log as a table of the engine: secret, observation and count columns, filtered.
//!
//! Delimited text is given to the engine as text, so that its cells mean what they mean elsewhere;
//! Parquet and Arrow keep their types until they are written out. Formats that the engine cannot tell
//! apart as this crate does are read by this crate's own readers and handed to it.

use std::path::Path;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::execution::options::{ArrowReadOptions, CsvReadOptions, ParquetReadOptions};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Expr, ExprSchemable, ident, lit};
use datafusion::prelude::SessionContext;

use crate::kinds::{Kind, kind, not_for_clusters};
use crate::{condition, failure, ordered, own_rows, precounted};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::first_row::refuse_if_alone;
use leakgauge_log::format::Format;
use leakgauge_log::layout::{self, Layout};
use leakgauge_log::unpack::Packing;
use leakgauge_log::{
    Field, HeaderChoice, ReadMeter, ReadOptions, Row, open, partitions, records, source,
};

/// Rows of a file that settle its layout.
const PROBE: usize = records::PROBE_ROWS + 1;

/// What a log's files are to the engine.
pub(super) struct Scan {
    /// The columns, named `c0`, `c1`, …: those of the secret, of the observation, of the count.
    pub(super) frame: DataFrame,
    /// Whether these are counts of rows.
    pub(super) is_precounted: bool,
    /// The layout of the first file.
    pub(super) layout: Layout,
    /// How the first file is written down, and what separates its fields.
    pub(super) format: (Format, Option<char>),
    /// Whether nearly every one of the first rows is distinct.
    pub(super) seems_distinct: bool,
    /// About how long a row is.
    pub(super) bytes_per_row: f64,
}

/// Files that are read alike.
struct Run {
    kind: Kind,
    layout: Layout,
    files: Vec<String>,
    /// The first rows of the first file, without its header.
    probe: Vec<Row>,
}

impl Scan {
    /// Looks at all files and plans how to read them.
    ///
    /// # Errors
    /// As of reading them without the engine, as far as it shows in the first rows; a text that
    /// is not a condition; formats that a cluster cannot read.
    pub(super) async fn plan(
        context: &SessionContext,
        files: &[String],
        options: &ReadOptions,
        first: Option<&Layout>,
    ) -> Result<Scan> {
        let mut runs: Vec<Run> = Vec::new();
        let mut format = (Format::default(), None);
        for (at, name) in files.iter().enumerate() {
            let looked = look(name, options, first.or(runs.first().map(|run| &run.layout)))?;
            if at == 0 {
                format = looked.format;
            }
            match runs.last_mut() {
                Some(run) if run.kind == looked.run.kind && run.layout == looked.run.layout => {
                    run.files.push(name.clone());
                }
                _ => runs.push(looked.run),
            }
        }
        read_mixed_types_as_text(&mut runs, options)?;
        let mut frame = match &runs[..] {
            [run] => precounted::frame(context, &run.kind, &run.files, &run.layout, options),
            _ => None,
        };
        let is_precounted = frame.is_some();
        for run in runs.iter().filter(|_| !is_precounted) {
            let next = run.frame(context, options).await?;
            frame = Some(match frame {
                None => next,
                Some(before) => {
                    refuse_other_times(&before, &next, run)?;
                    before.union(next).map_err(|e| failure::of_engine(&e))?
                }
            });
        }
        let run = runs.swap_remove(0);
        Ok(Scan {
            frame: frame.expect("a log has files"),
            is_precounted,
            seems_distinct: seems_distinct(&run),
            bytes_per_row: bytes_per_row(&run.probe),
            layout: run.layout,
            format,
        })
    }
}

struct Looked {
    run: Run,
    format: (Format, Option<char>),
}

/// Finds out what a file is and which column plays which part.
fn look(name: &str, options: &ReadOptions, first: Option<&Layout>) -> Result<Looked> {
    if name == source::STDIN {
        return Err(Error::parameter(
            "-",
            "the query engine may read a log more than once, and standard input ends",
        )
        .with_hint(needs_file()));
    }
    if std::fs::metadata(name).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        return Err(Error::file(
            name,
            "is no file that can be read more than once, as the query engine may have to",
        )
        .with_hint(needs_file()));
    }
    let meter = ReadMeter::default();
    let mut records = partitions::open(name, &meter, &own_rows::every_column(options))?;
    let mut probe = open::read_probe(name, &mut *records, PROBE)?;
    let mut layout = Layout::find(name, &probe, records.is_named(), options)?;
    if let Some(first) = first {
        layout = layout::match_columns(name, first, layout)?;
    }
    if probe.len() == usize::from(layout.header) {
        return Err(Error::file(name, "has a header and no rows")
            .with_hint("a log has one row per use of the mechanism"));
    }
    refuse_unclear_header(name, &layout, &probe, options)?;
    let format = (records.format(), records.delimiter());
    let kind = kind(name, &layout, format, options)?;
    probe.drain(..usize::from(layout.header));
    let files = vec![name.to_owned()];
    Ok(Looked {
        run: Run {
            kind,
            layout,
            files,
            probe,
        },
        format,
    })
}

/// What to do about a log that can be read only once.
fn needs_file() -> String {
    let [engine, condition, cluster] = ["engine", "condition", "cluster"].map(option);
    format!("write it to a file, or leave {engine}, {condition} and {cluster} out")
}

/// Where files differ in the types of columns, their values are put together as texts, which lose nothing.
fn read_mixed_types_as_text(runs: &mut [Run], options: &ReadOptions) -> Result<()> {
    let typed = |run: &Run| match &run.kind {
        Kind::Parquet(schema) | Kind::Arrow(schema) => Some(SchemaRef::clone(schema)),
        Kind::Text { .. } | Kind::Own => None,
    };
    let types = |schema: &SchemaRef| {
        let mut types: Vec<(String, DataType)> = schema
            .fields()
            .iter()
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect();
        types.sort_by(|one, other| one.0.cmp(&other.0));
        types
    };
    let schemas: Vec<_> = runs
        .iter()
        .map(|run| typed(run).as_ref().map(types))
        .collect();
    if schemas.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    let is_remote = options
        .engine
        .as_ref()
        .is_some_and(|engine| engine.cluster.is_some());
    for run in runs.iter_mut().filter(|run| typed(run).is_some()) {
        if is_remote {
            return Err(not_for_clusters(&run.files[0]));
        }
        run.kind = Kind::Own;
    }
    Ok(())
}

/// Refuses files whose times cannot be compared.
fn refuse_other_times(before: &DataFrame, next: &DataFrame, run: &Run) -> Result<()> {
    for (at, &column) in run.layout.order.iter().enumerate() {
        let kind = |frame: &DataFrame| {
            let field = frame
                .schema()
                .field_with_unqualified_name(&ordered::key(at));
            field.map(|field| field.data_type().clone()).ok()
        };
        let [before, next] = [kind(before), kind(next)];
        if before != next {
            let [before, next] =
                [before, next].map(|kind| kind.map_or_else(String::new, |kind| kind.to_string()));
            return Err(Error::parameter(
                setting("order_by", &run.layout.names[column]),
                format!("is {before} in one file and {next} in {}", run.files[0]),
            )
            .with_hint("write it alike in all files"));
        }
    }
    Ok(())
}

impl Run {
    /// The columns of the log, filtered.
    async fn frame(&self, context: &SessionContext, options: &ReadOptions) -> Result<DataFrame> {
        let all = self.all(context, options).await?;
        let names: Vec<String> = match &self.kind {
            Kind::Parquet(_) | Kind::Arrow(_) => self.layout.names.clone(),
            Kind::Text { .. } | Kind::Own => own_names(&self.layout),
        };
        let all = with_paths(all, &names)?;
        let filtered = match options.engine.as_ref().and_then(|e| e.condition.as_deref()) {
            None => all,
            Some(text) => {
                let is_text = matches!(self.kind, Kind::Text { .. } | Kind::Own);
                let meanings = is_text.then(|| condition::meanings(&names, &self.probe));
                condition::filter(all, text, meanings.as_deref())?
            }
        };
        let schema = filtered.schema().clone();
        let times = self.times(&names, &filtered)?;
        let cell = |column: usize| {
            let cell = by_path(&names[column], schema.as_arrow());
            match &self.kind {
                // A blank cell of a text is a blank text everywhere; it was missing to the condition only.
                Kind::Text { .. } => coalesce(vec![cell, lit("")]),
                _ => cell,
            }
        };
        let columns = self.layout.used().chain(self.layout.count);
        let mut columns: Vec<Expr> = columns
            .enumerate()
            .map(|(at, column)| cell(column).alias(format!("c{at}")))
            .collect();
        if !times.is_empty() {
            let unit = self.layout.group;
            columns.extend(unit.map(|column| cell(column).alias(ordered::UNIT)));
            columns.extend(times);
        }
        filtered
            .select(columns)
            .map_err(|error| failure::of_engine(&error))
    }

    /// The columns that say when a row was recorded.
    fn times(&self, names: &[String], frame: &DataFrame) -> Result<Vec<Expr>> {
        let schema = frame.schema();
        let time = |(at, &column): (usize, &usize)| {
            let cell = by_path(&names[column], schema.as_arrow());
            let kind = cell.get_type(schema).map_err(|e| failure::of_engine(&e))?;
            let meaning = condition::meaning(&self.probe, column);
            let name = &self.layout.names[column];
            let time = ordered::time(name, cell, &kind, meaning.as_ref())?;
            Ok(time.alias(ordered::key(at)))
        };
        self.layout.order.iter().enumerate().map(time).collect()
    }

    /// All columns of the files.
    async fn all(&self, context: &SessionContext, options: &ReadOptions) -> Result<DataFrame> {
        let urls = || -> Result<Vec<String>> { self.files.iter().map(|file| url(file)).collect() };
        let read = match &self.kind {
            Kind::Own => {
                let names = own_names(&self.layout);
                let has_header = self.layout.header;
                return own_rows::frame(context, &self.files, &names, has_header, options);
            }
            Kind::Parquet(schema) => {
                let options = ParquetReadOptions {
                    file_extension: "",
                    schema: Some(schema),
                    // Statistics leave out what is not a number, and do not tell -0 from 0.
                    parquet_pruning: Some(false),
                    ..ParquetReadOptions::default()
                };
                context.read_parquet(urls()?, options).await
            }
            Kind::Arrow(schema) => {
                let options = ArrowReadOptions {
                    file_extension: "",
                    schema: Some(schema),
                    ..ArrowReadOptions::default()
                };
                context.read_arrow(urls()?, options).await
            }
            Kind::Text {
                header,
                delimiter,
                packing,
                quotes,
            } => {
                let schema = own_rows::text_schema(&own_names(&self.layout));
                let options = CsvReadOptions {
                    has_header: *header,
                    delimiter: *delimiter,
                    schema: Some(&schema),
                    file_extension: "",
                    newlines_in_values: *quotes,
                    file_compression_type: match packing {
                        None => FileCompressionType::UNCOMPRESSED,
                        Some(Packing::Gzip) => FileCompressionType::GZIP,
                        Some(Packing::Zstd) => FileCompressionType::ZSTD,
                    },
                    ..CsvReadOptions::default()
                };
                context.read_csv(urls()?, options).await
            }
        };
        read.map_err(|error| failure::of_engine(&error))
    }
}

/// The columns of a text by name, or by number where a name is not theirs alone.
fn own_names(layout: &Layout) -> Vec<String> {
    let names = &layout.names;
    let unique = |at: usize| names.iter().filter(|name| **name == names[at]).count() == 1;
    (0..names.len())
        .map(|at| {
            if unique(at) {
                names[at].clone()
            } else {
                (at + 1).to_string()
            }
        })
        .collect()
}

/// The columns, fields of nested ones by their paths too.
fn with_paths(mut frame: DataFrame, names: &[String]) -> Result<DataFrame> {
    let schema = frame.schema().clone();
    for name in names {
        if schema.as_arrow().field_with_name(name).is_err() {
            let field = by_path(name, schema.as_arrow());
            frame = frame
                .with_column(name, field)
                .map_err(|error| failure::of_engine(&error))?;
        }
    }
    Ok(frame)
}

/// A column by its name, or a field of a nested one by its path.
fn by_path(name: &str, schema: &Schema) -> Expr {
    use datafusion::functions::core::expr_ext::FieldAccessor;

    if schema.field_with_name(name).is_ok() {
        return ident(name);
    }
    let mut cut = name.match_indices('.').map(|(at, _)| at);
    match cut.find(|&at| schema.field_with_name(&name[..at]).is_ok()) {
        Some(at) => name[at + 1..]
            .split('.')
            .fold(ident(&name[..at]), |outer, inner| outer.field(inner)),
        None => ident(name),
    }
}

/// The address of a file, from anywhere; what a pattern would be is only a name.
fn url(file: &str) -> Result<String> {
    let path = std::fs::canonicalize(Path::new(file))
        .map_err(|error| Error::file(file, error.to_string()))?;
    let path = path
        .to_str()
        .ok_or_else(|| Error::file(file, "has a path that is not UTF-8"))?;
    let mut url = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(byte.into())
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(url)
}

/// The mean length of the first rows, delimiters included.
fn bytes_per_row(probe: &[Row]) -> f64 {
    let bytes: usize = probe.iter().map(|row| row.bytes() + row.len()).sum();
    bytes as f64 / probe.len().max(1) as f64
}

/// Whether rows are so seldom alike that counting them needs as much room as keeping them.
fn seems_distinct(run: &Run) -> bool {
    let used: Vec<usize> = run.layout.used().collect();
    let cells = |row: &Row| -> Vec<String> {
        let text = |&at: &usize| row.text(at).unwrap_or_default().into_owned();
        used.iter().map(text).collect()
    };
    let mut rows: Vec<Vec<String>> = run.probe.iter().map(cells).collect();
    let all = rows.len();
    rows.sort_unstable();
    rows.dedup();
    2 * rows.len() > all
}

/// Refuses to guess about a row 1 of words that occur nowhere else among the first rows.
fn refuse_unclear_header(
    name: &str,
    layout: &Layout,
    probe: &[Row],
    options: &ReadOptions,
) -> Result<()> {
    let [first, later @ ..] = probe else {
        return Ok(());
    };
    let guessed = options.header == HeaderChoice::Detect && !layout.header;
    if !guessed || first.fields().any(Field::is_number) {
        return Ok(());
    }
    let alone = |&column: &usize| !later.iter().any(|row| row.get(column) == first.get(column));
    let texts: Vec<_> = first.fields().map(Field::text).collect();
    let is_alone = layout.secret.iter().any(alone);
    refuse_if_alone(name, &texts.join(", "), is_alone, probe.len() as u64)
}
