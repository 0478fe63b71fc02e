"""Constant-time tests of what Python can call."""

from __future__ import annotations

import hmac
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

import leakgauge
from leakgauge import timing

SECRET = bytes(range(64))


def guess(wrong: int) -> bytes:
    changed = bytearray(SECRET)
    changed[wrong] ^= 1
    return bytes(changed)


CLASSES = {"first byte": lambda: guess(0), "last byte": lambda: guess(63)}


def naive(other: bytes) -> bool:
    for mine, theirs in zip(SECRET, other):
        if mine != theirs:
            return False
    return True


def test_a_naive_comparison_fails_and_its_times_are_audited(tmp_path: Any) -> None:
    with pytest.raises(AssertionError, match="last byte takes longer than first byte") as caught:
        timing.assert_constant_time("naive", "lan", CLASSES, naive, seed=7, log=tmp_path)
    assert "LEAKGAUGE_SEED=7" in str(caught.value) or "7" in str(caught.value)
    log = tmp_path / "naive.csv"
    found = leakgauge.audit_log(str(log), block="block", secret="class", claims="time-difference(100ns)", quick=True)
    assert found.verdict == "violated"


def test_a_comparison_of_constant_time_passes_or_is_too_noisy() -> None:
    report = timing.measure(
        "hmac", "internet", CLASSES, lambda other: hmac.compare_digest(SECRET, other), max_blocks=4096, time_limit=30
    )
    assert not report.leaks, str(report)
    assert report.passes and report.largest is not None and report.largest <= 50_000


def test_what_cannot_be_told_warns_and_fails_on_request() -> None:
    few = {"max_blocks": 50}
    with pytest.warns(timing.TooNoisy, match="50 blocks"):
        report = timing.assert_constant_time("few", 1.0, CLASSES, naive, **few)
    assert report.outcome == "too noisy" and report.slower is None
    with pytest.raises(AssertionError):
        timing.assert_constant_time("few", 1.0, CLASSES, naive, require_decision=True, **few)


def test_what_calls_raise_is_raised() -> None:
    def broken() -> bytes:
        raise LookupError("no input")

    with pytest.raises(LookupError, match="no input"):
        timing.measure("broken", "lan", {"a": broken, "b": broken}, naive)
    with pytest.raises(TypeError):
        timing.measure("broken", "lan", CLASSES, lambda: None)
    # Nothing is left behind.
    assert timing.measure("after", "internet", CLASSES, naive, max_blocks=2).blocks <= 2


def test_threads_measure_one_after_the_other() -> None:
    found: list[timing.Report] = []

    def work() -> None:
        found.append(timing.measure("thread", "lan", CLASSES, naive, max_blocks=200))

    threads = [threading.Thread(target=work) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert len(found) == 3


def test_thresholds_are_times_or_attackers() -> None:
    for threshold, nanoseconds in [
        (20, 20.0),
        ("lan", 100.0),
        ("2us", 2000.0),
        ("1.5 ms", 1.5e6),
        (timedelta(microseconds=3), 3000.0),
    ]:
        report = timing.measure("threshold", threshold, CLASSES, naive, max_blocks=1)
        assert report.threshold == pytest.approx(nanoseconds)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"threshold": "wan"}, "is no time"),
        ({"threshold": -1}, "is no time"),
        ({"threshold": None}, "is no time"),
        ({"classes": {"a": bytes}}, "has 1"),
        ({"classes": {"a": bytes, "b": 1}}, "'b' cannot be called"),
        ({"classes": [bytes, bytes]}, "is no mapping"),
        ({"run": 5}, "cannot be called"),
        ({"time_limit": 0}, "seconds above 0"),
        ({"max_blocks": 0}, "1 or more"),
        ({"seed": -1}, "from 0 to"),
        ({"sed": 1}, "seed"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], says: str) -> None:
    right = {"name": "wrong", "threshold": "lan", "classes": CLASSES, "run": naive}
    with pytest.raises(leakgauge.Error, match=says):
        timing.assert_constant_time(**{**right, **changed})


def test_inputs_are_made_outside_of_the_timed_part() -> None:
    def slow() -> bytes:
        time.sleep(0.002)
        return guess(63)

    classes = {"quick": lambda: guess(63), "slow": slow}
    report = timing.measure("makers", "internet", classes, naive, max_blocks=1024, time_limit=60)
    assert not report.leaks, str(report)
