"""Known mechanisms and channels; tables of answers. No log needed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _native, _options, _plot
from ._errors import ArgumentError, checked
from ._native import OptionError
from ._printed import page
from .results import Claim, EpsilonLimit, Estimate, LogWarning, Report, number

_BOUNDS: dict[str, Any] = {
    "at_epsilon": (None, _options._optional(_options._number)),
    "at_delta": (None, _options._optional(_options._number)),
    "reconstruction": (None, _options._optional(_options._number)),
    "at_order": (None, _options._optional(_options._number)),
    "profile": (False, _options._flag),
    "repeat": (None, _options._optional(_options._whole)),
    "secrets": (None, _options._optional(_options._whole)),
    "group": (None, _options._optional(_options._whole)),
    "values": (None, _options._optional(_options._whole)),
    "records": (None, _options._optional(_options._whole)),
    "largest_prior": (None, _options._optional(_options._number)),
    "solve": (None, _options._optional(_options._text)),
    "keeps": (None, _options._optional(_options._text)),
}


@checked()
def bounds(mechanism: str, **options: Any) -> Report:
    """The exact figures of a mechanism, or what a promise implies: `bounds("laplace(scale=2, secrets=0..9)").rows`.

    Args:
        mechanism: A mechanism with its secrets or a promise; `a..b:n` is a grid of n values.
        **options: `at_epsilon`, `at_delta`, `reconstruction`, `at_order`, `profile`, `repeat`, `secrets`, `group`,
            `values`, `records`, `largest_prior`, `solve`, `keeps`, as of `leakgauge bounds`:
            `bounds("gaussian(sigma=1, secrets=2)", solve="sigma", keeps="gdp(0.5)")`.
    """
    keywords = _options.converted("bounds", options, _BOUNDS)
    return Report._of(_native.mechanism_bounds(_options._text("mechanism", mechanism), keywords), "bounds")


def matrix(given: Any, rows: str = "secret") -> Any:
    """A matrix, a mechanism or a path, as the native module takes it."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    labels = columns = None
    if isinstance(given, Mapping):
        labels, given = [_options._label(rows, label) for label in given], list(given.values())
        if given and all(isinstance(row, Mapping) for row in given):
            columns = list(dict.fromkeys(key for row in given for key in row))
            given = [[row.get(key, 0.0) for key in columns] for row in given]
            columns = [_options._label("observation", key) for key in columns]
    import numpy

    try:
        values = numpy.asarray(given, dtype=float)
    except (TypeError, ValueError) as problem:
        raise _native.DataError(
            f"matrix: {problem}\n  hint: give numbers, one row a {rows}, rows of one length"
        ) from None
    if values.ndim != 2:
        raise _native.DataError(
            f"matrix: has {values.ndim} dimensions\n  hint: give one row a {rows}, one column each observation"
        )
    labels = labels or [str(at) for at in range(values.shape[0])]
    columns = columns or [str(at) for at in range(values.shape[1])]
    return labels, columns, values.ravel().tolist()


def prior_text(name: str, value: Any) -> str:
    """A prior as a text: a name, probabilities in the order of rows, or by label."""
    if isinstance(value, str):
        return _options._text(name, value)
    if isinstance(value, Mapping):
        return ",".join(f"{_options._label(name, label)}={_options._number(name, p)!r}" for label, p in value.items())
    return ",".join(repr(_options._number(name, p)) for p in _options._listed(value))


def _payoff(name: str, value: Any) -> Any:
    if isinstance(value, (str, os.PathLike)):
        raise _options._refuse(name, "a matrix with one row a guess", value)
    guesses, _, values = matrix(value, "guess")
    return guesses, values


def _pair(name: str, value: Any) -> tuple[str, str]:
    pair = list(_options._listed(value))
    if len(pair) != 2:
        raise ArgumentError(f"{name}=: must be two secrets, not {value!r}")
    return _options._label(name, pair[0]), _options._label(name, pair[1])


def _refines(name: str, value: Any) -> tuple[Any, str] | None:
    """Another channel, and what reports call it."""
    if value is None:
        return None
    return matrix(value), os.fspath(value) if isinstance(value, (str, os.PathLike)) else "the other channel"


