//! How a log is written down, and how files that hold columns in binary are told by their first bytes.

use std::fmt;

use serde::Serialize;

use leakgauge_base::error::Error;
use leakgauge_base::naming::option;

/// How a log is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Text with a delimiter: CSV, TSV.
    #[default]
    Delimited,
    /// A JSON object a line.
    JsonLines,
    /// A JSON array of objects.
    JsonArray,
    /// What hyperfine exports as JSON.
    Hyperfine,
    /// What audits of prompt caches write as JSON.
    PromptCache,
    /// An array of NumPy.
    Npy,
    /// An archive of arrays of NumPy.
    Npz,
    /// A trace set of Riscure's Inspector.
    TraceSet,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow: IPC files and streams, record batches in memory.
    Arrow,
    #[cfg_attr(
        feature = "schema",
        schemars(description = "No file: values of the program.")
    )]
    /// No file: values of the program, by [`LogBuilder`](crate::LogBuilder).
    Memory,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Delimited => "delimited text",
            Format::JsonLines => "JSON lines",
            Format::JsonArray => "a JSON array",
            Format::Hyperfine => "JSON of hyperfine",
            Format::PromptCache => "JSON of a prompt-cache audit",
            Format::Npy => "a NumPy array",
            Format::Npz => "NumPy arrays",
            Format::TraceSet => "a trace set of Inspector",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::Memory => "memory",
        })
    }
}

/// A format that holds columns in binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columnar {
    /// Apache Parquet: its end says what is where.
    Parquet,
    /// An Arrow IPC file: likewise.
    ArrowFile,
    /// An Arrow IPC stream: read from its beginning.
    ArrowStream,
}

/// As many first bytes as tell a format.
pub const MAGIC_BYTES: usize = 8;

impl Columnar {
    /// The format that a file is in by its first bytes.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Columnar::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => Some(Columnar::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Columnar::ArrowStream),
            _ => None,
        }
    }

    /// The error of whoever reads rows from texts that come one after another; `is_readable` says whether this
    /// build has a reader of such files.
    pub(crate) fn needs_file(self, name: &str, is_readable: bool) -> Error {
        let error = Error::file(name, format!("is {self}"));
        if !is_readable {
            return error.with_hint(
                "leakgauge reads it if built with `cargo build --release --features parquet`; or convert it to CSV",
            );
        }
        error.with_hint(
            "its end is read first: give it as a file of its own, not packed and not on standard input",
        )
    }

    /// The error of whoever waits for more rows.
    pub(crate) fn cannot_grow(self, name: &str) -> Error {
        Error::file(name, format!("is {self}")).with_hint(format!(
            "{} reads lines of text as they are written",
            option("follow")
        ))
    }

    /// The error of whoever reads text only.
    pub(crate) fn is_no_text(self, name: &str) -> Error {
        Error::file(name, format!("is {self}"))
            .with_hint("text is needed here: convert it to CSV first")
    }
}

impl fmt::Display for Columnar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Columnar::Parquet => "a Parquet file",
            Columnar::ArrowFile => "an Arrow file",
            Columnar::ArrowStream => "an Arrow stream",
        })
    }
}
