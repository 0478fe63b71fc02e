"""Outputs of functions as columns: numbers, words, and what is observed of lists and dicts."""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from . import _options
from ._native import DataError

# Elements of a list that are columns of their own at most.
_ELEMENTS = 16

# Cells of a frame that are columns of their own at most.
_CELLS = 32

# What is no number, but has a text that says all of it.
_TIMES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta, complex, np.complexfloating)

_WORD = ("bytes", "bytearray")


class Shape:
    """What outputs look like. The first ones settle which columns there are; each later output has a place in them.

    Where it does not have the form of the first ones, it is written out as text: a function that returns a list now
    and then, or `None` at first, is observed with all that it says.
    """

    def __init__(self) -> None:
        # "numbers" and "vectors" are arrays; "scalars" are one column; "lists" and "dicts" have columns for their parts;
        # "any" has columns for whatever comes, where the first outputs say nothing.
        self.kind: str | None = None
        self.width = 0
        self.keys: tuple[Any, ...] = ()
        self.types: set[str] = set()

    def columns(self, outputs: list[Any]) -> Any:
        """The outputs of several calls, each an array of rows or a list of them, in the form of the native module."""
        if all(isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub" and rows.ndim in (1, 2) for rows in outputs):
            return self._arrays(outputs)
        rows = outputs[0] if len(outputs) == 1 else [row for some in outputs for row in some]
        return self._rows(rows)

    def _arrays(self, outputs: list[np.ndarray]) -> Any:
        joined = outputs[0] if len(outputs) == 1 else self._joined(outputs)
        if joined.ndim == 2:
            if self.kind not in (None, "vectors"):
                return self._rows(list(joined))
            self.kind = "vectors"
            width = joined.shape[1]
            if self.width not in (0, width):
                raise DataError(
                    f"fn: returned vectors of length {width} after ones of length {self.width}\n"
                    "  hint: return vectors of one length, or lists"
                )
            if width == 0:
                raise DataError("fn: returned vectors of length 0\n  hint: return something to observe")
            self.width = width
            return _exact_floats(joined)
        if self.kind not in (None, "numbers"):
            return self._rows(joined.tolist())
        self.kind = "numbers"
        self.types.add("number")
        if joined.dtype.kind in "iub":
            if joined.dtype == np.uint64 and joined.size and joined.max() > np.iinfo(np.int64).max:
                return self._rows(joined.tolist())
            return np.ascontiguousarray(joined, dtype=np.int64)
        if joined.dtype.itemsize > 8:
            return self._rows(list(joined))
        return np.ascontiguousarray(joined, dtype=np.float64)

    @staticmethod
    def _joined(outputs: list[np.ndarray]) -> np.ndarray:
        if len({rows.ndim for rows in outputs}) > 1 or len({rows.shape[1:] for rows in outputs}) > 1:
            raise DataError("fn: returned arrays of different shapes\n  hint: return one row an output")
        return np.concatenate(outputs)

    def _rows(self, rows: list[Any]) -> Any:
        if self.kind in ("numbers", "scalars", None) and all(isinstance(row, float) for row in rows):
            self.kind = self.kind or "scalars"
            self.types.add("number")
            return np.asarray(rows, dtype=np.float64)
        rows = [plain(row) for row in rows]
        if self.kind is None:
            self.kind = _kind_of(rows)
            self._settle(rows)
        if self.kind == "vectors":
            return self._vectors(rows)
        if self.kind == "lists":
            return self._lists(rows)
        if self.kind == "dicts":
            return self._dicts(rows)
        if self.kind == "any":
            return _anything(rows)
        values = [_scalar(row) for row in rows]
        self.types.update("word" if isinstance(value, str) else "number" for value in values if value is not None)
        return [values]

    def _settle(self, rows: list[Any]) -> None:
        """The elements of lists and the keys of dicts that are columns."""
        if self.kind == "lists":
            longest = max(len(row) for row in rows if _is_list(row))
            self.width = min(max(longest, 1), _ELEMENTS)
        elif self.kind == "dicts":
            self.keys = tuple(sorted({key for row in rows if isinstance(row, Mapping) for key in row}, key=str))

    def _vectors(self, rows: list[Any]) -> list[list[Any]]:
        """Rows of a function whose first outputs were an array."""
        for row in rows:
            if row is not None and not (_is_list(row) and len(row) == self.width):
                what = f"a list of length {len(row)}" if _is_list(row) else type(row).__name__
                raise DataError(
                    f"fn: returned {what} after vectors of length {self.width}\n"
                    "  hint: return vectors of one length, or lists"
                )
        return [[None if row is None else _scalar(row[at]) for row in rows] for at in range(self.width)]

    def _lists(self, rows: list[Any]) -> list[list[Any]]:
        """The length, the elements, and the list and its set as they are written, where these can recur."""
        lists = [[_scalar(item) for item in row] if _is_list(row) else None for row in rows]
        columns: list[list[Any]] = [[None if row is None else len(row) for row in lists]]
        for at in range(self.width):
            columns.append([None if row is None or at >= len(row) else row[at] for row in lists])
        columns.append([_written(row) if of is None else exact(of) for row, of in zip(rows, lists, strict=True)])
        columns.append([None if row is None else exact(sorted(set(map(str, row)))) for row in lists])
        return columns

    def _dicts(self, rows: list[Any]) -> list[list[Any]]:
        """The value of every key of the first outputs; and the keys as they are written, with the values of others."""
        dicts = [row if isinstance(row, Mapping) else None for row in rows]
        columns = [
            [None if row is None or row.get(key) is None else _scalar(row[key]) for row in dicts] for key in self.keys
        ]
        known = set(self.keys)

        def rest(row: Mapping[Any, Any]) -> str:
            return exact({key: None if key in known else row[key] for key in row})

        columns.append([_written(row) if of is None else rest(of) for row, of in zip(rows, dicts, strict=True)])
        return columns

    @property
    def is_mixed(self) -> bool:
        """Whether some outputs are numbers and some are words."""
        return len(self.types) > 1


def _kind_of(rows: list[Any]) -> str:
    """The form of the first outputs."""
    if any(_is_list(row) for row in rows):
        return "lists"
    if any(isinstance(row, Mapping) and row for row in rows):
        return "dicts"
    return "any" if all(row is None or isinstance(row, Mapping) for row in rows) else "scalars"


def _anything(rows: list[Any]) -> list[list[Any]]:
    """Columns that have a place for every output: a number or word that it is or begins with, how long it is, and all of
    it as text."""

    def first(row: Any) -> Any:
        if isinstance(row, Mapping):
            row = [row[key] for key in sorted(row, key=str)]
        if _is_list(row):
            row = next(iter(row), None)
        return None if row is None else _scalar(row)

    lengths = [len(row) if _is_list(row) or isinstance(row, Mapping) else None for row in rows]
    keys = [exact(sorted(map(str, row))) if isinstance(row, Mapping) else None for row in rows]
    return [[first(row) for row in rows], lengths, keys, [_written(row) for row in rows]]


def plain(row: Any) -> Any:
    """A frame or a series as a dict or a list: what an observer of it sees."""
    if row is None or isinstance(row, (str, int, float, list, tuple, Mapping, np.ndarray)):
        return row
    if hasattr(row, "columns") and hasattr(row, "shape") and hasattr(row, "to_dict"):
        return _of_frame(row)
    if hasattr(row, "to_list") and hasattr(row, "dtype"):
        return _of_series(row)
    return row


def _of_series(series: Any) -> Any:
    """The values; with their labels, if it has some of its own."""
    values = series.to_list()
    labels = list(getattr(series, "index", range(len(values))))
    if labels == list(range(len(values))):
        return values
    found = {label: value for label, value in zip(labels, values, strict=True)}
    # Labels in their order say what a dict does not.
    return {**found, "order of labels": exact(labels)} if len(found) == len(values) else [labels, values]


def _of_frame(frame: Any) -> dict[str, Any]:
    """The number of rows, the first cells by column and row, and the others as one text."""
    if hasattr(frame, "reset_index") and list(frame.index) != list(range(len(frame.index))):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    rows = int(frame.shape[0])
    shown = min(rows, max(_CELLS // max(len(names), 1), 1))
    found: dict[str, Any] = {"rows": rows, "columns": exact(names)}
    others = []
    for at, name in enumerate(names):
        column = frame.iloc[:, at] if hasattr(frame, "iloc") else frame[name]
        values = column.to_list()
        found.update({f"{name}, row {row}": value for row, value in enumerate(values[:shown])})
        others.append(values[shown:])
    return {**found, "other rows": exact(others)} if rows > shown else found


def _is_list(row: Any) -> bool:
    return isinstance(row, (list, tuple, set, frozenset)) or (isinstance(row, np.ndarray) and row.ndim > 0)


def _exact_floats(joined: np.ndarray) -> np.ndarray:
    """Vectors as they are computed with: outputs that differ must stay different."""
    floats = np.ascontiguousarray(joined, dtype=np.float64)
    if joined.dtype.kind in "iu" and joined.dtype.itemsize == 8:
        same = bool(np.all(np.abs(floats) <= 2.0**53))
    else:
        same = joined.dtype.itemsize <= 8 or bool(np.all((floats.astype(joined.dtype) == joined) | np.isnan(floats)))
    if not same:
        raise DataError(
            "fn: returned vectors of numbers with more digits than 64-bit floating point keeps\n"
            "  hint: return them as lists of Python numbers, or as text"
        )
    return floats


def exact(value: Any) -> str:
    """A text that differs wherever values do, with all digits and all elements."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{exact(key)}: {exact(of)}" for key, of in value.items())) + "}"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(map(exact, value))) + ")"
    if isinstance(value, np.ndarray):
        return exact(value.tolist()) if value.dtype.itemsize <= 8 or value.dtype.kind in "SUO" else exact(list(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(exact, value)) + "]"
    if isinstance(value, np.generic) and value.dtype.itemsize <= 8:
        value = value.item()
    return repr(value)


def _written(row: Any) -> str | None:
    """An output as text; `None` stays apart."""
    return None if row is None else exact(row)


def _scalar(value: Any) -> Any:
    """A number, a word, or None."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, str):
        return str(value) if value.isascii() or _options.is_unicode(value) else repr(value)
    if isinstance(value, _TIMES):
        return None if value != value else str(value)
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if -(2**63) <= whole < 2**63 else str(whole)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return None if np.ma.is_masked(value) else _scalar(np.asarray(value)[()])
    if isinstance(value, numbers.Real):
        number = float(value)
        # What a 64-bit number cannot hold stays apart as a word.
        return number if number == value or number != number else repr(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if type(value).__name__ in _WORD:
        return repr(bytes(value))
    if isinstance(value, Decimal):
        number = float(value)
        return number if value.is_finite() and Decimal(repr(number)) == value else str(value)
    if _is_list(value) or isinstance(value, Mapping):
        return exact(value)
    if hasattr(value, "name") and hasattr(value, "value"):  # an enum
        return str(value)
    raise DataError(
        f"fn: returned {type(value).__name__}, which is no number, text, list, dict or None\n"
        "  hint: return what the observer sees in one of these forms"
    )


def finite(value: float | None) -> bool:
    """Whether there is a finite number."""
    return value is not None and math.isfinite(value)