_CHANNEL: dict[str, Any] = {
    "compose": (None, _options._optional(_options._text)),
    "repeat": (1, _options._whole),
    "prior": ("uniform", prior_text),
    "gain": (None, _options._optional(_payoff)),
    "loss": (None, _options._optional(_payoff)),
    "epsilon": ((), _options._several(_options._number)),
    "at_order": ((), _options._several(_options._number)),
    "tries": ((), _options._several(_options._whole)),
    "reconstruction": ((), _options._several(_options._number)),
    "profile": (False, _options._flag),
    "refines": (None, _refines),
    "pair": (None, _options._optional(_pair)),
    "normalize": (False, _options._flag),
    "method": ("auto", _options._text),
    "threads": (None, _options._optional(_options._whole)),
}


@checked()
def channel(*matrices: Any, **options: Any) -> Report:
    """The exact figures of a channel: `channel([[0.9, 0.1], [0.2, 0.8]]).bayes_security`.

    Args:
        *matrices: One row a secret, one column an observation: an array, a dict `{secret: row}`, a path, or a
            mechanism. Several need `compose="parallel"` or `compose="cascade"`.
        **options: `compose`, `repeat`, `prior`, `gain`, `loss` (one row a guess, one column a secret), `epsilon`,
            `at_order`, `tries`, `reconstruction`, `profile`, `refines` (another matrix or mechanism), `pair`,
            `normalize`, `method`, `threads`, as of `leakgauge channel`.
    """
    keywords = _options.converted("channel", options, _CHANNEL)
    if not matrices:
        raise ArgumentError("channel() needs a matrix")
    return Report._of(_native.analyze_channel([matrix(given) for given in matrices], keywords), "channel")


@checked()
def simulate(mechanism: str, rows: int, seed: int = 0) -> dict[str, Any]:
    """A log drawn from a mechanism: a dict of arrays, which `audit_log` takes.

    Args:
        mechanism: With its secrets: `"laplace(scale=2, secrets=0..9)"`.
        rows: The number of rows.
        seed: Of every random choice. Rows are those of `leakgauge simulate`.
    """
    import numpy

    mechanism, seed = _options._text("mechanism", mechanism), _options._whole("seed", seed)
    rows = _options._whole("rows", rows)
    if rows > 1_000_000:
        _fits(rows, sum(_bytes(column) for column in _native.simulate(mechanism, 1, seed)["columns"].values()))
    found = _native.simulate(mechanism, rows, seed)
    labels = found["labels"]
    try:
        named = numpy.array([int(label) for label in labels])
        if [str(label) for label in named.tolist()] != labels:
            raise ValueError
    except ValueError:
        named = numpy.array(labels)
    columns = {name: numpy.asarray(values) for name, values in found["columns"].items()}
    return {"secret": named[found["secret"]], **columns}


# Bytes of a number while a log is drawn; and of a text, as the native module, Python and NumPy each hold it.
_BYTES = 16
_BYTES_OF_TEXT = 160
_BYTES_OF_CHARACTER = 8


def _bytes(drawn: Any) -> int:
    """Bytes of one value of a column, about, by its first."""
    return _BYTES_OF_TEXT + _BYTES_OF_CHARACTER * len(drawn[0]) if isinstance(drawn, list) else _BYTES


def _fits(rows: int, values: int) -> None:
    """Refuses a log that does not fit into memory, with `values` bytes a row: the interpreter would be aborted."""
    try:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        free = 2**34
    # Pages that files are cached in are given back; how many there are is not known here.
    most = max(free, 2**30) // (_BYTES + values)
    if rows > most:
        raise OptionError(
            f"rows={rows}: do not fit into memory\n  hint: draw {most:,} at most, or write a file with `leakgauge simulate`"
        )


