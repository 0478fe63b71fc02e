"""What `audit(fn)` costs over calling the function, in one run:

    python python/bench_function.py
"""

from __future__ import annotations

import time

import leakgauge
import numpy as np

SAMPLES = 1_000_000


def main() -> None:
    """Prints what calls alone and the audit take, and microseconds a sample: by the clock and of the processor."""
    rng = np.random.default_rng(1)

    def laplace(x: float, n: int) -> np.ndarray:
        return x + rng.laplace(scale=1.0, size=n)

    print(f"{'timer':<10} {'samples':>9} {'audit s':>8} {'fn s':>8} {'overhead us a sample':>21}")
    for name, timer in (("clock", time.perf_counter), ("processor", time.process_time)):
        best = (float("inf"), 0.0, 0.0, 0)
        for seed in range(5):
            begun = timer()
            r = leakgauge.audit(
                laplace, [0.0, 1.0], "dp(epsilon=1)", max_samples=SAMPLES, seed=seed, unit="row", progress=False
            )
            whole = timer() - begun
            begun = timer()
            for _ in range(20):
                laplace(0.0, r.samples // 20)
            alone = timer() - begun
            best = min(best, ((whole - alone) / r.samples, whole, alone, r.samples))
        overhead, whole, alone, samples = best
        print(f"{name:<10} {samples:>9,} {whole:>8.3f} {alone:>8.3f} {1e6 * overhead:>21.3f}")
    print("limits: 1 microsecond a sample, 3 seconds for a million")


if __name__ == "__main__":
    main()
