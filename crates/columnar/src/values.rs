//! Values of a column as fields: numbers as numbers, everything else as texts.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{
    DataType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use crate::texts::{Style, Texts, texts};
use leakgauge_log::{Field, Number};

pub use crate::texts::Problem;

/// The fields of some rows in one column.
pub struct Values {
    stored: Stored,
    nulls: Option<NullBuffer>,
}

enum Stored {
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Texts(Texts),
    Coded(Coded),
}

/// Rows that are keys into the values of a dictionary, of which the last is null.
pub(super) struct Coded {
    dictionary: Arc<Values>,
    keys: Arc<Vec<u16>>,
    rows: Range<usize>,
}

impl Coded {
    /// Those rows of `keys`, which are below the number of values.
    pub(super) fn new(dictionary: Arc<Values>, keys: Arc<Vec<u16>>, rows: Range<usize>) -> Self {
        Coded {
            dictionary,
            keys,
            rows,
        }
    }

    /// The values.
    pub(super) fn dictionary(&self) -> &Arc<Values> {
        &self.dictionary
    }

    /// The key of each row.
    pub(super) fn keys(&self) -> &[u16] {
        &self.keys[self.rows.clone()]
    }

    fn key(&self, row: usize) -> usize {
        self.keys[self.rows.start + row].into()
    }
}

/// Values as they are stored.
pub(super) enum Slice<'v> {
    Integers(&'v [i64]),
    Unsigned(&'v [u64]),
    Floats(&'v [f64]),
    Texts(&'v Texts),
    Coded(&'v Coded),
}

impl Values {
    /// Rows that are keys.
    pub(super) fn coded(coded: Coded) -> Self {
        Values {
            stored: Stored::Coded(coded),
            nulls: None,
        }
    }

    /// The field of a row.
    #[inline]
    pub fn field(&self, row: usize) -> Field<'_> {
        if self.is_null(row) {
            return Field::Null;
        }
        match &self.stored {
            Stored::Integers(values) => Field::Number(Number::Integer(values[row])),
            Stored::Unsigned(values) => Field::Number(Number::Unsigned(values[row])),
            Stored::Floats(values) => Field::Number(Number::Float(values[row])),
            Stored::Texts(texts) => Field::Text(texts.get(row).as_bytes()),
            Stored::Coded(coded) => coded.dictionary.field(coded.key(row)),
        }
    }

    /// All values as they are stored, those of rows that are null without a meaning.
    pub(super) fn slice(&self) -> Slice<'_> {
        match &self.stored {
            Stored::Integers(values) => Slice::Integers(values),
            Stored::Unsigned(values) => Slice::Unsigned(values),
            Stored::Floats(values) => Slice::Floats(values),
            Stored::Texts(texts) => Slice::Texts(texts),
            Stored::Coded(coded) => Slice::Coded(coded),
        }
    }

    /// Whether the field of a row is null.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match &self.stored {
            Stored::Coded(coded) => coded.dictionary.is_null(coded.key(row)),
            _ => self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)),
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        match &self.stored {
            Stored::Integers(values) => values.len(),
            Stored::Unsigned(values) => values.len(),
            Stored::Floats(values) => values.len(),
            Stored::Texts(texts) => texts.len(),
            Stored::Coded(coded) => coded.rows.len(),
        }
    }
}

/// The values of an array, null also where `above` is: where a struct around it is null.
///
/// # Errors
/// A value that its type cannot mean (a date beyond the calendar).
pub fn values(
    array: &dyn Array,
    above: Option<&NullBuffer>,
) -> std::result::Result<Values, Problem> {
    let plain = match array.data_type() {
        DataType::Dictionary(_, kind) if kind.is_numeric() && !kind.is_decimal() => {
            let dictionary = array.as_any_dictionary();
            Some(take(dictionary.values(), dictionary.keys(), None))
        }
        DataType::RunEndEncoded(_, kind) => Some(cast(array, kind.data_type())),
        _ => None,
    };
    if let Some(plain) = plain {
        let plain = plain.map_err(|error| Problem::of(0, &error))?;
        return values(&plain, above);
    }
    let stored = match numbers(array) {
        Some(numbers) => numbers,
        None => Stored::Texts(texts(array, above, Style::Plain)?),
    };
    Ok(Values {
        stored,
        nulls: NullBuffer::union(above, array.logical_nulls().as_ref()),
    })
}

/// The values of an array of numbers; `None` for what is none.
fn numbers(array: &dyn Array) -> Option<Stored> {
    // A float of less precision is the one that its shortest decimal text says.
    let single = |value: f32| Number::from(value).value();
    Some(match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => unsigned::<UInt8Type>(array),
        DataType::UInt16 => unsigned::<UInt16Type>(array),
        DataType::UInt32 => unsigned::<UInt32Type>(array),
        DataType::UInt64 => unsigned::<UInt64Type>(array),
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>().values().iter();
            Stored::Floats(values.map(|value| single(value.to_f32())).collect())
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values().iter();
            Stored::Floats(values.map(|&value| single(value)).collect())
        }
        DataType::Float64 => Stored::Floats(array.as_primitive::<Float64Type>().values().to_vec()),
        _ => return None,
    })
}

fn integers<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> Stored {
    let values = array.as_primitive::<T>().values().iter();
    Stored::Integers(values.map(|&value| value.into()).collect())
}

fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(array: &dyn Array) -> Stored {
    let values = array.as_primitive::<T>().values().iter();
    Stored::Unsigned(values.map(|&value| value.into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, DictionaryArray, Float32Array, Int64Array, RunArray};
    use arrow::datatypes::Int32Type;
    use std::sync::Arc;

    fn fields(array: ArrayRef) -> Vec<String> {
        let values = values(&array, None).unwrap();
        (0..array.len())
            .map(|row| format!("{:?}", values.field(row)))
            .collect()
    }

    #[test]
    fn numbers_stay_numbers_and_nulls_nulls_however_they_are_packed() {
        let plain = Int64Array::from(vec![Some(7), None, Some(7)]);
        let expected = fields(Arc::new(plain));
        assert_eq!(
            expected,
            ["Number(Integer(7))", "Null", "Number(Integer(7))"]
        );
        let packed: DictionaryArray<Int32Type> = DictionaryArray::new(
            vec![Some(0), None, Some(0)].into(),
            Arc::new(Int64Array::from(vec![7])),
        );
        assert_eq!(fields(Arc::new(packed)), expected);
        let runs = RunArray::<Int32Type>::try_new(
            &vec![1, 2, 3].into(),
            &Int64Array::from(vec![Some(7), None, Some(7)]),
        );
        assert_eq!(fields(Arc::new(runs.unwrap())), expected);
        let single = Float32Array::from(vec![0.1]);
        assert_eq!(fields(Arc::new(single)), ["Number(Float(0.1))"]);
    }
}