@dataclass(frozen=True)
class Confusion:
    """What a table of answers proves.

    `true_positive_rate`, `false_positive_rate` and `advantage` are about this attack; both limits of one hold with
    confidence 1 − alpha. `total_variation` and the limits of privacy are about the mechanism, at least; all of them
    hold together with confidence 1 − alpha.
    """

    true_positive_rate: Estimate
    false_positive_rate: Estimate
    advantage: Estimate
    total_variation: Estimate
    epsilons: tuple[EpsilonLimit, ...] = field(repr=False)
    mu: Estimate
    rho: Estimate
    alpha: float

    @property
    def epsilon(self) -> EpsilonLimit:
        """At the first δ that was asked for."""
        return self.epsilons[0]

    @property
    def confidence(self) -> float:
        """1 − alpha."""
        return 1.0 - self.alpha

    @property
    def claims(self) -> tuple[Claim, ...]:
        """None: a table of answers is measured, and no claim is judged."""
        return ()

    @property
    def verdict(self) -> None:
        """`None`, as of other results without claims."""

    @property
    def warnings(self) -> tuple[LogWarning, ...]:
        """None."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """All figures."""
        import dataclasses

        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """All figures as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_text(self) -> str:
        """All figures, one a line."""
        rates = ("true_positive_rate", "false_positive_rate", "advantage")
        named = [(name, getattr(self, name)) for name in (*rates, "total_variation", "mu", "rho")]
        named += [(f"epsilon at delta {number(limit.delta)}", limit) for limit in self.epsilons]
        lines = [f"leakgauge.confusion: limits with confidence {number(self.confidence)}"]
        for name, limits in named:
            upper = getattr(limits, "upper", None)
            point = "" if limits.point is None else f" {number(limits.point)},"
            most = "" if upper is None else f", at most {number(upper)}"
            lines.append(f"  {name.replace('_', ' ')}:{point} at least {number(limits.lower)}{most}")
        return "\n".join(lines) + "\n"

    def plot(self, ax: Any = None) -> Any:
        """Draws the rates of the attack with their limits; needs matplotlib. Returns the axes."""
        names = ("true_positive_rate", "false_positive_rate", "advantage")
        return _plot.limits(_plot.axes(ax), [(name.replace("_", " "), getattr(self, name)) for name in names], "rate")

    def to_html(self) -> str:
        """The text as a page that needs nothing else."""
        return page(self.to_text())

    def __str__(self) -> str:
        advantage = self.advantage
        return (
            f"advantage {number(advantage.point)} ({number(advantage.lower)} to {number(advantage.upper)}), "
            f"epsilon at least {number(self.epsilon.lower)} at delta {number(self.epsilon.delta)}"
        )


@checked()
def confusion(
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    *,
    alpha: float | None = None,
    confidence: float | None = None,
    delta: float | Iterable[float] = 0.0,
) -> Confusion:
    """What a table of an attack's answers proves, where attack and threshold were fixed before.

    Clopper–Pearson limits on all rows, since nothing is chosen on them. Rows are independent; for a limit of ε of a
    training algorithm that means: from independent runs.

    Args:
        tp: Members that the attack called members.
        fn: Members that it called non-members.
        fp: Non-members that it called members.
        tn: Non-members that it called non-members.
        alpha: The error probability of each statement, 0.05 unless given; see `Confusion`. Or
        confidence: 1 − alpha.
        delta: The δ of ε; several give several limits, which hold together.
    """
    counts = [_options._whole(name, count) for name, count in (("tp", tp), ("fn", fn), ("fp", fp), ("tn", tn))]
    error = _options.level(confidence, alpha)[1]
    deltas = _options._several(_options._number)("delta", delta)
    if not deltas:
        raise ArgumentError("delta=: must be a number, or several")
    rates, variation, epsilons, mu, rho = _native.confusion(counts, error, deltas)
    estimates = [Estimate(point=point, lower=lower, upper=upper) for point, lower, upper in rates]
    return Confusion(
        true_positive_rate=estimates[0],
        false_positive_rate=estimates[1],
        advantage=estimates[2],
        total_variation=Estimate(lower=variation),
        epsilons=tuple(EpsilonLimit(lower=lower, delta=at) for lower, at in zip(epsilons, deltas)),
        mu=Estimate(lower=mu),
        rho=Estimate(lower=rho),
        alpha=error,
    )
