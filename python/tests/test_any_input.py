"""Whatever comes in: a result or a `leakgauge.Error`, and the interpreter goes on. Cases are drawn at fixed seeds."""

import datetime
import decimal
import fractions
import math
import random

import leakgauge
import numpy as np
import pandas
import polars
import pytest
from leakgauge import _options

ROUNDS = 150

SCALARS = [
    0, 1, -1, 2**31, 2**63, -(2**63), 2**64, 10**400, True, None, 0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 5e-324,
    1e308, "", " ", "a", "a,b", "\n", "\x00", "é", "\ud800", "1.5", "nan", "=1+1", b"", b"\xff", 1j, object(), int,
    decimal.Decimal("1.1"), decimal.Decimal("NaN"), fractions.Fraction(1, 3), datetime.date(2026, 1, 1),
    np.float16(1), np.float32(1), np.longdouble(1), np.int8(3), np.uint64(2**64 - 1), np.bool_(True), np.str_("a"),
    np.datetime64("2026-01-01"), np.timedelta64(3, "s"), np.complex64(1), pandas.NA, pandas.NaT, float, Ellipsis,
]  # fmt: skip
TYPES = ["f2", "f4", "f8", "i1", "i8", "u8", "?", "U3", "S3", "O", "c8", "M8[s]", "m8[s]", ">f8", "V4"]


