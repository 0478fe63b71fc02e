//! Row groups whose columns are stored as keys into dictionaries: the keys are taken as they are, and each value of a
//! dictionary is looked at once. Whatever else a page holds is left to the decoder of the library, which also has the
//! words for pages that are broken.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, StringArray, UInt32Array,
    UInt64Array, new_null_array,
};
use arrow::compute::concat;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use crate::keys::{are_ones, unpack};
use crate::values::{Coded, Values, values};

/// Rows that are given at once.
const MAX_ROWS: usize = 1 << 15;
/// Rows of a page at most: what a page of a few bytes says must not decide what is allocated.
const MAX_PAGE: usize = 1 << 24;
/// Values of a dictionary at most, null among them.
const MAX_VALUES: usize = 1 << 16;

/// What is stored otherwise.
pub(super) struct NotCoded;

type Found<T> = std::result::Result<T, NotCoded>;

/// The columns of a file that are wanted, if all of them may be stored as keys.
#[derive(Clone)]
pub(super) struct CodedColumns {
    schema: SchemaRef,
    at: Vec<usize>,
}

impl CodedColumns {
    /// `None` where a wanted column is nested, or of a type that is not read here.
    pub(super) fn of(metadata: &ArrowReaderMetadata, wanted: &[usize]) -> Option<Self> {
        let (schema, stored) = (metadata.schema().clone(), metadata.parquet_schema());
        if stored.num_columns() != schema.fields().len() {
            return None;
        }
        let is_read = |&at: &usize| {
            let (field, column) = (schema.field(at), stored.column(at));
            let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
            is_flat
                && column.path().parts() == [field.name().as_str()]
                && is_readable(column.physical_type(), field.data_type())
        };
        let are_all = !wanted.is_empty() && wanted.iter().all(is_read);
        let at = wanted.to_vec();
        are_all.then_some(CodedColumns { schema, at })
    }

    /// Begins to read a row group.
    ///
    /// # Errors
    /// A column that is stored otherwise.
    pub(super) fn open<R: ChunkReader + 'static>(
        &self,
        file: &Arc<R>,
        group: &RowGroupMetaData,
    ) -> Found<CodedGroup> {
        let rows = usize::try_from(group.num_rows()).map_err(|_| NotCoded)?;
        let open = |&at: &usize| {
            let chunk = group.column(at);
            chunk.dictionary_page_offset().ok_or(NotCoded)?;
            let pages = SerializedPageReader::new(file.clone(), chunk, rows, None);
            let pages = Box::new(pages.map_err(|_| NotCoded)?);
            let kind = self.schema.field(at).data_type();
            Column::open(pages, chunk.column_descr(), kind)
        };
        let columns = self.at.iter().map(open).collect::<Found<_>>()?;
        Ok(CodedGroup { columns })
    }
}

/// Whether values of a type become fields as those of its dictionary do.
fn is_readable(stored: Type, kind: &DataType) -> bool {
    let is_text = |kind: &DataType| {
        let texts = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View];
        texts.contains(kind)
    };
    match stored {
        Type::INT32 => matches!(kind, DataType::Int32 | DataType::UInt32),
        Type::INT64 => matches!(kind, DataType::Int64 | DataType::UInt64),
        Type::FLOAT => *kind == DataType::Float32,
        Type::DOUBLE => *kind == DataType::Float64,
        Type::BYTE_ARRAY => match kind {
            DataType::Dictionary(_, values) => is_text(values),
            _ => is_text(kind),
        },
        _ => false,
    }
}

/// A row group being read.
pub(super) struct CodedGroup {
    columns: Vec<Column>,
}

impl CodedGroup {
    /// The next rows by column, in the order of the wanted columns; `None` behind the last.
    ///
    /// # Errors
    /// A page that is stored otherwise, or is broken. Rows that were given before are not among what is left.
    pub(super) fn next(&mut self) -> Found<Option<Vec<Values>>> {
        let mut rows = MAX_ROWS;
        for column in &mut self.columns {
            rows = rows.min(column.ahead()?);
        }
        if rows > 0 {
            return Ok(Some(
                self.columns.iter_mut().map(|one| one.take(rows)).collect(),
            ));
        }
        // A column that goes on behind the end of another.
        match self.columns.iter().any(|column| column.left() > 0) {
            true => Err(NotCoded),
            false => Ok(None),
        }
    }
}

