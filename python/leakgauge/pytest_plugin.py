"""The pytest plugin: one false-alarm rate for all audits of a session.

Tests that use the fixture `leakgauge` share half of the rate evenly; the k-th audit within one of them has 1/(k(k + 1))
of its share. Audits of all other tests share the other half: the k-th has 1/(k(k + 1)) of it. So whatever tests run,
and however often, the probability that a function which keeps its claims is found violated in the session is at most
the stated one. That counts audits within one process, or within the workers of pytest-xdist that share the tests; a
plugin that runs every test in a process of its own gives each of them the rate of a session.

A test can also fail because its samples could not have found the leak that it is to detect. That depends on the
samples, is no statement about the function, and is not counted in the rate.
"""

from __future__ import annotations

import math
import os
from typing import Any

import pytest

_DEFAULT = 1e-5

# What is summed over the workers of pytest-xdist.
_COUNTS = ("audits", "own", "samples")


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "probability that correct functions are found violated in a session (default 1e-5)"
    parser.getgroup("leakgauge").addoption("--leakgauge-alpha", type=float, default=None, help=about)
    parser.addini("leakgauge_alpha", about, default=None)


class Session:
    """What the audits of a session have in common."""

    def __init__(self, config: pytest.Config) -> None:
        given = config.getoption("leakgauge_alpha")
        if given is None:
            given = config.getini("leakgauge_alpha") or _DEFAULT
        try:
            self.alpha = float(given)
        except (TypeError, ValueError):
            self.alpha = math.nan
        if not 0 < self.alpha <= 0.5:
            raise pytest.UsageError(f"leakgauge_alpha must be above 0 and at most 0.5, not {given}")
        self.tests = 0
        self.audits = self.own = self.samples = 0
        # Workers that ended without saying what they did.
        self.lost = 0
        self._counts: dict[str | None, int] = {}
        self._workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        self.item: pytest.Item | None = None

    def share(self) -> float:
        """The next audit's part of the rate."""
        uses = self.item is not None and "leakgauge" in getattr(self.item, "fixturenames", ())
        key = self.item.nodeid if uses and self.item is not None else None
        count = self._counts[key] = self._counts.get(key, 0) + 1
        # Processes that share the tests each have a part of what is not shared by name.
        among = max(self.tests, 1) if uses else self._workers
        return 0.5 * self.alpha / among / (count * (count + 1))

    def record(self, result: Any, alpha: float, given: bool, needed: int | None) -> None:
        """Notes a result, for the summary and for JUnit."""
        self.audits += 1
        self.own += given
        self.samples += result.samples
        if self.item is None:
            return
        figures = {
            "verdict": result.verdict,
            "samples": result.samples,
            "epsilon_lower": result.epsilon.lower,
            "epsilon_estimate": result.epsilon.point,
            "alpha": alpha,
            "samples_needed": needed,
        }
        properties = self.item.user_properties
        properties.extend((f"leakgauge.{name}", value) for name, value in figures.items() if value is not None)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = Session(config)


_KEY = pytest.StashKey[Session]()


def pytest_collection_finish(session: pytest.Session) -> None:
    uses = ("leakgauge" in getattr(item, "fixturenames", ()) for item in session.items)
    session.config.stash[_KEY].tests = sum(uses)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    from . import _assertions

    session = item.config.stash[_KEY]
    before, _assertions._session, session.item = _assertions._session, session, item
    try:
        return (yield)
    finally:
        _assertions._session, session.item = before, None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist sends what it counted to the session that started it."""
    sent = getattr(session.config, "workeroutput", None)
    if sent is not None:
        own = session.config.stash[_KEY]
        sent["leakgauge"] = {name: getattr(own, name) for name in _COUNTS}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Adds what a worker counted; one that crashed has sent nothing, and the summary says so."""
    session = node.config.stash[_KEY]
    sent = getattr(node, "workeroutput", {}).get("leakgauge")
    if sent is None:
        session.lost += 1
        return
    for name in _COUNTS:
        setattr(session, name, getattr(session, name) + sent[name])


@pytest.fixture(name="leakgauge")
def _leakgauge() -> Any:
    """The module `leakgauge`; a test that uses it has an even share of the session's false-alarm rate."""
    import leakgauge

    return leakgauge


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    session = config.stash[_KEY]
    if not session.audits:
        return
    text = (
        f"leakgauge: {session.audits} audits, {session.samples:,} samples; if all functions keep their claims, the "
        f"probability that one of them is found violated is at most {session.alpha:g}"
    )
    if session.own:
        text += f" (beside {session.own} with an alpha of their own)"
    if session.lost:
        text += f"; {session.lost} workers crashed, whose audits are not counted here"
    terminalreporter.write_line(text)
