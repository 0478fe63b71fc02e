"""Known mechanisms and channels; tables of answers. No log needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _native, _options
from .results import EpsilonLimit, Estimate, Report, number

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
}


def bounds(mechanism: str, **options: Any) -> Report:
    """The exact figures of a mechanism, or what a promise implies: `bounds("laplace(scale=2, secrets=0..9)").rows`.

    Args:
        mechanism: A mechanism with its secrets or a promise; `a..b:n` is a grid of n values.
        **options: `at_epsilon`, `at_delta`, `reconstruction`, `at_order`, `profile`, `repeat`, `secrets`, `group`,
            `values`, `records`, `largest_prior`, as of `leakgauge bounds`.
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
        return value
    if isinstance(value, Mapping):
        return ",".join(f"{_options._label(name, label)}={_options._number(name, p)!r}" for label, p in value.items())
    return ",".join(repr(_options._number(name, p)) for p in value)


def _payoff(name: str, value: Any) -> Any:
    guesses, _, values = matrix(value, "guess")
    return guesses, values


def _pair(name: str, value: Any) -> tuple[str, str]:
    pair = list(value)
    if len(pair) != 2:
        raise TypeError(f"{name}=: must be two secrets, not {value!r}")
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
        raise TypeError("channel() needs a matrix")
    return Report._of(_native.analyze_channel([matrix(given) for given in matrices], keywords), "channel")


def simulate(mechanism: str, rows: int, seed: int = 0) -> dict[str, Any]:
    """A log drawn from a mechanism: a dict of arrays, which `audit_log` takes.

    Args:
        mechanism: With its secrets: `"laplace(scale=2, secrets=0..9)"`.
        rows: The number of rows.
        seed: Of every random choice. Rows are those of `leakgauge simulate`.
    """
    import numpy

    found = _native.simulate(
        _options._text("mechanism", mechanism), _options._whole("rows", rows), _options._whole("seed", seed)
    )
    labels = found["labels"]
    try:
        named = numpy.array([int(label) for label in labels])
        if [str(label) for label in named.tolist()] != labels:
            raise ValueError
    except ValueError:
        named = numpy.array(labels)
    columns = {name: numpy.asarray(values) for name, values in found["columns"].items()}
    return {"secret": named[found["secret"]], **columns}


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

    def to_dict(self) -> dict[str, Any]:
        """All figures."""
        import dataclasses

        return dataclasses.asdict(self)

    def __str__(self) -> str:
        advantage = self.advantage
        return (
            f"advantage {number(advantage.point)} ({number(advantage.lower)} to {number(advantage.upper)}), "
            f"epsilon at least {number(self.epsilon.lower)} at delta {number(self.epsilon.delta)}"
        )


def confusion(
    tp: int, fn: int, fp: int, tn: int, *, alpha: float = 0.05, delta: float | Iterable[float] = 0.0
) -> Confusion:
    """What a table of an attack's answers proves, where attack and threshold were fixed before.

    Clopper–Pearson limits on all rows, since nothing is chosen on them. Rows are independent; for a limit of ε of a
    training algorithm that means: from independent runs.

    Args:
        tp: Members that the attack called members.
        fn: Members that it called non-members.
        fp: Non-members that it called members.
        tn: Non-members that it called non-members.
        alpha: The error probability of each statement; see `Confusion`.
        delta: The δ of ε; several give several limits, which hold together.
    """
    counts = [_options._whole(name, count) for name, count in (("tp", tp), ("fn", fn), ("fp", fp), ("tn", tn))]
    deltas = _options._several(_options._number)("delta", delta)
    if not deltas:
        raise TypeError("delta=: must be a number, or several")
    rates, variation, epsilons, mu, rho = _native.confusion(counts, _options._number("alpha", alpha), deltas)
    estimates = [Estimate(point=point, lower=lower, upper=upper) for point, lower, upper in rates]
    return Confusion(
        true_positive_rate=estimates[0],
        false_positive_rate=estimates[1],
        advantage=estimates[2],
        total_variation=Estimate(lower=variation),
        epsilons=tuple(EpsilonLimit(lower=lower, delta=at) for lower, at in zip(epsilons, deltas)),
        mu=Estimate(lower=mu),
        rho=Estimate(lower=rho),
        alpha=alpha,
    )
