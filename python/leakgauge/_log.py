"""Audits of logs: data in memory, or files."""

from __future__ import annotations

from typing import Any

from . import _data, _native, _options
from .results import Audit

# What only files have, and what only data in memory has.
_OF_FILES = ("header", "delimiter", "fit_on")


def audit_log(data: Any, *, secret: Any = None, observe: Any = None, claims: Any = (), **options: Any) -> Audit:
    """Measures which secrets a log of (secret, observation) rows reveals, and judges claims about it.

    Args:
        data: A frame (pandas, polars, pyarrow, a DuckDB relation: anything with `__arrow_c_stream__` or
            `__arrow_c_array__`), a dict of columns, a structured NumPy array, an array of numbers (rows × columns,
            with `secret=labels`), or a path, or several.
        secret: The column of the secret, or the labels themselves, one a row. By default the column `secret`.
        observe: The observation columns. By default all others.
        claims: What is claimed: `"laplace(scale=2)"`, `"dp(epsilon=1)"`, `"advantage(0.1)"`; one or several.
        **options: As of `leakgauge audit`, with underscores: `confidence`, `seed`, `scorer`, `scores`, `budget`,
            `quick`, `split`, `prior`, `margin`, `threads`, `categorical`, `numeric`, `count`, `group`, `row_id`,
            `secrets`, `wide`, `list`, `resolution`, `max_rows`; of files also `header`, `delimiter`, `fit_on`; of
            data in memory `name` (in messages and reports) and `missing` (`"error"`, `"drop"` or `"label"`).
            `count` and `group` may be columns or values, one a row.

    Raises:
        leakgauge.Error: What is wrong, where, and what to do.
        TypeError: An argument of a wrong type, or one that there is not.
    """
    return _audit("audit_log", data, {"secret": secret, "observe": observe, "claims": claims, **options})


def estimate_log(data: Any, *, secret: Any = None, observe: Any = None, **options: Any) -> Audit:
    """Measures which secrets a log reveals, without claims. Arguments are those of `audit_log`."""
    if "claims" in options:
        raise TypeError("estimate_log() has no keyword argument claims=\n  hint: call audit_log(data, claims=…)")
    return _audit("estimate_log", data, {"secret": secret, "observe": observe, **options})


def _audit(function: str, data: Any, given: dict[str, Any]) -> Audit:
    name = given.pop("name", "data")
    missing = given.pop("missing", "error")
    known = [*_options.LOG, "name", "missing"]
    _options.unknown(function, given, known)
    call = _call(function, given)
    if _data.is_path(data):
        if missing != "error" or name != "data":
            raise TypeError("missing= and name= are for data in memory\n  hint: leave them out for a path")
        keywords = _options.for_log(function, given)
        return Audit._of(_native.audit_files(_data.paths(data), keywords), call)
    for option in _OF_FILES:
        if given.get(option) is not None:
            raise TypeError(f"{option}= is for files\n  hint: leave it out for data in memory")
    beside = {}
    for option in ("secret", "count", "group"):
        if not isinstance(given.get(option), (str, int, type(None))):
            beside[option] = given[option]
            given[option] = option
    keywords = _options.for_log(function, given)
    table = _data.table(data, beside, name=name, missing=missing, used=_used(keywords))
    return Audit._of(_native.audit_table(table, keywords), call)


def _used(keywords: dict[str, Any]) -> list[str] | None:
    """The columns that are looked at; `None` if all are, or if some are named by number."""
    if keywords["observe"] is None and keywords["scores"] is None:
        return None
    used = [*(keywords["observe"] or []), *(keywords["secret"] or "secret").split(",")]
    used += [column.split("=")[-1] for column in keywords["scores"] or []]
    used += [keywords[name] for name in ("count", "group", "row_id") if keywords[name] is not None]
    return None if any(name.isdecimal() for name in used) else [name.strip() for name in used]


def _call(function: str, given: dict[str, Any]) -> str:
    """The call as a report shows it; data is left out."""
    written = ["data"]
    for name, value in given.items():
        if value is None or (name == "claims" and not value):
            continue
        is_short = isinstance(value, (str, int, float, bool)) or (isinstance(value, (list, tuple, dict)) and len(value) < 9)
        written.append(f"{name}={value!r}" if is_short else f"{name}=…")
    return f"leakgauge.{function}({', '.join(written)})"
