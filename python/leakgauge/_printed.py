"""What results with a report share: its formats, its pictures, and equality by its JSON."""

from __future__ import annotations

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _notebook
from ._kept import Kept
from ._native import Comparison as NativeComparison
from ._native import Findings, Written


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as SVG; notebooks show it."""

    name: str
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg


class Printed(ABC):
    """A result that is equal to another of its kind where their JSON is the same."""

    @abstractmethod
    def to_json(self) -> str:
        """The report, byte by byte as the command line prints it."""

    def to_dict(self) -> dict[str, Any]:
        """The report, as `leakgauge schema` describes it."""
        report: dict[str, Any] = json.loads(self.to_json())
        return report

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Printed) or type(self) is not type(other):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())


class WrittenResult(Printed):
    """A result whose report was written in all formats when it was made."""

    _native: Written

    def to_json(self) -> str:
        """The report, byte by byte as the command line prints it."""
        return self._native.json

    def to_text(self) -> str:
        """The report for a terminal."""
        return self._native.text

    def to_markdown(self) -> str:
        """The report for a ticket."""
        return self._native.markdown

    def to_html(self) -> str:
        """The report as a page that needs nothing else."""
        return page(self.to_text(), [picture.svg for picture in self.pictures.values()])

    @property
    def pictures(self) -> Mapping[str, Picture]:
        """What there is to draw, by name."""
        return _by_name(self._native.pictures)


class LiveResult(Printed):
    """A result whose report is written when it is asked for."""

    _native: Findings | NativeComparison | Kept
    _call: str

    def to_json(self) -> str:
        """The report, byte by byte as the command line prints it."""
        return self._native.json()

    def to_text(self) -> str:
        """The report for a terminal."""
        return self._native.report("text")

    def to_markdown(self) -> str:
        """The report for a ticket."""
        return self._native.report("markdown")

    def to_html(self) -> str:
        """The report as a page that needs nothing else."""
        return self._native.html(self._call)

    def _repr_html_(self) -> str:
        return _notebook.without_frame(self.to_html())

    @property
    def pictures(self) -> Mapping[str, Picture]:
        """What there is to draw, by name."""
        return _by_name(self._native.pictures())

    def __reduce__(self) -> Any:
        return type(self)._of, (Kept.of(self._native, self._call), self._call)  # type: ignore[attr-defined]


def page(text: str, pictures: Iterable[str] = ()) -> str:
    """A text report as a page."""
    drawn = "".join(f"<figure>{svg[max(svg.find('<svg'), 0) :]}</figure>" for svg in pictures)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>leakgauge</title></head>'
        f"<body><pre>{html.escape(text)}</pre>{drawn}</body></html>"
    )


def _by_name(drawn: Iterable[tuple[str, str]]) -> dict[str, Picture]:
    return {name: Picture(name, svg) for name, svg in drawn}
