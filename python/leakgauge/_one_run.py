"""Audits of one training run: canaries that were included by fair coins, and their scores."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _data, _native, _options, _plot
from ._errors import ArgumentError
from ._native import DataError, Written
from ._printed import WrittenResult
from ._score_arrays import npz, numbers, sides
from .results import Claim, EpsilonLimit, Keys, LogWarning, Privacy, number, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a log of canaries is audited by.
_KEYWORDS = ("claims", "confidence", "seed", "threads")


@dataclass(frozen=True, slots=True)
class Guesses(Keys):
    """Canaries that were guessed at both ends of the scores, and how many guesses were right."""

    larger: str
    included: int
    excluded: int
    right: int
    part: float


@dataclass(frozen=True, repr=False, eq=False)
class OneRun(WrittenResult):
    """What one training run proves."""

    claims: tuple[Claim, ...]
    privacy: tuple[Privacy, ...]
    privacy_if_gaussian: tuple[Privacy, ...]
    canaries: int
    included: int
    guesses: tuple[Guesses, ...]
    assumptions: tuple[str, ...]
    confidence: float
    seed: int
    _native: Written

    @classmethod
    def _of(cls, native: Written) -> OneRun:
        found = json.loads(native.json)
        return cls(
            claims=tuple(Claim.of(claim) for claim in found["claims"]),
            privacy=tuple(Privacy.of(limit) for limit in found["privacy"]),
            privacy_if_gaussian=tuple(Privacy.of(limit) for limit in found["privacy_if_gaussian"]),
            canaries=found["canaries"],
            included=found["included"],
            guesses=tuple(Guesses.of(guess) for guess in found["guesses"]),
            assumptions=tuple(found["assumptions"]),
            confidence=found["confidence"],
            seed=found["seed"],
            _native=native,
        )

    @property
    def verdict(self) -> str | None:
        """`violated`, `inconclusive` or `holds` over all claims; `None` without claims."""
        return verdict_of(self.claims)

    @property
    def epsilon(self) -> EpsilonLimit:
        """The largest lower limit of ε; its δ is that of the limit."""
        limits = [limit for limit in self.privacy if limit.quantity == "epsilon"]
        best = max(limits, key=lambda limit: limit.lower or 0.0, default=Privacy("epsilon"))
        return EpsilonLimit(best.secrets, best.point, best.lower, best.delta or 0.0)

    @property
    def warnings(self) -> tuple[LogWarning, ...]:
        """None: what to doubt is among the assumptions."""
        return ()

    def plot(self, ax: Any = None) -> Any:
        """Draws the lower limits of privacy parameters; needs matplotlib. Returns the axes."""
        rows = []
        for limit, source in self._limits():
            at = "" if limit.delta is None else f" (delta {number(limit.delta)})"
            rows.append((limit.quantity + at + source, limit))
        return _plot.limits(_plot.axes(ax), rows, "at least")

    def __reduce__(self) -> Any:
        return OneRun._of, (self._native,)

    def __repr__(self) -> str:
        lines = [f"leakgauge audit of one run: {self.verdict or 'no claims'} ({self.canaries} canaries)"]
        lines += [f"  {claim.verdict}: {claim.claim}. {claim.reason}" for claim in self.claims]
        for limit, source in self._limits():
            at = "" if limit.delta is None else f" at delta {number(limit.delta)}"
            lines.append(f"  {limit.quantity}{at}{source}: at least {number(limit.lower)}")
        return "\n".join(lines)

    def _limits(self) -> Iterator[tuple[Privacy, str]]:
        """All limits, and what they follow from if that is not obvious."""
        yield from ((limit, "") for limit in self.privacy)
        yield from ((limit, ", from mu") for limit in self.privacy_if_gaussian)


def one_run(
    in_scores: Any, out_scores: Any, include: Any, scores: Any, direction: Any, guesses: Any, given: dict[str, Any]
) -> OneRun:
    """The audit of one run; see `audit_scores`."""
    import numpy

    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in (*_KEYWORDS, "name"):
            raise ArgumentError(f'audit_scores(design="one-run") has no keyword argument {name}=\n  hint: leave it out')
    name = options.pop("name", "scores")
    if isinstance(in_scores, (str, os.PathLike)):
        if out_scores is not None or include is not None or scores is not None:
            raise ArgumentError("an .npz holds all scores\n  hint: pass nothing but its path")
        arrays = npz(os.fspath(in_scores))
        in_scores, out_scores = arrays.get("in_scores"), arrays.get("out_scores")
        include, scores = arrays.get("include"), arrays.get("scores")
    if in_scores is not None and out_scores is not None and include is None and scores is None:
        members, values = sides(in_scores, out_scores)
    elif in_scores is None and out_scores is None and include is not None and scores is not None:
        members, values = _bits(include, scores)
    else:
        raise ArgumentError('audit_scores(design="one-run") takes include= and scores=, or in_scores and out_scores')
    labels = numpy.where(members, "in", "out")
    keywords = _options.for_log(
        "audit_scores", {**options, "secret": "secret", "scores": "score", "scorer": "given", "count": "count"}
    )
    # Counts of one say that the order means nothing.
    columns = {"score": values, "secret": labels, "count": numpy.ones(len(values), dtype=numpy.int64)}
    source = _data.table(columns, {}, name=name, used=None)
    direction = _options._optional(_options._text)("member_scores", direction)
    return OneRun._of(_native.audit_one_run(source, keywords, "in", direction, _pair(guesses)))


def _bits(include: Any, scores: Any) -> tuple[Any, Any]:
    import numpy

    bits, values = numbers("include", include), numbers("scores", scores)
    if bits.ndim != 1 or bits.shape != values.shape:
        raise DataError(
            f"include, scores: have the shapes {bits.shape} and {values.shape}\n  hint: give both one value a canary"
        )
    if not numpy.isin(bits, (0, 1)).all():
        raise DataError("include: has values other than 0 and 1\n  hint: give True for canaries that were included")
    return bits.astype(bool), values


def _pair(guesses: Any) -> tuple[int, int] | None:
    if guesses is None:
        return None
    both = [_options._whole("guesses", count) for count in _options._listed(guesses)]
    if len(both) != 2:
        raise ArgumentError(f"guesses=: must be two numbers, of canaries in and out, such as (100, 0), not {guesses!r}")
    return both[0], both[1]
