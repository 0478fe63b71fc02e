"""Errors as Python programs expect them: also of the built-in kinds, with the hint apart."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ._native import DataError, Error, OptionError

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ArgumentError(OptionError, TypeError):
    """An argument has a wrong type, is missing, or is none that the function has."""


ArgumentError.__module__ = "leakgauge"


def hint_of(error: BaseException) -> str | None:
    """What to do about an error; `None` if its text does not say."""
    return str(error).partition("\n  hint: ")[2] or None


# The native module can give an exception one base only.
DataError.__bases__ = (Error, ValueError)
Error.hint = property(hint_of)  # type: ignore[assignment]


def checked(*more: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Makes wrong, misspelled and missing arguments of a function a `leakgauge.Error`; `more` are functions whose
    keyword arguments it passes on."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            _bind(function, more, args, kwargs)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _bind(function: Callable[..., Any], more: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import inspect

    from . import _options

    own = inspect.signature(function)
    parameters = [p for of in (function, *more) for p in inspect.signature(of).parameters.values()]
    known = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "self"]
    # `GradientCanaries`, not its `__init__`; functions are called by their own name.
    name = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")
    is_open = any(p.kind == p.VAR_KEYWORD for p in own.parameters.values())
    if more or not is_open:
        _options.unknown(name, kwargs, known)
    try:
        own.bind(*args, **kwargs)
    except TypeError as problem:
        raise ArgumentError(f"{name}(): {problem}\n  hint: it takes {', '.join(known)}") from None