/// A column of a row group.
struct Column {
    pages: Box<dyn PageReader>,
    is_optional: bool,
    /// Its values, the last one null.
    dictionary: Arc<Values>,
    /// How many they are.
    values: usize,
    /// The keys of the rows of a page, and how many of them were given.
    keys: Arc<Vec<u16>>,
    given: usize,
}

impl Column {
    fn open(
        mut pages: Box<dyn PageReader>,
        column: &ColumnDescriptor,
        kind: &DataType,
    ) -> Found<Self> {
        let first = pages.get_next_page().map_err(|_| NotCoded)?;
        let Some(Page::DictionaryPage {
            buf,
            num_values,
            encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY,
            ..
        }) = first
        else {
            return Err(NotCoded);
        };
        let count = num_values as usize;
        if count >= MAX_VALUES {
            return Err(NotCoded);
        }
        let array = plain(column.physical_type(), kind, &buf, count).ok_or(NotCoded)?;
        let null = new_null_array(array.data_type(), 1);
        let array = concat(&[&array, &null]).map_err(|_| NotCoded)?;
        Ok(Column {
            pages,
            is_optional: column.max_def_level() == 1,
            dictionary: Arc::new(values(&array, None).map_err(|_| NotCoded)?),
            values: count,
            keys: Arc::default(),
            given: 0,
        })
    }

    fn left(&self) -> usize {
        self.keys.len() - self.given
    }

    /// Rows that can be given; reads the next page if need be. None behind the last.
    fn ahead(&mut self) -> Found<usize> {
        while self.left() == 0 {
            let Some(page) = self.pages.get_next_page().map_err(|_| NotCoded)? else {
                break;
            };
            self.keys = Arc::new(self.page(&page)?);
            self.given = 0;
        }
        Ok(self.left())
    }

    fn take(&mut self, rows: usize) -> Values {
        let from = self.given;
        self.given += rows;
        let (dictionary, keys) = (self.dictionary.clone(), self.keys.clone());
        Values::coded(Coded::new(dictionary, keys, from..from + rows))
    }

    /// The keys of the rows of a page.
    fn page(&self, page: &Page) -> Found<Vec<u16>> {
        let rows = page.num_values() as usize;
        let is_coded = matches!(
            page.encoding(),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
        );
        if rows > MAX_PAGE || !is_coded {
            return Err(NotCoded);
        }
        let (levels, packed) = self.parts(page).ok_or(NotCoded)?;
        let mut keys = Vec::new();
        match levels {
            Some(levels) if !are_ones(levels, rows) => {
                let mut is_there = Vec::new();
                unpack(levels, 1, rows, &mut is_there).ok_or(NotCoded)?;
                let present = is_there.iter().map(|&level| usize::from(level)).sum();
                let mut stored = Vec::new();
                self.keys(packed, present, &mut stored)?;
                let (null, mut stored) = (self.values as u16, stored.into_iter());
                keys.extend(is_there.iter().map(|&level| match level {
                    0 => null,
                    _ => stored.next().unwrap_or(null),
                }));
            }
            _ => self.keys(packed, rows, &mut keys)?,
        }
        Ok(keys)
    }

    /// The keys that a page stores.
    fn keys(&self, packed: &[u8], count: usize, keys: &mut Vec<u16>) -> Found<()> {
        if count == 0 {
            return Ok(());
        }
        let (&bits, packed) = packed.split_first().ok_or(NotCoded)?;
        unpack(packed, bits.into(), count, keys).ok_or(NotCoded)?;
        let largest = keys.iter().fold(0, |largest, &key| key.max(largest));
        match usize::from(largest) < self.values {
            true => Ok(()),
            false => Err(NotCoded),
        }
    }

