from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .results import Report

_Law: TypeAlias = Any
_Numbers: TypeAlias = int | str | Iterable[int]

def reidentify(
    target: _Law = None,
    decoys: _Law = None,
    *,
    randomizer: Any = None,
    log_ratios: str | Mapping[float, float] | Iterable[tuple[float, float]] | None = None,
    inputs: Iterable[Any] = (),
    input: Any = (),
    against: Any = None,
    known: Iterable[int] | None = None,
    input_law: str | Mapping[Any, float] | Iterable[float] | None = None,
    against_law: str | Mapping[Any, float] | Iterable[float] | None = None,
    guesses: _Numbers = 1,
    success: float | Iterable[float] = (),
    samples: bool = False,
    confidence: float = 0.95,
    n: _Numbers | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Report: ...
def information(
    target: _Law = None,
    decoys: _Law = None,
    *,
    randomizer: Any = None,
    best_decoys: bool = False,
    users: Sequence[tuple[_Law, int]] = (),
    standard_error: float | None = None,
    prior: str | Mapping[Any, float] | Iterable[float] = "uniform",
    others: str | Mapping[Any, float] | Iterable[float] | None = None,
    known: Iterable[int] | None = None,
    observed: _Law = None,
    samples: int | None = None,
    n: _Numbers | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Report: ...
def vulnerability(
    values: int | Iterable[int] = (),
    keep: float | Iterable[float] = (),
    *,
    randomizer: Any = None,
    prior: str | Mapping[Any, float] | Iterable[float] = "uniform",
    known: Iterable[int] | None = None,
    samples: int | None = None,
    n: _Numbers | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Report: ...
def privacy(
    randomizer: Any,
    *,
    n: _Numbers,
    at_epsilon: float | Iterable[float],
    threads: int | None = None,
) -> Report: ...
