"""What audits return: frozen dataclasses over the report.

Their fields are called like the keys of the JSON report, which `leakgauge schema audit` describes. Limits are `None`
where no such limit can be had; `reason` then says why.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from . import _plot
from ._kept import Kept
from ._native import Comparison as NativeComparison
from ._native import Findings, Written
from ._pairs import Columns, Pairs
from ._printed import LiveResult, WrittenResult
from ._printed import Picture as Picture
from ._record import Record, frozen


class Keys:
    """A dataclass that is read from an object of JSON."""

    _parts: ClassVar[dict[str, Any]] = {}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Reads the keys that are fields."""
        given = {}
        for key in fields(cls):  # type: ignore[arg-type]
            value = found.get(key.name)
            part = cls._parts.get(key.name)
            if isinstance(value, list):
                value = tuple(part.of(item) if part else item for item in value)
            elif part and value is not None:
                value = part.of(value)
            if key.name in found:
                given[key.name] = value
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Estimate(Keys):
    """A figure: the best estimate, and limits that hold with the level of the report."""

    point: float | None = None
    lower: float | None = None
    upper: float | None = None
    reason: str | None = None
    raw: float | None = None
    method: Mapping[str, str | None] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class EpsilonLimit(Keys):
    """The ε that differential privacy needs at least, at a δ."""

    secrets: tuple[str, str] | None = None
    point: float | None = None
    lower: float | None = None
    delta: float = 0.0


@dataclass(frozen=True, slots=True)
class Pair(Keys):
    """Two secrets, and how well they are told apart."""

    secrets: tuple[str, str]
    bayes_security: Estimate
    total_variation: Estimate
    advantage: Estimate
    no_leak_p_value: float | None = None
    paired_advantage: Estimate | None = None

    _parts = {name: Estimate for name in ("bayes_security", "total_variation", "advantage", "paired_advantage")}


_COLUMNS: Columns = (
    ("secret_1", "texts", "secrets.0"),
    ("secret_2", "texts", "secrets.1"),
    ("bayes_security", "numbers", "bayes_security.point"),
    ("bayes_security_upper", "numbers", "bayes_security.upper"),
    ("bayes_security_lower", "numbers", "bayes_security.lower"),
    ("total_variation", "numbers", "total_variation.point"),
    ("total_variation_lower", "numbers", "total_variation.lower"),
    ("total_variation_upper", "numbers", "total_variation.upper"),
    ("no_leak_p_value", "numbers", "no_leak_p_value"),
)
_IN_BLOCKS: Columns = (
    ("paired_advantage", "numbers", "paired_advantage.point"),
    ("paired_advantage_lower", "numbers", "paired_advantage.lower"),
    ("paired_advantage_upper", "numbers", "paired_advantage.upper"),
)


@dataclass(frozen=True, slots=True)
class Limits(Keys):
    """A figure in the unit of the measurements, with its limits; `None` with too few blocks or rows."""

    point: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Difference(Keys):
    """By how much the times of the second secret exceed those of the first: inside blocks, or as independent samples
    (`blocks` is then `None`)."""

    secrets: tuple[str, str]
    unit: str | None
    blocks: int | None
    rows: tuple[int, int]
    median: Limits
    hodges_lehmann: Limits
    trimmed_mean: Limits
    mean: Limits
    deciles: tuple[Limits, ...] | None
    paired_advantage: Estimate | None
    p_value: float
    evidence: str

    _parts = {
        **{name: Limits for name in ("median", "hodges_lehmann", "trimmed_mean", "mean", "deciles")},
        "paired_advantage": Estimate,
    }


@dataclass(frozen=True, slots=True)
class Blocks(Keys):
    """What was measured in blocks."""

    blocks: int
    attacked: int
    incomplete: int
    alone: int
    reference: str
    description: str
    p_value: float


@dataclass(frozen=True, slots=True)
class WorstPair(Keys):
    """The two secrets that are easiest to tell apart; its limits hold on their own."""

    secrets: tuple[str, str]
    bayes_security: Estimate
    total_variation: Estimate
    advantage: Estimate
    attack_advantage: Estimate
    epsilon: EpsilonLimit
    trade_off: Mapping[str, Any] | None = field(default=None, repr=False)
    distributions: Mapping[str, Any] | None = field(default=None, repr=False)

    _parts = {
        "bayes_security": Estimate,
        "total_variation": Estimate,
        "advantage": Estimate,
        "attack_advantage": Estimate,
        "epsilon": EpsilonLimit,
    }


