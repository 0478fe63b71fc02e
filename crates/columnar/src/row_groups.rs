//! Parquet files: their row groups one after another, a batch of rows at a time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetStatisticsPolicy, RowGroupMetaData};
use parquet::file::reader::Length;

use crate::chunks::Chunks;
use crate::coded::{CodedColumns, CodedGroup};
use crate::damage::{damaged, guarded, too_wide, too_wide_error};
use crate::decoded_batches::{Batches, Rows};
use crate::leaves::Leaves;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::ReadOptions;
use leakgauge_log::source::{self, ReadMeter};

/// Rows decoded at once …
const MAX_ROWS: usize = 8192;
/// … unless they are about this many bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Bytes at the end of an object that are fetched at first: the footer of most files is among them.
const END_BYTES: u64 = 64 << 10;

/// Whether a file is Parquet with an encrypted footer, which begins with the letters `PARE`: words may
/// too, but do not end so.
pub(super) fn is_encrypted(file: &mut File) -> io::Result<bool> {
    let mark = |file: &mut File, at: SeekFrom| -> io::Result<bool> {
        let mut bytes = [0; 4];
        file.seek(at)?;
        file.read_exact(&mut bytes)?;
        Ok(&bytes == b"PARE")
    };
    let length = file.metadata()?.len();
    let is = length >= 12 && mark(file, SeekFrom::Start(0))? && mark(file, SeekFrom::End(-4))?;
    file.rewind()?;
    Ok(is)
}

/// The columns of a file and its rows.
///
/// # Errors
/// A file without its end, or whose end cannot be read.
pub(super) fn open(
    name: &str,
    file: Chunks,
    meter: ReadMeter,
    options: &ReadOptions,
) -> Result<(Leaves, Box<dyn Batches>)> {
    let length = Length::len(&file);
    let end = length.saturating_sub(END_BYTES)..length;
    file.prepare(vec![end])
        .map_err(|error| source::read_error(name, &error))?;
    check_end(name, &file)?;
    let no_statistics = ParquetStatisticsPolicy::SkipAll;
    let read = ArrowReaderOptions::new()
        .with_column_stats_policy(no_statistics.clone())
        .with_size_stats_policy(no_statistics);
    let part = "the footer of the Parquet file";
    let metadata = guarded(|| ArrowReaderMetadata::load(&file, read))
        .map_err(|words| damaged(name, part, words))?
        .map_err(|error| match file.failure() {
            Some(failure) => source::read_error(name, &failure),
            None => decode_error(name, part, &error),
        })?;
    let leaves = guarded(|| Leaves::of(name, metadata.schema(), options))
        .unwrap_or_else(|words| Err(damaged(name, part, words)))?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), leaves.roots().iter().copied());
    let groups = RowGroups {
        name: name.to_owned(),
        file,
        coded: CodedColumns::of(&metadata, leaves.roots()),
        metadata,
        mask,
        meter,
        metered: 0,
        group: 0,
        reader: None,
    };
    Ok((leaves, Box::new(groups)))
}

/// A file that is cut off, or is still being written, does not end as it begins.
fn check_end(name: &str, file: &Chunks) -> Result<()> {
    let length = Length::len(file);
    let end = match length {
        12.. => file.bytes(length - 4, 4),
        _ => Ok(Bytes::new()),
    };
    let end = end.map_err(|error| source::read_error(name, &error))?;
    match &end[..] {
        b"PAR1" => Ok(()),
        b"PARE" => Err(encrypted(name)),
        _ => Err(Error::file(
            name,
            "is a Parquet file without its end: it is truncated, or still being written",
        )
        .with_hint("copy the file again, or wait until its writer has closed it")),
    }
}

fn encrypted(name: &str) -> Error {
    Error::file(name, "is an encrypted Parquet file")
        .with_hint("write it without encryption, with a tool that has the keys")
}

fn decode_error(name: &str, part: &str, error: &ParquetError) -> Error {
    let words = error.to_string();
    if words.contains("encrypt") {
        return encrypted(name);
    }
    damaged(name, part, words)
}

/// Whether a footer in the open is signed, which only a file with encrypted columns has. A footer ends in
/// a zero, a signature in any byte.
fn is_signed(file: &Chunks) -> io::Result<bool> {
    let before_length = Length::len(file).saturating_sub(9);
    Ok(file.bytes(before_length, 1)?[..] != [0])
}

struct RowGroups {
    name: String,
    file: Chunks,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// The wanted columns, as long as all of them may be stored as keys.
    coded: Option<CodedColumns>,
    meter: ReadMeter,
    /// Bytes that the meter has been told of.
    metered: u64,
    /// The row group that is being read or comes next.
    group: usize,
    reader: Option<Group>,
}

/// A row group being read.
struct Group {
    reader: Reader,
    /// Bytes of the row groups before it.
    before: u64,
    /// Its own.
    bytes: u64,
    rows: u64,
    rows_read: u64,
}

enum Reader {
    Coded(CodedGroup),
    Other(ParquetRecordBatchReader),
}

impl RowGroups {
    fn failed(&self, words: &str) -> Error {
        if let Some(failure) = self.file.failure() {
            return source::read_error(&self.name, &failure);
        }
        if is_signed(&self.file).unwrap_or(false) {
            return encrypted(&self.name);
        }
        damaged(&self.name, &self.part(), words)
    }

