"""Audits of functions: draw, learn, bet, stop."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _calls, _dependence, _native, _neighbors, _options, _outputs
from ._errors import checked
from ._function_results import FunctionAudit
from ._native import DataError, OptionError

# Seconds between lines of progress.
_PROGRESS = 0.5


@checked()
def audit(
    fn: Callable[..., Any],
    inputs: Any,
    claims: str | Iterable[str] = (),
    *,
    max_samples: int = 1_000_000,
    batch: int | None = None,
    alpha: float | None = None,
    confidence: float | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    fixed: bool = False,
    vectorized: bool | None = None,
    unit: str = "call",
    pairs: Iterable[tuple[int, int]] | None = None,
    bits: bool = False,
    progress: bool | None = None,
) -> Any:
    """Draws outputs of a function until it is known whether claims about them are violated.

        r = leakgauge.audit(mechanism, inputs=[0.0, 1.0], claims="dp(epsilon=1)")
        r.verdict, r.samples, r.epsilon.lower

    It stops at *violated*, at *holds* (where outputs repeat and the claim can be proved), or when what is left of
    `max_samples` cannot decide. Whenever it stops, a true claim is found violated with probability `alpha` at most.

    Args:
        fn: `fn(x)`, or `fn(x, n)` for n outputs at once. Outputs are numbers, vectors, texts, lists, dicts or `None`.
        inputs: The inputs to tell apart, all of which the claims call neighbors; or `leakgauge.neighbors(…)`.
        claims: What is claimed: `"dp(epsilon=1)"`, `"advantage(0.1)"`; one or several.
        max_samples: Outputs drawn at most, of all inputs together.
        batch: Outputs drawn at once; by default few at first, then more.
        alpha: The probability of an error, 0.05 unless given; or
        confidence: 1 − alpha.
        seed: Of all random choices of the audit. The function's own randomness is the function's.
        seconds: A budget of time, which is looked at between calls. A call that is running is waited for, and what it
            returns too late is discarded; with `workers` of 2 or more, it is ended with its process.
        workers: Processes that call a slow function. It must be picklable. Generators of its module (NumPy's and
            Python's) are seeded anew in each process; one inside an object that it uses is not, and must be made from
            the system's randomness there.
        fixed: Draw exactly `max_samples`, and audit them as a log: with estimates, pictures and all kinds of claims.
        vectorized: Whether `fn` takes how many outputs are wanted. By default its signature says.
        unit: What is independent, for `fn(x, n)`. `"call"`: every sample is a call of its own, `fn(x, 1)`, so that
            outputs of one call may depend on each other. `"row"`: so are the outputs of one call, which you know and
            nothing here can show; many are taken from each call, which is faster.
        pairs: Positions of the inputs that are neighbors. By default all pairs are.
        bits: Look at the low bits of floating-point numbers too, which reveal how a number was computed.
        progress: Show progress on standard error; by default if that is a terminal.

    Returns:
        A `FunctionAudit`; with `fixed`, an `Audit` as of a log.

    Raises:
        leakgauge.Error: What is wrong, where, and what to do.
        Exception: What `fn` raises, with a note that names the input.
    """
    values, known = _neighbors.as_pairs(inputs)
    if pairs is not None:
        known = _options.positions("pairs", pairs)
    error = _options.level(confidence, alpha)[1]
    seed = _options._whole("seed", seed)
    if batch is not None:
        batch = min(_options._whole("batch", batch), 2**32)
    texts = _claims(claims, fixed)
    vectorized = _calls.is_vectorized(fn, vectorized)
    _check(values, max_samples, seconds, workers)
    unit = _options.chosen("unit", unit, ("call", "row"))
    labels = (inputs.labels if isinstance(inputs, _neighbors.Neighbors) else None) or names_of(values)
    deadline = None if seconds is None else time.monotonic() + float(seconds)
    source = _Source(_calls.Caller(fn, values, vectorized, workers), len(values), unit if vectorized else None, deadline)
    try:
        if fixed:
            return _fixed(source, labels, texts, known, max_samples, error, seed)
        auditor = _native.Auditor(
            labels, texts, alpha=error, max_samples=int(max_samples), batch=batch, seed=seed,
            pairs=known, bits=bool(bits), single=unit == "call" or not vectorized,
        )  # fmt: skip
        return _sequential(source, auditor, max_samples, progress)
    finally:
        source.caller.close()


@dataclass
class _Source:
    """Where outputs come from; `unit` is `None` if the function gives one output a call."""

    caller: _calls.Caller
    inputs: int
    unit: str | None
    deadline: float | None
    seconds: float = 0.0

    def draw(self, draws: _calls.Draws, whole: bool = False) -> list[Any]:
        begun = time.monotonic()
        try:
            return self.caller.draw(draws, self.deadline, whole)
        finally:
            self.seconds += time.monotonic() - begun

    def doubt(self, shape: _outputs.Shape) -> _dependence.Doubt | None:
        """What voids every verdict. Outputs that are looked at for this have the shape of all others."""
        if self.unit is None:
            return None

        def calls(draws: _calls.Draws) -> list[Any]:
            outputs = self.draw(draws, whole=True)
            shape.columns(outputs)
            return outputs

        return _dependence.doubt_of(calls, self.inputs, self.unit)


def _claims(claims: Any, fixed: bool) -> list[str]:
    texts: list[str] = _options._several(_options._text)("claims", claims)
    if not texts and not fixed:
        raise OptionError(
            "claims=: there is nothing to decide\n"
            '  hint: claim something, such as claims="dp(epsilon=1)", or measure with fixed=True'
        )
    return texts


def _check(values: Sequence[Any], max_samples: Any, seconds: Any, workers: Any) -> None:
    if len(values) < 2:
        raise OptionError(
            f"inputs=: there are {len(values)} inputs\n  hint: a leak is a difference between the outputs of two inputs at least"
        )
    if _options._whole("max_samples", max_samples) >= 2**32:
        raise OptionError(f"max_samples={max_samples}: must be below 2^32\n  hint: draw fewer")
    if seconds is not None and not 0 < _options._number("seconds", seconds) < math.inf:
        raise OptionError(f"seconds={seconds}: must be above 0, and finite")
    if workers is not None and not 1 <= _options._whole("workers", workers) <= 1024:
        raise OptionError(f"workers={workers}: must be between 1 and 1024")


def names_of(values: Sequence[Any]) -> list[str]:
    """Labels of inputs: numbers and short texts are their own, if they differ."""
    def short(value: Any) -> bool:
        # Python writes no whole numbers of more than 4,300 digits.
        text = "" if isinstance(value, int) and value.bit_length() > 200 else str(value)
        return len(text) <= 40 and bool(text.strip()) and _options.is_unicode(text)

    def label(at: int, value: Any) -> str:
        if isinstance(value, (bool, int, float, str, np.number)) and short(value):
            return str(value)
        if isinstance(value, (tuple, list)) and all(isinstance(item, (bool, int, float, str)) for item in value):
            value = list(value)
        elif isinstance(value, np.ndarray):
            value = value.tolist() if value.size <= 8 else [None] * 9
        # Arrays and frames within an input would make a label of many lines.
        if isinstance(value, list) and len(value) <= 8 and all(map(short, value)):
            return f"x{at} = {str(value)[:60]}"
        return f"x{at}"

    labels = [label(at, value) for at, value in enumerate(values)]
    return labels if len(set(labels)) == len(labels) else [f"x{at}" for at in range(len(values))]


# What an audit of outputs rests on, by what is independent.
_ASSUMED = {
    "call": "Every sample is a call of its own: outputs of one call may depend on each other.",
    "row": 'Outputs of one call are independent, as unit="row" says; nothing here could show it.',
}

# Warnings of which each voids every verdict.
_VOID = ("seeded-afresh", "dependent-outputs")


def _sequential(source: _Source, auditor: Any, max_samples: int, progress: bool | None) -> FunctionAudit:
    shape = _outputs.Shape()
    begun = time.monotonic()
    shown = _Progress(progress, max_samples)
    doubt = None
    try:
        doubt = source.doubt(shape)
        while doubt is None and (draws := auditor.next()) is not None:
            auditor.push(shape.columns(source.draw(draws)))
            if shown.is_due():
                shown.show(auditor)
    except _calls.TimeUp:
        auditor.finish("time")
    except KeyboardInterrupt:
        # What was proved so far is proved.
        auditor.finish("interrupted")
    finally:
        shown.end()
    found = json.loads(auditor.report())
    if source.unit is not None:
        found["assumptions"].insert(0, _ASSUMED[source.unit])
    _warn(found, shape, doubt)
    return FunctionAudit._of(found, auditor.power(), time.monotonic() - begun, source.seconds)


def _warn(found: dict[str, Any], shape: _outputs.Shape, doubt: _dependence.Doubt | None) -> None:
    """Adds warnings to a report; one that voids verdicts does so."""
    if doubt is not None:
        found["stop"] = "doubt"
        found["warnings"].insert(0, {"code": doubt[0], "message": doubt[1]})
    if shape.is_mixed:
        found["warnings"].append({
            "code": "mixed-outputs",
            "message": "The function returned numbers and words. Both are looked at; make sure that it means to.",
        })  # fmt: skip
    void = next((warning for warning in found["warnings"] if warning["code"] in _VOID), None)
    if void is not None:
        for claim in found["claims"]:
            claim.update(verdict="inconclusive", p_value=1.0, reason=void["message"])
        for quantity in ("epsilon", "total_variation"):
            found[quantity]["lower"] = None


class _Progress:
    """One line on standard error that is written again."""

    def __init__(self, wanted: bool | None, total: int) -> None:
        self._wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if wanted is None else wanted
        self._total, self._last, self._width = total, time.monotonic(), 0

    def is_due(self) -> bool:
        return self._wanted and time.monotonic() - self._last > _PROGRESS

    def show(self, auditor: Any) -> None:
        self._last = time.monotonic()
        claims = json.loads(auditor.report(limits=False))["claims"]
        p_value = min(claim["p_value"] for claim in claims)
        text = f"{auditor.drawn():,} of {self._total:,} samples, least p-value {p_value:.2g}"
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


def _fixed(
    source: _Source,
    labels: list[str],
    claims: list[str],
    pairs: list[tuple[int, int]] | None,
    max_samples: int,
    alpha: float,
    seed: int,
) -> Any:
    from ._log import audit_log

    count = len(labels)
    everything = {frozenset((a, b)) for a in range(count) for b in range(a)}
    neighbors: list[tuple[str, str]] = []
    if pairs is not None and set(map(frozenset, pairs)) != everything:
        neighbors = [(labels[a], labels[b]) for a, b in pairs]
    each = max_samples // count
    if each < 20:
        raise OptionError(f"max_samples={max_samples}: gives {each} outputs an input\n  hint: draw at least 20 of each")
    rng = np.random.default_rng(seed)
    draws: list[tuple[int, int]] = []
    # Blocks in random order: a drift is no difference between inputs.
    blocks = min(each, 16) if source.unit == "row" else each
    sizes = [each // blocks + (at < each % blocks) for at in range(blocks)]
    for size in sizes:
        draws += [(int(at), size) for at in rng.permutation(count)]
    shape = _outputs.Shape()
    try:
        doubt = source.doubt(shape)
        if doubt is not None:
            raise DataError(f"fn: {doubt[1]}")
        columns = shape.columns(source.draw(draws))
    except _calls.TimeUp:
        raise OptionError(
            f"seconds=: the time was up before {max_samples} outputs were drawn\n"
            "  hint: draw fewer, or leave fixed= out: a sequential audit keeps what it has proved"
        ) from None
    secrets = np.repeat([labels[at] for at, _ in draws], [size for _, size in draws])
    # Outputs of one block of every input are as good as drawn in any order.
    order = _within(np.cumsum([0] + [size * count for size in sizes]), rng)
    secrets = secrets[order]
    data: dict[str, Any] = {"input": secrets.tolist()}
    if isinstance(columns, np.ndarray):
        arrays = [columns] if columns.ndim == 1 else list(columns.T)
    else:
        arrays = [_column(column) for column in columns]
    data.update({f"output{at}": _ordered(column, order) for at, column in enumerate(arrays)})
    confidence = 1.0 - float(alpha)
    options = {"confidence": confidence, "name": "fn", "missing": "label", "neighbors": neighbors}
    return audit_log(data, secret="input", claims=claims, seed=seed, **options)


def _within(borders: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions in random order within each part."""
    parts = [begin + rng.permutation(end - begin) for begin, end in zip(borders[:-1], borders[1:], strict=True)]
    return np.concatenate(parts)


def _ordered(column: Any, order: np.ndarray) -> Any:
    return column[order] if isinstance(column, np.ndarray) else [column[at] for at in order]


def _column(values: list[Any]) -> Any:
    """Values of one column: numbers if all are, else texts."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, (int, float)) for value in present) and len(present) == len(values):
        return np.asarray(values, dtype=float if any(isinstance(v, float) for v in values) else np.int64)
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    return str(value) if not (isinstance(value, float) and math.isnan(value)) else "nan"
