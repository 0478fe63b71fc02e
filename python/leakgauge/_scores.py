"""Audits of membership scores."""

from __future__ import annotations

import os
from typing import Any

from . import _log, _options
from ._errors import ArgumentError, checked
from ._native import DataError
from ._one_run import OneRun, one_run
from ._score_arrays import npz, numbers, sides
from .results import Audit

# LiRA estimates one variance for all records where a record has fewer shadow models than this on either side
# (Carlini et al. 2022, doi:10.1109/SP46214.2022.9833649, section VI).
_OWN_VARIANCE = 64

# Keyword arguments that `audit_log` does not have, or means otherwise.
_OWN = (
    "in_scores",
    "out_scores",
    "keep",
    "scores",
    "include",
    "shadows",
    "unit",
    "design",
    "member_scores",
    "guesses",
    "name",
)

# Keyword arguments of `audit_log` that do not apply to scores.
_OF_LOGS = (
    "at_order",
    "block",
    "blocks",
    "categorical",
    "clock_frequency",
    "clock_step",
    "count",
    "delimiter",
    "drop",
    "fit_on",
    "header",
    "like",
    "list",
    "merge",
    "missing",
    "neighbors",
    "numeric",
    "observe",
    "reconstruction",
    "resolution",
    "row_id",
    "scorer",
    "scores",
    "secret",
    "secret_map",
    "skip_bad",
    "tries",
    "unit",
    "wide",
)


@checked()
def audit_scores(
    in_scores: Any = None,
    out_scores: Any = None,
    *,
    keep: Any = None,
    scores: Any = None,
    include: Any = None,
    shadows: int | None = None,
    unit: str = "model",
    design: str | None = None,
    member_scores: str | None = None,
    guesses: Any = None,
    **options: Any,
) -> Audit | OneRun:
    """Audits a membership attack by its scores: the secrets are `in` and `out`.

    Args:
        in_scores: The attack's scores of members, one a row; or the path of an `.npz` with `in_scores` and
            `out_scores`, or with `keep` and `scores`.
        out_scores: Those of non-members.
        keep: In LiRA's layout: which record trained which model, `bool` [models × records].
        scores: In LiRA's layout: [models × records], or [models × records × queries], whose mean counts.
        shadows: In LiRA's layout: the number of models, the first ones, that the attack learns from. The others are
            attacked. By default half of them. 0 takes `scores` as an attack's own.
        unit: In LiRA's layout, what is independent: `"model"`, so that limits count models, which holds if models
            were trained independently; or `"row"`, as papers report it, which takes the records of one model for
            independent of each other.
        design: `"many-runs"` if every row comes from a training run of its own; `"one-run"` if rows are the canaries of
            one run, each included by a fair coin of its own. What comes back is a `OneRun` then.
        include: With `design="one-run"`, beside `scores`: which canaries were included, `bool`, one a canary. Or pass
            `in_scores` and `out_scores`.
        member_scores: With `design="one-run"`: `"high"` if members have the larger scores, `"low"` as for losses.
            Without it both are tried, each at half the level. Settle it before you see the scores.
        guesses: With `design="one-run"`: how many canaries are guessed to be in, and how many to be out: `(100, 0)`.
            Without it five choices share the level.
        **options: As of `audit_log`: `claims`, `confidence`, `seed`, `group` (one label a row), …

    The order of rows is not known, so that it is not looked at.
    """
    options = _options.with_confidence(options)
    if isinstance(design, str) and design == "one-run":
        given = {"keep": keep, "shadows": shadows, "unit": None if unit == "model" else unit, **options}
        return one_run(in_scores, out_scores, include, scores, member_scores, guesses, given)
    for name, value in (("include", include), ("member_scores", member_scores), ("guesses", guesses)):
        if value is not None:
            raise ArgumentError(f'{name}= is for design="one-run"\n  hint: leave it out, or say design="one-run"')
    options["design"] = design
    if isinstance(in_scores, (str, os.PathLike)):
        if out_scores is not None or keep is not None or scores is not None:
            raise ArgumentError("an .npz holds all scores\n  hint: pass nothing but its path")
        arrays = npz(os.fspath(in_scores))
        in_scores, out_scores = arrays.get("in_scores"), arrays.get("out_scores")
        keep, scores = arrays.get("keep"), arrays.get("scores")
    for name in _OF_LOGS:
        if name in options:
            raise ArgumentError(f"audit_scores() has no keyword argument {name}=\n  hint: call audit_log for other logs")
    _options.unknown("audit_scores", options, [*_OWN, *(name for name in _options.LOG if name not in _OF_LOGS)])
    if keep is not None or scores is not None:
        if in_scores is not None or out_scores is not None or keep is None or scores is None:
            raise ArgumentError("audit_scores() takes in_scores and out_scores, or keep= and scores=")
        members, values, models = _lira(keep, scores, shadows)
        if isinstance(unit, str) and unit == "model":
            options.setdefault("group", models)
        else:
            _options.chosen("unit", unit, ("model", "row"))
    elif in_scores is None or out_scores is None:
        raise ArgumentError("audit_scores() takes in_scores and out_scores, or keep= and scores=")
    else:
        members, values = sides(in_scores, out_scores)
    return _audit(members, values, options)


