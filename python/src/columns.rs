//! Columns of results as Arrow streams, which frames take.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, StructArray, UInt64Array};
use arrow::datatypes::Field;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::errors::unreadable;

/// Columns, each with its name and whether it holds `texts`, `counts` or `numbers`, as an Arrow stream of one batch.
#[pyfunction]
pub fn columns_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyAny>)>,
    requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let arrays = columns.iter().map(|(name, kind, values)| {
        let array: ArrayRef = match kind.as_str() {
            "texts" => Arc::new(StringArray::from(values.extract::<Vec<String>>()?)),
            "counts" => Arc::new(UInt64Array::from(values.extract::<Vec<u64>>()?)),
            "numbers" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
            other => return Err(PyValueError::new_err(format!("no kind of column: {other}"))),
        };
        Ok((name, array, kind == "numbers"))
    });
    let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).map_err(unreadable)?;
    let field = Field::new_struct("", batch.schema().fields().clone(), false);
    let array: ArrayRef = Arc::new(StructArray::from(batch));
    let reader = ArrayIterator::new([Ok(array)], Arc::new(field));
    Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
}
