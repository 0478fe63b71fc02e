"""Measures how much a mechanism leaks about its secrets, with valid confidence limits.

    import leakgauge

    r = leakgauge.audit_log({"secret": labels, "time": times}, claims="advantage(0.1)")
    r.verdict, r.epsilon.lower

Everything raises `leakgauge.Error`, whose text says what is wrong, where, and what to do.
"""

from ._log import audit_log, estimate_log
from ._native import DataError, Error, FileError, GrammarError, InternalError, OptionError
from ._native import version as _version

__version__ = _version()

__all__ = [
    "DataError",
    "Error",
    "FileError",
    "GrammarError",
    "InternalError",
    "OptionError",
    "audit_log",
    "estimate_log",
]
