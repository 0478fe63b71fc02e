"""Protocols of local differential privacy as functions to audit: `fn(value, n)` gives n reports of one value.

    python python/ldp.py

prints the table of docs/local-privacy.md. Every sampler follows the definition of its paper, and reports are what the
server receives: a category, a vector of bits, a subset, a vector of noisy numbers. Of a hashed report the server knows
the hash function, and so which categories it supports; those are the report here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import leakgauge

Reports = Callable[[Any, int], Any]


# Randomized response.


def odds_kept(epsilon: float, k: int) -> tuple[float, float]:
    """The probabilities of the true category, and of each other one: e^ε to 1 (Kairouz et al. 2016, arXiv:1407.1338)."""
    weight = math.exp(epsilon)
    return weight / (weight + k - 1), 1.0 / (weight + k - 1)


def answered(values: Any, k: int, kept: float, rng: np.random.Generator) -> Any:
    """Each value, or with the probability 1 − `kept` one of the k − 1 others, all alike."""
    values = np.asarray(values)
    others = (values + rng.integers(1, k, size=values.shape)) % k
    return np.where(rng.random(values.shape) < kept, values, others)


def grr(epsilon: float, k: int, rng: np.random.Generator) -> Reports:
    """Generalized randomized response."""
    kept = odds_kept(epsilon, k)[0]
    return lambda value, n: answered(np.full(n, value), k, kept, rng)


# Bits, one a category.


def bits_epsilon(p: float, q: float) -> float:
    """The ε of bits that are 1 with p where they should be, and else with q: two bits differ between values."""
    return math.log(p * (1 - q) / ((1 - p) * q))


def sue_bits(epsilon: float) -> tuple[float, float]:
    """Symmetric (RAPPOR's one-time form, Erlingsson et al. 2014, doi:10.1145/2660267.2660348)."""
    p = math.exp(epsilon / 2) / (math.exp(epsilon / 2) + 1)
    return p, 1 - p


def oue_bits(epsilon: float) -> tuple[float, float]:
    """Optimized (Wang et al. 2017, USENIX Security)."""
    return 0.5, 1 / (math.exp(epsilon) + 1)


def bits(value: int, n: int, k: int, p: float, q: float, rng: np.random.Generator) -> Any:
    """n vectors of k bits."""
    chances = np.where(np.arange(k) == value, p, q)
    return (rng.random((n, k)) < chances).astype(np.int64)


def unary(of: tuple[float, float], k: int, rng: np.random.Generator) -> Reports:
    """Unary encoding with these probabilities: SUE, OUE."""
    return lambda value, n: bits(value, n, k, *of, rng)


# Subsets.


def subset_size(epsilon: float, k: int) -> int:
    """How many categories a report names (Ye and Barg 2018, doi:10.1109/TIT.2018.2809790)."""
    return max(round(k / (math.exp(epsilon) + 1)), 1)


def subset_selection(epsilon: float, k: int, rng: np.random.Generator) -> Reports:
    """A subset that holds the value with odds of e^ε against each of those without it."""
    size = subset_size(epsilon, k)
    held = size * math.exp(epsilon) / (size * math.exp(epsilon) + k - size)

    def reports(value: int, n: int) -> Any:
        # The others in random order, the value in front or behind.
        others = rng.permuted(np.tile(np.delete(np.arange(k), value), (n, 1)), axis=1)
        holds = (rng.random(n) < held)[:, None]
        chosen = np.where(holds, np.column_stack([np.full(n, value), others[:, : size - 1]]), others[:, :size])
        return np.sort(chosen, axis=1)

    return reports


# Hashes.


def local_hashing(epsilon: float, k: int, g: int, rng: np.random.Generator) -> Reports:
    """Randomized response on a hash into g cells (Wang et al. 2017): BLH with g = 2, OLH with g = e^ε + 1.

    The hash function is drawn for each report, from all that there are. The report is which categories it supports.
    """
    kept = odds_kept(epsilon, g)[0]

    def reports(value: int, n: int) -> Any:
        hashes = rng.integers(0, g, size=(n, k))
        cells = answered(hashes[:, value], g, kept, rng)
        return (hashes == cells[:, None]).astype(np.int64)

    return reports


def cells_of_olh(epsilon: float) -> int:
    """The number of cells with the least variance."""
    return round(math.exp(epsilon)) + 1


# Histograms.


def she(epsilon: float, k: int, rng: np.random.Generator) -> Reports:
    """Summation of histograms: Laplace noise of scale 2/ε on every entry (Wang et al. 2017)."""
    return lambda value, n: (np.arange(k) == value) + rng.laplace(scale=2 / epsilon, size=(n, k))


def the_threshold(epsilon: float) -> float:
    """The threshold with the least variance, on a grid."""
    grid = np.linspace(0.5, 1, 1_001)
    p, q = 1 - np.exp(epsilon / 2 * (grid - 1)) / 2, np.exp(-epsilon / 2 * grid) / 2
    return float(grid[np.argmin(q * (1 - q) / (p - q) ** 2)])


def the(epsilon: float, k: int, rng: np.random.Generator) -> Reports:
    """Thresholding with histogram encoding: which entries of SHE are above the threshold."""
    noisy, threshold = she(epsilon, k, rng), the_threshold(epsilon)
    return lambda value, n: (noisy(value, n) > threshold).astype(np.int64)


# Reports that are sent again and again: a first randomization is kept, each report randomizes that once more.


def second_grr(lasting: float, first: float, k: int) -> float:
    """The probability that the second randomized response keeps a category, so that one report has ε = `first`.

    A randomized response takes a share λ = (e^ε − 1)/(e^ε + k − 1) of what the value says; two in a row take the product
    (Arcolezi et al. 2022, doi:10.1016/j.dcan.2022.07.003).
    """

    def share(epsilon: float) -> float:
        return (math.exp(epsilon) - 1) / (math.exp(epsilon) + k - 1)

    return (1 + (k - 1) * share(first) / share(lasting)) / k


def chained(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Two randomizations of a bit in a row."""
    return tuple(p * other[0] + (1 - p) * other[1] for p in one)  # type: ignore[return-value]


def second_bits(lasting: tuple[float, float], first: float, is_symmetric: bool) -> tuple[float, float]:
    """The second randomization of bits, so that one report has ε = `first`: by bisection."""

    def pair(q: float) -> tuple[float, float]:
        return (1 - q, q) if is_symmetric else (0.5, q)

    low, high = 1e-12, 0.5
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if bits_epsilon(*chained(lasting, pair(middle))) > first else (low, middle)
    return pair(high)


def longitudinal_grr(lasting: float, first: float, k: int, times: int, rng: np.random.Generator) -> Reports:
    """L-GRR: `times` reports of one value."""
    kept, again = odds_kept(lasting, k)[0], second_grr(lasting, first, k)

    def reports(value: int, n: int) -> Any:
        memory = answered(np.full(n, value), k, kept, rng)
        return _one_or_all(answered(np.tile(memory[:, None], times), k, again, rng))

    return reports


def longitudinal_unary(
    of: tuple[float, float], first: float, is_symmetric: bool, k: int, times: int, rng: np.random.Generator
) -> Reports:
    """L-SUE (RAPPOR), L-OSUE, L-OUE, L-SOUE: the second randomization is symmetric or optimized."""
    again = second_bits(of, first, is_symmetric)

    def reports(value: int, n: int) -> Any:
        memory = bits(value, n, k, *of, rng)[:, None, :]
        chances = np.where(memory == 1, *again)
        return (rng.random((n, times, k)) < chances).astype(np.int64).reshape(n, times * k)

    return reports


def loloha(lasting: float, first: float, k: int, g: int, times: int, rng: np.random.Generator) -> Reports:
    """Local hashing, with one hash function a user, and L-GRR on its g cells (Arcolezi et al. 2023, arXiv:2210.00262)."""
    kept, again = odds_kept(lasting, g)[0], second_grr(lasting, first, g)

    def reports(value: int, n: int) -> Any:
        hashes = rng.integers(0, g, size=(n, k))
        memory = answered(hashes[:, value], g, kept, rng)
        cells = answered(np.tile(memory[:, None], times), g, again, rng)
        # Which categories each report supports.
        return (hashes[:, None, :] == cells[:, :, None]).astype(np.int64).reshape(n, times * k)

    return reports


def d_bit_flip(epsilon: float, buckets: int, d: int, rng: np.random.Generator) -> Reports:
    """dBitFlipPM: d of the buckets, and a bit for each (Ding, Kulkarni and Yekhanin 2017, arXiv:1712.01524)."""
    p, q = sue_bits(epsilon)

    def reports(value: int, n: int) -> Any:
        sampled = rng.permuted(np.tile(np.arange(buckets) < d, (n, 1)), axis=1)
        # 2 for a bucket that is not asked for.
        return np.where(sampled, bits(value, n, buckets, p, q, rng), 2)

    return reports


def _one_or_all(reports: Any) -> Any:
    return reports[:, 0] if reports.shape[1] == 1 else reports


# Numbers between −1 and 1.


def stochastic_rounding(epsilon: float, rng: np.random.Generator) -> Reports:
    """One of two values, with the right mean (Duchi, Jordan and Wainwright 2018, doi:10.1080/01621459.2017.1389735)."""
    weight = math.exp(epsilon)
    end = (weight + 1) / (weight - 1)
    return lambda value, n: np.where(rng.random(n) < (1 + value / end) / 2, end, -end)


def piecewise(epsilon: float, rng: np.random.Generator) -> Reports:
    """A number near the true one with a density e^ε times that elsewhere (Wang et al. 2019, arXiv:1907.00782)."""
    root = math.exp(epsilon / 2)
    end = (root + 1) / (root - 1)

    def reports(value: float, n: int) -> Any:
        low = (end + 1) / 2 * value - (end - 1) / 2
        high = low + end - 1
        near = rng.uniform(low, high, size=n)
        # Elsewhere: from −end to end without the part between.
        far = rng.uniform(-end, end - (high - low), size=n)
        far = np.where(far < low, far, far + (high - low))
        return np.where(rng.random(n) < root / (root + 1), near, far)

    return reports


@dataclass(frozen=True)
class Protocol:
    """A protocol of which one report is ε-LDP; `make` takes the ε that it really has.

    Of a protocol for many reports, `lasting` makes two reports of one user that are ε-LDP together.
    """

    name: str
    make: Callable[[float, int, np.random.Generator], Reports]
    lasting: Callable[[float, int, np.random.Generator], Reports] | None = None
    is_numeric: bool = False

    def reports(self, epsilon: float, k: int, seed: int = 1) -> Reports:
        """The function to audit."""
        return self.make(epsilon, k, np.random.default_rng(seed))

    def inputs(self, k: int) -> list[Any]:
        """Two values that are as far apart as any."""
        return [-1.0, 1.0] if self.is_numeric else [0, k - 1]


def many(
    name: str, make: Callable[[float, float, int, int, np.random.Generator], Reports]
) -> Protocol:
    """A protocol for many reports, by its lasting ε and that of one report; the first is twice the second here."""
    return Protocol(
        name, lambda e, k, rng: make(2 * e, e, k, 1, rng), lambda e, k, rng: make(e, e / 2, k, 2, rng)
    )


def _unary(of: Callable[[float], tuple[float, float]], is_symmetric: bool) -> Any:
    return lambda lasting, first, k, times, rng: longitudinal_unary(of(lasting), first, is_symmetric, k, times, rng)


PROTOCOLS = [
    Protocol("GRR", grr),
    Protocol("SUE", lambda e, k, rng: unary(sue_bits(e), k, rng)),
    Protocol("OUE", lambda e, k, rng: unary(oue_bits(e), k, rng)),
    Protocol("SS", subset_selection),
    Protocol("BLH", lambda e, k, rng: local_hashing(e, k, 2, rng)),
    Protocol("OLH", lambda e, k, rng: local_hashing(e, k, cells_of_olh(e), rng)),
    Protocol("SHE", she),
    Protocol("THE", the),
    many("L-GRR", longitudinal_grr),
    many("L-SUE", _unary(sue_bits, True)),
    many("L-OSUE", _unary(oue_bits, True)),
    many("L-OUE", _unary(oue_bits, False)),
    many("L-SOUE", _unary(sue_bits, False)),
    many("BiLOLOHA", lambda lasting, first, k, times, rng: loloha(lasting, first, k, 2, times, rng)),
    many("OLOLOHA", lambda lasting, first, k, times, rng: loloha(lasting, first, k, cells_of_olh(first), times, rng)),
    Protocol("dBitFlipPM", lambda e, k, rng: d_bit_flip(e, k, max(k // 2, 1), rng)),
    Protocol("stochastic rounding", lambda e, k, rng: stochastic_rounding(e, rng), is_numeric=True),
    Protocol("piecewise", lambda e, k, rng: piecewise(e, rng), is_numeric=True),
]


def audited(reports: Reports, inputs: list[Any], claimed: float, **options: Any) -> leakgauge.FunctionAudit:
    """Audits a protocol against a claim."""
    given = {"unit": "row", "max_samples": 8_000, "batch": 500, "alpha": 1e-3, **options}
    return leakgauge.audit(reports, inputs, f"ldp(epsilon={claimed})", **given)


def main() -> None:
    """Prints the table: what is found of each protocol, and of the same with twice the ε."""
    print("| protocol | correct, ε at least | verdict | twice the ε: samples | verdict |")
    print("| --- | --- | --- | --- | --- |")
    for protocol in PROTOCOLS:
        inputs = protocol.inputs(8)
        right, wrong = (audited(protocol.reports(epsilon, 8), inputs, 1.0) for epsilon in (1.0, 2.0))
        found = f"{right.epsilon.lower or 0:.2f} | {right.verdict} | {wrong.samples:,} | {wrong.verdict}"
        print(f"| {protocol.name} | {found} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
