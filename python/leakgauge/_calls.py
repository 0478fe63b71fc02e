"""Calling functions: one output or many a call, in this process or in others, within a time budget."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _options
from ._errors import ArgumentError
from ._native import DataError, OptionError

Draws = Sequence[tuple[int, int]]


class TimeUp(Exception):
    """The time budget is spent."""


def is_vectorized(fn: Callable[..., Any], said: bool | None) -> bool:
    """Whether a function takes how many outputs are wanted: `fn(x, n)`.

    Raises:
        OptionError: If its signature does not say and the caller has not said it.
    """
    if not callable(fn):
        raise ArgumentError(f"fn: must be a function, not {fn!r}")
    if said is not None:
        return _options._flag("vectorized", said)
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        raise OptionError(
            "vectorized=: the signature of fn cannot be read\n"
            "  hint: say vectorized=True for fn(x, n), vectorized=False for fn(x)"
        ) from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) == 2:
        return True
    if len(required) == 1 or (not required and positional):
        return False
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise OptionError(
            "vectorized=: fn takes any number of arguments\n"
            "  hint: say vectorized=True for fn(x, n), vectorized=False for fn(x)"
        )
    raise OptionError(
        f"fn: takes {len(required)} arguments\n  hint: it is called as fn(x), or fn(x, n) for n outputs at once"
    )


def outputs_of(
    fn: Callable[..., Any], vectorized: bool, inputs: Sequence[Any], draws: Draws, deadline: float | None
) -> list[Any]:
    """The outputs of draws, in order, as arrays or lists of rows. An exception names the input that caused it.

    The clock is read between calls, and no call is interrupted: an exception or a signal within a function that is
    not ours could be swallowed there, become an output, or leave it half done.

    Raises:
        TimeUp: The time is up, before a call or after one. What was drawn is discarded.
    """
    found: list[Any] = []
    at, count = 0, 0
    try:
        for at, count in draws:
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeUp
            if vectorized:
                found.append(fn(inputs[at], count))
            else:
                # One output: an audit asks for more only where many are one call.
                found.extend([fn(inputs[at]) for _ in range(count)])
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeUp
    except TimeUp:
        raise
    except Exception as error:
        call = f"fn(x, {count})" if vectorized else "fn(x)"
        text = repr(inputs[at])
        text = text if len(text) < 200 else text[:200] + "…"
        error.add_note(f"leakgauge: raised by {call} with x = inputs[{at}] = {text}")
        raise
    if not vectorized:
        return [found]
    found = [_rows(outputs, at, count) for outputs, (at, count) in zip(found, draws, strict=True)]
    return found if any(count != 1 for _, count in draws) else joined(found)


def joined(outputs: list[Any]) -> list[Any]:
    """Many small arrays of one form as one array."""
    forms = {(rows.dtype, rows.shape) if isinstance(rows, np.ndarray) else None for rows in outputs}
    return [np.concatenate(outputs)] if len(forms) == 1 and None not in forms else outputs


def _rows(outputs: Any, at: int, count: int) -> Any:
    """The outputs of one call of `fn(x, n)`."""
    if type(outputs) is np.ndarray and outputs.dtype.kind in "fiub" and outputs.shape[:1] == (count,):
        return outputs
    if hasattr(outputs, "to_numpy"):
        outputs = outputs.to_numpy()
    if isinstance(outputs, np.ndarray):
        if np.ma.isMaskedArray(outputs):
            outputs = outputs.filled(np.nan) if outputs.dtype.kind == "f" else np.array(outputs.tolist(), dtype=object)
        if count == 1 and outputs.ndim == 0:
            outputs = outputs.reshape(1)
        if outputs.dtype == object and outputs.ndim:
            outputs = list(outputs)
    elif isinstance(outputs, (list, tuple)):
        outputs = list(outputs)
    elif count == 1 and isinstance(outputs, (bool, int, float, np.generic)):
        outputs = [outputs]
    else:
        raise DataError(
            f"fn: returned {type(outputs).__name__} for inputs[{at}] where {count} outputs were asked for\n"
            "  hint: return an array or a list with one row an output, or say vectorized=False for fn(x)"
        )
    length = outputs.shape[0] if isinstance(outputs, np.ndarray) and outputs.ndim else len(outputs) if isinstance(outputs, list) else 0
    if length != count:
        raise DataError(
            f"fn: returned {length} outputs for inputs[{at}] where {count} were asked for\n"
            "  hint: return one row an output"
        )
    return outputs


# What a worker calls, set when it starts.
_task: tuple[Callable[..., Any], bool, Sequence[Any]] | None = None


def _start(pickled: bytes, number: Any) -> None:
    global _task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _task = pickle.loads(pickled)
    # A process that forked would go on from the parent's state, as would all others.
    import random

    with number.get_lock():
        number.value += 1
        own = number.value
    # Every generator has a seed of its own: two that draw the same numbers would cancel each other's noise.
    seeds = np.random.SeedSequence([int.from_bytes(os.urandom(16), "little"), own])

    def seed() -> np.random.SeedSequence:
        return seeds.spawn(1)[0]

    def words() -> int:
        return int.from_bytes(seed().generate_state(4).tobytes(), "little")

    random.seed(words())
    np.random.seed(seed().generate_state(4))
    fn = _task[0]
    for value in list(getattr(getattr(fn, "func", fn), "__globals__", {}).values()):
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = type(value.bit_generator)(seed()).state
        elif isinstance(value, np.random.RandomState):
            value.seed(seed().generate_state(4))
        elif isinstance(value, random.Random):
            value.seed(words())


def _work(draws: Draws) -> list[Any]:
    assert _task is not None
    fn, vectorized, inputs = _task
    return outputs_of(fn, vectorized, inputs, draws, None)


class Caller:
    """Calls a function, here or in workers."""

    def __init__(self, fn: Callable[..., Any], inputs: Sequence[Any], vectorized: bool, workers: int | None) -> None:
        self._fn, self._inputs, self._vectorized = fn, inputs, vectorized
        self._pool: Any = None
        self._workers = workers or 1
        if workers is not None and workers > 1:
            self._pool = self._started(workers)

    def _started(self, workers: int) -> Any:
        from concurrent.futures import ProcessPoolExecutor

        try:
            pickled = pickle.dumps((self._fn, self._vectorized, list(self._inputs)))
        except Exception as error:
            raise OptionError(
                f"workers=: fn or an input cannot be sent to another process: {error}\n"
                "  hint: define fn at the top of a module (no lambda, no function within a function), or leave "
                "workers= out"
            ) from error
        method = "fork" if sys.platform == "linux" else "spawn"
        context = multiprocessing.get_context(method)
        arguments = (pickled, context.Value("i", 0))
        return ProcessPoolExecutor(workers, context, _start, arguments)

    def draw(self, draws: Draws, deadline: float | None, whole: bool = False) -> list[Any]:
        """The outputs of draws; `whole` says that every draw is one call, also where workers could share it.

        Raises:
            TimeUp: The time is up.
        """
        if self._pool is None:
            return outputs_of(self._fn, self._vectorized, self._inputs, draws, deadline)
        from concurrent.futures import FIRST_EXCEPTION, wait

        parts = self._parts(draws, whole)
        futures = [self._pool.submit(_work, part) for part in parts]
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        # A `TimeoutError` of the function itself is no end of the time.
        done, unfinished = wait(futures, timeout=left, return_when=FIRST_EXCEPTION)
        for future in futures:
            if future in done:
                future.result()
        if unfinished:
            raise TimeUp
        return [outputs for future in futures for outputs in future.result()]

    def _parts(self, draws: Draws, whole: bool) -> list[Draws]:
        """Draws in as many parts as there are workers, in order."""
        if len(draws) < self._workers and not whole:
            draws = [piece for draw in draws for piece in _pieces(draw, self._workers)]
        size = -(-len(draws) // self._workers)
        return [draws[at : at + size] for at in range(0, len(draws), size)]

    def close(self) -> None:
        """Ends the workers, even in the middle of a call."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()


def _pieces(draw: tuple[int, int], parts: int) -> list[tuple[int, int]]:
    at, count = draw
    size = -(-count // parts)
    return [(at, min(size, count - begun)) for begun in range(0, count, size)]
