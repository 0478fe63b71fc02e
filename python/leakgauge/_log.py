"""Audits of logs: data in memory, or files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _data, _native, _options
from ._errors import ArgumentError, checked
from .results import Audit, Comparison

# What only files have.
_OF_FILES = ("header", "delimiter", "like")

# Columns that may be the values themselves.
_BESIDE = ("secret", "count", "group", "block")


@checked()
def audit_log(data: Any, *, secret: Any = None, observe: Any = None, claims: Any = (), **options: Any) -> Audit:
    """Measures which secrets a log of (secret, observation) rows reveals, and judges claims about it.

    Args:
        data: A frame (pandas, polars, pyarrow, a DuckDB relation: anything with `__arrow_c_stream__` or
            `__arrow_c_array__`), a dict of columns, a structured NumPy array, an array of numbers (rows × columns,
            with `secret=labels`), or a path, or several.
        secret: The column of the secret, or the labels themselves, one a row. By default the column `secret`.
        observe: The observation columns. By default all others.
        claims: What is claimed: `"laplace(scale=2)"`, `"dp(epsilon=1)"`, `"advantage(0.1)"`; one or several.
        **options: As of `leakgauge audit`, with underscores: `confidence` (or `alpha`), `seed`, `scorer`, `scores`, `budget`,
            `quick`, `split`, `prior`, `margin`, `threads`, `categorical`, `numeric`, `count`, `group`, `row_id`,
            `secrets`, `merge`, `secret_map`, `skip_bad`, `wide`, `list`, `resolution`, `fit_on`, `max_rows`;
            `missing` (`"error"`, `"drop"` or `"label"`); `keep` and `drop`, the values of columns that rows are kept or
            dropped by (`keep={"metric": "wait"}`, `drop={"status": [500, 503]}`); `neighbors`, pairs of secrets such as `[(0, 1), (1, 2)]`
            that claims of differential privacy are about, by default all; `reconstruction` (probabilities), `tries`
            and `at_order`, for the attributes `reconstruction` and `leakage_family`; for measurements in blocks
            `block`, the column that names the block of a row, or `wide=True, blocks=True` where every row is a block,
            with `unit` (`"ns"`) and `clock_frequency`, `clock_step` (`"1ms"`); of files also `header`, `delimiter` and `like` (`"fbleau"`); of
            data in memory `name` (in messages and reports). `count`, `group` and `block` may be columns or values, one
            a row.

    Raises:
        leakgauge.Error: What is wrong, where, and what to do.
    """
    return _audit("audit_log", data, {"secret": secret, "observe": observe, "claims": claims, **options})


@checked()
def estimate_log(data: Any, *, secret: Any = None, observe: Any = None, **options: Any) -> Audit:
    """Measures which secrets a log reveals, without claims. Arguments are those of `audit_log`."""
    for name in ("claims", "neighbors"):
        if name in options:
            raise ArgumentError(f"estimate_log() has no keyword argument {name}=\n  hint: call audit_log(data, claims=…)")
    return _audit("estimate_log", data, {"secret": secret, "observe": observe, **options})


@checked()
def compare(
    logs: Sequence[Any],
    mechanism: Any = (),
    *,
    against: str = "previous",
    names: Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Audits several logs, and says how they differ, with limits.

    Args:
        logs: Two or more, each as `audit_log` takes it; they are independent of each other.
        mechanism: One for all logs, one for each, or a grid with one value a log. None is needed.
        against: Compare each log with the `"previous"` one, or all with the `"first"`.
        names: What messages and reports call logs in memory.
        **options: As of `audit_log`, for every log; without `claims` and `group`.
    """
    if isinstance(logs, (str, Mapping)) or not isinstance(logs, Iterable):
        raise ArgumentError("logs must be a list of logs\n  hint: compare([before, after])")
    logs = list(logs)
    names = None if names is None else list(_options._listed(names))
    if names is not None and len(names) != len(logs):
        raise ArgumentError(f"names=: there are {len(names)} names for {len(logs)} logs")
    for name in ("claims", "name", "neighbors", "reconstruction", "tries", "at_order"):
        if name in options:
            raise ArgumentError(f"compare() has no keyword argument {name}=\n  hint: pass mechanism= or names=")
    read = []
    for at, data in enumerate(logs):
        given = dict(options)
        if names is not None:
            given["name"] = names[at]
        elif not _data.is_path(data):
            given["name"] = f"log {at + 1}"
        read.append(_source("compare", data, given))
    mechanisms = _options._several(_options._text)("mechanism", mechanism)
    keywords = read[0][1] if read else _options.for_log("compare", _options.with_confidence(options))
    call = _call("compare", {"mechanism": mechanisms, "against": against, **options})
    found = _native.compare_logs([source for source, _ in read], mechanisms, against, keywords)
    return Comparison._of(found, call)


