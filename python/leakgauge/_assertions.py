"""Assertions for tests: a function keeps its privacy claim, and the test could have seen it if it did not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from . import _options
from ._errors import checked
from ._function import audit
from ._function_results import FunctionAudit
from ._native import OptionError

# The probability that a test of a correct function fails, where no session shares one.
ALPHA = 1e-5

# Outputs drawn at most by a test.
MAX_SAMPLES = 200_000

# Set by the pytest plugin: gives the next audit its share of the session's false-alarm rate, and records its result.
_session: Any = None


class PrivacyViolated(AssertionError):
    """The claim is refuted."""


class TooWeak(AssertionError):
    """The test could not have found the violation that it is to find."""


@checked(audit)
def assert_private(
    fn: Callable[..., Any],
    inputs: Any,
    claims: str | Iterable[str],
    detects: str | None = None,
    *,
    power: float = 0.9,
    alpha: float | None = None,
    max_samples: int = MAX_SAMPLES,
    **options: Any,
) -> FunctionAudit:
    """Fails if a claim about a function is refuted, or if the test was too weak to refute it.

        def test_my_mechanism():
            leakgauge.assert_private(mechanism, [0.0, 1.0], "dp(epsilon=1)", detects="epsilon=1.25")

    Args:
        fn: As of `audit`, like `inputs`, `claims` and further options.
        detects: The leak that the test must be able to find: `"epsilon=1.25"`, or `"mu=1.3"` where a claim is about
            Gaussian noise (`gdp`, `zcdp`, `dp` with a δ).
        power: The probability with which it must find it.
        alpha: The probability that the test fails though the claim is true. By default a share of the session's.
        max_samples: Outputs drawn at most.

    Raises:
        PrivacyViolated: The claim is refuted.
        TooWeak: `max_samples` outputs could not have found the leak, or outputs are not independent.
    """
    __tracebackhide__ = True
    wanted = None if detects is None else _leak(detects)
    if "confidence" in options:
        alpha = _options.level(options.pop("confidence"), alpha)[1]
    given = alpha is not None
    if alpha is None:
        alpha = ALPHA if _session is None else _session.share()
    result = audit(fn, inputs, claims, max_samples=max_samples, alpha=alpha, **options)
    if not isinstance(result, FunctionAudit):
        raise OptionError("fixed=: assert_private decides while it draws\n  hint: leave fixed= out")
    needed = None if wanted is None or result.verdict == "violated" else _needed(result, wanted, power, max_samples)
    if _session is not None:
        _session.record(result, alpha, given, needed)
    # A verdict of either kind assumes independent outputs.
    _check_outputs(result, "seeded-afresh")
    _check_outputs(result, "dependent-outputs")
    if result.verdict == "violated":
        raise PrivacyViolated(repr(result))
    _check_outputs(result, "constant-outputs")
    if wanted is not None and result.verdict != "holds":
        _check_power(result, wanted, power, needed, max_samples)
    return result


def _check_outputs(result: FunctionAudit, code: str) -> None:
    __tracebackhide__ = True
    for warning in result.warnings:
        if warning.code == code:
            raise TooWeak(f"{warning.message}\n{result!r}")


def _needed(result: FunctionAudit, wanted: tuple[str, float], power: float, max_samples: int) -> int | None:
    """About how many samples find the leak."""
    quantity, value = wanted
    if quantity == "epsilon":
        return result.samples_to_find(value, power)
    # Audits that could have drawn more than the test say whether more would do.
    return result.samples_to_find(mu=value, power=power, most=2 * max_samples)


def _check_power(
    result: FunctionAudit, wanted: tuple[str, float], power: float, needed: int | None, max_samples: int
) -> None:
    __tracebackhide__ = True
    quantity, value = wanted
    budget = result.samples if result.stop in ("time", "interrupted") else max_samples
    if needed is None and quantity == "mu":
        raise TooWeak(
            f"too weak: Gaussian noise of mu = {value:g} was missed by audits of {2 * max_samples:,} samples, or the claim "
            f"allows it\n  hint: raise max_samples=, or detect a larger mu\n{result!r}"
        )
    if needed is None:
        raise TooWeak(
            f"the audit cannot tell whether it would have found epsilon = {value:g}: the claim allows it, or its "
            f"{result.samples:,} samples taught it nothing\n{result!r}"
        )
    if needed > budget:
        raise TooWeak(
            f"too weak: to find {quantity} = {value:g} with probability {power:g} takes about {needed:,} samples, and the "
            f"test may draw {budget:,}\n  hint: raise max_samples= (or seconds=), or detect a larger {quantity}\n{result!r}"
        )


def _leak(detects: Any) -> tuple[str, float]:
    __tracebackhide__ = True
    found = re.fullmatch(r"\s*(epsilon|mu)\s*=\s*([0-9.eE+-]+)\s*", detects) if isinstance(detects, str) else None
    try:
        if found is not None:
            return found.group(1), float(found.group(2))
    except ValueError:
        pass
    raise OptionError(f'detects={detects!r}: must be the leak to find, such as "epsilon=1.25" or "mu=1.3"')
