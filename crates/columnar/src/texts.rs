//! Values of a column as texts: the shortest that read back as the same, lists and maps as JSON.

mod nested;

use std::fmt::{Display, Write};

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{
    DataType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimeUnit, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// Texts one behind another.
#[derive(Default)]
pub(super) struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text at a position.
    pub(super) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[at]]
    }
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A field of a row.
    Plain,
    /// A value inside JSON.
    Json,
}

impl Style {
    /// What stands in the place of a value that is null. A field says so by itself.
    fn null(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Json => "null",
        }
    }

    /// Writes a text that is no number.
    fn word(self, text: &str, out: &mut String) {
        let needs_escape = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        match self {
            Style::Plain => out.push_str(text),
            Style::Json if text.bytes().any(needs_escape) => {
                out.push_str(&serde_json::Value::from(text).to_string());
            }
            Style::Json => out.extend(["\"", text, "\""]),
        }
    }
}

/// A value that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its position in its array.
    pub row: usize,
    /// What is wrong with it.
    pub words: String,
}

impl Problem {
    pub(super) fn of(row: usize, error: &ArrowError) -> Self {
        Problem {
            row,
            words: format!("cannot be written as a text: {error}"),
        }
    }
}

type Found = std::result::Result<Texts, Problem>;

/// The texts of an array, null also where `above` is.
///
/// # Errors
/// A value that its type cannot mean (a date beyond the calendar).
pub(super) fn texts(array: &dyn Array, above: Option<&NullBuffer>, style: Style) -> Found {
    let nulls = NullBuffer::union(above, array.logical_nulls().as_ref());
    let cells = Cells {
        array,
        nulls: nulls.as_ref(),
        style,
    };
    if let Some(numbers) = cells.numbers() {
        return numbers;
    }
    match array.data_type() {
        DataType::Null => cells.write(|_, _| Ok(())),
        DataType::Boolean => {
            let values = array.as_boolean();
            cells.simple(|at, out| out.push_str(if values.value(at) { "true" } else { "false" }))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            cells.simple(|at, out| style.word(values.value(at), out))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            cells.simple(|at, out| style.word(values.value(at), out))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            cells.simple(|at, out| style.word(values.value(at), out))
        }
        DataType::Timestamp(unit, Some(_)) => {
            // The same instant, whatever clock it was shown on.
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            let array = cast(array, &utc).map_err(|error| Problem::of(0, &error))?;
            Cells {
                array: &array,
                ..cells
            }
            .displayed()
        }
        DataType::Dictionary(..) => cells.dictionary(),
        DataType::RunEndEncoded(_, values) => {
            let array = cast(array, values.data_type()).map_err(|error| Problem::of(0, &error))?;
            texts(&array, above, style)
        }
        DataType::List(_) => nested::list(array.as_list::<i32>(), &cells),
        DataType::LargeList(_) => nested::list(array.as_list::<i64>(), &cells),
        DataType::FixedSizeList(..) => nested::fixed_list(array.as_fixed_size_list(), &cells),
        DataType::Map(..) => nested::map(array.as_map(), &cells),
        DataType::Struct(_) => nested::object(array.as_struct(), &cells),
        _ => cells.displayed(),
    }
}

/// The values of an array that become texts.
pub(super) struct Cells<'a> {
    array: &'a dyn Array,
    nulls: Option<&'a NullBuffer>,
    style: Style,
}