def _audit(function: str, data: Any, given: dict[str, Any]) -> Audit:
    call = _call(function, given)
    return Audit._of(_native.audit_log(*_source(function, data, given)), call)


def _source(function: str, data: Any, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A log and its keyword arguments as the native module takes them."""
    given = _options.with_confidence(given)
    _options.unknown(function, given, [*_options.LOG, "name"])
    name = _options._text("name", given.pop("name", "data"))
    if _data.is_path(data):
        if name != "data":
            raise ArgumentError("name= is for data in memory\n  hint: leave it out for a path")
        files = _data.paths(data)
        if given.get("like") == "fbleau" and len(files) > 1:
            files = _in_parts(files, given)
        return {"files": files}, _options.for_log(function, given)
    for option in _OF_FILES:
        if given.get(option) is not None:
            raise ArgumentError(f"{option}= is for files\n  hint: leave it out for data in memory")
    beside = {}
    for option in _BESIDE:
        # A column by its name or number, or the values themselves.
        if not isinstance(given.get(option), (str, int, type(None))):
            beside[option] = given[option]
            given[option] = option
    fit_on = given.pop("fit_on", None)
    keywords = _options.for_log(function, given)
    source = _data.table(data, beside, name=name, used=_used(keywords))
    if fit_on is not None:
        if _data.is_path(fit_on) or beside:
            raise ArgumentError(
                "fit_on=: must hold its columns as the data does, both in memory with their secrets in a column, or "
                "both in files"
            )
        other = f"{name} to learn on"
        source["fit_on"] = _data.table(fit_on, {}, name=other, used=_used(keywords))
    return source, keywords


def _in_parts(files: list[str], given: dict[str, Any]) -> list[str]:
    """Of two files of F-BLEAU the first one is learned from, the second one is measured."""
    if len(files) != 2 or given.get("fit_on") is not None:
        raise _native.OptionError(
            f'like="fbleau": reads one file to train on and one to measure, not {len(files)}\n'
            "  hint: pass [train, evaluation], without fit_on="
        )
    given["fit_on"] = files[0]
    return files[1:]


def _used(keywords: dict[str, Any]) -> list[str] | None:
    """The columns that are looked at; `None` if all are, or if some are named by number."""
    if keywords["observe"] is None and keywords["scores"] is None:
        return None
    used = [*(keywords["observe"] or []), *(keywords["secret"] or "secret").split(",")]
    used += [column.split("=")[-1] for column in keywords["scores"] or []]
    used += [keywords[name] for name in ("count", "group", "block", "row_id") if keywords[name] is not None]
    used += [column for name in ("keep", "drop") for column, _ in keywords[name]]
    return None if any(name.isdecimal() for name in used) else [name.strip() for name in used]


def _call(function: str, given: dict[str, Any]) -> str:
    """The call as a report shows it; data is left out."""
    written = ["data"]
    for name, value in given.items():
        if value is None or (name == "claims" and isinstance(value, (str, list, tuple)) and not value):
            continue
        is_short = isinstance(value, (str, int, float, bool)) or (
            isinstance(value, (list, tuple, dict)) and len(value) < 9
        )
        written.append(f"{name}={value!r}" if is_short else f"{name}=…")
    return f"leakgauge.{function}({', '.join(written)})"
