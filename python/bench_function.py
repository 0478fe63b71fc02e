"""What `audit(fn)` costs over calling the function, in one run:

    python python/bench_function.py
"""

from __future__ import annotations

import time

import leakgauge
import numpy as np

SAMPLES = 1_000_000


def main() -> None:
    """Prints seconds of calls alone, seconds of the audit, and microseconds a sample."""
    rng = np.random.default_rng(1)

    def laplace(x: float, n: int) -> np.ndarray:
        return x + rng.laplace(scale=1.0, size=n)

    best = (float("inf"), 0.0, 0.0, 0)
    for seed in range(3):
        begun = time.perf_counter()
        r = leakgauge.audit(laplace, [0.0, 1.0], "dp(epsilon=1)", max_samples=SAMPLES, seed=seed, progress=False)
        whole = time.perf_counter() - begun
        # The calls of the audit are many small and some large ones; here the same number of samples in 20 calls.
        begun = time.perf_counter()
        for _ in range(20):
            laplace(0.0, r.samples // 20)
        alone = time.perf_counter() - begun
        best = min(best, ((whole - alone) / r.samples, whole, alone, r.samples))
    overhead, whole, alone, samples = best
    print(f"samples {samples:,}: {whole:.3f} s with the audit, {alone:.3f} s of fn(x, n) alone")
    print(f"overhead {1e6 * overhead:.3f} microseconds a sample (limit 1); audit {whole:.2f} s (limit 3)")


if __name__ == "__main__":
    main()
