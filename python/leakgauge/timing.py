"""Constant-time tests of C extensions and Python functions, for a test suite.

    from leakgauge import timing

    def test_comparison():
        timing.assert_constant_time(
            "comparison", "lan",
            {"first byte": lambda: guess(0), "last byte": lambda: guess(31)},
            lambda guess: _mine.equal(SECRET, guess),
        )

Blocks call every class once, in random order. Inputs are made outside of the timed part. What is judged is the median,
over blocks, of the difference of two classes inside a block. Limits hold whenever a test stops, and all tests of a
process share one rate of false alarms, 0.1 %.
"""

from __future__ import annotations

import gc
import math
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from . import _native
from ._errors import ArgumentError, checked
from ._native import OptionError

__all__ = ["ATTACKERS", "Report", "TooNoisy", "assert_constant_time", "measure"]

#: Thresholds with names, in nanoseconds, by where the attacker measures. They are conventions.
ATTACKERS = {"shared-hardware": 0.6, "lan": 100.0, "internet": 50_000.0}

_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_MOST_CLASSES = 64

# Tests measure one after the other: they would disturb each other.
_alone = threading.Lock()


class TooNoisy(UserWarning):
    """A test could not tell within its budget."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a test found. As text it is a few lines for people; times are in nanoseconds, `None` where there is no limit."""

    name: str
    #: "passes", "leaks" or "too noisy".
    outcome: str
    #: The difference of medians that is allowed.
    threshold: float
    #: The two classes that decide; `None` with too few blocks.
    slower: str | None
    faster: str | None
    #: By how much the slower one takes longer.
    at_least: float | None
    estimate: float | None
    at_most: float | None
    #: An upper limit of the difference of any two classes: a test passes where it is within the threshold.
    largest: float | None
    blocks: int
    #: Each time is the mean of so many calls.
    calls_per_time: int
    #: The probability of "leaks" where nothing exceeds the threshold.
    false_alarms: float
    #: The seed of the order of the calls.
    seed: int
    #: Where all times are, if they were written: `leakgauge audit` reads them.
    log: str | None
    text: str

    @property
    def passes(self) -> bool:
        """Whether nothing exceeds the threshold."""
        return self.outcome == "passes"

    @property
    def leaks(self) -> bool:
        """Whether something exceeds the threshold."""
        return self.outcome == "leaks"

    def __str__(self) -> str:
        return self.text


@checked()
def measure(
    name: str,
    threshold: float | str | timedelta,
    classes: Mapping[str, Callable[[], Any]],
    run: Callable[[Any], Any],
    *,
    time_limit: float = 10.0,
    max_blocks: int = 500_000,
    seed: int | None = None,
    log: str | os.PathLike[str] = "leakgauge-timing",
) -> Report:
    """Measures, and says what was found. Nothing fails.

    Args:
        name: For messages, for the file of times, and for the order of the calls.
        threshold: The difference of medians that is allowed: nanoseconds, a text such as `"2us"`, a `timedelta`, or who
            measures: `"shared-hardware"`, `"lan"`, `"internet"`.
        classes: What makes an input of each class, by its name. Make the inputs of all classes in the same way: what
            differs in how they are made can show in the times.
        run: What is timed, with an input. A wrapper of Python is timed with it: give the function of a C extension
            itself where you can.
        time_limit: Seconds after which an open test is too noisy to tell.
        max_blocks: The same in blocks.
        seed: That of the order of the calls; otherwise `LEAKGAUGE_SEED`, or a fresh one.
        log: The directory for the times of a test that leaks. `LEAKGAUGE_LOG` names one for those of every test.
    """
    nanoseconds = _nanoseconds(threshold)
    _check(name, classes, run, time_limit, max_blocks, seed)
    asked = {
        "name": name,
        "threshold": nanoseconds,
        "classes": [(label, make) for label, make in classes.items()],
        "run": run,
        "time_limit": float(time_limit),
        "max_blocks": max_blocks,
        "seed": seed,
        "log": os.fspath(log),
    }
    with _alone:
        # A collection would fall into some call or other.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            found = _native.constant_time(asked)
        finally:
            if was_enabled:
                gc.enable()
    names = Report.__dataclass_fields__
    missing = dict.fromkeys(names)
    return Report(**{**missing, **found, "name": name, "threshold": nanoseconds})


@checked(measure)
def assert_constant_time(
    name: str,
    threshold: float | str | timedelta,
    classes: Mapping[str, Callable[[], Any]],
    run: Callable[[Any], Any],
    *,
    require_decision: bool = False,
    **options: Any,
) -> Report:
    """Fails where a class of inputs takes longer than another: an `AssertionError` with the two, the limits, the seed and
    the file of times.

    A test that is too noisy to tell warns (`TooNoisy`), and fails only with `require_decision`. Arguments are those of
    `measure`.
    """
    __tracebackhide__ = True
    report = measure(name, threshold, classes, run, **options)
    if report.leaks or (require_decision and not report.passes):
        raise AssertionError(str(report))
    if not report.passes:
        warnings.warn(str(report), TooNoisy, stacklevel=3)
    return report


def _nanoseconds(threshold: float | str | timedelta) -> float:
    if isinstance(threshold, timedelta):
        found = threshold.total_seconds() * 1e9
    elif isinstance(threshold, str):
        found = ATTACKERS.get(threshold, math.nan)
        if math.isnan(found):
            found = _written(threshold)
    elif isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise ArgumentError(
            f'threshold={threshold!r}: is no time\n  hint: give nanoseconds, a text such as "2us", or one of '
            f"{', '.join(ATTACKERS)}"
        )
    else:
        found = float(threshold)
    if not (math.isfinite(found) and found >= 0.0):
        raise OptionError(
            f'threshold={threshold!r}: is no time, 0 or more\n  hint: give nanoseconds, a text such as "2us", or one of '
            f"{', '.join(ATTACKERS)}"
        )
    return found


def _written(text: str) -> float:
    for unit, nanoseconds in _UNITS.items():
        number = text.strip().removesuffix(unit)
        # "ms" ends with "s".
        if number != text.strip() and number[-1:] not in ("n", "u", "m"):
            try:
                return float(number) * nanoseconds
            except ValueError:
                return math.nan
    return math.nan


def _check(name: Any, classes: Any, run: Any, time_limit: Any, max_blocks: Any, seed: Any) -> None:
    if not isinstance(name, str):
        raise ArgumentError(
            f"name={name!r}: is no text\n  hint: name the test: it is the name of its file of times, too"
        )
    if not isinstance(classes, Mapping) or not all(isinstance(label, str) for label in classes):
        raise ArgumentError(
            'classes=: is no mapping of names\n  hint: {"first byte": make_one, "last byte": make_other}'
        )
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise OptionError(
            f"classes=: has {len(classes)}\n  hint: a test compares 2 to {_MOST_CLASSES} classes of inputs"
        )
    uncallable = [label for label, make in classes.items() if not callable(make)]
    if uncallable:
        raise ArgumentError(
            f"classes=: {uncallable[0]!r} cannot be called\n  hint: give a function that makes an input"
        )
    if not callable(run):
        raise ArgumentError("run=: cannot be called\n  hint: give the function that is timed; it gets an input")
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not time_limit > 0:
        raise OptionError(f"time_limit={time_limit!r}: is no number of seconds above 0")
    if isinstance(max_blocks, bool) or not isinstance(max_blocks, int) or max_blocks < 1:
        raise OptionError(f"max_blocks={max_blocks!r}: is no whole number, 1 or more")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64):
        raise OptionError(f"seed={seed!r}: is no whole number from 0 to 2**64 - 1")
