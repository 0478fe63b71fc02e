#!/usr/bin/env python3
"""Certified ε of protocols of local differential privacy, beside the attack and the limit of LDP-Auditor.

    cargo build --release
    pip install numpy scipy
    benches/ldp.py                    # the table of docs/local-privacy.md
    benches/ldp.py --only SUE

Reports of two values of k, as strings of bits, the same ones for both. The published attack guesses one of the values
that a report supports, and has two Clopper-Pearson limits (Arcolezi and Gambs 2024, arXiv:2309.01597); leakgauge learns
its attack from the same rows. Printed: the lower limits of ε at 99 %, and seconds.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile
import time

import numpy as np
from scipy.stats import beta

# Protocol, values, ε, reports of each value.
CASES = [
    ("SUE", 25, 1, 50_000),
    ("OUE", 25, 1, 50_000),
    ("SS", 25, 1, 50_000),
    ("SUE", 25, 2, 50_000),
    ("OUE", 25, 2, 20_000),
    ("SS", 25, 2, 20_000),
    ("SUE", 25, 4, 20_000),
    ("OUE", 100, 2, 20_000),
    ("SS", 100, 2, 20_000),
    ("OUE", 200, 2, 20_000),
    ("SS", 200, 2, 20_000),
]
ALPHA = 0.01


def unary(rng, value, n, k, p, q):
    """Bits, one a value: 1 with probability p at the true one, else with q."""
    return rng.random((n, k)) < np.where(np.arange(k) == value, p, q)


def symmetric(rng, value, n, k, epsilon):
    p = 1 / (1 + math.exp(-epsilon / 2))
    return unary(rng, value, n, k, p, 1 - p)


def optimized(rng, value, n, k, epsilon):
    return unary(rng, value, n, k, 0.5, 1 / (math.exp(epsilon) + 1))


def subset(rng, value, n, k, epsilon):
    """A set of k/(e^ε + 1) values, with the true one e^ε times as likely as each other set."""
    size = max(1, round(k / (math.exp(epsilon) + 1)))
    held = size * math.exp(epsilon)
    order = rng.random((n, k))
    order[:, value] = np.where(rng.random(n) < held / (held + k - size), -1.0, 2.0)
    bits = np.zeros((n, k), bool)
    np.put_along_axis(bits, np.argsort(order, axis=1)[:, :size], True, axis=1)
    return bits


PROTOCOLS = {"SUE": symmetric, "OUE": optimized, "SS": subset}


def published(rng, first, second):
    """How often one of the supported values, at random, is the first one; and ε by two Clopper-Pearson limits."""

    def guessed(bits):
        supported = np.where(bits.any(axis=1, keepdims=True), bits, True)
        return int((np.argmax(supported * rng.random(bits.shape), axis=1) == 0).sum())

    right, wrong, n, m = guessed(first), guessed(second), len(first), len(second)
    at_least = beta.ppf(ALPHA / 2, right, n - right + 1) if right else 0.0
    at_most = beta.ppf(1 - ALPHA / 2, wrong + 1, m - wrong)
    return max(0.0, math.log(at_least / at_most)) if at_least > 0 else 0.0


def ours(program, first, second, epsilon):
    with tempfile.TemporaryDirectory() as place:
        log = os.path.join(place, "reports.csv")
        with open(log, "w", encoding="utf-8") as file:
            file.write("secret,report\n")
            for value, reports in enumerate((first, second)):
                for row in reports.astype(int):
                    file.write(f"{value},{''.join(map(str, row))}\n")
        command = [program, "audit", log, "--claim", f"ldp(epsilon={epsilon})"]
        command += ["--confidence", str(1 - ALPHA), "--format", "json"]
        begun = time.monotonic()
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begun
        return json.loads(found.stdout)["claims"][0]["estimate"]["lower"], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/leakgauge")
    parser.add_argument("--only", default="", help="protocols that begin like this")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    print("| protocol | values | ε | reports of a value | published attack | leakgauge | seconds |")
    print(7 * "| --- " + "|")
    for name, k, epsilon, n in CASES:
        if not name.startswith(given.only):
            continue
        rng = np.random.default_rng(given.seed)
        first, second = (PROTOCOLS[name](rng, value, n, k, epsilon) for value in (0, 1))
        theirs = published(rng, first, second)
        lower, seconds = ours(given.program, first, second, epsilon)
        print(f"| {name} | {k} | {epsilon} | {n:,} | {theirs:.2f} | {lower:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
