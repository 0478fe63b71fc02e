"""Keyword arguments: checked, and in the one form that the native module takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._errors import ArgumentError
from ._native import OptionError

Convert = Callable[[str, Any], Any]


def _refuse(name: str, expected: str, value: Any) -> ArgumentError:
    try:
        given = repr(value)
    except Exception:
        # Whole numbers of more than 4,300 digits, and objects whose own text fails.
        given = f"one {type(value).__name__}"
    return ArgumentError(f"{name}=: must be {expected}, not {given if len(given) <= 200 else given[:200] + '…'}")


def level(confidence: Any, alpha: Any) -> tuple[float, float]:
    """The confidence and the error probability of limits, of which one may be given."""
    if confidence is None and alpha is None:
        return 0.95, 0.05
    if confidence is None:
        error = _number("alpha", alpha)
        return 1.0 - error, error
    sure = _number("confidence", confidence)
    # 1 − 0.95 is 0.050000000000000044.
    error = round(1.0 - sure, 15)
    if alpha is not None and abs(_number("alpha", alpha) - error) > 1e-12:
        raise OptionError(
            f"alpha={alpha}, confidence={confidence}: contradict each other\n  hint: give one; confidence is 1 - alpha"
        )
    return sure, error


def with_confidence(given: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments with `confidence`, also if it was given as `alpha`."""
    rest = {name: value for name, value in given.items() if name != "alpha"}
    if given.get("alpha") is not None:
        rest["confidence"] = level(given.get("confidence"), given["alpha"])[0]
    return rest


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, which no file or report can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise _refuse(name, "a text", value)
    return str(value)


