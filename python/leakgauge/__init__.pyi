from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, overload

import numpy

from . import membership as membership
from . import results as results
from . import shuffle as shuffle
from . import timing as timing
from ._assertions import PrivacyViolated as PrivacyViolated
from ._assertions import TooWeak as TooWeak
from ._assertions import assert_private as assert_private
from ._exact import Confusion as Confusion
from ._function_results import FunctionAudit as FunctionAudit
from ._neighbors import Neighbors as Neighbors
from ._one_run import OneRun as OneRun
from ._permute import Permuted as Permuted
from .results import Audit, Comparison, Report

__version__: str

class Error(Exception):
    """What leakgauge raises, in one hierarchy. The text says what is wrong, where, and what to do."""

    @property
    def hint(self) -> str | None:
        """What to do about it; `None` if the text does not say."""

class DataError(Error, ValueError):
    """The data is wrong: a row, a column, a value, or the log as a whole."""

class OptionError(Error):
    """A keyword argument has a value that it cannot have, or does not go with another."""

class ArgumentError(OptionError, TypeError):
    """An argument has a wrong type, is missing, or is none that the function has."""

class GrammarError(OptionError):
    """The text of a mechanism or of a claim is wrong."""

class FileError(Error):
    """A file cannot be opened, read or written, or is unusable as a whole."""

class InternalError(Error):
    """A defect of leakgauge itself. Please report it with the data that caused it."""

_Path: TypeAlias = str | PathLike[str]
_Column: TypeAlias = str | int
_Columns: TypeAlias = _Column | Sequence[_Column]
_Claims: TypeAlias = str | Iterable[str]
_Prior: TypeAlias = str | Mapping[Any, float]
_Lists: TypeAlias = str | Sequence[str] | Mapping[str, str]
_Scores: TypeAlias = str | Sequence[str] | Mapping[Any, str]

