"""Audits of real libraries, and of each with a planted bug: prints the table of docs/python-gallery.md.

    python python/gallery.py

Rows of libraries that are not installed say so.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import leakgauge

BUDGET = 60_000

# A true claim is refuted by chance in one run of a thousand. opendp draws from the system and cannot be seeded: what is
# correct there is judged more strictly, so that a test that runs daily does not fail by chance.
ALPHA = 1e-3
UNSEEDED = {"alpha": 1e-7}


@dataclass(frozen=True)
class Case:
    """A mechanism, what is claimed, and the verdict that is due."""

    name: str
    library: str
    make: Callable[[], tuple[Callable[..., Any], Any]]
    claim: str
    expected: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_installed(self) -> bool:
        """Whether the library is there and can be imported."""
        try:
            importlib.import_module(self.library)
        except ImportError:
            return False
        return True

    def run(self) -> leakgauge.FunctionAudit:
        """Audits it."""
        fn, inputs = self.make()
        options = {"max_samples": BUDGET, "alpha": ALPHA, **self.options}
        # Every function here draws the outputs of one call independently of each other.
        return leakgauge.audit(fn, inputs, self.claim, unit="row", **options)


def _numpy(scale: float) -> Callable[[], Any]:
    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)
        return (lambda x, n: x + rng.laplace(scale=scale, size=n)), [0.0, 1.0]

    return make


def _diffprivlib_laplace(sensitivity: float) -> Callable[[], Any]:
    def make() -> Any:
        from diffprivlib.mechanisms import Laplace

        mechanism = Laplace(epsilon=1.0, sensitivity=sensitivity, random_state=1)
        return (lambda x: mechanism.randomise(x)), [0.0, 1.0]

    return make


def _diffprivlib_geometric(sensitivity: int) -> Callable[[], Any]:
    def make() -> Any:
        from diffprivlib.mechanisms import Geometric

        mechanism = Geometric(epsilon=1.0, sensitivity=sensitivity, random_state=1)
        return (lambda x: mechanism.randomise(x)), [0, 2]

    return make


def _opendp(scale: float) -> Callable[[], Any]:
    def make() -> Any:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        mechanism = dp.m.make_laplace(*space, scale=scale)
        return (lambda x: mechanism(x)), [0.0, 1.0]

    return make


def _pandas(clip: bool) -> Callable[[], Any]:
    """The sum of incomes, each clipped to 100, with noise for that; one of two databases has a row more."""

    def make() -> Any:
        import numpy as np
        import pandas as pd

        rng = np.random.default_rng(1)

        def total(frame: Any, n: int) -> Any:
            incomes = frame["income"].clip(upper=100) if clip else frame["income"]
            return incomes.sum() + rng.laplace(scale=100.0, size=n)

        def one_more(generator: Any) -> Any:
            rows = generator.uniform(20, 100, size=50)
            richest = np.append(rows, generator.choice([50.0, 100.0, 400.0]))
            return pd.DataFrame({"income": rows}), pd.DataFrame({"income": richest})

        return total, leakgauge.neighbors(strategy=one_more, count=6)

    return make


CLAIM = "dp(epsilon=1)"
CASES = [
    Case("numpy: Laplace noise", "numpy", _numpy(1.0), CLAIM, "inconclusive"),
    Case("numpy: half the noise", "numpy", _numpy(0.5), CLAIM, "violated"),
    Case("numpy: Laplace noise, low bits", "numpy", _numpy(1.0), CLAIM, "violated", {"bits": True}),
    Case("diffprivlib: Laplace", "diffprivlib", _diffprivlib_laplace(1.0), CLAIM, "inconclusive"),
    Case("diffprivlib: Laplace, low bits", "diffprivlib", _diffprivlib_laplace(1.0), CLAIM, "violated", {"bits": True}),
    Case("diffprivlib: Laplace, half the sensitivity", "diffprivlib", _diffprivlib_laplace(0.5), CLAIM, "violated"),
    Case("diffprivlib: Geometric", "diffprivlib", _diffprivlib_geometric(2), CLAIM, "inconclusive"),
    Case("diffprivlib: Geometric, half the sensitivity", "diffprivlib", _diffprivlib_geometric(1), CLAIM, "violated"),
    Case("opendp: Laplace", "opendp", _opendp(1.0), CLAIM, "inconclusive", UNSEEDED),
    Case("opendp: Laplace, low bits", "opendp", _opendp(1.0), CLAIM, "inconclusive", {"bits": True, **UNSEEDED}),
    Case("opendp: Laplace, half the scale", "opendp", _opendp(0.5), CLAIM, "violated"),
    Case("pandas: noisy sum, clipped", "pandas", _pandas(True), CLAIM, "inconclusive"),
    Case("pandas: noisy sum, not clipped", "pandas", _pandas(False), CLAIM, "violated"),
]


def row(case: Case) -> str:
    """A line of the table."""
    if not case.is_installed:
        return f"| {case.name} | – | – | – | skipped: not installed |"
    r = case.run()
    lower = r.epsilon.lower or 0.0
    return f"| {case.name} | {r.samples:,} | {r.seconds:.2f} | {lower:.2f} | {r.verdict} |"


def main() -> None:
    """Prints the table."""
    print("| mechanism, claimed ε = 1 | samples | seconds | ε at least | verdict |")
    print("| --- | --- | --- | --- | --- |")
    for case in CASES:
        print(row(case))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
