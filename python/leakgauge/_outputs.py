"""Outputs of functions as columns: numbers, words, and what is observed of lists and dicts."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from ._native import DataError

# Elements of a list that are columns of their own at most.
_ELEMENTS = 16

_WORD = ("bytes", "bytearray")


class Shape:
    """What outputs look like. The first ones settle it; later ones must be alike."""

    def __init__(self) -> None:
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
            self._settle("vectors")
            width = joined.shape[1]
            if self.width not in (0, width):
                raise DataError(f"fn: returned vectors of length {width} after ones of length {self.width}")
            if width == 0:
                raise DataError("fn: returned vectors of length 0\n  hint: return something to observe")
            self.width = width
            return _exact_floats(joined)
        if self.kind not in (None, "numbers"):
            return self._rows(joined.tolist())
        self._settle("numbers")
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

    def _settle(self, kind: str) -> None:
        if self.kind is None:
            self.kind = kind
        if self.kind != kind:
            raise DataError(
                f"fn: returned {kind} after {self.kind}\n  hint: every call must return outputs of one shape"
            )

    def _rows(self, rows: list[Any]) -> Any:
        kind = "lists" if any(_is_list(row) for row in rows) else "dicts" if any(isinstance(row, Mapping) for row in rows) else "scalars"
        if self.kind in (None, "numbers") and kind == "scalars":
            self.kind = self.kind or "scalars"
        elif not (self.kind == "scalars" and kind == "scalars"):
            self._settle(kind)
        if kind == "lists":
            return self._lists(rows)
        if kind == "dicts":
            return self._dicts(rows)
        if all(isinstance(row, float) for row in rows):
            self.types.add("number")
            return np.asarray(rows, dtype=np.float64)
        values = [_scalar(row) for row in rows]
        self.types.update("word" if isinstance(value, str) else "number" for value in values if value is not None)
        return [values]

    def _lists(self, rows: list[Any]) -> list[list[Any]]:
        """The length, the elements, and the list and its set as they are written, where these can recur."""
        lists = [None if row is None else [_scalar(item) for item in row] for row in rows]
        if not self.width:
            longest = max((len(row) for row in lists if row is not None), default=0)
            self.width = min(max(longest, 1), _ELEMENTS)
        columns: list[list[Any]] = [[None if row is None else len(row) for row in lists]]
        for at in range(self.width):
            columns.append([None if row is None or at >= len(row) else row[at] for row in lists])
        columns.append([None if row is None else _written(row) for row in lists])
        columns.append([None if row is None else _written(sorted(set(map(str, row)))) for row in lists])
        return columns

    def _dicts(self, rows: list[Any]) -> list[list[Any]]:
        """The value of every key of the first outputs; and the keys as they are written, with the values of others."""
        if any(not isinstance(row, Mapping) and row is not None for row in rows):
            raise DataError("fn: returned a dict and something else\n  hint: every call must return outputs of one shape")
        if not self.keys:
            self.keys = tuple(sorted({key for row in rows if row for key in row}, key=str))
        columns = [
            [None if row is None or row.get(key) is None else _scalar(row[key]) for row in rows] for key in self.keys
        ]
        known = set(self.keys)

        def rest(row: Mapping[Any, Any]) -> str:
            return exact({key: None if key in known else row[key] for key in row})

        columns.append([None if row is None else rest(row) for row in rows])
        return columns

    @property
    def is_mixed(self) -> bool:
        """Whether some outputs are numbers and some are words."""
        return len(self.types) > 1


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


def _written(items: list[Any]) -> str:
    return exact(items)


def _scalar(value: Any) -> Any:
    """A number, a word, or None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if -(2**63) <= whole < 2**63 else str(whole)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _scalar(value[()])
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
