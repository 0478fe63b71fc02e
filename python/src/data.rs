//! Columns and frames in memory as Arrow record batches.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, StringArray,
    make_array,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use pyo3_arrow::buffer::AnyBufferProtocol;
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};

use crate::errors::{DataError, unreadable};

/// A column: its name, its values, and where they are missing if that is said beside them (one byte a row, not 0
/// where missing).
type Column<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// What Python hands over: a frame, columns, or a frame and columns beside it.
pub struct Table<'py> {
    /// What messages and reports call it.
    pub name: String,
    /// Anything with `__arrow_c_stream__` or `__arrow_c_array__`.
    pub frame: Option<Bound<'py, PyAny>>,
    /// Columns of equal lengths.
    pub columns: Vec<Column<'py>>,
    /// Whether missing values are refused here; otherwise they are nulls.
    pub refuses_missing: bool,
    /// The columns where a missing value is refused; all if not given.
    pub used: Option<Vec<String>>,
}

impl Table<'_> {
    /// The batches; at least one.
    ///
    /// # Errors
    /// Data that Arrow cannot hold; columns of unequal lengths; missing values where they are refused.
    pub fn batches(&self) -> PyResult<Vec<RecordBatch>> {
        let columns = self.columns.iter().map(|column| self.column(column));
        let columns: Vec<(Field, ArrayRef)> = columns.collect::<PyResult<_>>()?;
        let batches = match &self.frame {
            None => vec![self.together(Vec::new(), columns)?],
            Some(frame) => {
                let table = frame.extract::<AnyRecordBatch>().map_err(unreadable)?;
                let table = table.into_table().map_err(PyErr::from);
                let (batches, schema) = table.map_err(unreadable)?.into_inner();
                let batches = if batches.is_empty() {
                    vec![RecordBatch::new_empty(schema)]
                } else {
                    batches
                };
                self.beside(batches, &columns)?
            }
        };
        self.settled(batches)
    }

    fn refused(&self, place: &str, problem: &str, hint: &str) -> PyErr {
        DataError::new_err(format!("{}{place}: {problem}\n  hint: {hint}", self.name))
    }

    fn column(&self, (name, values, missing): &Column) -> PyResult<(Field, ArrayRef)> {
        let array = self.array(name, values)?;
        let array = match missing {
            None => array,
            Some(missing) => {
                let flags = missing.extract::<AnyBufferProtocol>()?.into_arrow_array()?;
                let flags = flags.as_primitive_opt::<arrow::datatypes::UInt8Type>();
                let flags = flags
                    .filter(|flags| flags.len() == array.len())
                    .ok_or_else(|| {
                        let place = format!(", column {name}");
                        self.refused(&place, "its mask has another length", "give every row one")
                    })?;
                let present = BooleanBuffer::collect_bool(flags.len(), |row| flags.value(row) == 0);
                with_nulls(&array, NullBuffer::new(present))?
            }
        };
        Ok((Field::new(name, array.data_type().clone(), true), array))
    }

    /// Buffers of numbers and Arrow arrays without a copy; a list of texts.
    fn array(&self, name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
        if values.hasattr("__arrow_c_stream__")? || values.hasattr("__arrow_c_array__")? {
            let chunked = values.extract::<AnyArray>().map_err(unreadable)?;
            let chunked = chunked.into_chunked_array().map_err(PyErr::from);
            let (chunks, field) = chunked.map_err(unreadable)?.into_inner();
            return match &chunks[..] {
                [] => Ok(arrow::array::new_empty_array(field.data_type())),
                [chunk] => Ok(chunk.clone()),
                chunks => {
                    let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
                    concat(&chunks).map_err(unreadable)
                }
            };
        }
        if let Ok(texts) = values.extract::<Vec<Option<String>>>() {
            return Ok(Arc::new(StringArray::from(texts)));
        }
        if let Ok(buffer) = values.extract::<AnyBufferProtocol>() {
            return Ok(buffer.into_arrow_array()?);
        }
        if let Ok(array) = values.extract::<PyArray>() {
            return Ok(array.into_inner().0);
        }
        Err(PyTypeError::new_err(format!(
            "column {name}: has values of no known type"
        )))
    }

    /// Columns of one frame.
    fn together(
        &self,
        mut fields: Vec<Arc<Field>>,
        columns: Vec<(Field, ArrayRef)>,
    ) -> PyResult<RecordBatch> {
        let rows = columns.first().map_or(0, |(_, first)| first.len());
        for (field, array) in &columns {
            if array.len() != rows {
                let place = format!(", column {}", field.name());
                let problem = format!(
                    "has {} values where column {} has {rows}",
                    array.len(),
                    columns[0].0.name()
                );
                return Err(self.refused(&place, &problem, "give all columns one value a row"));
            }
        }
        let (more, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        fields.extend(more.into_iter().map(Arc::new));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(unreadable)
    }

    /// A frame with columns beside it.
    fn beside(
        &self,
        batches: Vec<RecordBatch>,
        columns: &[(Field, ArrayRef)],
    ) -> PyResult<Vec<RecordBatch>> {
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        for (field, array) in columns {
            if array.len() != rows {
                let problem = format!("has {} values where the data has {rows} rows", array.len());
                let place = format!(", column {}", field.name());
                return Err(self.refused(&place, &problem, "give it one value a row"));
            }
        }
        let mut at = 0;
        let widen = |batch: RecordBatch| {
            let mut fields: Vec<Arc<Field>> = batch.schema().fields().to_vec();
            let mut arrays = batch.columns().to_vec();
            for (field, array) in columns {
                fields.push(Arc::new(field.clone()));
                arrays.push(array.slice(at, batch.num_rows()));
            }
            at += batch.num_rows();
            RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(unreadable)
        };
        batches.into_iter().map(widen).collect()
    }

    /// Missing values refused if that is asked for. A number that is NaN is missing, as frames have it.
    fn settled(&self, batches: Vec<RecordBatch>) -> PyResult<Vec<RecordBatch>> {
        let mut before = 0;
        let mut settled = Vec::with_capacity(batches.len());
        for batch in batches {
            let batch = self.without_nan(&batch)?;
            if self.refuses_missing {
                self.refuse_missing(&batch, before)?;
            }
            before += batch.num_rows();
            settled.push(batch);
        }
        Ok(settled)
    }

    /// `before` rows come before those of the batch.
    fn refuse_missing(&self, batch: &RecordBatch, before: usize) -> PyResult<()> {
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let Some(nulls) = array.logical_nulls().filter(|_| self.is_used(field.name())) else {
                continue;
            };
            if let Some(row) = (0..batch.num_rows()).find(|&row| nulls.is_null(row)) {
                let place = format!(", row {}, column {}", before + row + 1, field.name());
                return Err(self.refused(
                    &place,
                    "the value is missing (null, NaN or masked)",
                    "fill it in, or pass missing=\"drop\" to leave out such rows, or missing=\"label\" if \
                     that there is none is an observation",
                ));
            }
        }
        Ok(())
    }

    fn is_used(&self, column: &str) -> bool {
        let used = self.used.as_ref();
        used.is_none_or(|used| used.iter().any(|name| name == column.trim()))
            || column.eq_ignore_ascii_case("secret")
    }

    fn without_nan(&self, batch: &RecordBatch) -> PyResult<RecordBatch> {
        let arrays: Vec<ArrayRef> = batch
            .columns()
            .iter()
            .map(|array| match array.data_type() {
                DataType::Float64 => nan_as_null::<Float64Type>(array, f64::is_nan),
                DataType::Float32 => nan_as_null::<Float32Type>(array, f32::is_nan),
                _ => Ok(array.clone()),
            })
            .collect::<PyResult<_>>()?;
        let schema = batch.schema();
        let fields = schema.fields().iter();
        let fields = fields.map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, arrays).map_err(unreadable)
    }
}

fn nan_as_null<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    is_nan: impl Fn(T::Native) -> bool,
) -> PyResult<ArrayRef> {
    let numbers: &PrimitiveArray<T> = array.as_primitive();
    if !numbers.values().iter().any(|&value| is_nan(value)) {
        return Ok(array.clone());
    }
    let values = numbers.values();
    let present = BooleanBuffer::collect_bool(values.len(), |row| !is_nan(values[row]));
    with_nulls(array, NullBuffer::new(present))
}

/// The same array, missing also where these say so.
fn with_nulls(array: &ArrayRef, nulls: NullBuffer) -> PyResult<ArrayRef> {
    let nulls = NullBuffer::union(array.nulls(), Some(&nulls));
    let data = array.to_data().into_builder().nulls(nulls);
    Ok(make_array(data.build().map_err(unreadable)?))
}
