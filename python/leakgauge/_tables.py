"""Lists, arrays and frames as rows that are taken out, put in and looked at, each in its own type."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._errors import ArgumentError
from ._native import DataError

Changes = Mapping[Any, Any]

# Of a column.
Values = list[Any] | np.ndarray

# Columns of an array that are looked at, those with the farthest values.
_WIDE = 64


class Part(NamedTuple):
    """A column of the samples, or of their targets."""

    is_target: bool
    name: Any


class Table(Protocol):
    """Rows in the type that they were given in."""

    def __len__(self) -> int: ...

    def columns(self) -> dict[Any, Values]:
        """Values by column: a list, or an array of numbers; what has no name is under its position."""

    def keys(self) -> list[Any]:
        """One value a row, equal where rows are."""

    def take(self, rows: Sequence[int]) -> Any:
        """Some rows, in this order."""

    def made(self, row: int, changes: Changes) -> Any:
        """One row like `row`, with other values in some columns, as data of this type."""

    def own(self, row: Any) -> Any:
        """A row that somebody else wrote, as data of this type."""

    def joined(self, parts: Iterable[Any]) -> Any:
        """The rows of several data of this type."""


def table_of(name: str, data: Any) -> Table:
    """The rows of a list, an array, or a frame or series of pandas.

    Raises:
        leakgauge.Error: Of anything else, and where there are fewer than two rows.
    """
    found: Table
    if hasattr(data, "iloc"):
        found = _Frame(data)
    elif isinstance(data, np.ndarray) and data.ndim:
        found = _Array(data)
    elif isinstance(data, (list, tuple)):
        found = _List(data)
    else:
        hint = "\n  hint: give data.to_pandas(), and take it back in the function" if hasattr(data, "to_pandas") else ""
        raise ArgumentError(
            f"{name}: must be a list, an array, or a frame or series of pandas, not {type(data).__name__}{hint}"
        )
    if len(found) < 2:
        raise DataError(f"{name}: has {len(found)} rows\n  hint: give at least two")
    return found


class _List:
    def __init__(self, data: Any) -> None:
        self._kind, self._rows = type(data), list(data)

    def __len__(self) -> int:
        return len(self._rows)

    def columns(self) -> dict[Any, Values]:
        rows = self._rows
        if all(isinstance(row, Mapping) for row in rows):
            return {key: [row.get(key) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}
        if all(isinstance(row, (list, tuple)) for row in rows) and len({len(row) for row in rows}) == 1:
            return {at: [row[at] for row in rows] for at in range(len(rows[0]))}
        return {0: rows}

    def keys(self) -> list[Any]:
        return [repr(row) for row in self._rows]

    def take(self, rows: Sequence[int]) -> Any:
        return self._made([self._rows[at] for at in rows])

    def made(self, row: int, changes: Changes) -> Any:
        given = self._rows[row]
        if isinstance(given, Mapping):
            return self._made([{**given, **changes}])
        if isinstance(given, (list, tuple)) and len(self.columns()) == len(given):
            return self._made([_like(given, [changes.get(at, value) for at, value in enumerate(given)])])
        return self._made([changes.get(0, given)])

    def own(self, row: Any) -> Any:
        return self._made([row])

    def joined(self, parts: Iterable[Any]) -> Any:
        return self._made([row for part in parts for row in part])

    def _made(self, rows: list[Any]) -> Any:
        return tuple(rows) if issubclass(self._kind, tuple) else rows


def _like(given: Any, values: list[Any]) -> Any:
    """Named tuples stay what they are."""
    return type(given)(*values) if hasattr(given, "_fields") else type(given)(values)


class _Array:
    def __init__(self, data: np.ndarray) -> None:
        self._data = data
        self._fields = data.dtype.names
        if data.ndim > 2 or (self._fields and data.ndim > 1):
            # Images and the like: rows are looked at as wholes.
            self._flat = data.reshape(len(data), -1)
        else:
            self._flat = data.reshape(-1, 1) if data.ndim == 1 and not self._fields else data

    def __len__(self) -> int:
        return len(self._data)

    def columns(self) -> dict[Any, Values]:
        if self._fields:
            return {name: _values(self._data[name]) for name in self._fields}
        wide = self._flat.shape[1]
        shown = range(wide) if wide <= _WIDE or self._flat.dtype.kind not in "iuf" else _farthest(self._flat)
        return {int(at): _values(self._flat[:, at]) for at in shown}

    def keys(self) -> list[Any]:
        whole = self._data if self._fields else np.ascontiguousarray(self._flat)
        return [repr(row) for row in whole.tolist()] if whole.dtype.hasobject else [row.tobytes() for row in whole]

    def take(self, rows: Sequence[int]) -> Any:
        return self._data[np.asarray(rows, dtype=np.intp)]

    def made(self, row: int, changes: Changes) -> Any:
        one = self._data[row : row + 1].copy()
        for column, value in changes.items():
            if self._fields:
                one[column] = _fitting(value, one.dtype[column])
            else:
                one.reshape(1, -1)[0, column] = _fitting(value, one.dtype)
        return one

    def own(self, row: Any) -> Any:
        one = np.empty((1, *self._data.shape[1:]), dtype=self._data.dtype)
        try:
            one[0] = row
        except (TypeError, ValueError) as problem:
            raise DataError(f"new=: {problem}\n  hint: give rows such as {self._data[0]!r}") from None
        return one

    def joined(self, parts: Iterable[Any]) -> Any:
        return np.concatenate(list(parts))


def _values(column: Any) -> Values:
    """Numbers as an array, which is looked at many times faster; else a list."""
    if getattr(column.dtype, "kind", "O") in "iuf" and not hasattr(column.dtype, "numpy_dtype"):
        return np.asarray(column)
    return list(column.tolist())


def _farthest(values: np.ndarray) -> Sequence[int]:
    """The columns whose farthest value lies farthest, in standard deviations."""
    deviation = np.maximum(np.nanstd(values, axis=0, dtype=float), 1e-300)
    far = np.nanmax(np.abs(values - np.nanmean(values, axis=0, dtype=float)), axis=0) / deviation
    return [int(at) for at in np.argsort(-np.nan_to_num(far), kind="stable")[:_WIDE]]


class _Frame:
    def __init__(self, data: Any) -> None:
        self._data = data
        self._is_frame = hasattr(data, "columns")
        # Positions as an index are those of the rows that there are; names go with their rows.
        self._is_numbered = list(data.index) == list(range(len(data)))

    def __len__(self) -> int:
        return len(self._data)

    def columns(self) -> dict[Any, Values]:
        if not self._is_frame:
            return {0: _values(self._data)}
        return {name: _values(self._data.iloc[:, at]) for at, name in enumerate(self._data.columns)}

    def keys(self) -> list[Any]:
        rows = self._data.itertuples(index=False, name=None) if self._is_frame else self._data.tolist()
        return [repr(row) for row in rows]

    def take(self, rows: Sequence[int]) -> Any:
        return self._indexed(self._data.iloc[list(rows)])

    def made(self, row: int, changes: Changes) -> Any:
        one = self._data.iloc[[row]].copy()
        for column, value in changes.items():
            if self._is_frame:
                at = list(self._data.columns).index(column)
                one.iloc[0, at] = _fitting(value, one.dtypes.iloc[at])
            else:
                one.iloc[0] = _fitting(value, one.dtype)
        return one

    def own(self, row: Any) -> Any:
        kind = type(self._data)
        if hasattr(row, "iloc") and hasattr(row, "columns") == self._is_frame and len(row) == 1:
            return row
        if not self._is_frame:
            return kind([row], name=self._data.name).astype(self._data.dtype)
        try:
            values = [row[name] for name in self._data.columns] if hasattr(row, "keys") else list(row)
            one = kind([values], columns=self._data.columns)
        except (TypeError, ValueError, KeyError) as problem:
            raise DataError(f"new=: {problem}\n  hint: give rows as dicts {{column: value}}") from None
        return one.astype(dict(self._data.dtypes), errors="ignore") if self._data.columns.is_unique else one

    def joined(self, parts: Iterable[Any]) -> Any:
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return self._indexed(pandas.concat(list(parts)))

    def _indexed(self, data: Any) -> Any:
        return data.reset_index(drop=True) if self._is_numbered else data


class Pair:
    """Samples with their targets: two data that have the same rows."""

    def __init__(self, samples: Table, targets: Table) -> None:
        self._samples, self._targets = samples, targets

    def __len__(self) -> int:
        return len(self._samples)

    def columns(self) -> dict[Any, Values]:
        sides = enumerate((self._samples, self._targets))
        return {Part(bool(of), name): values for of, side in sides for name, values in side.columns().items()}

    def keys(self) -> list[Any]:
        return list(zip(self._samples.keys(), self._targets.keys(), strict=True))

    def take(self, rows: Sequence[int]) -> Any:
        return self._samples.take(rows), self._targets.take(rows)

    def made(self, row: int, changes: Changes) -> Any:
        sides = [{part.name: value for part, value in changes.items() if part.is_target == of} for of in (False, True)]
        return self._samples.made(row, sides[0]), self._targets.made(row, sides[1])

    def own(self, row: Any) -> Any:
        if not isinstance(row, tuple) or len(row) != 2:
            raise ArgumentError("new=: must be pairs (x, y) of a sample and its target")
        return self._samples.own(row[0]), self._targets.own(row[1])

    def joined(self, parts: Iterable[Any]) -> Any:
        samples, targets = zip(*parts, strict=True)
        return self._samples.joined(samples), self._targets.joined(targets)


def _fitting(value: Any, kind: Any) -> Any:
    """A number within the range of a type of whole numbers."""
    if getattr(kind, "kind", "") in "iu" and isinstance(value, numbers.Real):
        limits = np.iinfo(getattr(kind, "numpy_dtype", kind))
        return min(max(int(float(value)), int(limits.min)), int(limits.max))
    return value


def is_missing(value: Any) -> bool:
    """`None`, NaN, and what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def is_number(value: Any) -> bool:
    """Whether it can be an outlier: a number that is there, and that computes with others."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False
