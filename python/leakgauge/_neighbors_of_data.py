"""Neighbors of a user's own data: one row less, one more, or another one, with rows that matter first.

Mechanisms that are correct on most data fail on some row: one far from all others, one with a missing value, the only
one of its class, one of several copies. The audit draws mostly from the pair that looks worst, so that a list of such
rows costs little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from . import _options
from ._errors import ArgumentError, checked
from ._native import DataError
from ._neighbors import Neighbors, _same, neighbors
from ._tables import Pair, Part, Table, Values, is_missing, is_number, table_of

# Different values of a column at most, and as a share of its rows, that are classes and not measurements.
_CLASSES = (20, 0.2)

# Columns of which rows are looked at, those with the farthest values first.
_COLUMNS = 32

_CHANGES = ("remove", "add", "replace")


@checked()
def rows(
    data: Any, change: str = "remove", *, count: int = 12, new: Iterable[Any] = (), beyond: float = 1.0, seed: int = 0
) -> Neighbors:
    """Pairs of neighboring data sets: this one, and it with one row changed.

        leakgauge.audit(mechanism, leakgauge.neighbors.rows(frame, change="remove"), "dp(epsilon=1)")

    Rows that matter come first: those with the value farthest from the median of a column, with a missing value, of the
    rarest class, with copies; then the first, the last, a typical one, and random ones. New rows (`change="add"` or
    `"replace"`) have values at both ends of the range of a column and beyond, missing values and the rarest class where
    the data has them, or are copies.

    Args:
        data: A list, a NumPy array, or a frame or series of pandas; neighbors are of the same type.
        change: `"remove"`: one row less. `"add"`: one more. `"replace"`: another one in its place, which changes as much
            as removing one and adding one.
        count: How many pairs there are at most.
        new: Rows of your own to add or to put in, which come first.
        beyond: How far numbers of new rows lie beyond the range of their column, in widths of it. 0 is for functions
            that are defined within the range of the data only.
        seed: Of the random rows.
    """
    return _pairs(table_of("data", data), data, change, count, new, beyond, seed)


@checked()
def xy(
    X: Any,
    y: Any,
    change: str = "remove",
    *,
    count: int = 12,
    new: Iterable[Any] = (),
    beyond: float = 1.0,
    seed: int = 0,
) -> Neighbors:
    """Pairs of neighboring training sets `(X, y)`: this one, and it with one sample changed.

        leakgauge.audit(train, leakgauge.neighbors.xy(X, y), "dp(epsilon=1)")

    As `rows`, over the columns of X and y together. New samples also are copies with another class.

    Args:
        X: Samples: a list, a NumPy array, or a frame of pandas.
        y: Their targets: a list, a NumPy array, or a series of pandas.
        change: As of `rows`, like the others; `new` are pairs `(x, y)`.
    """
    samples, targets = table_of("X", X), table_of("y", y)
    if len(samples) != len(targets):
        raise DataError(f"X, y: have {len(samples)} and {len(targets)} rows\n  hint: give one target a sample")
    return _pairs(Pair(samples, targets), (X, y), change, count, new, beyond, seed)


def _pairs(
    table: Table, data: Any, change: str, count: int, new: Iterable[Any], beyond: float, seed: int
) -> Neighbors:
    change = _options.chosen("change", change, _CHANGES)
    count, seed = _options._whole("count", count), _options._whole("seed", seed)
    beyond = _options._number("beyond", beyond)
    if count < 1:
        raise ArgumentError(f"count=: must be at least 1, not {count}")
    if not 0 <= beyond < np.inf:
        raise ArgumentError(f"beyond=: must be at least 0 and finite, not {beyond}")
    given = list(_options._listed(new))
    if given and change == "remove":
        raise ArgumentError('new=: is for change="add" and change="replace"\n  hint: leave it out')
    looked = _Looked.at(table, seed)
    if change == "remove":
        changed = _removed(table, looked)
    else:
        mine = [(f"own row {at + 1}", table.own(row)) for at, row in enumerate(given)]
        made = chain(mine, _new_rows(table, looked, beyond))
        changed = _added(table, data, made) if change == "add" else _replaced(table, looked, made)
    pairs: list[tuple[Any, Any]] = []
    names: list[str] = []
    for name, other in changed:
        if len(pairs) == count:
            break
        # Data with another row that says the same are the same data.
        if name not in names and not _same(data, other):
            pairs.append((data, other))
            names.append(name)
    if not pairs:
        raise DataError("data: no row can be changed: all are the same\n  hint: give rows to put in, with new=")
    return Neighbors(tuple(pairs), tuple(names), labeled=True)


def _removed(table: Table, looked: _Looked) -> Iterator[tuple[str, Any]]:
    everything = range(len(table))
    for row, why in looked.rows.items():
        yield f"without row {row} ({why})", table.take([at for at in everything if at != row])


def _added(table: Table, data: Any, made: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    whole = table.take(range(len(table)))
    for name, row in made:
        yield f"with {name}", table.joined([whole, row])


def _replaced(table: Table, looked: _Looked, made: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """A typical row becomes one that matters; and a row that matters becomes a typical one."""
    typical = looked.typical

    def put(at: int, row: Any) -> Any:
        return table.joined([table.take(range(at)), row, table.take(range(at + 1, len(table)))])

    into = ((f"row {typical} as {name}", put(typical, row)) for name, row in made)
    leaving = (
        (f"row {row} ({why}) as a copy of row {typical}", put(row, table.made(typical, {})))
        for row, why in looked.rows.items()
        if row != typical
    )
    return _by_turns([into, leaving])


@dataclass
class _Column:
    """What a column holds."""

    name: Any
    values: Values
    # It has no name, and there is no other.
    is_alone: bool
    # Rows without a value.
    gaps: np.ndarray
    # The classes, the rarest one first, with their counts; none if it holds measurements.
    classes: list[tuple[Any, int]] = field(default_factory=list)
    # Of a column of numbers: its values, the median where there is none; the ends of the range; distances to the median.
    filled: np.ndarray | None = None
    ends: tuple[float, float] = (0.0, 0.0)
    median: float = 0.0
    distances: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, name: Any, values: Values, is_alone: bool) -> _Column:
        """Looks at the values."""
        if isinstance(values, np.ndarray):
            gaps, numeric = np.isnan(values), True
            present: Any = values[~gaps]
        else:
            gaps = np.array([is_missing(value) for value in values])
            present = [value for value, gap in zip(values, gaps, strict=True) if not gap]
            numeric = all(map(is_number, present))
        found = cls(name, values, is_alone, gaps)
        if not len(present):
            return found
        if numeric:
            found._measure(np.asarray(present, dtype=float))
        most = min(_CLASSES[0], max(_CLASSES[1] * len(values), 2))
        if isinstance(present, np.ndarray):
            named, counts = np.unique(present, return_counts=True)
            counted = dict(zip(named.tolist(), counts.tolist(), strict=True)) if len(named) <= most else {}
        else:
            try:
                counted = Counter(present)
            except TypeError:
                # Values without a hash are no classes.
                counted = {}
        if 1 < len(counted) <= most:
            found.classes = sorted(counted.items(), key=lambda item: (item[1], str(item[0])))
        return found

    def _measure(self, present: np.ndarray) -> None:
        finite = present[np.isfinite(present)]
        if len(finite):
            self.median = float(np.median(finite))
            self.filled = np.full(len(self.values), self.median)
            self.filled[~self.gaps] = present
            self.ends = (float(finite.min()), float(finite.max()))
            self.distances = np.abs(self.filled - self.median)

    @property
    def missing(self) -> int | None:
        """The first row without a value."""
        return int(np.argmax(self.gaps)) if self.gaps.any() else None

    @property
    def mean_distance(self) -> float:
        """Of finite numbers from their median."""
        finite = self.distances[np.isfinite(self.distances)]
        return float(finite.mean()) if len(finite) else 0.0

    @property
    def far(self) -> float:
        """How far the farthest value lies from the median, in mean distances."""
        return float(self.distances.max()) / self.mean_distance if self.mean_distance > 0 else 0.0

    @property
    def is_target(self) -> bool:
        """Whether it holds what is to be learned."""
        return isinstance(self.name, Part) and self.name.is_target

    @property
    def is_measured(self) -> bool:
        """Whether it has ends; numbers that name the classes of a target have none that matter."""
        return self.filled is not None and not (self.is_target and self.classes)

    @property
    def said(self) -> str:
        """Its name in the names of pairs."""
        if self.is_target:
            return "y"
        if self.is_alone:
            return "value"
        return f"column {self.name.name if isinstance(self.name, Part) else self.name}"

    def row_of(self, value: Any) -> int:
        """The first row of a class."""
        if isinstance(self.values, np.ndarray):
            return int(np.argmax(self.values == value))
        rows = zip(self.values, self.gaps, strict=True)
        return next(row for row, (other, gap) in enumerate(rows) if not gap and other == value)


@dataclass
class _Looked:
    """Rows that matter, in order, each with the reason; and a row that does not."""

    columns: list[_Column]
    rows: dict[int, str]
    typical: int

    @classmethod
    def at(cls, table: Table, seed: int) -> _Looked:
        given = table.columns()
        columns = [_Column.of(name, values, list(given) == [0]) for name, values in given.items()]
        columns.sort(key=lambda column: -column.far)
        # A column that says which class a sample has, or that has gaps, is looked at also where there are many others.
        marked = [column for column in columns[_COLUMNS:] if column.classes or column.missing is not None]
        columns = columns[:_COLUMNS] + marked[:_COLUMNS]
        count = len(table)
        typical = _typical(columns, count)
        rng = np.random.default_rng(seed)
        random = ((int(row), "random") for row in rng.permutation(count))
        found: dict[int, str] = {}
        kinds = [_farthest(columns), _gaps(columns), _rare(columns), _copies(table, count)]
        ends = [(0, "the first"), (count - 1, "the last"), (typical, "typical")]
        for row, why in chain(_by_turns(kinds), ends, _other_ends(columns), random):
            found.setdefault(row, why)
        return cls(columns, found, typical)


def _farthest(columns: list[_Column]) -> Iterator[tuple[int, str]]:
    for column in columns:
        if column.filled is not None and column.is_measured and column.far > 0:
            row = int(np.argmax(column.distances))
            end = "largest" if column.filled[row] > column.median else "smallest"
            yield row, f"{end} {_of(column)}"


def _other_ends(columns: list[_Column]) -> Iterator[tuple[int, str]]:
    for column in columns:
        if column.filled is not None and column.is_measured and column.far > 0:
            yield int(np.argmin(column.filled)), f"smallest {_of(column)}"
            yield int(np.argmax(column.filled)), f"largest {_of(column)}"


def _of(column: _Column) -> str:
    return column.said if column.is_alone else f"in {column.said}"


def _gaps(columns: list[_Column]) -> Iterator[tuple[int, str]]:
    for column in columns:
        if column.missing is not None:
            yield column.missing, "no value" if column.is_alone else f"no value in {column.said}"


def _rare(columns: list[_Column]) -> Iterator[tuple[int, str]]:
    # The target first: a class of one sample is what training code forgets.
    for column in sorted(columns, key=lambda column: (not column.is_target, column.classes[0][1] if column.classes else 0)):
        if column.classes:
            value, count = column.classes[0]
            said = "the only one" if count == 1 else f"one of {count}"
            yield column.row_of(value), f"{said} with {column.said} = {str(value)[:20]}"


def _copies(table: Table, count: int) -> Iterator[tuple[int, str]]:
    keys = table.keys()
    for key, copies in Counter(keys).most_common(3):
        if 1 < copies < count:
            yield keys.index(key), f"one of {copies} copies"


def _typical(columns: list[_Column], count: int) -> int:
    """The row whose numbers are nearest to the medians, without gaps where possible."""
    distance = np.zeros(count)
    for column in columns:
        if column.mean_distance > 0:
            distance += column.distances / column.mean_distance
        distance += np.where(column.gaps, 1e9, 0.0)
    return int(np.argmin(distance))


def _new_rows(table: Table, looked: _Looked, beyond: float) -> Iterator[tuple[str, Any]]:
    """Rows to add: far ones, such with gaps, of rare classes, copies, and classes that do not go with the values."""
    typical, columns = looked.typical, looked.columns
    measured = [column for column in columns if column.is_measured]
    past = "beyond the " if beyond > 0 else "the "

    def far(column: _Column, sign: int) -> Any:
        low, high = column.ends
        # A column of one value has no width.
        value = (high if sign > 0 else low) + sign * beyond * ((high - low) or 1.0)
        present = column.values[int(np.argmin(column.gaps))]
        return int(value) if isinstance(present, (int, np.integer)) else value

    def ends() -> Iterator[tuple[str, Any]]:
        for sign, end in ((1, "largest"), (-1, "smallest")):
            several = [column for column in measured if not column.is_target]
            if len(several) > 1:
                yield f"a row {past}{end} of all columns", {column.name: far(column, sign) for column in several}
            for column in measured:
                yield f"a row {past}{end} {_of(column)}", {column.name: far(column, sign)}

    def gaps() -> Iterator[tuple[str, Any]]:
        for column in columns:
            if column.missing is not None:
                yield f"a row without {column.said}", {column.name: column.values[column.missing]}

    def classes() -> Iterator[tuple[str, Any]]:
        for column in sorted(columns, key=lambda column: not column.is_target):
            for value, _ in column.classes[:3]:
                if value != column.values[typical]:
                    yield f"a row with {column.said} = {str(value)[:20]}", {column.name: value}

    def copies() -> Iterator[tuple[str, int]]:
        for row, why in looked.rows.items():
            yield f"a copy of row {row} ({why})", row

    changed = ((name, table.made(typical, changes)) for name, changes in _by_turns([ends(), gaps(), classes()]))
    copied = ((name, table.made(row, {})) for name, row in copies())
    return _by_turns([changed, copied])


def _by_turns(several: list[Any]) -> Iterator[Any]:
    """The first of each, then the second of each, …"""
    return (item for turn in zip_longest(*several) for item in turn if item is not None)


setattr(neighbors, "rows", rows)
setattr(neighbors, "xy", xy)