    /// The bytes of the levels that say which rows are null, if some may be, and those of the keys.
    fn parts<'p>(&self, page: &'p Page) -> Option<(Option<&'p [u8]>, &'p [u8])> {
        let bytes: &[u8] = page.buffer();
        match page {
            Page::DataPage { .. } if !self.is_optional => Some((None, bytes)),
            Page::DataPage {
                def_level_encoding: Encoding::RLE,
                ..
            } => {
                let (length, rest) = bytes.split_first_chunk::<4>()?;
                let length = u32::from_le_bytes(*length) as usize;
                let (levels, keys) = rest.split_at_checked(length)?;
                Some((Some(levels), keys))
            }
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len: 0,
                ..
            } => {
                let (levels, keys) = bytes.split_at_checked(*def_levels_byte_len as usize)?;
                Some((self.is_optional.then_some(levels), keys))
            }
            _ => None,
        }
    }
}

/// Values that are stored one behind another.
fn plain(stored: Type, kind: &DataType, bytes: &[u8], count: usize) -> Option<ArrayRef> {
    fn fixed<const SIZE: usize>(
        bytes: &[u8],
        count: usize,
    ) -> Option<impl Iterator<Item = [u8; SIZE]>> {
        let bytes = bytes.get(..count.checked_mul(SIZE)?)?;
        Some(bytes.chunks_exact(SIZE).map(|chunk| {
            let mut value = [0; SIZE];
            value.copy_from_slice(chunk);
            value
        }))
    }
    macro_rules! array {
        ($array:ty, $value:ty) => {{
            let values = fixed(bytes, count)?.map(<$value>::from_le_bytes);
            Arc::new(<$array>::from_iter_values(values))
        }};
    }
    Some(match (stored, kind) {
        (Type::INT32, DataType::Int32) => array!(Int32Array, i32),
        (Type::INT32, DataType::UInt32) => array!(UInt32Array, u32),
        (Type::INT64, DataType::Int64) => array!(Int64Array, i64),
        (Type::INT64, DataType::UInt64) => array!(UInt64Array, u64),
        (Type::FLOAT, _) => array!(Float32Array, f32),
        (Type::DOUBLE, _) => array!(Float64Array, f64),
        (Type::BYTE_ARRAY, _) => {
            let mut rest = bytes;
            let texts = (0..count).map(|_| {
                let length = rest.split_off(..4)?.first_chunk::<4>()?;
                let text = rest.split_off(..u32::from_le_bytes(*length) as usize)?;
                std::str::from_utf8(text).ok()
            });
            let texts: Vec<&str> = texts.collect::<Option<_>>()?;
            Arc::new(StringArray::from(texts))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use arrow::array::{DictionaryArray, RecordBatch};
    use arrow::datatypes::Int8Type;
    use bytes::Bytes;
    use leakgauge_log::{ColumnarReader, Opened, ReadMeter, ReadOptions, Row};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

    use super::*;
    use crate::ArrowReader;

    const ROWS: usize = 70_000;

    /// Columns of every type that is read here: few values, of which some are null in every second one.
    fn table() -> RecordBatch {
        let value = |row: usize, of: usize| ((row * 2_654_435_761) >> 7) % of;
        let rows = 0..ROWS;
        let gap = |row: usize| row % 11 != 3 || row > 60_000;
        let words = ["a", "", "b c", "ä", "5"];
        let of_words = |row: usize| words[value(row, 5)];
        let kinds: DictionaryArray<Int8Type> = rows.clone().map(of_words).collect();
        let columns: [(&str, ArrayRef); 8] = [
            (
                "secret",
                Arc::new(Int32Array::from_iter_values(
                    rows.clone().map(|row| value(row, 9) as i32 - 4),
                )),
            ),
            (
                "gaps",
                Arc::new(Int32Array::from_iter(
                    rows.clone()
                        .map(|row| gap(row).then_some(value(row, 13) as i32)),
                )),
            ),
            (
                "wide",
                Arc::new(Int64Array::from_iter_values(
                    rows.clone().map(|row| -(1 << 60) + value(row, 300) as i64),
                )),
            ),
            (
                "positive",
                Arc::new(UInt64Array::from_iter(
                    rows.clone()
                        .map(|row| gap(row).then_some(u64::MAX - value(row, 3) as u64)),
                )),
            ),
            (
                "single",
                Arc::new(Float32Array::from_iter_values(
                    rows.clone().map(|row| value(row, 40) as f32 / 10.0),
                )),
            ),
            (
                "float",
                Arc::new(Float64Array::from_iter(
                    rows.clone()
                        .map(|row| gap(row).then_some(value(row, 7) as f64 * -0.1)),
                )),
            ),
            (
                "word",
                Arc::new(StringArray::from_iter(
                    rows.clone().map(|row| gap(row).then_some(of_words(row))),
                )),
            ),
            ("kind", Arc::new(kinds)),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn written(rows: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
        let properties = properties.set_max_row_group_row_count(Some(50_000));
        let properties = Some(properties.build());
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), properties).unwrap();
        writer.write(rows).unwrap();
        writer.into_inner().unwrap()
    }

    /// The names of the columns and the rows of a file.
    fn read(bytes: &[u8]) -> leakgauge_base::error::Result<Vec<String>> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log.parquet");
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let (meter, options) = (ReadMeter::default(), ReadOptions::default());
        let Opened::Records(mut records) = ArrowReader.open_file("log", file, &meter, &options)?
        else {
            panic!("it is Parquet");
        };
        let (mut row, mut rows) = (Row::new(), Vec::new());
        while records.next(&mut row)? {
            rows.push(format!("{row:?}"));
        }
        Ok(rows)
    }

    /// How many rows of a file are taken as keys before a page is stored otherwise.
    fn taken(bytes: Vec<u8>) -> usize {
        let file = Arc::new(Bytes::from(bytes));
        let metadata = ArrowReaderMetadata::load(&*file, ArrowReaderOptions::new()).unwrap();
        let wanted: Vec<usize> = (0..metadata.schema().fields().len()).collect();
        let columns = CodedColumns::of(&metadata, &wanted).unwrap();
        let mut taken = 0;
        for group in metadata.metadata().row_groups() {
            let Ok(mut group) = columns.open(&file, group) else {
                break;
            };
            while let Ok(Some(rows)) = group.next() {
                taken += rows[0].len();
            }
        }
        taken
    }

    #[test]
    #[ignore = "long"]
    fn rows_of_keys_are_those_of_values_that_are_written_out() {
        let rows = table();
        let plain = WriterProperties::builder().set_dictionary_enabled(false);
        let expected = read(&written(&rows, plain)).unwrap();
        assert_eq!(expected.len(), ROWS + 1);
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let of_version = || WriterProperties::builder().set_writer_version(version);
            let coded = written(&rows, of_version());
            assert!(read(&coded).unwrap() == expected);
            assert_eq!(taken(coded), ROWS);
            let small = of_version().set_data_page_row_count_limit(997);
            let pages = written(&rows, small.set_write_batch_size(100));
            assert!(read(&pages).unwrap() == expected);
            assert_eq!(taken(pages), ROWS);
            // A dictionary that is full: what comes behind it is written out.
            let full = of_version().set_dictionary_page_size_limit(1_000);
            let mixed = written(&rows, full.set_write_batch_size(100));
            assert!(read(&mixed).unwrap() == expected);
            assert!((1..ROWS).contains(&taken(mixed)));
        }
    }

    #[test]
    fn columns_that_are_nested_or_of_another_type_are_left_to_the_library() {
        let days: ArrayRef = Arc::new(arrow::array::Date32Array::from(vec![1, 2, 1]));
        let secrets: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 1]));
        let rows = RecordBatch::try_from_iter([("secret", secrets), ("day", days)]).unwrap();
        let bytes = Bytes::from(written(&rows, WriterProperties::builder()));
        let metadata = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).unwrap();
        assert!(CodedColumns::of(&metadata, &[0]).is_some());
        assert!(CodedColumns::of(&metadata, &[0, 1]).is_none());
        assert!(CodedColumns::of(&metadata, &[]).is_none());
    }

    /// Files with a byte changed: an error, or as many rows as there were.
    #[test]
    #[ignore = "long"]
    fn a_damaged_file_is_an_error_or_has_all_its_rows() {
        let rows = table().slice(0, 3_000);
        let bytes = written(&rows, WriterProperties::builder());
        let mut errors = 0;
        for at in (4..bytes.len()).step_by(bytes.len() / 200) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            match read(&bytes) {
                Ok(found) => assert_eq!(found.len(), 3_001, "byte {at}"),
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 0);
    }
}
