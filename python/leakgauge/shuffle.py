"""What shuffled messages tell about one user: `leakgauge shuffle` with distributions in memory.

A distribution is a dict `{label: probability or count}`, an array of probabilities or counts (labels are 0, 1, …),
`"zipf(exponent=0.7, size=1000)"`, or a path. A sample is a list of texts, one message each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _exact, _native, _options
from ._errors import ArgumentError, checked
from .results import Report

__all__ = ["information", "privacy", "reidentify", "vulnerability"]


def _law(name: str, given: Any) -> Any:
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    if isinstance(given, Mapping):
        labels = [_options._label(name, label) for label in given]
        return _weighted(name, labels, list(given.values()))
    if isinstance(given, (list, tuple)) and given and all(isinstance(item, str) for item in given):
        return (list(given),)
    import numpy

    array = numpy.asarray(given)
    if array.dtype.kind in "UT":
        return (array.ravel().tolist(),)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ArgumentError(f"{name}=: must be a dict {{label: weight}}, an array of weights, texts, or a path")
    return _weighted(name, [str(at) for at in range(len(array))], array.tolist())


def _weighted(name: str, labels: list[str], weights: list[Any]) -> tuple[list[str], list[float], bool]:
    numbers = [_options._number(name, weight) for weight in weights]
    bad = next((at for at, weight in enumerate(numbers) if not 0 <= weight <= 2**53), None)
    if bad is not None:
        raise _native.DataError(
            f"{name}, label {labels[bad]}: {weights[bad]!r} is neither a probability nor a count\n"
            "  hint: give probabilities that sum to 1, or counts"
        )
    total = sum(numbers)
    is_one = abs(total - 1) <= 1e-9
    counts = not is_one and all(weight == int(weight) for weight in numbers)
    if total == 0 or not (counts or is_one):
        raise _native.DataError(
            f"{name}: the probabilities sum to {total}, not 1\n"
            "  hint: probabilities must sum to 1 within 1e-9, and counts must be whole numbers"
        )
    return labels, numbers, counts


def _numbers(name: str, given: Any) -> str:
    """Numbers as `2,10` or `2..1e6:20`."""
    if isinstance(given, str):
        return given
    several = given if isinstance(given, Iterable) else [given]
    return ",".join(str(_options._whole(name, item)) for item in several)


def _ratios(name: str, given: Any) -> Any:
    """A table of log-likelihood ratios: a path, a dict {ratio: probability} or pairs."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    pairs = given.items() if isinstance(given, Mapping) else given
    table = [(_options._number(name, ratio), _options._number(name, weight)) for ratio, weight in pairs]
    return [repr(ratio) for ratio, _ in table], [weight for _, weight in table], False


_SHARED: dict[str, Any] = {
    "n": (None, _options._optional(_numbers)),
    "seed": (0, _options._whole),
    "threads": (None, _options._optional(_options._whole)),
}

_REIDENTIFY: dict[str, Any] = {
    "target": (None, _options._optional(_law)),
    "decoys": (None, _options._optional(_law)),
    "log_ratios": (None, _options._optional(_ratios)),
    "inputs": ((), _options._several(_options._label)),
    "input": ((), _options._several(_options._label)),
    "against": (None, _options._optional(_options._label)),
    "known": (None, _options._optional(_options._several(_options._whole))),
    "input_law": (None, _options._optional(_exact.prior_text)),
    "against_law": (None, _options._optional(_exact.prior_text)),
    "guesses": ("1", _numbers),
    "success": ((), _options._several(_options._number)),
    "samples": (False, _options._flag),
    "confidence": (0.95, _options._number),
    **_SHARED,
}


@checked()
def reidentify(target: Any = None, decoys: Any = None, *, randomizer: Any = None, **options: Any) -> Report:
    """How likely the target's message is found among n shuffled ones.

    Args:
        target: The distribution of the target's message, a sample of it, or a density such as
            `"0.9*normal(mean=0, sigma=1) + 0.1*laplace(mean=3, scale=2)"`.
        decoys: That of the other messages; also `"uniform"`.
        randomizer: Instead: what every user applies, a mechanism; with `known` or `against_law` also a matrix.
        **options: `n` (a number, several, or `"2..1e6:20"`), `guesses`, `success`, `samples`, `confidence`, `seed`,
            `threads`; `log_ratios`, instead of two distributions a dict `{ln P/Q: probability under P}`, pairs, or a
            path; with a randomizer `inputs`, `input`, `against`, `known`, `input_law` and `against_law`, as of
            `leakgauge shuffle reidentify`.
    """
    given = {"target": target, "decoys": decoys, **options}
    keywords = _options.converted("shuffle.reidentify", given, _REIDENTIFY)
    keywords["randomizer"], keywords["randomizer_name"] = _randomizer(randomizer)
    return Report._of(_native.reidentify(keywords), "shuffle.reidentify")


