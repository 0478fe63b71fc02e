//! Logs: rows of (secret, observation) as counts, read from text, from columns in binary, or built in memory.
//!
//! [`read()`] reads files, [`read_from`] anything that can be read, [`LogBuilder`] takes values of the program. A
//! format of one's own is a source of [`Records`], for [`read_records`].

mod apart;
mod batches;
mod blocks;
mod builder;
mod cell;
mod column_names;
mod counted_lines;
mod delimiter;
mod digits;
mod encode;
mod few_labels;
mod files;
mod filtered;
pub mod first_row;
mod fold;
pub mod format;
pub mod groups;
pub mod ingest;
mod integers;
mod labeled;
mod labels;
pub mod layout;
mod lines;
mod lists;
mod log;
mod look;
mod merge;
#[cfg(test)]
mod mixtures;
mod notation;
mod number;
mod numbering;
mod objects;
pub mod observations;
pub mod open;
mod options;
mod order;
mod overlaps;
mod packed_labels;
pub mod partitions;
mod parts;
mod pooled;
mod pure;
mod read;
mod recognize;
mod recognize_cells;
mod record_keeping;
pub mod records;
mod repeats;
pub mod row;
mod row_ids;
mod row_store;
pub mod sample;
mod sequences;
pub mod source;
mod spelling;
mod stream;
mod tabulate;
mod tail;
mod typing;
mod unchanged;
pub mod units;
pub mod unpack;
mod visits;
mod wide;
mod words;

pub use blocks::BlockFacts;
pub use builder::{LogBuilder, Value};
pub use counted_lines::counted_lines;
pub use delimiter::delimiter;
pub use files::expand;
pub use format::Format;
pub use groups::{UnitCell, UnitRows, Units};
pub use layout::MAX_COLUMNS;
pub use log::{FirstRows, InputFacts, Log, SkippedRows};
pub use look::{Glance, SeenColumn, glance};
pub use merge::{MergedSecret, SecretRules};
pub use number::Number;
pub use numbering::{Numbering, UNKNOWN};
pub use objects::{ObjectReader, RemoteObject, SeekableObject, is_url, reader as object_reader};
pub use options::{
    ColumnarReader, EngineOptions, HeaderChoice, Like, ListReading, MAX_ROWS, Missing, Opened,
    ReadOptions, RowFilter, ScoreColumns, is_same,
};
pub use order::{OrderSketch, RowOrder};
pub use overlaps::{RepeatedRun, RepeatedRuns, RunPlace};
pub use partitions::is_directory;
pub use pooled::PooledKinds;
pub use pure::PureColumn;
pub use read::{read, read_both, read_from, read_records};
pub use recognize::Form;
pub use record_keeping::{LeftOutColumn, RecordKeeping};
pub use records::Records;
pub use row::{Field, Row};
pub use row_store::SampledFrom;
pub use source::{ReadMeter, STDIN, Source, open, open_to_hold, read_error, whole_text};
pub use spelling::{Loss, Merged};
pub use stream::{Block, RowStream};
pub use tail::{Tail, follow};
pub use typing::Decision;
pub use unchanged::Unchanged;
pub use words::Words;