    /// Begins to read a row group.
    fn begin(&mut self) -> Result<Group> {
        let metadata = self.metadata.metadata().clone();
        let groups = metadata.row_groups();
        let group = &groups[self.group];
        let rows = u64::try_from(group.num_rows())
            .map_err(|_| damaged(&self.name, &self.part(), "a negative number of rows"))?;
        let columns = group.columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        // Each number of a list takes memory, in however few bytes it is packed.
        let sizes = wanted.clone().map(|(_, column)| {
            [column.uncompressed_size(), column.num_values()].map(|size| size.max(0).unsigned_abs())
        });
        let all = sizes.fold([0u64; 2], |all, size| {
            [0, 1].map(|at| all[at].saturating_add(size[at]))
        });
        if let Some(words) = too_wide(all, rows) {
            return Err(too_wide_error(&self.name, &self.part(), &words));
        }
        let parts = wanted.map(|(_, column)| {
            let (start, length) = column.byte_range();
            start..start.saturating_add(length)
        });
        self.file
            .prepare(parts.collect())
            .map_err(|error| source::read_error(&self.name, &error))?;
        let reader = match self.begin_coded(group)? {
            Some(coded) => Reader::Coded(coded),
            None => Reader::Other(self.reader(group, 0)?),
        };
        Ok(Group {
            reader,
            before: groups[..self.group].iter().map(packed_bytes).sum(),
            bytes: packed_bytes(group),
            rows,
            rows_read: 0,
        })
    }

    /// Begins to read a row group whose columns are stored as keys. One that is not is the last that is tried.
    fn begin_coded(&mut self, group: &RowGroupMetaData) -> Result<Option<CodedGroup>> {
        let Some(columns) = &self.coded else {
            return Ok(None);
        };
        let file = Arc::new(self.another()?);
        let opened = guarded(|| columns.open(&file, group));
        let opened = opened.ok().and_then(|opened| opened.ok());
        if opened.is_none() {
            self.coded = None;
        }
        Ok(opened)
    }

    /// Reads a row group behind its first rows.
    fn reader(&self, group: &RowGroupMetaData, behind: u64) -> Result<ParquetRecordBatchReader> {
        let metadata = self.metadata.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.another()?, metadata)
            .with_row_groups(vec![self.group])
            .with_projection(self.mask.clone())
            .with_batch_size(batch_rows(group))
            .with_offset(usize::try_from(behind).unwrap_or(usize::MAX))
            .build()
            .map_err(|error| self.failed(&error.to_string()))
    }

    /// The bytes for another reader.
    fn another(&self) -> Result<Chunks> {
        let file = self.file.try_clone();
        file.map_err(|error| source::read_error(&self.name, &error))
    }

    /// Tells the meter where reading stands.
    fn reach(&mut self, bytes: u64) {
        let bytes = bytes.min(Length::len(&self.file));
        self.meter.advance(bytes.saturating_sub(self.metered));
        self.metered = self.metered.max(bytes);
    }

    /// The next rows of a row group; `None` behind its last.
    fn read(&mut self, group: &mut Group) -> Result<Option<Rows>> {
        if let Reader::Coded(coded) = &mut group.reader {
            let rows = guarded(|| coded.next());
            if let Ok(Ok(rows)) = rows {
                let count = rows.as_ref().and_then(|columns| columns.first());
                group.rows_read += count.map_or(0, |column| column.len() as u64);
                return self.checked(group, rows.map(Rows::Coded));
            }
            // What is left is stored otherwise, or broken.
            self.coded = None;
            let metadata = self.metadata.metadata().clone();
            let facts = metadata.row_group(self.group);
            group.reader = Reader::Other(self.reader(facts, group.rows_read)?);
        }
        let Reader::Other(reader) = &mut group.reader else {
            return Ok(None);
        };
        let batch = reader.next().transpose();
        let batch = batch.map_err(|error| self.failed(&error.to_string()))?;
        group.rows_read += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        self.checked(group, batch.map(Rows::Batch))
    }

    /// What was read of a row group, if its end is where the footer says.
    fn checked(&self, group: &Group, rows: Option<Rows>) -> Result<Option<Rows>> {
        if rows.is_none() && group.rows_read != group.rows {
            let problem = format!(
                "it holds {} rows where the footer says {}",
                group.rows_read, group.rows
            );
            return Err(damaged(&self.name, &self.part(), problem));
        }
        Ok(rows)
    }
}

impl Batches for RowGroups {
    fn next(&mut self) -> Result<Option<Rows>> {
        while self.group < self.metadata.metadata().num_row_groups() {
            let mut group = match self.reader.take() {
                Some(group) => group,
                None => self.begin()?,
            };
            let rows = self.read(&mut group)?;
            let share = group.rows_read as f64 / group.rows.max(1) as f64;
            self.reach(group.before + (group.bytes as f64 * share) as u64);
            if rows.is_some() {
                self.reader = Some(group);
                return Ok(rows);
            }
            self.group += 1;
        }
        self.reach(u64::MAX);
        Ok(None)
    }

    fn part(&self) -> String {
        format!("row group {}", self.group + 1)
    }
}

/// The bytes of a row group on disk.
fn packed_bytes(group: &RowGroupMetaData) -> u64 {
    let of_columns = group
        .columns()
        .iter()
        .map(|column| column.compressed_size());
    of_columns
        .map(|bytes| u64::try_from(bytes).unwrap_or(0))
        .sum()
}

/// How many rows of a row group are decoded at once.
fn batch_rows(group: &RowGroupMetaData) -> usize {
    let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
    let of_row = u64::try_from(group.total_byte_size()).unwrap_or(0) / rows;
    usize::try_from(MAX_BYTES / of_row.max(1)).map_or(1, |most| most.clamp(1, MAX_ROWS))
}