def _audit(members: Any, values: Any, options: dict[str, Any]) -> Audit:
    import numpy

    labels = numpy.where(members, "in", "out")
    options = {"name": "scores", **options}
    given = {"secret": labels, "observe": "score", "scorer": "given", "scores": "score", **options}
    columns: dict[str, Any] = {"score": values}
    if "group" not in given:
        # Counts of one say that the order means nothing.
        given["count"] = numpy.ones(len(values), dtype=numpy.int64)
    del given["observe"]
    return _log._audit("audit_scores", columns, given)


def _lira(keep: Any, scores: Any, shadows: int | None) -> tuple[Any, Any, Any]:
    """Membership, log-likelihood ratio and model of each row of the models that are attacked."""
    import numpy

    keep, scores = numpy.asarray(keep), numbers("scores", scores)
    if scores.ndim == 3:
        scores = scores.mean(axis=2)
    if keep.dtype.kind not in "biu" or keep.shape != scores.shape or keep.ndim != 2:
        raise DataError(
            f"keep, scores: have the shapes {keep.shape} and {scores.shape} and the types {keep.dtype} and "
            f"{scores.dtype}\n  hint: give both [models × records], keep as bool"
        )
    keep = keep.astype(bool)
    models = len(keep)
    shadows = models // 2 if shadows is None else _options._whole("shadows", shadows)
    if shadows >= models:
        raise DataError(f"shadows={shadows}: leaves none of {models} models to attack\n  hint: give fewer")
    attacked = numpy.repeat(numpy.arange(shadows, models), keep.shape[1])
    if shadows == 0:
        return keep.ravel(), scores.ravel(), attacked
    ratio, usable = _ratio(keep[:shadows], scores[:shadows], scores[shadows:])
    kept = numpy.tile(usable, models - shadows)
    return keep[shadows:].ravel()[kept], ratio.ravel()[kept], attacked[kept]


def _ratio(keep: Any, known: Any, scores: Any) -> tuple[Any, Any]:
    """ln N(score; in) − ln N(score; out) by record, and the records with two shadow models on either side."""
    import numpy

    laws = []
    usable = numpy.ones(keep.shape[1], dtype=bool)
    for side in (keep, ~keep):
        count = side.sum(axis=0)
        mean = numpy.where(side, known, 0).sum(axis=0) / numpy.maximum(count, 1)
        squares = (numpy.where(side, known - mean, 0) ** 2).sum(axis=0)
        freedom = numpy.maximum(count - 1, 0).sum()
        own = squares / numpy.maximum(count - 1, 1)
        pooled = squares.sum() / max(freedom, 1)
        variance = numpy.where(count >= _OWN_VARIANCE, own, pooled)
        usable &= count >= 2
        laws.append((mean, numpy.maximum(variance, 1e-30)))
    if not usable.any():
        raise DataError(
            "keep: no record is in two shadow models and out of two\n  hint: give more models, or pass shadows=0 if "
            "scores are an attack's own"
        )
    of_in, of_out = ((-((scores - mean) ** 2) / (2 * variance) - numpy.log(variance) / 2) for mean, variance in laws)
    return of_in - of_out, usable
