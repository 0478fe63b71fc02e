"""Pairs of secrets or of inputs, as a sequence and as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, overload

from . import _native
from ._native import OptionError

# Columns of a frame: the name, whether it holds `texts`, `counts` or `numbers`, and where each pair has it.
Columns = Sequence[tuple[str, str, str]]


class Pairs:
    """Every pair of secrets or of inputs; frames take it as it is (`__arrow_c_stream__`): `polars.DataFrame(r.pairs)`."""

    def __init__(self, pairs: Sequence[Any], columns: Columns) -> None:
        self._pairs = tuple(pairs)
        self._columns = tuple(columns)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: Any) -> Any:
        return self._pairs[at]

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pairs)

    def __eq__(self, other: object) -> bool:
        return self._pairs == other._pairs if isinstance(other, Pairs) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(repr(pair) for pair in self._pairs))

    def __repr__(self) -> str:
        return f"<{len(self)} pairs>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict a pair, with the keys that are columns of frames. Needs no library."""
        return [{name: _value(pair, path) for name, _, path in self._columns} for pair in self]

    def to_pandas(self) -> Any:
        """A pandas frame with a row a pair; pandas must be installed."""
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise OptionError(
                "to_pandas(): pandas is not installed\n  hint: pip install pandas, or take r.pairs.to_dicts()"
            ) from None
        return pandas.DataFrame({name: [_value(pair, path) for pair in self] for name, _, path in self._columns})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        columns = [(name, kind, [_value(pair, path) for pair in self]) for name, kind, path in self._columns]
        return _native.columns_stream(columns, requested_schema)


def _value(pair: Any, path: str) -> Any:
    """`"secrets.0"` is the first secret, `"advantage.lower"` a limit."""
    first, _, rest = path.partition(".")
    value = getattr(pair, first)
    if not rest:
        return value
    return value[int(rest)] if rest.isdecimal() else attrgetter(rest)(value)