def value(rng, depth=0):
    """Anything."""
    kind = rng.randrange(10 if depth < 3 else 5)
    some = lambda: [value(rng, depth + 1) for _ in range(rng.randrange(4))]  # noqa: E731
    if kind < 5:
        return rng.choice(SCALARS)
    if kind == 5:
        return some()
    if kind == 6:
        return tuple(some())
    if kind == 7:
        return {rng.choice(["a", "b", "secret", 1, None]): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    if kind == 8:
        return array(rng)
    return rng.choice([pandas.Series, polars.Series])([1.5, None, 2.0][: rng.randrange(4)])


def array(rng, rows=None):
    shape = tuple(rng.randrange(4) for _ in range(rng.randrange(4)))
    if rows is not None:
        shape = rng.choice([(rows,), (rows, 2), (rows, 0), (rows, 1, 1)])
    with np.errstate(all="ignore"):
        found = np.random.default_rng(rng.randrange(100)).integers(0, 3, shape).astype(rng.choice(TYPES[:-1]))
    if found.dtype.kind == "f" and found.size and rng.random() < 0.3:
        found.flat[0] = rng.choice([math.nan, math.inf, -math.inf])
    return np.ma.masked_equal(found, 1) if found.dtype.kind in "fiu" and rng.random() < 0.1 else found


def column(rng, rows):
    kind = rng.randrange(12)
    if kind == 0:
        return [rng.choice(SCALARS) for _ in range(rows)]
    if kind == 1:
        return [rng.choice(["a", "b", None])] * rows
    if kind == 2:
        return array(rng, rows)
    if kind == 3:
        return [rng.choice([0, 1, 2.5, math.nan, math.inf]) for _ in range(rows)]
    return [rng.randrange(3) for _ in range(max(0, rows + rng.choice([0] * 18 + [1, -1])))]


def tried(call):
    """Whether a call gave a result; anything but a `leakgauge.Error` is raised."""
    try:
        call()
    except leakgauge.Error as error:
        assert str(error)
        return False
    return True


def test_arrays_and_columns_of_any_kind():
    rng = random.Random(1)
    results = 0
    for _ in range(ROUNDS):
        rows = rng.choice([0, 1, 2, 12, 40])
        data = {name: column(rng, rows) for name in ["secret", "time", "x"][: rng.randrange(4)]}
        results += tried(lambda: leakgauge.audit_log(data, quick=True, budget=0.1))
        results += tried(lambda: leakgauge.audit_log(array(rng, rows), secret=column(rng, rows), quick=True, budget=0.1))
        tried(lambda: leakgauge.audit_log(value(rng), quick=True, budget=0.1))
        tried(lambda: leakgauge.audit_scores(column(rng, rows), column(rng, rows), quick=True, budget=0.1))
    assert results > 10


def test_frames_of_any_kind():
    rng = random.Random(2)
    results = 0
    for _ in range(ROUNDS):
        rows = rng.choice([0, 1, 12, 40])
        secret = ["a", "b"] * (rows // 2) if rng.random() < 0.8 else [rng.choice(SCALARS) for _ in range(rows)]
        columns = {"secret": secret, "time": column(rng, rows)}
        for library in (pandas, polars):
            try:
                frame = library.DataFrame(columns)
            except BaseException:
                # What the library itself refuses; polars panics.
                continue
            results += tried(lambda: leakgauge.audit_log(frame, quick=True, budget=0.1))
    assert results > 10


def test_outputs_of_any_kind():
    rng = random.Random(3)
    results = 0
    for _ in range(ROUNDS):
        outputs = [value(rng) for _ in range(rng.choice([1, 1, 2, 5]))]
        given = {"max_samples": 40, "vectorized": False, "claims": "dp(1)"}
        results += tried(lambda: leakgauge.audit(lambda x: rng.choice(outputs), [0, 1], **given))
        given["vectorized"] = True
        unit = rng.choice(["call", "row"])
        rows = lambda x, n: array(rng, n) if rng.random() < 0.5 else [rng.choice(outputs)] * n  # noqa: E731
        results += tried(lambda: leakgauge.audit(rows, [0, 1], unit=unit, **given))
        tried(lambda: leakgauge.audit(lambda x, n: rng.choice(outputs), [0, 1], **given))
    assert results > ROUNDS // 4


def test_inputs_of_any_kind():
    rng = random.Random(4)
    results = 0
    for _ in range(ROUNDS):
        inputs = value(rng) if rng.random() < 0.5 else [value(rng), value(rng)]
        results += tried(lambda: leakgauge.audit(lambda x: rng.random(), inputs, "dp(1)", max_samples=60))
        pair = (value(rng), value(rng))
        tried(lambda: leakgauge.neighbors(strategy=lambda _: pair, count=2))
    assert results > ROUNDS // 4


CALLS = {
    "audit": (
        lambda **given: leakgauge.audit(lambda x: x, **{"inputs": [0, 1], "claims": "dp(1)", "max_samples": 50, **given}),
        ["claims", "batch", "alpha", "confidence", "seed", "seconds", "unit", "pairs", "max_samples"],
    ),
    "neighbors": (leakgauge.neighbors, ["length", "change", "value", "by", "count", "seed", "strategy"]),
    "confusion": (
        lambda **given: leakgauge.confusion(**{"tp": 1, "fn": 2, "fp": 3, "tn": 4, **given}),
        ["tp", "fn", "alpha", "confidence", "delta"],
    ),
    "simulate": (
        lambda **given: leakgauge.simulate(**{"mechanism": "laplace(scale=2, secrets=0..3)", "rows": 5, **given}),
        ["mechanism", "rows", "seed"],
    ),
    "audit_log": (
        lambda **given: leakgauge.audit_log({"secret": [0, 1] * 20, "time": [*range(40)]}, **{"quick": True, **given}),
        sorted(_options.LOG),
    ),
    "channel": (
        lambda **given: leakgauge.channel(*given.pop("matrices", [[[0.5, 0.5], [0.1, 0.9]]]), **given),
        ["prior", "repeat", "gain", "loss", "pair", "epsilon", "tries", "at_order", "refines", "compose", "method"],
    ),
    "bounds": (
        lambda **given: leakgauge.bounds(**{"mechanism": "ldp(epsilon=1)", **given}),
        ["mechanism", "at_epsilon", "repeat", "secrets", "group", "records", "profile"],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_options_of_any_kind(name):
    call, options = CALLS[name]
    rng = random.Random(5)
    for _ in range(ROUNDS):
        given = {option: value(rng) for option in rng.sample(options, rng.choice([1, 1, 2]))}
        # Nothing that is large but right: it would take long.
        if name in ("bounds", "channel") and any(isinstance(v, int) and v > 100 for v in given.values()):
            continue
        tried(lambda: call(**given))
