"""Membership audits from the objects and files of other tools, in three lines each.

    from leakgauge import membership

    membership.lira("exp/cifar10")                       # experiments of LiRA
    membership.leakpro("output/data_objects/attack.json")  # a result of LeakPro
    membership.from_model(model, X, y, include=used)     # a classifier or regressor of scikit-learn
    membership.GradientCanaries(1_000, norm=1, rate=0.01)  # DP-SGD by Opacus or jax_privacy

What comes back is that of `leakgauge.audit_scores`, to which further options go: `claims`, `design`, `confidence`, …
No library is imported here: these functions read files and attributes.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from . import _options
from ._canaries import GradientCanaries as GradientCanaries
from ._errors import ArgumentError, checked
from ._native import DataError, FileError
from ._one_run import OneRun
from ._score_arrays import numbers
from ._scores import audit_scores
from .results import Audit

__all__ = ["GradientCanaries", "from_model", "leakpro", "lira", "losses"]


@checked()
def lira(folder: str | os.PathLike[str], *, epoch: int | None = None, **options: Any) -> Audit | OneRun:
    """Audits the experiments of LiRA (Carlini et al. 2022, doi:10.1109/SP46214.2022.9833649).

    Args:
        folder: Holds a folder for every model, with `keep.npy` (`bool`, one a record) and `scores/….npy` (one a record,
            or records × queries).
        epoch: The number in the name of the file of scores; by default the last that all models have.
        **options: As of `audit_scores` for `keep=` and `scores=`: `claims`, `shadows`, `unit`, …

    Raises:
        leakgauge.Error: Files that are missing, or that do not go together.
    """
    import numpy

    root = pathlib.Path(_options._file("folder", folder))
    models = sorted(path.parent for path in root.glob("*/keep.npy"))
    if not models:
        raise FileError(f"{root}: holds no folder with a keep.npy\n  hint: give the folder that holds one folder a model")
    found = {model: {_epoch(path): path for path in (model / "scores").glob("*.npy")} for model in models}
    common = set.intersection(*(set(files) for files in found.values()))
    wanted = max(common, default=None) if epoch is None else _options._whole("epoch", epoch)
    if wanted not in common:
        raise FileError(
            f"{root}: not every model has scores{'' if epoch is None else f' of epoch {epoch}'}\n"
            "  hint: compute them for all models, or leave a model out by moving its folder away"
        )
    keeps = [_array(model / "keep.npy") for model in models]
    scores = [_array(found[model][wanted]) for model in models]
    shapes = {(keep.shape, score.shape) for keep, score in zip(keeps, scores, strict=True)}
    if len(shapes) > 1 or keeps[0].ndim != 1:
        raise DataError(f"{root}: models have arrays of different shapes: {sorted(shapes)}\n  hint: score the same records")
    return audit_scores(keep=numpy.array(keeps), scores=numpy.array(scores), **options)


def _epoch(path: pathlib.Path) -> int:
    digits = "".join(character for character in path.stem if character.isdecimal())
    return int(digits or 0)


def _array(path: pathlib.Path) -> Any:
    import numpy

    try:
        return numpy.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise FileError(f"{path}: {problem}") from problem


@checked()
def leakpro(result: Any, **options: Any) -> Audit | OneRun:
    """Audits a result of LeakPro: the JSON file that it saved under `data_objects`, or the `MIAResult` itself.

    Args:
        result: A path, or an object with `signal_values` (large ones for members) and `true` or `true_labels`.
        **options: As of `audit_scores`. Scores of many records from one model prove no claim of differential privacy
            unless `design="one-run"` says that each was put in by a coin of its own.
    """
    if isinstance(result, (str, os.PathLike)):
        path = _options._file("result", result)
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except OSError as problem:
            raise FileError(f"{path}: {problem}") from problem
        except ValueError as problem:
            raise DataError(f"{path}: is no JSON: {problem}\n  hint: give a file of data_objects") from problem
        found = found if isinstance(found, dict) else {}
        signals, truth, name = found.get("signal_values"), found.get("true_labels"), path
    else:
        signals = getattr(result, "signal_values", None)
        truth = getattr(result, "true", getattr(result, "true_labels", None))
        name = f"result: {type(result).__name__}"
    if truth is None or signals is None:
        raise DataError(
            f"{name}: has no signal_values and true labels\n"
            "  hint: a result of counts goes into leakgauge.confusion(tp, fn, fp, tn)"
        )
    values, members = numbers("signal_values", signals).ravel(), numbers("true_labels", truth).ravel()
    return _audit(members, values, "true_labels", options)


@checked()
def losses(model: Any, X: Any, y: Any) -> Any:
    """The loss of a model on every sample, as an array.

    Args:
        model: With `predict_proba` (−ln of the probability of the right class), else `decision_function` (the logistic
            loss of the margin; of several classes that over the best other one), else `predict` (the squared error).
        X: Samples, as the model takes them.
        y: Their classes or values.
    """
    import numpy

    truth = numpy.asarray(y)
    if truth.ndim != 1:
        raise DataError(f"y: has {truth.ndim} dimensions\n  hint: give one class or value a sample")
    if hasattr(model, "predict_proba"):
        found = _log_loss(numpy.asarray(model.predict_proba(X), dtype=float), truth, _classes(model))
    elif hasattr(model, "decision_function"):
        found = _margin_loss(numpy.asarray(model.decision_function(X), dtype=float), truth, _classes(model))
    elif hasattr(model, "predict"):
        found = (numbers("model.predict(X)", model.predict(X)).reshape(len(truth), -1)[:, 0] - numbers("y", truth)) ** 2
    else:
        raise ArgumentError(f"model: {type(model).__name__} has no predict_proba, decision_function or predict")
    if numpy.isnan(found).any():
        raise DataError(f"model: its loss of sample {int(numpy.isnan(found).argmax()) + 1} is NaN")
    return found


@checked()
def from_model(model: Any, X: Any, y: Any, include: Any, **options: Any) -> Audit | OneRun:
    """Audits a trained model by its losses: those who trained it have smaller ones.

    Args:
        model: As of `losses`, like X and y.
        include: Which samples trained the model, `bool`, one a sample.
        **options: As of `audit_scores`. If every sample was put in by a fair coin of its own, say `design="one-run"`;
            otherwise samples of one model prove no claim of differential privacy.
    """
    members = numbers("include", include)
    values = -losses(model, X, y)
    return _audit(members, values, "include", options)


def _audit(members: Any, values: Any, name: str, options: dict[str, Any]) -> Audit | OneRun:
    import numpy

    if members.shape != values.shape or members.ndim != 1:
        raise DataError(f"{name}: has {members.size} values for {values.size} scores\n  hint: give one a score")
    if not numpy.isin(members, (0, 1)).all():
        raise DataError(f"{name}: has values other than 0 and 1\n  hint: give True for members")
    members = members.astype(bool)
    if options.get("design") == "one-run":
        return audit_scores(include=members, scores=values, **{"member_scores": "high", **options})
    return audit_scores(values[members], values[~members], **options)


def _classes(model: Any) -> Any:
    import numpy

    if not hasattr(model, "classes_"):
        raise ArgumentError(f"model: {type(model).__name__} has no classes_\n  hint: give a model that was fitted")
    return numpy.asarray(model.classes_)


def _positions(truth: Any, classes: Any) -> tuple[Any, Any]:
    """The column of every right class, and whether the model knows it."""
    known = truth[:, None] == classes[None, :]
    return known.argmax(axis=1), known.any(axis=1)


def _log_loss(probabilities: Any, truth: Any, classes: Any) -> Any:
    import numpy

    if probabilities.shape != (len(truth), len(classes)):
        raise DataError(f"predict_proba: returned the shape {probabilities.shape}, not {(len(truth), len(classes))}")
    columns, known = _positions(truth, classes)
    right = numpy.where(known, probabilities[numpy.arange(len(truth)), columns], 0.0)
    # A probability of 0 has the loss of the smallest number.
    return -numpy.log(numpy.maximum(right, numpy.finfo(float).tiny))


def _margin_loss(decisions: Any, truth: Any, classes: Any) -> Any:
    import numpy

    columns, known = _positions(truth, classes)
    if decisions.ndim == 1:
        if len(decisions) != len(truth) or len(classes) != 2:
            raise DataError(f"decision_function: returned {len(decisions)} values for {len(truth)} samples")
        margin = numpy.where(columns == 1, decisions, -decisions)
    else:
        if decisions.shape != (len(truth), len(classes)):
            raise DataError(
                f"decision_function: returned the shape {decisions.shape}, not {(len(truth), len(classes))}\n"
                '  hint: ask for one value a class, decision_function_shape="ovr"'
            )
        rows = numpy.arange(len(truth))
        right = decisions[rows, columns]
        others = decisions.copy()
        others[rows, columns] = -numpy.inf
        margin = right - others.max(axis=1)
    # A class that the model does not know has a large loss, and a finite one.
    return numpy.logaddexp(0.0, -numpy.where(known, margin, -1e9))
