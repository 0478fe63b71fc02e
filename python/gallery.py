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

# Functions that give one output a call.
FEW = {"max_samples": 4_000}

# Functions that return vectors, of which attackers are fitted: fewer batches are fewer fits.
WIDE = {"max_samples": 4_000, "batch": 500}


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


def _data() -> Any:
    """20 values between 0 and 1, of which one is far from the others, and one is missing."""
    import numpy as np

    rows = np.random.default_rng(0).uniform(0, 0.3, size=20)
    rows[[3, 7]] = 1.0, np.nan
    return rows


def _clipped_sum(fills: bool) -> Callable[[], Any]:
    """A missing value passes the clip, and makes the sum missing."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def total(rows: Any) -> Any:
            clipped = np.clip(np.nan_to_num(rows) if fills else rows, 0.0, 1.0)
            return clipped.sum() + rng.laplace(scale=1.0)

        return total, leakgauge.neighbors.rows(_data(), "remove", count=4)

    return make


def _mean(rows: int, is_public: bool) -> Callable[[], Any]:
    """A noisy sum over the size of the data; the size is exact, or has half of the budget."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def mean(values: Any, n: int) -> Any:
            scale = 1.0 if is_public else 2.0
            size = len(values) if is_public else np.maximum(len(values) + rng.laplace(scale=scale, size=n), 1.0)
            return (np.clip(values, 0.0, 1.0).sum() + rng.laplace(scale=scale, size=n)) / size

        data = np.random.default_rng(0).uniform(0, 1, size=rows)
        return mean, leakgauge.neighbors.rows(data, "remove", count=2)

    return make


def _bounds() -> Callable[[], Any]:
    """Noise in proportion to the range of the data."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def total(rows: Any) -> Any:
            rows = np.nan_to_num(rows)
            return rows.sum() + rng.laplace(scale=max(rows.max() - rows.min(), 1e-9))

        return total, leakgauge.neighbors.rows(_data(), "remove", count=4)

    return make


def _two_queries(scale: float) -> Callable[[], Any]:
    """A sum and a count, each with noise of this scale."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def queries(rows: Any, n: int) -> Any:
            clipped = np.clip(np.nan_to_num(rows), 0.0, 1.0)
            return np.array([clipped.sum(), len(rows)]) + rng.laplace(scale=scale, size=(n, 2))

        return queries, leakgauge.neighbors.rows(_data(), "remove", count=1)

    return make


def _histogram(of_data: bool) -> Callable[[], Any]:
    """Noisy counts of categories: of those that occur, or of all that there can be."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def counts(words: Any) -> Any:
            names = sorted(set(words)) if of_data else ["a", "b", "c"]
            return {name: words.count(name) + rng.laplace(scale=1.0) for name in names}

        return counts, leakgauge.neighbors.rows(["a"] * 12 + ["b"] * 7 + ["c"], "remove", count=2)

    return make


def _no_noise(parents: int) -> Callable[[], Any]:
    """A sensitivity with a factor that a setting makes 0."""

    def make() -> Any:
        import numpy as np

        rng = np.random.default_rng(1)

        def total(rows: Any) -> Any:
            return np.clip(np.nan_to_num(rows), 0.0, 1.0).sum() + rng.laplace(scale=1.0) * parents

        return total, leakgauge.neighbors.rows(_data(), "remove", count=4)

    return make


def _diffprivlib_regression(low: float) -> Callable[[], Any]:
    """The sensitivity of x² is computed from the lower bound alone: 0 for bounds (0, 10), enough for (−10, 10)."""

    def make() -> Any:
        import numpy as np
        from diffprivlib.models import LinearRegression

        state = np.random.RandomState(1)
        rng = np.random.default_rng(0)

        def train(data: Any) -> Any:
            model = LinearRegression(
                epsilon=1.0, bounds_X=(low, 10.0), bounds_y=(0.0, 1.0), fit_intercept=False, random_state=state
            )
            return model.fit(*data).coef_

        X = np.append(rng.uniform(0, 1, 5), 10.0).reshape(-1, 1)
        return train, leakgauge.neighbors.xy(X, np.array([0.0] * 5 + [1.0]), "remove", count=4)

    return make


def _diffprivlib_classes() -> Callable[[], Any]:
    """The classes of a model are those of its data."""

    def make() -> Any:
        import numpy as np
        from diffprivlib.models import GaussianNB

        state = np.random.RandomState(1)
        X = np.random.default_rng(0).uniform(size=(20, 1))

        def train(data: Any) -> Any:
            return list(GaussianNB(epsilon=1.0, bounds=(0.0, 1.0), random_state=state).fit(*data).classes_)

        return train, leakgauge.neighbors.xy(X, np.array([0] * 10 + [1] * 9 + [2]), "remove", count=4)

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
    Case("own data: sum, gaps filled", "numpy", _clipped_sum(True), CLAIM, "inconclusive", FEW),
    Case("own data: sum, gaps pass the clip", "numpy", _clipped_sum(False), CLAIM, "violated", FEW),
    Case("own data: sum, noise by the range of the data", "numpy", _bounds(), CLAIM, "violated", FEW),
    Case("own data: sum, a setting turns the noise off", "numpy", _no_noise(0), CLAIM, "violated", FEW),
    Case("own data: two queries, half the budget each", "numpy", _two_queries(2.0), CLAIM, "inconclusive", WIDE),
    Case("own data: two queries, all the budget each", "numpy", _two_queries(1.0), CLAIM, "violated", WIDE),
    Case("own data: counts of all categories", "numpy", _histogram(False), CLAIM, "inconclusive", WIDE),
    Case("own data: counts of those that occur", "numpy", _histogram(True), CLAIM, "violated", WIDE),
    Case("own data: mean of 100, noisy size", "numpy", _mean(100, False), CLAIM, "inconclusive"),
    Case("own data: mean of 100, size made public", "numpy", _mean(100, True), CLAIM, "inconclusive"),
    Case("own data: mean of 2, size made public", "numpy", _mean(2, True), CLAIM, "violated"),
    Case(
        "diffprivlib: LinearRegression, lower bound 0", "diffprivlib", _diffprivlib_regression(0.0), CLAIM, "violated", FEW
    ),
    Case("diffprivlib: GaussianNB, its classes", "diffprivlib", _diffprivlib_classes(), CLAIM, "violated", FEW),
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
