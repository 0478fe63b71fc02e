"""Arrays of membership scores."""

from __future__ import annotations

from typing import Any

from ._native import DataError, FileError

# What an `.npz` may hold.
_LAYOUTS = ({"in_scores", "out_scores"}, {"keep", "scores"}, {"include", "scores"})
_NAMES = ("in_scores", "out_scores", "keep", "include", "scores")


def npz(path: str) -> dict[str, Any]:
    """The arrays of scores of a file of NumPy."""
    import numpy

    try:
        with numpy.load(path, allow_pickle=False) as found:
            names = list(found.files) if hasattr(found, "files") else []
            arrays = {name: found[name] for name in _NAMES if name in names}
    except OSError as problem:
        raise FileError(f"{path}: {problem}") from problem
    except ValueError as problem:
        raise DataError(f"{path}: {problem}\n  hint: save arrays of numbers with numpy.savez") from problem
    if not any(layout <= arrays.keys() for layout in _LAYOUTS):
        raise DataError(
            f"{path}: holds {', '.join(names) or 'one array without a name'}\n"
            "  hint: save in_scores and out_scores, or keep and scores, or include and scores of one run"
        )
    return arrays


def numbers(name: str, given: Any) -> Any:
    """Numbers, none of them missing."""
    import numpy

    if isinstance(given, numpy.ma.MaskedArray) and numpy.ma.getmaskarray(given).any():
        raise DataError(f"{name}: has masked values\n  hint: leave them out, with {name}.compressed()")
    array = numpy.asarray(given)
    if array.dtype.kind not in "iufb":
        raise DataError(f"{name}: holds values of type {array.dtype}\n  hint: give numbers, with {name}.astype(float)")
    array = array.astype(float)
    if numpy.isnan(array).any():
        at = ", ".join(str(index + 1) for index in numpy.argwhere(numpy.isnan(array))[0])
        raise DataError(f"{name}, entry {at}: is NaN\n  hint: leave it out, or give it the score of the attack's doubt")
    return array


def sides(in_scores: Any, out_scores: Any) -> tuple[Any, Any]:
    """Membership and score of each row."""
    import numpy

    given = {}
    for name, side in (("in_scores", in_scores), ("out_scores", out_scores)):
        given[name] = numbers(name, side)
        if given[name].ndim != 1 or len(given[name]) == 0:
            raise DataError(f"{name}: has the shape {given[name].shape}\n  hint: give one score a row, at least one")
    values = numpy.concatenate(list(given.values()))
    return numpy.arange(len(values)) < len(given["in_scores"]), values
