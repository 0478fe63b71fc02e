"""Measures how much a mechanism leaks about its secrets, with valid confidence limits.

    import leakgauge

    r = leakgauge.audit_log({"secret": labels, "time": times}, claims="advantage(0.1)")
    r.verdict, r.epsilon.lower

    r = leakgauge.audit(mechanism, inputs=[0.0, 1.0], claims="dp(epsilon=1)")

Everything raises `leakgauge.Error`, whose text says what is wrong, where, and what to do.
"""

from ._errors import ArgumentError
from ._native import DataError, Error, FileError, GrammarError, InternalError, OptionError
from ._native import version as _version

__version__ = _version()

# Where public names are; a module is imported when one of its names is used, so that the import is quick.
_WHERE = {
    "Confusion": "_exact",
    "FunctionAudit": "_function_results",
    "Neighbors": "_neighbors",
    "OneRun": "_one_run",
    "Permuted": "_permute",
    "PrivacyViolated": "_assertions",
    "TooWeak": "_assertions",
    "assert_private": "_assertions",
    "audit": "_function",
    "audit_log": "_log",
    "audit_scores": "_scores",
    "bounds": "_exact",
    "channel": "_exact",
    "compare": "_log",
    "confusion": "_exact",
    "estimate_log": "_log",
    "membership": "membership",
    "neighbors": "_neighbors_of_data",
    "permute": "_permute",
    "results": "results",
    "shuffle": "shuffle",
    "simulate": "_exact",
    "timing": "timing",
}

__all__ = [
    "ArgumentError",
    "DataError",
    "Error",
    "FileError",
    "GrammarError",
    "InternalError",
    "OptionError",
    *_WHERE,
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'leakgauge' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f".{_WHERE[name]}", __name__)
    found = module if name == _WHERE[name] else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
