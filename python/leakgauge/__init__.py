"""Measures how much a mechanism leaks about its secrets, with valid confidence limits.

    import leakgauge

    r = leakgauge.audit_log({"secret": labels, "time": times}, claims="advantage(0.1)")
    r.verdict, r.epsilon.lower

Everything raises `leakgauge.Error`, whose text says what is wrong, where, and what to do.
"""

from . import shuffle
from ._exact import Confusion, bounds, channel, confusion, simulate
from ._log import audit_log, compare, estimate_log
from ._native import DataError, Error, FileError, GrammarError, InternalError, OptionError
from ._native import version as _version
from ._permute import Permuted, permute
from ._scores import audit_scores

__version__ = _version()

__all__ = [
    "Confusion",
    "DataError",
    "Error",
    "FileError",
    "GrammarError",
    "InternalError",
    "OptionError",
    "Permuted",
    "audit_log",
    "audit_scores",
    "bounds",
    "channel",
    "compare",
    "confusion",
    "estimate_log",
    "permute",
    "shuffle",
    "simulate",
]
