"""Pictures of results by matplotlib, which is imported only here and need not be installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._native import OptionError

# Pairs that are drawn at most.
_PAIRS = 20


def axes(given: Any) -> Any:
    """The axes to draw into: those that were given, or new ones.

    Raises:
        leakgauge.OptionError: matplotlib is not installed, or what was given has nothing to draw with.
    """
    if given is not None:
        if not all(hasattr(given, name) for name in ("plot", "errorbar", "set_xlabel", "set_title")):
            raise OptionError(f"ax=: must be axes of matplotlib, not {type(given).__name__}\n  hint: leave ax= out")
        return given
    try:
        import matplotlib.pyplot  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise OptionError(
            "plot(): matplotlib is not installed\n  hint: pip install matplotlib, or show a picture of r.pictures"
        ) from None
    return matplotlib.pyplot.subplots()[1]


def trade_off(ax: Any, found: Any) -> Any:
    """Both error rates of the attack on the worst pair, and above which curve the mechanism's cannot lie."""
    curve, band = found["curve"], found["band"]
    ax.plot([0, 1], [1, 0], linestyle=":", color="gray", label="no leak")
    ax.plot(curve["type_1"], curve["type_2"], drawstyle="steps-post", label="attack, estimate")
    limit_1 = [min(rate + band["type_1_radius"], 1.0) for rate in curve["type_1"]]
    limit_2 = [min(rate + band["type_2_radius"], 1.0) for rate in curve["type_2"]]
    ax.plot(limit_1, limit_2, linestyle="--", label=f"mechanism, at most ({band['confidence']:.3g} confidence)")
    ax.set_xlabel(f"false positive rate (detecting {curve['detects']} against {curve['against']})")
    ax.set_ylabel("false negative rate")
    ax.set_title(f"Trade-off of {curve['detects']} and {curve['against']}")
    ax.legend()
    return ax


def limits(ax: Any, rows: Iterable[tuple[str, Any]], quantity: str) -> Any:
    """Estimates with their limits, one a line, the first one on top."""
    shown = list(rows)[:_PAIRS]
    for at, (_, estimate) in enumerate(shown):
        point, lower, upper = estimate.point, estimate.lower, getattr(estimate, "upper", None)
        ends = [end for end in (lower, upper) if end is not None]
        if len(ends) == 2:
            ax.plot(ends, [at, at], color="C0", marker="|")
        elif lower is not None:
            # No upper limit: the line would have no end.
            ax.plot([lower], [at], color="C0", marker=">", linestyle="none")
        if point is not None:
            ax.plot([point], [at], color="C0", marker="o", linestyle="none")
    return _named(ax, [name for name, _ in shown], quantity)


def bars(ax: Any, rows: Iterable[tuple[str, float | None]], quantity: str, limit: float | None = None) -> Any:
    """Estimates without limits of their own, and one lower limit of the largest."""
    shown = list(rows)[:_PAIRS]
    ax.barh(range(len(shown)), [value or 0.0 for _, value in shown], label="estimate")
    if limit is not None:
        ax.axvline(limit, color="black", linestyle="--", label="worst pair, at least")
    ax.legend()
    return _named(ax, [name for name, _ in shown], quantity)


def _named(ax: Any, names: list[str], quantity: str) -> Any:
    ax.set_yticks(range(len(names)), labels=names)
    ax.invert_yaxis()
    ax.set_xlabel(quantity)
    return ax