@dataclass(frozen=True, slots=True)
class Privacy(Keys):
    """What a privacy parameter is at least."""

    quantity: str
    point: float | None = None
    lower: float | None = None
    delta: float | None = None
    secrets: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Overall(Keys):
    """Figures of the whole log."""

    bayes_security: Estimate
    prior: str
    guessing_error: float
    bayes_risk: Estimate
    risk_leakage: Estimate
    multiplicative_leakage: Estimate
    additive_leakage: Estimate
    min_entropy_leakage: Estimate
    min_entropy_leakage_bits: Estimate
    capacity: Estimate

    _parts = {
        name: Estimate
        for name in (
            "bayes_security",
            "bayes_risk",
            "risk_leakage",
            "multiplicative_leakage",
            "additive_leakage",
            "min_entropy_leakage",
            "min_entropy_leakage_bits",
            "capacity",
        )
    }


@dataclass(frozen=True, slots=True)
class Claim(Keys):
    """A claim, with its verdict: `holds`, `violated` or `inconclusive`."""

    claim: str
    verdict: str
    reason: str | None = None
    quantity: str | None = None
    analytic: float | None = None
    pair: tuple[str, str] | None = None
    estimate: Estimate | None = None
    p_value: float | None = None
    rows_needed: int | None = None
    units_needed: int | None = None
    fit: Mapping[str, Any] | None = field(default=None, repr=False)
    judged: bool = True
    """`False` where the log cannot be judged by the claim, such as one that shows nothing but `nan`: a gate fails on it."""

    _parts = {"estimate": Estimate}


@dataclass(frozen=True, slots=True)
class LogWarning(Keys):
    """What to know before believing: a stable code, and a sentence."""

    code: str
    message: str


def verdict_of(claims: Sequence[Claim]) -> str | None:
    """`violated` if a claim is, else `inconclusive` if one is, else `holds`; `None` without claims."""
    verdicts = {claim.verdict for claim in claims}
    for verdict in ("violated", "inconclusive", "holds"):
        if verdict in verdicts:
            return verdict
    return None


def number(value: float | None) -> str:
    """A figure in a short text."""
    if value is None:
        return "n/a"
    return f"{value:.3g}" if math.isfinite(value) else str(value)


@dataclass(frozen=True, repr=False, eq=False)
class Report(WrittenResult):
    """The report of an exact command. The keys of its JSON are attributes: `r.bayes_security`, `r.rows[0].epsilon`."""

    found: Record
    command: str
    _native: Written

    @classmethod
    def _of(cls, native: Written, command: str) -> Report:
        return cls(Record(json.loads(native.json)), command, native)

    def __getattr__(self, key: str) -> Any:
        # Copies look for names before there are fields.
        if key.startswith("_") or key in ("found", "command"):
            raise AttributeError(key)
        return getattr(self.found, key)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.found]

    def __repr__(self) -> str:
        return f"leakgauge.{self.command}\n{self.to_text().rstrip()}"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(LiveResult):
    """Several logs side by side."""

    verdict: str | None
    logs: tuple[Record, ...]
    differences: tuple[Record, ...]
    notes: tuple[str, ...]
    confidence: float
    _native: NativeComparison | Kept
    _call: str

    @classmethod
    def _of(cls, native: NativeComparison | Kept, call: str) -> Comparison:
        found = json.loads(native.report("json"))
        verdicts = {log.get("verdict") for log in found["logs"]}
        ranked = ("violated", "inconclusive", "holds")
        return cls(
            verdict=next((verdict for verdict in ranked if verdict in verdicts), None),
            logs=frozen(found["logs"]),
            differences=frozen(found["differences"]),
            notes=tuple(found["notes"]),
            confidence=found["confidence"],
            _native=native,
            _call=call,
        )

    def plot(self, ax: Any = None) -> Any:
        """Draws the total variation of the worst pair of every log, with its limits; needs matplotlib. Returns the axes."""
        rows = [(", ".join(log.files), log.worst_pair.total_variation) for log in self.logs]
        return _plot.limits(_plot.axes(ax), rows, "total variation of the worst pair")

    def __repr__(self) -> str:
        lines = [f"leakgauge comparison of {len(self.logs)} logs: {self.verdict or 'no mechanisms'}"]
        for log in self.logs:
            limits = log.worst_pair.total_variation
            said = f"{log.verdict}: {log.mechanism}" if log.get("verdict") else "measured"
            lines.append(
                f"  {', '.join(log.files)}: {said}; total variation {number(limits.point)} "
                f"(at least {number(limits.lower)}, at most {number(limits.upper)})"
            )
        return "\n".join(lines)


