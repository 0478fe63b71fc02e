"""What audits of functions return."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _options, _plot
from ._errors import ArgumentError
from ._native import Power
from ._pairs import Columns, Pairs
from ._power import gaussian_samples
from .results import Claim, Keys, LogWarning, number, verdict_of


@dataclass(frozen=True, slots=True)
class Limit(Keys):
    """An estimate at the worst pair, and a lower limit that holds for the largest value of all pairs.

    `lower` is `None` if no claim is about the quantity.
    """

    point: float | None = None
    lower: float | None = None


@dataclass(frozen=True, slots=True)
class InputPair(Keys):
    """Two inputs. `epsilon` and `advantage` are estimates, by the attacker that did best."""

    inputs: tuple[str, str]
    judged: int = 0
    epsilon: float | None = None
    advantage: float | None = None
    attacker: str | None = None


_COLUMNS: Columns = (
    ("input_1", "texts", "inputs.0"),
    ("input_2", "texts", "inputs.1"),
    ("judged", "counts", "judged"),
    ("epsilon", "numbers", "epsilon"),
    ("advantage", "numbers", "advantage"),
)


@dataclass(frozen=True, repr=False, eq=False)
class FunctionAudit:
    """What a sequential audit of a function found. `pairs` are `InputPair`s; frames take them as they are."""

    claims: tuple[Claim, ...]
    samples: int
    stop: str | None
    epsilon: Limit
    total_variation: Limit
    worst_pair: InputPair | None
    pairs: Pairs
    warnings: tuple[LogWarning, ...]
    assumptions: tuple[str, ...]
    attackers: tuple[str, ...]
    confidence: float
    confidence_of_limits: float
    seed: int
    seconds: float
    seconds_in_function: float
    _found: Mapping[str, Any] = field(default_factory=dict)
    _power: Power | None = None

    @classmethod
    def _of(cls, found: dict[str, Any], power: Power | None, seconds: float, called: float) -> FunctionAudit:
        worst = found["worst_pair"]
        return cls(
            claims=tuple(Claim.of(claim) for claim in found["claims"]),
            samples=found["samples"],
            stop=found["stop"],
            epsilon=Limit.of(found["epsilon"]),
            total_variation=Limit.of(found["total_variation"]),
            worst_pair=None if worst is None else InputPair.of(worst),
            pairs=Pairs([InputPair.of(pair) for pair in found["pairs"]], _COLUMNS),
            warnings=tuple(LogWarning.of(warning) for warning in found["warnings"]),
            assumptions=tuple(found["assumptions"]),
            attackers=tuple(found["attackers"]),
            confidence=found["confidence"],
            confidence_of_limits=found["confidence_of_limits"],
            seed=found["seed"],
            seconds=seconds,
            seconds_in_function=called,
            _found=found,
            _power=power,
        )

    @property
    def verdict(self) -> str | None:
        """`violated`, `inconclusive` or `holds` over all claims."""
        return verdict_of(self.claims)

    def samples_to_find(
        self, epsilon: float | None = None, power: float = 0.9, *, mu: float | None = None, most: int = 200_000
    ) -> int | None:
        """About how many samples find a pair of this ε with this probability. `None` if the claim allows it, or too
        little was drawn to tell.

        Audits of such a pair are simulated by the rules of this one. Its outputs fall as often as those that were drawn
        where the attacker looks that needs least, and have odds e^ε there; other pairs use what the claim allows. A leak
        that shows in rarer outputs needs more samples.

        With `mu=` in place of ε, it is a mechanism with Gaussian noise of this μ, whose outputs are not those of the
        function; audits of `most` samples at most are simulated, some seconds long, and `None` says that they miss it.
        """
        if (epsilon is None) == (mu is None):
            raise ArgumentError("samples_to_find() takes epsilon, or mu=")
        if epsilon is None:
            claims = [claim.claim for claim in self.claims]
            error = round(1.0 - self.confidence, 15)
            of, most = _options._number("mu", mu), _options._whole("most", most)
            return gaussian_samples(claims, error, len(self.pairs), of, _options._number("power", power), most)
        if self._power is None:
            return None
        return self._power.samples_to_find(_options._number("epsilon", epsilon), _options._number("power", power))

    def to_json(self) -> str:
        """The report as JSON. The same function outputs, options and seed give the same bytes."""
        return json.dumps(self._found, ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """The report as a dict."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def to_text(self) -> str:
        """The report for a terminal: verdicts, pairs, warnings and assumptions."""
        lines = [repr(self)]
        for pair in self.pairs:
            figures = f"epsilon estimate {number(pair.epsilon)}, advantage estimate {number(pair.advantage)}"
            lines.append(f"  {pair.inputs[0]} | {pair.inputs[1]}: {pair.judged:,} samples, {figures}")
        lines += [f"  warning: {warning.message}" for warning in self.warnings]
        lines += [f"  assumed: {line}" for line in self.assumptions]
        return "\n".join(lines) + "\n"

    def plot(self, ax: Any = None) -> Any:
        """Draws the ε of every pair as estimated, and the lower limit of the worst; needs matplotlib. Returns the axes."""
        worst_first = sorted(self.pairs, key=lambda pair: -(pair.epsilon or 0.0))
        rows = [(" | ".join(pair.inputs), pair.epsilon) for pair in worst_first]
        return _plot.bars(_plot.axes(ax), rows, "epsilon", self.epsilon.lower)

    def to_html(self) -> str:
        """The report as a page that needs nothing else."""
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>leakgauge: audit of a function</title>'
            f"</head><body>{self._repr_html_()}</body></html>"
        )

    def _repr_html_(self) -> str:
        cell = html.escape
        claims = "".join(
            f"<tr><td><b>{cell(claim.verdict)}</b></td><td><code>{cell(claim.claim)}</code></td>"
            f"<td>{cell(claim.reason or '')}</td></tr>"
            for claim in self.claims
        )
        pairs = "".join(
            f"<tr><td>{cell(pair.inputs[0])} | {cell(pair.inputs[1])}</td><td>{pair.judged:,}</td>"
            f"<td>{number(pair.epsilon)}</td><td>{number(pair.advantage)}</td><td>{cell(pair.attacker or '')}</td></tr>"
            for pair in sorted(self.pairs, key=lambda pair: -(pair.epsilon or 0.0))[:20]
        )
        notes = [warning.message for warning in self.warnings] + list(self.assumptions)
        items = "".join(f"<li>{cell(note)}</li>" for note in notes)
        return (
            f"<p>{self.samples:,} samples, epsilon at least {number(self.epsilon.lower)}, total variation at least "
            f"{number(self.total_variation.lower)}</p><table><tr><th>verdict</th><th>claim</th><th>reason</th></tr>"
            f"{claims}</table><table><tr><th>inputs</th><th>samples</th><th>epsilon (estimate)</th>"
            f"<th>advantage (estimate)</th><th>attacker</th></tr>{pairs}</table><ul>{items}</ul>"
        )

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, FunctionAudit) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        lines = [f"leakgauge audit of a function: {self.verdict} ({self.samples:,} samples)"]
        lines += [f"  {claim.verdict}: {claim.claim}. {claim.reason}" for claim in self.claims]
        if self.worst_pair is not None:
            worst = self.worst_pair
            lines.append(
                f"  worst pair {worst.inputs[0]} | {worst.inputs[1]}: epsilon estimate {number(worst.epsilon)} "
                f"(at least {number(self.epsilon.lower)}), found by {worst.attacker}"
            )
        if self.warnings:
            lines.append("  warnings: " + ", ".join(warning.code for warning in self.warnings))
        return "\n".join(lines)
