//! How often values occur together in the row groups of a Parquet file, where columns are stored as keys into small
//! dictionaries: keys are counted, and no row is given out.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetStatisticsPolicy;

use crate::coded::CodedColumns;
use crate::damage::guarded;
use crate::numbers::{DENSE, places};
use crate::values::{Coded, Slice, Values};

/// Rows of a row group for each of its combinations, at least: all that is counted has to be held at once.
const FEWEST_ALIKE: usize = 32;

/// The row groups of a Parquet file, some columns of which are counted.
pub struct KeyCounts {
    metadata: ArrowReaderMetadata,
    columns: CodedColumns,
    schema: SchemaRef,
}

impl KeyCounts {
    /// Looks at the end of a file. `None` if one of the columns cannot be counted: it is nested, or neither of integers
    /// nor of texts.
    pub fn open(file: &File, columns: &[usize]) -> Option<Self> {
        let skip = ParquetStatisticsPolicy::SkipAll;
        let read = ArrowReaderOptions::new()
            .with_column_stats_policy(skip.clone())
            .with_size_stats_policy(skip);
        let metadata = guarded(|| ArrowReaderMetadata::load(file, read))
            .ok()?
            .ok()?;
        let coded = CodedColumns::of(&metadata, columns)?;
        // 0 and -0 are one to who counts, and two to who reads.
        let is_counted = |kind: &DataType| {
            let texts = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View];
            kind.is_integer() || texts.contains(kind)
        };
        let mut fields = Vec::new();
        for (at, &column) in columns.iter().enumerate() {
            let kind = metadata.schema().field(column).data_type();
            if !is_counted(kind) {
                return None;
            }
            fields.push(Field::new(format!("c{at}"), kind.clone(), true));
        }
        fields.push(Field::new("n", DataType::Int64, false));
        Some(KeyCounts {
            metadata,
            columns: coded,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// The columns of what [`group`](Self::group) gives: `c0`, `c1`, … with their values, and `n`, how often they occur
    /// together.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many row groups there are.
    pub fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// What a row group holds, read through a handle of its own. `None` if it is stored otherwise, has too many
    /// combinations, or is broken.
    pub fn group(&self, file: File, group: usize) -> Option<RecordBatch> {
        guarded(|| self.count(file, group)).ok()?
    }

    fn count(&self, file: File, group: usize) -> Option<RecordBatch> {
        let facts = self.metadata.metadata().row_group(group);
        let rows = usize::try_from(facts.num_rows()).ok()?;
        let mut reader = self.columns.open(&Arc::new(file), facts).ok()?;
        let mut dictionaries: Vec<Arc<Values>> = Vec::new();
        let (mut counts, mut at) = (Vec::new(), Vec::new());
        while let Some(columns) = reader.next().ok()? {
            let of_keys = |values: &Values| match values.slice() {
                Slice::Coded(coded) => Some(coded.dictionary().clone()),
                _ => None,
            };
            if dictionaries.is_empty() {
                dictionaries = columns.iter().map(of_keys).collect::<Option<_>>()?;
                let mut sizes = dictionaries.iter().map(|values| values.len());
                let all = sizes.try_fold(1usize, |all, size| all.checked_mul(size))?;
                counts.resize(Some(all).filter(|&all| all <= DENSE)?, 0i64);
            }
            let coded = columns.iter().filter_map(|values| match values.slice() {
                Slice::Coded(coded) => Some(coded),
                _ => None,
            });
            places(&coded.collect::<Vec<&Coded>>(), &mut at);
            for &place in &at {
                counts[usize::from(place)] += 1;
            }
        }
        let met: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > 0).collect();
        let is_whole = counts.iter().sum::<i64>() == facts.num_rows();
        if !is_whole || met.len() * FEWEST_ALIKE > rows {
            return None;
        }
        self.batch(&dictionaries, &counts, met)
    }

    /// The combinations that were met, by their places.
    fn batch(
        &self,
        dictionaries: &[Arc<Values>],
        counts: &[i64],
        mut met: Vec<usize>,
    ) -> Option<RecordBatch> {
        let n = Int64Array::from_iter_values(met.iter().map(|&at| counts[at]));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(n)];
        for (at, dictionary) in dictionaries.iter().enumerate().rev() {
            let values = dictionary.len();
            let keys: Vec<usize> = met.iter().map(|place| place % values).collect();
            met.iter_mut().for_each(|place| *place /= values);
            columns.push(taken(dictionary, &keys, self.schema.field(at).data_type())?);
        }
        columns.reverse();
        RecordBatch::try_new(self.schema.clone(), columns).ok()
    }
}

