"""Pairs of neighboring inputs, for claims of differential privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _options
from ._errors import ArgumentError, checked
from ._native import OptionError


@dataclass(frozen=True)
class Neighbors:
    """Pairs of neighbors, with the name of the pattern of each.

    `labeled` says that all pairs have their first input in common, and that names tell what the second one is.
    """

    pairs: tuple[tuple[Any, Any], ...]
    names: tuple[str, ...]
    labeled: bool = False
    inputs: tuple[Any, ...] = field(init=False, repr=False)
    positions: tuple[tuple[int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inputs: list[Any] = []
        positions = []
        for pair in self.pairs:
            at = []
            for value in pair:
                known = next((i for i, other in enumerate(inputs) if _same(value, other)), len(inputs))
                if known == len(inputs):
                    inputs.append(value)
                at.append(known)
            positions.append((at[0], at[1]))
        object.__setattr__(self, "inputs", tuple(inputs))
        object.__setattr__(self, "positions", tuple(positions))

    @property
    def labels(self) -> list[str] | None:
        """What reports call the inputs; `None` if the inputs say that themselves."""
        if not self.labeled:
            return None
        found = {0: "data"}
        for (_, at), name in zip(self.positions, self.names, strict=True):
            found.setdefault(at, name)
        return [found[at] for at in range(len(self.inputs))]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.pairs)


def _same(x: Any, y: Any) -> bool:
    if x is y:
        return True
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.array_equal(x, y)
    if isinstance(x, (tuple, list)) and type(x) is type(y):
        return len(x) == len(y) and all(map(_same, x, y))
    if type(x) is not type(y) and not (isinstance(x, (int, float)) and isinstance(y, (int, float))):
        return False
    try:
        # Frames and series compare by cells.
        return bool(x.equals(y) if hasattr(x, "equals") else x == y)
    except Exception:
        return False


@checked()
def neighbors(
    length: int | None = None,
    *,
    change: str = "replace",
    value: float = 1.0,
    by: float = 1.0,
    strategy: Callable[[np.random.Generator], tuple[Any, Any]] | None = None,
    count: int = 20,
    seed: int = 0,
) -> Neighbors:
    """Pairs of neighboring inputs to audit a function on.

    For vectors of query answers (`length`): the patterns of StatDP (Ding et al. 2018, doi:10.1145/3243734.3243818)
    and DP-Sniper (Bichsel et al. 2021, doi:10.1109/SP40001.2021.00081). For databases (`strategy`): whatever it draws.
    Of data in hand: `neighbors.rows(data, change="remove")` and `neighbors.xy(X, y)`, with rows that matter first.

    Args:
        length: How many queries there are, at least 1.
        change: `"replace"`: all answers may change by `by`, in either direction. `"add"` or `"remove"`: a row more or
            less, which changes all answers in one direction only.
        value: The answer of every query in the first vector.
        by: How much one row can change an answer.
        strategy: Called with a NumPy generator; returns two neighboring databases.
        count: How many pairs `strategy` is asked for.
        seed: Of that generator.
    """
    if (length is None) == (strategy is None):
        raise ArgumentError("neighbors() takes length= for vectors of answers, or strategy= for databases")
    count, seed = _options._whole("count", count), _options._whole("seed", seed)
    if strategy is not None:
        if not callable(strategy) or count < 1:
            raise ArgumentError(f"strategy=, count=: must be a function and at least 1, not {strategy!r} and {count}")
        rng = np.random.default_rng(seed)
        pairs = []
        for _ in range(count):
            pair = strategy(rng)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ArgumentError(f"strategy: must return two databases as a tuple, not {pair!r}")
            pairs.append(pair)
        return Neighbors(tuple(pairs), tuple(f"strategy {at}" for at in range(count)))
    assert length is not None
    length = _options._whole("length", length)
    value, by = _options._number("value", value), _options._number("by", by)
    if length > 10_000_000:
        raise ArgumentError(f"length={length}: must be at most 10,000,000")
    if length < 1:
        raise ArgumentError(f"length=: must be at least 1, not {length}")
    change = _options.chosen("change", change, ("replace", "add", "remove"))
    return _patterns(length, change, value, by)


def _patterns(length: int, change: str, value: float, by: float) -> Neighbors:
    up = np.ones(length)
    half = np.arange(length) < (length + 1) // 2
    shapes: list[tuple[str, np.ndarray]] = [
        ("one above", _at(length, 0)),
        ("one below", -_at(length, 0)),
        ("one above, rest below", 2 * _at(length, 0) - up),
        ("one below, rest above", up - 2 * _at(length, 0)),
        ("half half", np.where(half, 1.0, -1.0)),
        ("all above all below", up),
        ("all below all above", -up),
    ]
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    names = []
    base = np.full(length, float(value))
    for name, shape in shapes:
        if change != "replace":
            # One row more moves no answer down.
            shape = np.maximum(shape, 0.0) if change == "add" else np.minimum(shape, 0.0)
        pairs.append((base, base + by * shape))
        names.append(name)
    # The X shape: falling answers against rising ones.
    cross = np.where(half, 1.0, 0.0)
    mirrored = 1.0 - cross
    if change == "replace":
        pairs.append((base + by * cross, base + by * mirrored))
        names.append("X shape")
    kept: list[int] = []
    for at, pair in enumerate(pairs):
        # The other way round it is the same pair.
        ways = (pair, pair[::-1])
        known = any(_same(way[0], pairs[k][0]) and _same(way[1], pairs[k][1]) for k in kept for way in ways)
        if not known and not _same(*pair):
            kept.append(at)
    return Neighbors(tuple(pairs[at] for at in kept), tuple(names[at] for at in kept))


def _at(length: int, position: int) -> np.ndarray:
    return np.where(np.arange(length) == position, 1.0, 0.0)


def as_pairs(inputs: Any) -> tuple[Sequence[Any], list[tuple[int, int]] | None]:
    """Inputs, and which pairs of them the claims are about; `None` if all.

    Raises:
        leakgauge.OptionError: Something that is one input, or that has no order.
    """
    if isinstance(inputs, Neighbors):
        return inputs.inputs, list(inputs.positions)
    kind = type(inputs).__name__
    if hasattr(inputs, "columns") or isinstance(inputs, (str, bytes, Mapping)):
        raise OptionError(
            f"inputs=: is one {kind}, and a leak is a difference between two inputs\n"
            f"  hint: pass a list of them, inputs=[one, other], such as a {kind} with and without one entry, or pairs made "
            "of it, inputs=leakgauge.neighbors.rows(data)"
        )
    if not isinstance(inputs, Iterable) or (isinstance(inputs, np.ndarray) and inputs.ndim == 0):
        raise OptionError(f"inputs=: must be a list of inputs, not {inputs!r}\n  hint: inputs=[0.0, 1.0]")
    return list(inputs), None
