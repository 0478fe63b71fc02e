//! How the engine reads a file: as what it is, or through this crate's own readers.

use std::io::Read;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, SchemaRef};

use leakgauge_base::error::{Error, Result};
use leakgauge_log::format::Format;
use leakgauge_log::layout::Layout;
use leakgauge_log::unpack::Packing;
use leakgauge_log::{ReadMeter, ReadOptions, is_url, partitions, source};

/// How the engine reads a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Delimited text.
    Text {
        header: bool,
        delimiter: u8,
        packing: Option<Packing>,
        quotes: bool,
    },
    /// Parquet, with its types.
    Parquet(SchemaRef),
    /// Arrow IPC, with its types.
    Arrow(SchemaRef),
    /// By this crate's readers.
    Own,
}

/// Finds out how a file is best read.
///
/// # Errors
/// A file that cannot be read; a shape that a cluster cannot read.
pub(super) fn kind(
    name: &str,
    layout: &Layout,
    format: (Format, Option<char>),
    options: &ReadOptions,
) -> Result<Kind> {
    let on_cluster = options
        .engine
        .as_ref()
        .is_some_and(|engine| engine.cluster.is_some());
    let has_columns = partitions::has_columns(name, options)?;
    if has_columns && on_cluster {
        return Err(Error::file(
            name,
            "has columns in the names of its directories, which a cluster does not read",
        )
        .with_hint("leave the cluster out, or write the columns into the files"));
    }
    let is_plain = !has_columns
        && !name.contains(char::is_control)
        && std::fs::metadata(name).is_ok_and(|facts| facts.is_file());
    match format {
        _ if options.wide || !is_plain => {}
        (Format::Parquet, _) => {
            let schema = parquet_schema(name)?;
            if is_told_apart(&schema, options) {
                return Ok(Kind::Parquet(schema));
            }
        }
        (Format::Arrow, _) => {
            // A stream has no schema at its end: this crate's reader knows it.
            if let Some(schema) =
                arrow_schema(name)?.filter(|schema| is_told_apart(schema, options))
            {
                return Ok(Kind::Arrow(schema));
            }
        }
        (Format::Delimited, Some(delimiter)) => {
            let packing = Packing::of(&head(name)?);
            return Ok(Kind::Text {
                header: layout.header,
                delimiter: delimiter as u8,
                packing,
                quotes: packing.is_none() && holds_quotes(name)?,
            });
        }
        _ => {}
    }
    if on_cluster {
        return Err(not_for_clusters(name));
    }
    Ok(Kind::Own)
}

pub(super) fn not_for_clusters(name: &str) -> Error {
    if is_url(name) {
        return Error::file(name, "is a URL, and the machines of a cluster read files").with_hint(
            "put the file where all machines see it under the same path, or leave the cluster out",
        );
    }
    Error::file(name, "is of a shape that a cluster cannot read").with_hint(
        "clusters read Parquet, Arrow files and delimited text, with a row per use of the mechanism, plain names of \
         columns and the same types in all files",
    )
}

/// Whether the engine can tell columns apart by their names, and labels by their values: to it, 0 and -0
/// are one.
fn is_told_apart(schema: &SchemaRef, options: &ReadOptions) -> bool {
    let is_float = |field: &Arc<Field>| field.data_type().is_floating();
    let labels_may_be_floats =
        !options.categorical.is_empty() && schema.fields().iter().any(is_float);
    has_plain_names(schema) && !labels_may_be_floats
}

fn has_plain_names(schema: &SchemaRef) -> bool {
    fn plain(fields: &Fields, is_nested: bool) -> bool {
        fields.iter().enumerate().all(|(at, field)| {
            let name = field.name();
            let is_unique = fields.iter().take(at).all(|before| before.name() != name);
            let below = match field.data_type() {
                DataType::Struct(below) => plain(below, true),
                _ => true,
            };
            is_unique
                && below
                && !name.is_empty()
                && name.trim() == name
                && !(is_nested && name.contains('.'))
        })
    }
    plain(schema.fields(), false)
}

fn head(name: &str) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    source::open_file(name, &ReadMeter::default())?
        .take(4)
        .read_to_end(&mut head)
        .map_err(|error| source::read_error(name, &error))?;
    Ok(head)
}

/// Whether a row may stand on several lines: then a file cannot be cut at any line break.
fn holds_quotes(name: &str) -> Result<bool> {
    let mut file = source::open_file(name, &ReadMeter::default())?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(n) if buffer[..n].contains(&b'"') => return Ok(true),
            Ok(_) => {}
            Err(error) => return Err(source::read_error(name, &error)),
        }
    }
}

fn parquet_schema(name: &str) -> Result<SchemaRef> {
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let file = source::open_file(name, &ReadMeter::default())?;
    ParquetRecordBatchReaderBuilder::try_new(file)
        .map(|reader| Arc::clone(reader.schema()))
        .map_err(|error| Error::file(name, error.to_string()))
}

fn arrow_schema(name: &str) -> Result<Option<SchemaRef>> {
    use datafusion::arrow::ipc::reader::FileReader;

    let file = source::open_file(name, &ReadMeter::default())?;
    let reader = FileReader::try_new(file, None);
    Ok(reader.ok().map(|reader| reader.schema()))
}