def _users(name: str, given: Any) -> list[tuple[str, Any, int]]:
    if isinstance(given, Mapping):
        raise ArgumentError(f"{name}=: must be a list of (distribution, number of users)")
    return [
        (f"users {at}", _law(name, law), _options._whole(name, count)) for at, (law, count) in enumerate(given, start=1)
    ]


def _randomizer(given: Any) -> tuple[Any, str]:
    if given is None:
        return None, ""
    return _exact.matrix(given, "input"), os.fspath(given) if isinstance(given, (str, os.PathLike)) else "randomizer"


_RANDOMIZED: dict[str, Any] = {
    "prior": ("uniform", _exact.prior_text),
    "known": (None, _options._optional(_options._several(_options._whole))),
    "samples": (None, _options._optional(_options._whole)),
    **_SHARED,
}

_INFORMATION: dict[str, Any] = {
    "target": (None, _options._optional(_law)),
    "decoys": (None, _options._optional(_law)),
    "best_decoys": (False, _options._flag),
    "users": ((), _users),
    "standard_error": (None, _options._optional(_options._number)),
    "others": (None, _options._optional(_exact.prior_text)),
    "observed": (None, _options._optional(_law)),
    **_RANDOMIZED,
}


@checked()
def information(target: Any = None, decoys: Any = None, *, randomizer: Any = None, **options: Any) -> Report:
    """How many nats shuffled messages tell about the target's place, message or input.

    Args:
        target: The distribution of the target's message.
        decoys: That of the other messages.
        randomizer: Instead: a mechanism, or a matrix with one row an input.
        **options: `n`, `best_decoys`, `users` (a list of (distribution, number of users)), `prior`, `others` (the law of
            the other users' inputs, if it is another one), `known`, `observed` (shuffled messages: texts, or a dict
            `{message: count}`), `samples`, `standard_error`, `seed`, `threads`, as of `leakgauge shuffle information`.
    """
    given = {"target": target, "decoys": decoys, **options}
    keywords = _options.converted("shuffle.information", given, _INFORMATION)
    keywords["randomizer"], keywords["randomizer_name"] = _randomizer(randomizer)
    return Report._of(_native.shuffled_information(keywords), "shuffle.information")


_VULNERABILITY: dict[str, Any] = {
    "values": ((), _options._several(_options._whole)),
    "keep": ((), _options._several(_options._number)),
    **_RANDOMIZED,
}


@checked()
def vulnerability(values: Any = (), keep: Any = (), *, randomizer: Any = None, **options: Any) -> Report:
    """How likely one user's value is guessed from shuffled, randomized values.

    Args:
        values: The numbers of values that a user can have.
        keep: The probabilities of reporting the true value.
        randomizer: Instead: a mechanism, also noise on numbers and ones too large for a matrix, or a matrix with one row
            a value.
        **options: `n`, `prior`, `known`, `samples`, `seed`, `threads`, as of `leakgauge shuffle vulnerability`.
    """
    given = {"values": values, "keep": keep, **options}
    keywords = _options.converted("shuffle.vulnerability", given, _VULNERABILITY)
    keywords["randomizer"], keywords["randomizer_name"] = _randomizer(randomizer)
    if randomizer is None and not (keywords["values"] and keywords["keep"]):
        raise ArgumentError("shuffle.vulnerability() needs values= and keep=, or randomizer=")
    return Report._of(_native.guess_value(keywords), "shuffle.vulnerability")


_PRIVACY: dict[str, Any] = {
    "at_epsilon": ((), _options._several(_options._number)),
    "n": (None, _options._optional(_numbers)),
    "threads": (None, _options._optional(_options._whole)),
}


@checked()
def privacy(randomizer: Any, **options: Any) -> Report:
    """How private shuffled reports are: upper limits of delta by all known bounds, and a lower one where it is small.

    Args:
        randomizer: What every user applies: a mechanism, or a matrix with one row an input.
        **options: `n`, `at_epsilon` (one number or several), `threads`, as of `leakgauge shuffle privacy`.
    """
    keywords = _options.converted("shuffle.privacy", options, _PRIVACY)
    if not (keywords["at_epsilon"] and keywords["n"]):
        raise ArgumentError("shuffle.privacy() needs n= and at_epsilon=")
    keywords["randomizer"], keywords["randomizer_name"] = _randomizer(randomizer)
    return Report._of(_native.shuffled_privacy(keywords), "shuffle.privacy")