/// Values of a dictionary, in their own type.
fn taken(dictionary: &Values, keys: &[usize], kind: &DataType) -> Option<ArrayRef> {
    let keys = keys
        .iter()
        .map(|&key| Some(key).filter(|&key| !dictionary.is_null(key)));
    let array: ArrayRef = match dictionary.slice() {
        Slice::Integers(values) => {
            let values = keys.map(|key| key.map(|key| values[key]));
            Arc::new(Int64Array::from_iter(values))
        }
        Slice::Unsigned(values) => {
            let values = keys.map(|key| key.map(|key| values[key]));
            Arc::new(UInt64Array::from_iter(values))
        }
        Slice::Texts(values) => {
            let values = keys.map(|key| key.map(|key| values.get(key)));
            Arc::new(StringArray::from_iter(values))
        }
        Slice::Floats(_) | Slice::Coded(_) => return None,
    };
    cast(&array, kind).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow::array::{Array, Float64Array, Int32Array, UInt32Array};
    use arrow::util::display::array_value_to_string;
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;

    const ROWS: usize = 30_000;

    fn table() -> RecordBatch {
        let value = |row: usize, of: usize| ((row * 2_654_435_761) >> 7) % of;
        let there = |row: usize| row % 11 != 3;
        let words = ["a", "", "b c", "ä", "5"];
        let rows = || 0..ROWS;
        let secret = rows().map(|row| value(row, 9) as i32 - 4);
        let gaps = rows().map(|row| there(row).then_some(value(row, 4) as u32 + (u32::MAX - 9)));
        let word = rows().map(|row| (row % 13 != 5).then_some(words[value(row / 3, 5)]));
        let columns: [(&str, ArrayRef); 4] = [
            ("secret", Arc::new(Int32Array::from_iter_values(secret))),
            (
                "float",
                Arc::new(Float64Array::from_iter_values(rows().map(|row| row as f64))),
            ),
            ("gaps", Arc::new(UInt32Array::from_iter(gaps))),
            ("word", Arc::new(StringArray::from_iter(word))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn written(rows: &RecordBatch, is_coded: bool) -> File {
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(20_000))
            .set_dictionary_enabled(is_coded);
        let mut file = tempfile::tempfile().unwrap();
        let mut writer =
            ArrowWriter::try_new(&mut file, rows.schema(), Some(properties.build())).unwrap();
        writer.write(rows).unwrap();
        writer.close().unwrap();
        file
    }

    /// How often the fields of rows occur together.
    fn counted<'a>(
        batches: impl IntoIterator<Item = &'a RecordBatch>,
        columns: &[usize],
        n: Option<usize>,
    ) -> BTreeMap<Vec<Option<String>>, i64> {
        let mut counts = BTreeMap::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let field = |&at: &usize| {
                    let column = batch.column(at);
                    let text = || array_value_to_string(column, row).unwrap();
                    column.is_valid(row).then(text)
                };
                let fields = columns.iter().map(field).collect();
                let times = n.map_or(1, |n| {
                    array_value_to_string(batch.column(n), row)
                        .unwrap()
                        .parse()
                        .unwrap()
                });
                *counts.entry(fields).or_default() += times;
            }
        }
        counts
    }

    #[test]
    fn counts_are_those_of_the_rows() {
        let rows = table();
        let file = written(&rows, true);
        for columns in [&[0, 3][..], &[2, 0, 3], &[3], &[2, 0]] {
            let counts = KeyCounts::open(&file, columns).unwrap();
            assert_eq!(counts.groups(), 2);
            let group = |at| counts.group(file.try_clone().unwrap(), at).unwrap();
            let batches = [group(0), group(1)];
            let all: Vec<usize> = (0..columns.len()).collect();
            assert_eq!(
                counted(&batches, &all, Some(columns.len())),
                counted([&rows], columns, None),
                "{columns:?}"
            );
            let kinds = columns
                .iter()
                .map(|&at| rows.schema().field(at).data_type().clone());
            assert!(
                kinds.eq(batches[0].columns()[..columns.len()]
                    .iter()
                    .map(|column| column.data_type().clone()))
            );
        }
    }

    #[test]
    fn what_is_stored_otherwise_or_hardly_recurs_is_not_counted() {
        let rows = table();
        let file = written(&rows, true);
        assert!(KeyCounts::open(&file, &[0, 1]).is_none());
        let plain = written(&rows, false);
        let counts = KeyCounts::open(&plain, &[0]).unwrap();
        assert!(counts.group(plain, 0).is_none());
        let different = (0..ROWS as i32).map(|row| row / 20);
        let different: ArrayRef = Arc::new(Int32Array::from_iter_values(different));
        let file = written(
            &RecordBatch::try_from_iter([("x", different)]).unwrap(),
            true,
        );
        let counts = KeyCounts::open(&file, &[0]).unwrap();
        assert!(counts.group(file, 0).is_none());
    }
}