@dataclass(frozen=True, repr=False, eq=False)
class Audit(LiveResult):
    """What an audit of a log found."""

    claims: tuple[Claim, ...]
    worst_pair: WorstPair
    pairs: Pairs
    overall: Overall
    privacy: tuple[Privacy, ...]
    reconstruction: tuple[Mapping[str, Any], ...]
    leakage_family: Mapping[str, Any] | None
    blocks: Blocks | None
    differences: tuple[Difference, ...]
    warnings: tuple[LogWarning, ...]
    assumptions: tuple[str, ...]
    input: Mapping[str, Any]
    method: Mapping[str, Any]
    confidence: float
    seed: int
    _native: Findings | Kept
    _call: str

    @classmethod
    def _of(cls, native: Findings | Kept, call: str) -> Audit:
        found = json.loads(native.report("json"))
        return cls(
            claims=tuple(Claim.of(claim) for claim in found["claims"]),
            worst_pair=WorstPair.of(found["worst_pair"]),
            pairs=Pairs(
                [Pair.of(pair) for pair in found["pairs"]], (*_COLUMNS, *(_IN_BLOCKS if "blocks" in found else ()))
            ),
            overall=Overall.of(found["overall"]),
            privacy=tuple(Privacy.of(limit) for limit in found["privacy"]),
            reconstruction=tuple(frozen(one) for one in found.get("reconstruction", ())),
            leakage_family=frozen(found["leakage_family"]) if "leakage_family" in found else None,
            blocks=Blocks.of(found["blocks"]) if "blocks" in found else None,
            differences=tuple(Difference.of(pair) for pair in found.get("differences", ())),
            warnings=tuple(LogWarning.of(warning) for warning in found["warnings"]),
            assumptions=tuple(found["assumptions"]),
            input=frozen(found["input"]),
            method=frozen(found["method"]),
            confidence=found["confidence"],
            seed=found["seed"],
            _native=native,
            _call=call,
        )

    @property
    def verdict(self) -> str | None:
        """`violated`, `inconclusive` or `holds` over all claims; `None` without claims."""
        return verdict_of(self.claims)

    @property
    def epsilon(self) -> EpsilonLimit:
        """The ε that differential privacy needs at least, at the worst pair."""
        return self.worst_pair.epsilon

    @property
    def total_variation(self) -> Estimate:
        """Of the worst pair."""
        return self.worst_pair.total_variation

    @property
    def advantage(self) -> Estimate:
        """Of the optimal adversary, at the worst pair."""
        return self.worst_pair.advantage

    @property
    def bayes_security(self) -> Estimate:
        """Of the whole log: 1 − the total variation of the worst of all pairs."""
        return self.overall.bayes_security

    def plot(self, ax: Any = None) -> Any:
        """Draws the trade-off curve of the worst pair, or the total variation of pairs where there is none.

        matplotlib must be installed.

        Args:
            ax: Axes to draw into; new ones by default.

        Returns:
            The axes.
        """
        ax, found = _plot.axes(ax), self.worst_pair.trade_off
        if found is not None and found.get("curve") and found.get("band"):
            return _plot.trade_off(ax, found)
        worst_first = sorted(self.pairs, key=lambda pair: -(pair.total_variation.point or 0.0))
        rows = [(" | ".join(pair.secrets), pair.total_variation) for pair in worst_first]
        return _plot.limits(ax, rows, "total variation")

    def __repr__(self) -> str:
        worst, epsilon = self.worst_pair, self.epsilon
        lines = [f"leakgauge audit: {self.verdict or 'no claims'} ({self.input['rows_used']} rows)"]
        lines += [f"  {claim.verdict}: {claim.claim}. {claim.reason}" for claim in self.claims]
        limits = worst.total_variation
        lines.append(
            f"  worst pair {worst.secrets[0]} | {worst.secrets[1]}: total variation {number(limits.point)} "
            f"(at least {number(limits.lower)}, at most {number(limits.upper)}), "
            f"epsilon at least {number(epsilon.lower)}"
        )
        if self.warnings:
            lines.append("  warnings: " + ", ".join(warning.code for warning in self.warnings))
        return "\n".join(lines)
