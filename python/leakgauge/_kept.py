"""Results that were pickled or copied: their reports, written before they left the process that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Formats that results are written in, with options named the Python way.
_FORMATS = ("json", "text", "markdown")


@dataclass(frozen=True, slots=True)
class Kept:
    """What the native module would write, as texts."""

    printed: str
    reports: Mapping[str, str]
    page: str
    drawn: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, native: Any, call: str) -> Kept:
        """Writes everything."""
        if isinstance(native, Kept):
            return native
        return cls(
            printed=native.json(),
            reports={name: native.report(name) for name in _FORMATS},
            page=native.html(call),
            drawn=tuple(native.pictures()),
        )

    def json(self) -> str:
        """As the command line prints it."""
        return self.printed

    def report(self, format: str) -> str:
        """In a format."""
        return self.reports[format]

    def html(self, command: str) -> str:
        """The page; the command is that of then."""
        return self.page

    def pictures(self) -> list[tuple[str, str]]:
        """Names and elements of SVG."""
        return list(self.drawn)
