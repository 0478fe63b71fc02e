"""Do outputs depend on each other within a call? Looked at before anything is judged.

No test can show that outputs are independent, so nothing here makes an audit faster: it only stops one that could not
mean anything. Of independent outputs of one number, one in 5,000 audits at most is stopped;
of several numbers, so often for each where nearly all outputs are one value, and hardly ever elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _outputs
from ._calls import Draws

# Outputs of a call of which two are compared: few at first, then more if they are equal but seldom differ within a call.
_COMPARED = (32, 512)
# Inputs that are tried at most.
_INPUTS = 4
# Outputs of independent calls are found equal by chance with this probability at most, for each input.
_LN_CHANCE = math.log(1e-9)

# Calls of one input and outputs of each, for outputs of one call that are to count as independent.
_CALLS, _OUTPUTS = 16, 64
# The Kruskal–Wallis statistic of 16 independent calls is larger with probability 6e-10 (chi-squared, 15 degrees of
# freedom), and where outputs are rarely anything but one value 2e-5 (five others, all of one call).
_LARGE = 75.0

_SEEDED = (
    "seeded-afresh",
    "Two calls with the same input gave the same outputs, which differ within a call: the generator seems to be seeded "
    "afresh at every call, or outputs are cached, so that samples are not independent.",
    "make the generator once, outside of the function",
)
_DEPENDENT = (
    "dependent-outputs",
    "Outputs of one call are closer to each other than to those of other calls with the same input: they share "
    "randomness, so that they are not independent samples.",
    'leave unit="row" out: then every sample is a call of its own',
)

Doubt = tuple[str, str]


def doubt_of(draw: Callable[[Draws], list[Any]], inputs: int, unit: str) -> Doubt | None:
    """What voids every verdict on a function that gives many outputs a call: a code and a sentence; `None` if nothing
    was found.

    Args:
        draw: Gives the outputs of draws, each of them one call.
        inputs: How many inputs there are.
        unit: `"call"` or `"row"`: what counts as independent.
    """
    tried = range(min(inputs, _INPUTS))
    if any(_repeats(draw, at) for at in tried):
        return _SEEDED[0], _said(_SEEDED)
    if unit == "row" and any(_clusters(draw([(at, _OUTPUTS)] * _CALLS)) for at in tried):
        return _DEPENDENT[0], _said(_DEPENDENT)
    return None


def _said(doubt: tuple[str, str, str]) -> str:
    return f"{doubt[1]} Nothing is judged. What to do: {doubt[2]}."


def _repeats(draw: Callable[[Draws], list[Any]], at: int) -> bool:
    """Whether two calls of one input give the same outputs, and chance does not explain it."""
    for count in _COMPARED:
        first, second = (_keys(rows) for rows in draw([(at, count)] * 2))
        if first != second:
            return False
        if _ln_chance(first) < _LN_CHANCE:
            return True
    return False


def _ln_chance(outputs: Sequence[Any]) -> float:
    """ln of the probability that outputs of two calls, put in random order, are these outputs twice.

    If all outputs are exchangeable, equal halves are no more likely than this. Outputs that are all equal have
    probability 1: a function without randomness is no generator that is seeded afresh.
    """
    counts = list(Counter(outputs).values())

    def ln_orders(of: list[int]) -> float:
        return math.lgamma(sum(of) + 1) - sum(math.lgamma(count + 1) for count in of)

    return ln_orders(counts) - ln_orders([2 * count for count in counts])


def _keys(rows: Any) -> list[Any]:
    if isinstance(rows, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(rows)]
    return [_outputs.exact(row) for row in rows]


def _clusters(calls: list[Any]) -> bool:
    """Whether outputs differ more between calls than within: Kruskal–Wallis on each column, and on the distance from
    the middle, which shows a shared scale."""
    for column in _columns(calls):
        ranks = _ranks(column)
        spread = np.abs(ranks - np.median(ranks))
        if _kruskal_wallis(ranks) > _LARGE or _kruskal_wallis(_ranks(spread)) > _LARGE:
            return True
    return False


def _columns(calls: list[Any]) -> list[np.ndarray]:
    """Numbers as they are; anything else as the position of its text among all texts."""
    if all(isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub" for rows in calls):
        joined = np.concatenate([rows.reshape(len(rows), -1) for rows in calls])
        return list(joined.T[:16])
    rows = [row for some in calls for row in some]
    if all(isinstance(row, (bool, int, float, np.number)) for row in rows):
        return [np.asarray([float(row) for row in rows])]
    return [np.unique([_outputs.exact(row) for row in rows], return_inverse=True)[1]]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; ties share their mean rank."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - 0.5 * (counts - 1))[where]
    return ranks


def _kruskal_wallis(ranks: np.ndarray) -> float:
    variance = float(ranks.var(ddof=1))
    if variance == 0.0:
        return 0.0
    means = ranks.reshape(_CALLS, _OUTPUTS).mean(axis=1)
    return _OUTPUTS * float(((means - ranks.mean()) ** 2).sum()) / variance