impl Cells<'_> {
    /// The texts that `write` appends for every value that is not null.
    pub(super) fn write(
        &self,
        mut write: impl FnMut(usize, &mut String) -> std::result::Result<(), ArrowError>,
    ) -> Found {
        let rows = self.array.len();
        let mut texts = Texts {
            text: String::with_capacity(8 * rows),
            ends: Vec::with_capacity(rows),
        };
        for at in 0..rows {
            if self.nulls.is_some_and(|nulls| nulls.is_null(at)) {
                texts.text.push_str(self.style.null());
            } else {
                write(at, &mut texts.text).map_err(|error| Problem::of(at, &error))?;
            }
            texts.ends.push(texts.text.len());
        }
        Ok(texts)
    }

    /// The same for what every value has.
    pub(super) fn simple(&self, mut write: impl FnMut(usize, &mut String)) -> Found {
        self.write(|at, out| {
            write(at, out);
            Ok(())
        })
    }

    /// The texts of numbers and durations; `None` for what is neither.
    fn numbers(&self) -> Option<Found> {
        Some(match self.array.data_type() {
            DataType::Int8 => self.integers::<Int8Type>(),
            DataType::Int16 => self.integers::<Int16Type>(),
            DataType::Int32 => self.integers::<Int32Type>(),
            DataType::Int64 => self.integers::<Int64Type>(),
            DataType::UInt8 => self.integers::<UInt8Type>(),
            DataType::UInt16 => self.integers::<UInt16Type>(),
            DataType::UInt32 => self.integers::<UInt32Type>(),
            DataType::UInt64 => self.integers::<UInt64Type>(),
            DataType::Float16 => {
                let values = self.array.as_primitive::<Float16Type>();
                self.simple(|at, out| float(values.value(at).to_f32(), self.style, out))
            }
            DataType::Float32 => {
                let values = self.array.as_primitive::<Float32Type>().values();
                self.simple(|at, out| float(values[at], self.style, out))
            }
            DataType::Float64 => {
                let values = self.array.as_primitive::<Float64Type>().values();
                self.simple(|at, out| float(values[at], self.style, out))
            }
            DataType::Duration(TimeUnit::Second) => self.durations::<DurationSecondType>(0),
            DataType::Duration(TimeUnit::Millisecond) => {
                self.durations::<DurationMillisecondType>(3)
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                self.durations::<DurationMicrosecondType>(6)
            }
            DataType::Duration(TimeUnit::Nanosecond) => self.durations::<DurationNanosecondType>(9),
            _ => return None,
        })
    }

    fn integers<T: ArrowPrimitiveType<Native: itoa::Integer>>(&self) -> Found {
        let values = self.array.as_primitive::<T>().values();
        let mut digits = itoa::Buffer::new();
        self.simple(|at, out| out.push_str(digits.format(values[at])))
    }

    /// ISO 8601 with all that a value says: `PT1.5S`.
    fn durations<T: ArrowPrimitiveType<Native = i64>>(&self, decimals: u32) -> Found {
        let values = self.array.as_primitive::<T>().values();
        let per_second = 10u64.pow(decimals);
        let mut text = String::new();
        self.simple(|at, out| {
            let length = values[at].unsigned_abs();
            text.clear();
            text.push_str(if values[at] < 0 { "-PT" } else { "PT" });
            // Writing to memory cannot fail.
            let _ = write!(text, "{}", length / per_second);
            if length % per_second > 0 {
                let width = decimals as usize;
                let _ = write!(text, ".{:0width$}", length % per_second);
                text.truncate(text.trim_end_matches('0').len());
            }
            text.push('S');
            self.style.word(&text, out);
        })
    }

    /// Dates, times and decimals as the library writes them.
    fn displayed(&self) -> Found {
        let options = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(self.array, &options)
            .map_err(|error| Problem::of(0, &error))?;
        let is_decimal = self.array.data_type().is_decimal();
        let mut text = String::new();
        self.write(|at, out| {
            text.clear();
            formatter.value(at).write(&mut text)?;
            if is_decimal {
                out.push_str(without_zeros(&text));
            } else {
                self.style.word(&text, out);
            }
            Ok(())
        })
    }

    fn dictionary(&self) -> Found {
        let dictionary = self.array.as_any_dictionary();
        let values = dictionary.values();
        if values.len() > self.array.len() || values.is_empty() {
            let array = take(values, dictionary.keys(), None);
            let array = array.map_err(|error| Problem::of(0, &error))?;
            return texts(&array, self.nulls, self.style);
        }
        let keys = dictionary.normalized_keys();
        let words = texts(values, None, self.style).map_err(|problem| Problem {
            row: keys.iter().position(|&key| key == problem.row).unwrap_or(0),
            ..problem
        })?;
        self.simple(|at, out| out.push_str(words.get(keys[at])))
    }
}

/// The shortest text of a float, without an exponent: a decimal that is written out can be seen to be one.
fn float<F: zmij::Float + Display>(value: F, style: Style, out: &mut String) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    if let Some(whole) = text.strip_suffix(".0") {
        out.push_str(whole);
    } else if text.ends_with(['N', 'f']) {
        style.word(text, out);
    } else if text.contains('e') {
        // Writing to memory cannot fail.
        let _ = write!(out, "{value}");
    } else {
        out.push_str(text);
    }
}

/// A decimal without the zeros behind its point.
fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}
