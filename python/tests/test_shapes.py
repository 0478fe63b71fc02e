"""Outputs and inputs of functions in all their forms, settled over the whole audit."""

import leakgauge
import numpy as np
import pandas
import polars
import pytest
from leakgauge import _neighbors, _outputs


def test_none_at_first_does_not_settle_the_form():
    shape = _outputs.Shape()
    first = shape.columns([[None, None, {}]])
    for rows in ([{"a": 1.5}], [[1, 2]], [3], ["word"], [None]):
        assert len(shape.columns([rows])) == len(first)
    # Whatever differs stays different.
    columns = shape.columns([[{"a": 1.5}, {"a": 1.25}, {"b": 1.5}, [1.5], [1.5, 2], 1.5, "1.5", None, {}, []]])
    assert len(set(zip(*columns, strict=True))) == 10


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ([{"a": 1}, None], [None, {"b": 2}, {}, [1], 3]),
        ([[1, 2], None], [None, 3, {"a": 1}, "word", []]),
        ([[1, 2], 3], [None, 4, [4]]),
        ([{}, {}], [{"a": 1}, {"a": 2}, None]),
        ([1, 2], [[1], [1, 2], {"a": 1}, None]),
        (["a", "b"], [1.5, [1.5], None]),
        ([{"a": 1}, [1]], [2, {"a": 2}]),
    ],
)
def test_later_outputs_of_another_form_have_a_place(first, later):
    shape = _outputs.Shape()
    width = len(shape.columns([first]))
    columns = shape.columns([later])
    assert len(columns) == width and len(set(zip(*columns, strict=True))) == len(later)


LEAKS = {
    "dict or None": lambda x, rng: {"a": 1} if rng.random() < 0.1 + 0.5 * x else None,
    "list or None": lambda x, rng: [rng.random()] if rng.random() < 0.1 + 0.5 * x else None,
    "list or int": lambda x, rng: [1, 2] if rng.random() < 0.1 + 0.5 * x else 3,
    "empty dicts": lambda x, rng: {"a": 1} if rng.random() < 0.05 + 0.6 * x else {},
    "series": lambda x, rng: pandas.Series(rng.normal(2 * x, 1, 3)),
    "counts": lambda x, rng: pandas.Series({"a": int(rng.integers(5)) + 4 * x, "b": 1}),
    "frame": lambda x, rng: pandas.DataFrame({"n": rng.normal(2 * x, 1, 2), "kind": ["a", "b"]}),
    "polars series": lambda x, rng: polars.Series(rng.normal(2 * x, 1, 3)),
    "polars frame": lambda x, rng: polars.DataFrame({"n": rng.normal(2 * x, 1, 2)}),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_leaks_are_found_in_outputs_of_changing_forms(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        r = leakgauge.audit(lambda x: LEAKS[kind](x, rng), [0, 1], "advantage(0.1)", max_samples=4_000)
        assert r.verdict == "violated", r


@pytest.mark.parametrize("kind", LEAKS)
def test_outputs_that_do_not_depend_on_the_input_do_not_violate(kind):
    # Each is found violated with probability 1e-3 at most: 9e-3 for one of all.
    rng = np.random.default_rng(20)
    r = leakgauge.audit(lambda x: LEAKS[kind](0, rng), [0, 1], "advantage(0.01)", max_samples=1_000, alpha=1e-3)
    assert r.verdict != "violated", r


def test_labels_of_series_and_all_cells_of_frames_are_observed():
    assert _outputs.plain(pandas.Series([2, 1], index=["b", "a"])) == {"b": 2, "a": 1, "order of labels": "['b', 'a']"}
    assert _outputs.plain(pandas.Series([2, 1], index=["a", "a"])) == [["a", "a"], [2, 1]]
    long = [_outputs.plain(pandas.DataFrame({"n": [*range(999), last]})) for last in (1, 2)]
    assert long[0] != long[1] and long[0]["rows"] == 1_000


def test_inputs_may_be_data_and_labels():
    features, labels = np.zeros((30, 3)), np.arange(30) % 2
    rng = np.random.default_rng(21)
    fn = lambda data: float(data[1].sum() + rng.laplace())  # noqa: E731
    inputs = [(features, labels), (features[1:], labels[1:])]
    assert leakgauge.audit(fn, inputs, "dp(1)", max_samples=200).worst_pair.inputs == ("x0", "x1")
    pairs = leakgauge.neighbors(strategy=lambda _: ((features, labels), (features[:-1], labels[:-1])), count=3)
    assert len(pairs.inputs) == 2
    frames = [pandas.DataFrame({"a": [1, 2]}), pandas.DataFrame({"a": [1]})]
    assert _neighbors._same(frames[0], frames[0].copy()) and not _neighbors._same(*frames)
    r = leakgauge.audit(lambda frame: float(frame["a"].sum() + rng.laplace()), frames, "dp(1)", max_samples=200)
    assert r.samples > 0


@pytest.mark.parametrize(
    "inputs", [pandas.DataFrame({"a": [1, 2]}), polars.DataFrame({"a": [1]}), {"a": 1, "b": 2}, "ab", 0, None]
)
def test_one_input_is_no_list_of_inputs(inputs):
    with pytest.raises(leakgauge.Error, match="inputs=: .*\n  hint: "):
        leakgauge.audit(lambda x: 1, inputs, "dp(1)")
