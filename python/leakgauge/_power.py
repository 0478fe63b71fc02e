"""How many samples find a leak that is given as a μ: audits of Gaussian noise are simulated."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

import numpy as np

from . import _native
from ._native import OptionError

# Audits that miss the leak, of those that are simulated, if its power is as asked for; and the fewest and most audits.
_MISSES = 2
_RUNS = (20, 200)


def gaussian_samples(claims: Sequence[str], alpha: float, pairs: int, mu: float, power: float, most: int) -> int | None:
    """About how many samples refute the claims with the probability `power`, of a mechanism with this μ.

    One pair of inputs has outputs N(0, 1) and N(μ, 1), which are told apart as well as anything that is μ-GDP can be
    (Dong, Roth and Su 2022, doi:10.1111/rssb.12454). Other pairs have the μ that a claim of `gdp` or `zcdp` allows, or 0.
    The answer is the quantile at `power` of the numbers of samples, raised by one standard error.

    Args:
        most: Samples that are drawn at most.

    Returns:
        `None` if more are needed, or no number is enough.
    """
    if not 0 < mu < math.inf:
        raise OptionError(f"mu={mu}: must be above 0 and finite")
    if not 0.5 < power < 1:
        raise OptionError(f"power={power}: must be above 0.5 and below 1")
    runs = min(max(math.ceil(_MISSES / (1 - power)), _RUNS[0]), _RUNS[1])
    rank = min(math.ceil(runs * power + math.sqrt(runs * power * (1 - power))), runs)
    means = [shift for pair in range(pairs) for shift in (0.0, mu if pair == 0 else _allowed(claims))]
    found: list[float] = []
    for seed in range(runs):
        found.append(_until_refuted(claims, alpha, means, seed, most))
        # More audits missed it than may.
        if sum(map(math.isinf, found)) > runs - rank:
            return None
    return int(sorted(found)[rank - 1])


def _allowed(claims: Sequence[str]) -> float:
    """The least μ that claims of `gdp` and `zcdp` allow; 0 without one."""
    known = []
    for claim in claims:
        stated = re.fullmatch(r"\s*(gdp|zcdp)\s*\(\s*(?:(?:mu|rho)\s*=)?\s*([0-9.eE+-]+)\s*\)\s*", claim)
        if stated is not None:
            value = float(stated.group(2))
            known.append(value if stated.group(1) == "gdp" else math.sqrt(2 * value))
    return min(known, default=0.0)


def _until_refuted(claims: Sequence[str], alpha: float, means: Sequence[float], seed: int, most: int) -> float:
    """Samples until a claim was refuted, by the rules of an audit; infinite if none was."""
    rng = np.random.default_rng([seed, 0x706F])
    labels = [f"x{at}" for at in range(len(means))]
    pairs = [(at, at + 1) for at in range(0, len(means), 2)]
    auditor = _native.Auditor(
        labels, list(claims), alpha=alpha, max_samples=most, batch=None, seed=seed, pairs=pairs, bits=False, single=True
    )
    while (draws := auditor.next()) is not None:
        shifts = np.repeat([means[at] for at, _ in draws], [count for _, count in draws])
        auditor.push(shifts + rng.standard_normal(len(shifts)))
    verdicts = {claim["verdict"] for claim in json.loads(auditor.report(limits=False))["claims"]}
    return auditor.drawn() if "violated" in verdicts else math.inf
