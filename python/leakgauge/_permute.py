"""Shuffling of rows within groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _data, _native, _options
from ._errors import ArgumentError, checked
from ._native import DataError
from .results import Report

_KEYWORDS: dict[str, Any] = {
    "move": ((), _options._several(_options._column)),
    "groups": ("", _options._text),
    "alpha": (None, _options._optional(_options._number)),
    "within": (False, _options._flag),
    "by": ((), _options._several(_options._column)),
    "radius": (None, _options._optional(_options._number)),
    "size": (None, _options._optional(_options._whole)),
    "edges": (None, _options._optional(_options._file)),
    "group_file": (None, _options._optional(_options._file)),
    "id": (None, _options._optional(_options._column)),
    "distance": ("kendall", _options._text),
    "order": ("best", _options._text),
    "bound_by_width": (False, _options._flag),
    "epsilon": (None, _options._optional(_options._number)),
    "randomizer": (None, _options._optional(_options._text)),
    "values": ((), _options._several(_options._label)),
    "already_epsilon": (None, _options._optional(_options._number)),
    "subsets": ((1, 5, 10), _options._several(_options._whole)),
    "also": ((), _options._several(_options._number)),
    "also_group_file": ((), _options._several(_options._file)),
    "previous": ((), _options._several(_options._number)),
    "delta": (0.05, _options._number),
    "eta": (0.8, _options._number),
    "trials": (None, _options._optional(_options._whole)),
    "confidence": (0.95, _options._number),
    "seed": (None, _options._optional(_options._whole)),
    "threads": (None, _options._optional(_options._whole)),
}


@dataclass(frozen=True, eq=False)
class Permuted:
    """Shuffled columns, what is guaranteed, and the secret that undoes it.

    `permutation[i]` is the row (from 0) whose values row i received. Keep it secret.
    """

    data: Mapping[str, Any]
    report: Report
    permutation: Any = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Permuted):
            return NotImplemented
        import numpy

        same = self.report == other.report and list(self.data) == list(other.data)
        return (
            same
            and numpy.array_equal(self.permutation, other.permutation)
            and all(numpy.array_equal(self.data[name], other.data[name]) for name in self.data)
        )

    def __hash__(self) -> int:
        return hash(self.report)


@checked()
def permute(data: Any, *, move: Any, groups: str, alpha: float | None = None, **options: Any) -> Permuted:
    """Shuffles values of a log within groups of rows, d_σ-private: `permute(d, move="v", groups="equal", by="g", alpha=1)`.

    Args:
        data: A dict of columns, a structured array, or a frame with columns of NumPy values.
        move: The columns whose values are shuffled, together.
        groups: `"distance"`, `"haversine"`, `"nearest"`, `"path"`, `"equal"` or `"file"`.
        alpha: The privacy parameter; not with `within=True`, which shuffles every group by itself, uniformly.
        **options: `within`, `by`, `radius`, `size`, `edges`, `group_file`, `id`, `distance`, `order`, `bound_by_width`,
            `epsilon`, `randomizer`, `values`, `already_epsilon`, `subsets`, `also`, `also_group_file`, `previous`,
            `delta`, `eta`, `trials`, `confidence`, `seed`, `threads`, as of `leakgauge permute`.

    Returns:
        Columns as arrays; those that moved have the type that they had, or are texts if they were randomized.
    """
    keywords = _options.converted("permute", {"move": move, "groups": groups, "alpha": alpha, **options}, _KEYWORDS)
    arrays = _arrays(data)
    texts = [(name, _texts(name, values)) for name, values in arrays.items()]
    received, randomized, written = _native.permute("data", texts, keywords)
    import numpy

    order = numpy.asarray(received)
    names = list(arrays)
    moved = {name if name in arrays else names[int(name) - 1] for name in keywords["move"]}
    replaced = dict(randomized)
    shuffled = {
        name: (numpy.asarray(replaced[name]) if name in replaced else values)[order] if name in moved else values
        for name, values in arrays.items()
    }
    return Permuted(shuffled, Report._of(written, "permute"), order)


def _arrays(data: Any) -> dict[str, Any]:
    import numpy

    if _data.is_path(data):
        raise ArgumentError("data must be in memory\n  hint: for files there is `leakgauge permute`")
    if isinstance(data, Mapping):
        columns = dict(data)
    elif hasattr(data, "column_names"):
        columns = {name: data[name].to_numpy() for name in data.column_names}
    elif hasattr(data, "columns"):
        columns = {name: data[name].to_numpy() for name in data.columns}
    elif getattr(getattr(data, "dtype", None), "names", None):
        columns = {name: data[name] for name in data.dtype.names}
    else:
        raise ArgumentError(f"data must be a dict of columns, a structured array or a frame, not {type(data).__name__}")
    arrays = {str(name): numpy.asanyarray(values) for name, values in columns.items()}
    for name, values in arrays.items():
        if values.ndim != 1:
            raise DataError(f"data, column {name}: has {values.ndim} dimensions\n  hint: give one value a row")
    return arrays


def _texts(name: str, values: Any) -> list[str]:
    import numpy

    if isinstance(values, numpy.ma.MaskedArray) and numpy.ma.getmaskarray(values).any():
        raise DataError(f"data, column {name}: has masked values\n  hint: fill them in, with filled()")
    if values.dtype.kind == "O":
        texts = _data._texts(values.tolist(), "data", name)
        there = [text for text in texts if text is not None]
        if len(there) < len(texts):
            row = texts.index(None) + 1
            raise DataError(f"data, row {row}, column {name}: the value is missing\n  hint: fill it in")
        return there
    if values.dtype.kind not in "iufbUT":
        raise DataError(
            f"data, column {name}: values of type {values.dtype} are not read\n  hint: give numbers or texts"
        )
    return [value if isinstance(value, str) else repr(value) for value in values.tolist()]
