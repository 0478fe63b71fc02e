"""Objects of JSON that cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import Any


class Record(Mapping[str, Any]):
    """An object of a report: its keys are attributes too. It cannot be changed."""

    __slots__ = ("_found",)

    def __init__(self, found: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_found", {key: frozen(value) for key, value in found.items()})

    def __getitem__(self, key: str) -> Any:
        return self._found[key]

    def __getattr__(self, key: str) -> Any:
        try:
            return self._found[key]
        except KeyError:
            raise AttributeError(f"no key {key!r}; keys: {', '.join(self._found)}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to {key!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._found]

    def __reduce__(self) -> Any:
        return Record, (dict(self._found),)

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{key}={value!r}' for key, value in self.items())})"


def frozen(value: Any) -> Any:
    """A value of JSON that cannot be changed."""
    if isinstance(value, Mapping):
        return Record(value)
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
