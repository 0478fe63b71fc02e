"""Data in memory as columns that the native module takes, or files.

NumPy is imported only when there is an array; pandas, polars, pyarrow and DuckDB are never imported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._errors import ArgumentError
from . import _options
from ._native import DataError

_KINDS = (
    "a frame (pandas, polars, pyarrow, a DuckDB relation: anything with `__arrow_c_stream__`), a dict of columns, "
    "a structured NumPy array, an array of numbers with secret=labels, or a path"
)

_NO_SECRETS = "{name}: an array without names has no secrets\n  hint: pass secret=labels, one a row"


class _Capsule:
    """What an object exported, so that errors of its export are told apart from errors of its content."""

    def __init__(self, stream: Any = None, array: Any = None) -> None:
        if stream is not None:
            self.__arrow_c_stream__ = lambda requested_schema=None: stream
        else:
            self.__arrow_c_array__ = lambda requested_schema=None: array


def is_path(data: Any) -> bool:
    """Whether the data is one path, or several."""
    if isinstance(data, (list, tuple)) and data:
        return all(isinstance(item, (str, os.PathLike)) for item in data)
    return isinstance(data, (str, os.PathLike))


def paths(data: Any) -> list[str]:
    """Paths as texts."""
    several = data if isinstance(data, (list, tuple)) else [data]
    return [_options._file("data", path) for path in several]


def table(
    data: Any,
    beside: Mapping[str, Any],
    *,
    name: str = "data",
    used: list[str] | None = None,
) -> dict[str, Any]:
    """Data and columns beside it (`secret=labels`) as the native module takes them."""
    frame = None
    if _is_series(data):
        if not beside:
            raise DataError(_NO_SECRETS.format(name=name))
        columns = [("x0", *_values(data, name, "x0"))]
    elif _is_frame(data):
        frame, columns = _frame(data, name)
    else:
        columns = _columns(data, name, bool(beside))
    columns += [(column, *_values(values, name, column)) for column, values in beside.items()]
    seen = [column for column, *_ in columns]
    twice = next((column for column in seen if seen.count(column) > 1), None)
    if twice is not None:
        raise DataError(f"{name}, column {twice}: is given twice\n  hint: rename one of the two")
    return {"name": name, "frame": frame, "columns": columns, "used": used}


def _is_frame(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_series(data: Any) -> bool:
    """Whether it is one column: a series of pandas or polars, an array of pyarrow."""
    is_array = hasattr(data, "type") and not hasattr(data, "schema") and not hasattr(data, "columns")
    return hasattr(data, "to_frame") or (is_array and _is_frame(data))


def _export(data: Any, name: str) -> _Capsule | None:
    """What the object exports; `None` if it needs a library for that which is not installed."""
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return _Capsule(stream=data.__arrow_c_stream__())
        return _Capsule(array=data.__arrow_c_array__())
    except ImportError:
        return None
    except Exception as problem:
        raise DataError(
            f"{name}: cannot be exported to Arrow: {problem}\n  hint: give every column values of one type"
        ) from problem


def _frame(data: Any, name: str) -> tuple[Any, list[tuple[str, Any, Any]]]:
    # The index of a pandas frame names rows; exported, it would be one more observation.
    if hasattr(data, "reset_index"):
        data = data.reset_index(drop=True)
    frame = _export(data, name)
    if frame is not None:
        return frame, []
    # pandas exports through pyarrow, which need not be there.
    columns = {str(column): data[column].to_numpy() for column in data.columns}
    return None, _columns(columns, name, False)


def _columns(data: Any, name: str, has_labels: bool) -> list[tuple[str, Any, Any]]:
    if isinstance(data, Mapping):
        named = [(_options._label(f"{name}, a column", column), values) for column, values in data.items()]
        return [(column, *_values(values, name, column)) for column, values in named]
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        raise ArgumentError(f"data must be {_KINDS}, not rows\n  hint: give a dict of columns: {{name: [value, …], …}}")
    if not isinstance(data, (list, tuple)) and not hasattr(data, "__array__"):
        hint = "\n  hint: call .collect() first" if hasattr(data, "collect") else ""
        raise ArgumentError(f"data must be {_KINDS}, not {type(data).__name__}{hint}")
    import numpy

    try:
        array = numpy.asanyarray(data)
    except (ValueError, TypeError, OverflowError) as problem:
        raise DataError(f"{name}: {problem}\n  hint: give rows of one length, with values of one type") from problem
    if array.dtype.names:
        if array.ndim != 1:
            raise DataError(f"{name}: a structured array must have one dimension\n  hint: pass data.ravel()")
        return [(column, *_values(array[column], name, column)) for column in array.dtype.names]
    if not has_labels:
        raise DataError(_NO_SECRETS.format(name=name))
    if array.ndim == 1:
        return [("x0", *_values(array, name, "x0"))]
    if array.ndim != 2:
        raise DataError(f"{name}: the array has {array.ndim} dimensions\n  hint: give rows × columns")
    return [(f"x{at}", *_values(array[:, at], name, f"x{at}")) for at in range(array.shape[1])]


def _values(values: Any, name: str, column: str) -> tuple[Any, Any]:
    """A column as the native module takes it: a buffer, an Arrow array or texts; and its mask."""
    if _is_frame(values):
        exported = _export(values, f"{name}, column {column}")
        if exported is not None:
            return exported, None
    import numpy

    gaps = None
    if isinstance(values, (list, tuple)):
        if any(isinstance(value, str) for value in values):
            # NumPy would write numbers among texts as texts.
            return _texts(values, name, column), None
        gaps = [_is_gap(value) for value in values]
        if any(gaps):
            filled = [0 if gap else value for value, gap in zip(values, gaps)]
            values = filled
    try:
        if gaps is not None and any(gaps):
            values = numpy.ma.masked_array(values, gaps)
        array = numpy.asanyarray(values)
    except (ValueError, TypeError, OverflowError) as problem:
        raise DataError(f"{name}, column {column}: {problem}\n  hint: give one value a row") from problem
    if array.ndim != 1:
        raise DataError(
            f"{name}, column {column}: has {array.ndim} dimensions\n  hint: give one value a row; make a column of each part"
        )
    mask = None
    if isinstance(array, numpy.ma.MaskedArray):
        mask = numpy.ascontiguousarray(numpy.ma.getmaskarray(array)).view(numpy.uint8)
        array = array.data
    return _plain(array, name, column), mask


def _plain(array: Any, name: str, column: str) -> Any:
    import numpy

    kind = array.dtype.kind
    if kind in "OT":
        return _texts(array.tolist(), name, column)
    if kind == "U":
        return _texts(array.tolist(), name, column)
    if kind == "b":
        return numpy.where(array, "true", "false").tolist()
    if kind in "iuf" and array.dtype.itemsize <= 8:
        if array.dtype == numpy.float16:
            array = array.astype(numpy.float32)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        return numpy.require(array, requirements=["C", "A"])
    advice = {
        "c": "give real and imaginary part as two columns",
        "M": "give numbers, such as column.astype('int64')",
        "m": "give numbers, such as column.astype('int64')",
        "S": "decode it: numpy.char.decode(column)",
        "f": "convert it with column.astype('float64')",
        "V": "give each of its fields as a column",
    }.get(kind, "give numbers or texts")
    raise DataError(f"{name}, column {column}: values of type {array.dtype} are not read\n  hint: {advice}")


def _is_gap(value: Any) -> bool:
    """`None`, and what pandas has for it; NaN is a number that is missing, which is found out later."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except Exception:  # Arrays and frames have no one answer, and neither may objects of others.
        return False


def _texts(values: Any, name: str, column: str) -> list[str | None]:
    texts: list[str | None] = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            if not value.isascii() and not _options.is_unicode(value):
                raise DataError(
                    f"{name}, row {row + 1}, column {column}: is no valid Unicode: {value!r}\n  hint: replace half pairs"
                )
            texts.append(value)
        elif _is_gap(value) or _is_nan(value):
            texts.append(None)
        else:
            raise DataError(
                f"{name}, row {row + 1}, column {column}: is a Python object of type {type(value).__name__}, where "
                "texts are expected\n  hint: convert the column, with column.astype(float) or column.astype(str)"
            )
    return texts