def chosen(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of some words."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise _refuse(name, " or ".join(f'"{choice}"' for choice in choices), value)
    return value


def _number(name: str, value: Any) -> float:
    if getattr(value, "ndim", 0) > 0:
        raise _refuse(name, "a number", value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _refuse(name, "a number", value) from None


def _index(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _whole(name: str, value: Any) -> int:
    try:
        whole = _index(value)
    except TypeError:
        raise _refuse(name, "a whole number", value) from None
    if not 0 <= whole < 2**64:
        raise _refuse(name, "a whole number from 0 to 2**64 - 1", value)
    return whole


def _flag(name: str, value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):
        raise _refuse(name, "True or False", value)
    return bool(value)


def _optional(convert: Convert) -> Convert:
    return lambda name, value: None if value is None else convert(name, value)


def _column(name: str, value: Any) -> str:
    """A column by its name, or by its number from 1."""
    return _text(name, value) if isinstance(value, str) else str(_whole(name, value))


def _listed(value: Any) -> Iterable[Any]:
    """One value as several."""
    if isinstance(value, str):
        return [value]
    try:
        # Arrays without dimensions look iterable and are not.
        return list(value)
    except TypeError:
        return [value]


def _several(convert: Convert) -> Convert:
    def all_of(name: str, value: Any) -> list[Any]:
        return [convert(name, item) for item in _listed(value)]

    return all_of


def _label(name: str, value: Any) -> str:
    """The label of a secret."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return text if is_unicode(text) else _text(name, text)


def _by_column(name: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise _refuse(name, "a dict {column: …}", value)
    return [(_label(name, column), item) for column, item in value.items()]


def _resolution(name: str, value: Any) -> list[tuple[str, float]]:
    return [(column, _number(name, width)) for column, width in _by_column(name, value)]


def _lists(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{column}={_text(name, how)}" for column, how in _by_column(name, value)]
    return [_text(name, item) for item in _listed(value)]


def _conditions(name: str, value: Any) -> list[tuple[str, list[str]]]:
    """Conditions on columns: `{column: value}` or `{column: [value, …]}`."""
    conditions = [(column, [_label(name, one) for one in _listed(of)]) for column, of in _by_column(name, value)]
    if not all(values for _, values in conditions):
        raise _refuse(name, "a dict {column: value or values}", value)
    return conditions


def _scores(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{_label(name, secret)}={_column(name, column)}" for secret, column in value.items()]
    return [_text(name, item) for item in _listed(value)]


def _budget(name: str, value: Any) -> str:
    return _text(name, value) if isinstance(value, str) else f"{_number(name, value)}s"


def _delimiter(name: str, value: Any) -> int:
    text = _text(name, value)
    text = "\t" if text in ("tab", "\\t") else text
    if len(text) != 1 or not text.isascii() or text in '"\r\n':
        raise _refuse(name, 'one ASCII character, or "tab"', value)
    return ord(text)


def _file(name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise _refuse(name, "a path", value)
    path = os.fspath(value)
    if isinstance(path, bytes) or "\0" in path or not is_unicode(path):
        raise _refuse(name, "a path", value)
    return path


def _prior(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return [(_label(name, label), _number(name, p)) for label, p in value.items()]
    return _text(name, value)


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    """Pairs of labels."""
    return [(_label(name, a), _label(name, b)) for a, b in twos(name, value, "secrets")]


def twos(name: str, value: Any, of: str) -> list[tuple[Any, Any]]:
    """Pairs of whatever."""
    try:
        items = list(value)
        pairs = [tuple(pair) for pair in items if not isinstance(pair, str)]
        if isinstance(value, str) or len(pairs) < len(items) or any(len(pair) != 2 for pair in pairs):
            raise TypeError
    except TypeError:
        raise _refuse(name, f"pairs of {of}, such as [(0, 1), (1, 2)]", value) from None
    return [(a, b) for a, b in pairs]


def positions(name: str, value: Any) -> list[tuple[int, int]]:
    """Pairs of positions, from 0."""
    return [(_whole(name, a), _whole(name, b)) for a, b in twos(name, value, "inputs")]


def _step(name: str, value: Any) -> str:
    """The step of a clock: `"1ms"`, or a number in the unit of the log."""
    return _text(name, value) if isinstance(value, str) else str(_number(name, value))


READING: dict[str, tuple[Any, Convert]] = {
    "header": (None, _optional(_flag)),
    "delimiter": (None, _optional(_delimiter)),
    "categorical": ((), _several(_column)),
    "numeric": ((), _several(_column)),
    "count": (None, _optional(_column)),
    "group": (None, _optional(_column)),
    "block": (None, _optional(_column)),
    "blocks": (False, _flag),
    "row_id": (None, _optional(_column)),
    "secrets": ((), _several(_label)),
    "merge": (None, _optional(_text)),
    "secret_map": (None, _optional(_file)),
    "missing": ("error", _text),
    "keep": ({}, _conditions),
    "drop": ({}, _conditions),
    "skip_bad": (0, _whole),
    "like": (None, _optional(_text)),
    "wide": (False, _flag),
    "list": ((), _lists),
    "resolution": ({}, _resolution),
    "fit_on": (None, _optional(_file)),
    "max_rows": (None, _optional(_whole)),
}

ESTIMATING: dict[str, tuple[Any, Convert]] = {
    "confidence": (0.95, _number),
    "seed": (0, _whole),
    "scorer": (None, _optional(_text)),
    "scores": (None, _optional(_scores)),
    "budget": ("20s", _budget),
    "quick": (False, _flag),
    "split": ("random", _text),
    "design": (None, _optional(_text)),
    "attacker": (None, _optional(_text)),
    "unit": (None, _optional(_text)),
    "clock_frequency": (None, _optional(_number)),
    "clock_step": (None, _optional(_step)),
    "prior": (None, _optional(_prior)),
    "margin": (0.02, _number),
    "neighbors": ((), _pairs),
    "reconstruction": ((), _several(_number)),
    "tries": ((), _several(_whole)),
    "at_order": ((), _several(_number)),
    "threads": (None, _optional(_whole)),
}

LOG: dict[str, tuple[Any, Convert]] = {
    "secret": (None, _optional(_column)),
    "observe": (None, _optional(_several(_column))),
    "claims": ((), _several(_text)),
    **READING,
    **ESTIMATING,
}


def unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses keyword arguments that a function does not have.

    Raises:
        leakgauge.Error: With the nearest name.
    """
    known = list(known)
    for name in given:
        if name in known:
            continue
        import difflib

        near = difflib.get_close_matches(name, known, n=1)
        hint = f"\n  hint: did you mean {near[0]}=?" if near else f"\n  hint: it takes {', '.join(known)}"
        raise ArgumentError(f"{function}() has no keyword argument {name}={hint}")


def converted(function: str, given: Mapping[str, Any], known: Mapping[str, tuple[Any, Convert]]) -> dict[str, Any]:
    """Every known keyword argument in its plain form."""
    unknown(function, given, known)
    return {name: convert(name, given.get(name, default)) for name, (default, convert) in known.items()}


def for_log(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of an audit, as the native module takes them."""
    keywords = converted(function, given, LOG)
    if keywords["scorer"] is None:
        keywords["scorer"] = "auto" if keywords["scores"] is None else "given"
    prior = keywords["prior"]
    if prior is None:
        # What F-BLEAU reports is at the prior of the log.
        prior = "empirical" if keywords["like"] == "fbleau" else "uniform"
    is_named = isinstance(prior, str)
    keywords["prior_name"] = prior if is_named else "uniform"
    keywords["prior"] = None if is_named else prior
    return keywords