@overload
def audit(
    fn: Callable[..., Any],
    inputs: Any,
    claims: _Claims = (),
    *,
    max_samples: int = 1_000_000,
    batch: int | None = None,
    alpha: float | None = None,
    confidence: float | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    fixed: Literal[False] = False,
    vectorized: bool | None = None,
    unit: Literal["call", "row"] = "call",
    pairs: Iterable[tuple[int, int]] | None = None,
    bits: bool = False,
    progress: bool | None = None,
) -> FunctionAudit: ...
@overload
def audit(
    fn: Callable[..., Any],
    inputs: Any,
    claims: _Claims = (),
    *,
    max_samples: int = 1_000_000,
    batch: int | None = None,
    alpha: float | None = None,
    confidence: float | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    fixed: Literal[True],
    vectorized: bool | None = None,
    unit: Literal["call", "row"] = "call",
    pairs: Iterable[tuple[int, int]] | None = None,
    bits: bool = False,
    progress: bool | None = None,
) -> Audit: ...
def audit_log(
    data: Any,
    *,
    secret: Any = None,
    observe: _Columns | None = None,
    claims: _Claims = (),
    name: str = "data",
    header: bool | None = None,
    delimiter: str | None = None,
    categorical: _Columns = (),
    numeric: _Columns = (),
    count: Any = None,
    group: Any = None,
    block: Any = None,
    blocks: bool = False,
    row_id: _Column | None = None,
    secrets: Any = (),
    merge: str | None = None,
    secret_map: str | PathLike[str] | None = None,
    missing: Literal["error", "drop", "label", "last"] = "error",
    keep: Mapping[Any, Any] = {},
    drop: Mapping[Any, Any] = {},
    skip_bad: int = 0,
    like: Literal["fbleau"] | None = None,
    wide: bool = False,
    list: _Lists = (),
    resolution: Mapping[str, float] = {},
    fit_on: Any = None,
    max_rows: int | None = None,
    confidence: float = 0.95,
    alpha: float | None = None,
    seed: int = 0,
    scorer: str | None = None,
    scores: _Scores | None = None,
    budget: str | float = "20s",
    quick: bool = False,
    split: Literal["random", "blocks"] = "random",
    design: Literal["many-runs"] | None = None,
    attacker: Literal["unit"] | None = None,
    unit: Literal["s", "ms", "us", "ns", "cycles"] | None = None,
    clock_frequency: float | None = None,
    clock_step: str | float | None = None,
    prior: _Prior | None = None,
    margin: float = 0.02,
    neighbors: Sequence[tuple[Any, Any]] = (),
    reconstruction: float | Sequence[float] = (),
    tries: int | Sequence[int] = (),
    at_order: float | Sequence[float] = (),
    threads: int | None = None,
) -> Audit: ...
def estimate_log(
    data: Any,
    *,
    secret: Any = None,
    observe: _Columns | None = None,
    name: str = "data",
    header: bool | None = None,
    delimiter: str | None = None,
    categorical: _Columns = (),
    numeric: _Columns = (),
    count: Any = None,
    group: Any = None,
    block: Any = None,
    blocks: bool = False,
    row_id: _Column | None = None,
    secrets: Any = (),
    merge: str | None = None,
    secret_map: str | PathLike[str] | None = None,
    missing: Literal["error", "drop", "label", "last"] = "error",
    keep: Mapping[Any, Any] = {},
    drop: Mapping[Any, Any] = {},
    skip_bad: int = 0,
    like: Literal["fbleau"] | None = None,
    wide: bool = False,
    list: _Lists = (),
    resolution: Mapping[str, float] = {},
    fit_on: Any = None,
    max_rows: int | None = None,
    confidence: float = 0.95,
    alpha: float | None = None,
    seed: int = 0,
    scorer: str | None = None,
    scores: _Scores | None = None,
    budget: str | float = "20s",
    quick: bool = False,
    split: Literal["random", "blocks"] = "random",
    design: Literal["many-runs"] | None = None,
    attacker: Literal["unit"] | None = None,
    unit: Literal["s", "ms", "us", "ns", "cycles"] | None = None,
    clock_frequency: float | None = None,
    clock_step: str | float | None = None,
    prior: _Prior | None = None,
    margin: float = 0.02,
    reconstruction: float | Sequence[float] = (),
    tries: int | Sequence[int] = (),
    at_order: float | Sequence[float] = (),
    threads: int | None = None,
) -> Audit: ...
def compare(
    logs: Sequence[Any],
    mechanism: str | Sequence[str] = (),
    *,
    against: Literal["previous", "first"] = "previous",
    names: Sequence[str] | None = None,
    secret: _Column | None = None,
    observe: _Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    categorical: _Columns = (),
    numeric: _Columns = (),
    count: _Column | None = None,
    row_id: _Column | None = None,
    secrets: Any = (),
    merge: str | None = None,
    secret_map: str | PathLike[str] | None = None,
    missing: Literal["error", "drop", "label", "last"] = "error",
    keep: Mapping[Any, Any] = {},
    drop: Mapping[Any, Any] = {},
    skip_bad: int = 0,
    like: Literal["fbleau"] | None = None,
    wide: bool = False,
    list: _Lists = (),
    resolution: Mapping[str, float] = {},
    fit_on: Any = None,
    max_rows: int | None = None,
    confidence: float = 0.95,
    alpha: float | None = None,
    seed: int = 0,
    scorer: str | None = None,
    scores: _Scores | None = None,
    budget: str | float = "20s",
    quick: bool = False,
    split: Literal["random", "blocks"] = "random",
    design: Literal["many-runs"] | None = None,
    attacker: Literal["unit"] | None = None,
    prior: _Prior | None = None,
    margin: float = 0.02,
    threads: int | None = None,
) -> Comparison: ...
@overload
def audit_scores(
    in_scores: Any = None,
    out_scores: Any = None,
    *,
    keep: Any = None,
    scores: Any = None,
    include: None = None,
    shadows: int | None = None,
    unit: Literal["model", "row"] = "model",
    design: Literal["many-runs"] | None = None,
    attacker: Literal["unit"] | None = None,
    member_scores: None = None,
    guesses: None = None,
    claims: _Claims = (),
    name: str = "scores",
    group: Any = None,
    secrets: Any = (),
    max_rows: int | None = None,
    confidence: float = 0.95,
    alpha: float | None = None,
    seed: int = 0,
    budget: str | float = "20s",
    quick: bool = False,
    split: Literal["random", "blocks"] = "random",
    prior: _Prior | None = None,
    margin: float = 0.02,
    threads: int | None = None,
) -> Audit: ...
@overload
def audit_scores(
    in_scores: Any = None,
    out_scores: Any = None,
    *,
    design: Literal["one-run"],
    include: Any = None,
    scores: Any = None,
    member_scores: Literal["high", "low"] | None = None,
    guesses: tuple[int, int] | None = None,
    claims: _Claims = (),
    name: str = "scores",
    confidence: float = 0.95,
    alpha: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> OneRun: ...
def bounds(
    mechanism: str,
    *,
    at_epsilon: float | None = None,
    at_delta: float | None = None,
    reconstruction: float | None = None,
    at_order: float | None = None,
    profile: bool = False,
    repeat: int | None = None,
    secrets: int | None = None,
    group: int | None = None,
    values: int | None = None,
    records: int | None = None,
    largest_prior: float | None = None,
    solve: str | None = None,
    keeps: str | None = None,
) -> Report: ...
def channel(
    *matrices: Any,
    compose: Literal["parallel", "cascade"] | None = None,
    repeat: int = 1,
    prior: str | Mapping[Any, float] | Iterable[float] = "uniform",
    gain: Any = None,
    loss: Any = None,
    epsilon: float | Iterable[float] = (),
    at_order: float | Iterable[float] = (),
    tries: int | Iterable[int] = (),
    reconstruction: float | Iterable[float] = (),
    profile: bool = False,
    refines: Any = None,
    pair: tuple[Any, Any] | None = None,
    normalize: bool = False,
    method: Literal["auto", "direct", "embedding", "pruned"] = "auto",
    threads: int | None = None,
) -> Report: ...
def simulate(mechanism: str, rows: int, seed: int = 0) -> dict[str, Any]: ...
def confusion(
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    *,
    alpha: float | None = None,
    confidence: float | None = None,
    delta: float | Iterable[float] = 0.0,
) -> Confusion: ...
def permute(
    data: Any,
    *,
    move: _Columns,
    groups: Literal["distance", "haversine", "nearest", "path", "equal", "file"],
    alpha: float | None = None,
    within: bool = False,
    by: _Columns = (),
    radius: float | None = None,
    size: int | None = None,
    edges: _Path | None = None,
    group_file: _Path | None = None,
    id: _Column | None = None,
    distance: Literal["kendall", "hamming"] = "kendall",
    order: Literal["best", "narrowest", "breadth-first", "reverse-cuthill-mckee", "two-ended", "sweep"] = "best",
    bound_by_width: bool = False,
    epsilon: float | None = None,
    randomizer: str | None = None,
    values: Iterable[Any] = (),
    already_epsilon: float | None = None,
    subsets: Iterable[int] = (1, 5, 10),
    also: Iterable[float] = (),
    also_group_file: Iterable[_Path] = (),
    previous: Iterable[float] = (),
    delta: float = 0.05,
    eta: float = 0.8,
    trials: int | None = None,
    confidence: float = 0.95,
    seed: int | None = None,
    threads: int | None = None,
) -> Permuted: ...

class _MakesNeighbors(Protocol):
    def __call__(
        self,
        length: int | None = None,
        *,
        change: Literal["replace", "add", "remove"] = "replace",
        value: float = 1.0,
        by: float = 1.0,
        strategy: Callable[[numpy.random.Generator], tuple[Any, Any]] | None = None,
        count: int = 20,
        seed: int = 0,
    ) -> Neighbors: ...
    def rows(
        self,
        data: Any,
        change: Literal["remove", "add", "replace"] = "remove",
        *,
        count: int = 12,
        new: Iterable[Any] = (),
        beyond: float = 1.0,
        seed: int = 0,
    ) -> Neighbors: ...
    def xy(
        self,
        X: Any,
        y: Any,
        change: Literal["remove", "add", "replace"] = "remove",
        *,
        count: int = 12,
        new: Iterable[Any] = (),
        beyond: float = 1.0,
        seed: int = 0,
    ) -> Neighbors: ...

neighbors: _MakesNeighbors
