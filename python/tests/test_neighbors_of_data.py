"""Neighbors of a user's own data: which rows are changed, in which types, and what audits find with them."""

import numpy as np
import pandas
import polars
import pytest

import leakgauge

FRAME = pandas.DataFrame(
    {
        "income": [30.0, 40.0, 50.0, 60.0, 400.0, 55.0, np.nan, 45.0, 50.0],
        "kind": ["a", "a", "a", "b", "a", "a", "a", "a", "a"],
        "age": [20, 30, 40, 50, 60, 20, 30, 40, 40],
    }
)


def test_rows_that_matter_come_first():
    found = leakgauge.neighbors.rows(FRAME, change="remove")
    assert found.names[:4] == (
        "without row 4 (largest in column income)",
        "without row 6 (no value in column income)",
        "without row 3 (the only one with column kind = b)",
        "without row 2 (one of 2 copies)",
    )
    assert len(found) == len(FRAME) and found.inputs[0] is FRAME
    for name, (data, other) in zip(found.names, found, strict=True):
        row = int(name.split()[2])
        pandas.testing.assert_frame_equal(other, data.drop(row).reset_index(drop=True))


def test_new_rows_are_extreme_missing_rare_or_copies():
    found = leakgauge.neighbors.rows(FRAME, change="add", count=20)
    rows = {name: other.iloc[-1] for name, (_, other) in zip(found.names, found, strict=True)}
    assert all(len(other) == len(FRAME) + 1 and (other.dtypes == FRAME.dtypes).all() for _, other in found)
    assert rows["with a row beyond the largest in column income"]["income"] == 400 + 370
    assert rows["with a row beyond the largest in column age"]["age"] == 100
    assert pandas.isna(rows["with a row without column income"]["income"])
    assert rows["with a row with column kind = b"]["kind"] == "b"
    assert rows["with a copy of row 4 (largest in column income)"]["income"] == 400
    inside = leakgauge.neighbors.rows(FRAME, change="add", count=20, beyond=0)
    assert max(other["income"].max() for _, other in inside) == 400


def test_one_row_is_replaced():
    for _, other in (found := leakgauge.neighbors.rows(FRAME, change="replace", count=30)):
        assert len(other) == len(FRAME) and (other.dtypes == FRAME.dtypes).all()
        changed = (FRAME != other) & ~(FRAME.isna() & other.isna())
        assert changed.any(axis=1).sum() == 1
    assert len(found) > 15


DATA = {
    "list": [1, 2, 3, 100, 2],
    "tuples": [("a", 1.5), ("b", 2.5), ("a", 7.5)],
    "dicts": [{"a": 1, "b": None}, {"a": 2, "b": "x"}],
    "objects": [{1}, {2, 3}, {4}],
    "vector": np.array([1.0, 2.0, np.nan, np.inf]),
    "bytes": np.array([1, 2, 255], dtype=np.uint8),
    "matrix": np.arange(12).reshape(6, 2),
    "images": np.zeros((5, 4, 4), dtype=np.float32),
    "fields": np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "words": np.array(["a", "b", "b"]),
    "mixed": np.array([1, "a", None], dtype=object),
    "series": pandas.Series([1, 2, 9, 4], name="n"),
    "named": pandas.Series([1.0, 2.0, 9.0], index=["x", "y", "z"]),
    "categories": pandas.Series(["a", "b", "b", "b"], dtype="category"),
    "nullable": pandas.Series([1, 2, None, 3], dtype="Int64"),
    "dates": pandas.Series(pandas.to_datetime(["2020-01-01", "2021-01-01", None])),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize(("change", "more"), [("remove", -1), ("add", 1), ("replace", 0)])
def test_neighbors_have_the_type_of_the_data(kind, change, more):
    data = DATA[kind]
    found = leakgauge.neighbors.rows(data, change)
    assert len(found) >= 1 and len(set(found.names)) == len(found)
    for one, other in found:
        assert one is data and type(other) is type(data) and len(other) == len(data) + more
        if hasattr(data, "dtype"):
            assert other.dtype == data.dtype
    # The data themselves are as they were.
    assert len(found.labels) == len(found.inputs) and found.labels[0] == "data"


def test_own_rows_come_first():
    rows = {
        "frame": (FRAME, {"income": 1e6, "kind": "c", "age": 7}),
        "list": ([1, 2, 3], 9),
        "matrix": (np.zeros((3, 2)), [4, 5]),
        "series": (pandas.Series([1.0, 2.0]), 9.0),
    }
    for kind, (data, row) in rows.items():
        for change in ("add", "replace"):
            found = leakgauge.neighbors.rows(data, change, new=[row], count=3)
            assert "own row 1" in found.names[0], kind
            assert "9" in str(found.pairs[0][1]) or "4" in str(found.pairs[0][1]) or "c" in str(found.pairs[0][1])


def test_samples_and_targets_change_together():
    rng = np.random.default_rng(0)
    X, y = pandas.DataFrame(rng.normal(size=(30, 2)), columns=["u", "v"]), np.array([0] * 20 + [1] * 9 + [2])
    removed = leakgauge.neighbors.xy(X, y)
    assert "without row 29 (the only one with y = 2)" in removed.names[:2]
    for name, (data, (samples, targets)) in zip(removed.names, removed, strict=True):
        row = int(name.split()[2])
        assert data[0] is X and data[1] is y
        np.testing.assert_array_equal(targets, np.delete(y, row))
        np.testing.assert_array_equal(samples.to_numpy(), np.delete(X.to_numpy(), row, axis=0))
    added = leakgauge.neighbors.xy(X, y, "add", new=[([9.0, 9.0], 3)])
    assert added.pairs[0][1][1][-1] == 3 and added.pairs[0][1][0].iloc[-1].tolist() == [9.0, 9.0]
    # A sample that is labeled as another class is.
    at = added.names.index("with a row with y = 2")
    assert added.pairs[at][1][1][-1] == 2 and added.pairs[at][1][0].iloc[-1].tolist() != X.iloc[29].tolist()


RNG = np.random.default_rng(3)

# A bug that only a certain row shows, and that row.
BUGS = {
    "not clipped": (lambda f: f["income"].sum() + RNG.laplace(scale=100.0), "remove", "largest in column income"),
    "gaps are told": (lambda f: bool(f["income"].isna().any()), "remove", "no value in column income"),
    "classes are public": (lambda f: list(f["kind"].unique()), "remove", "the only one with column kind = b"),
    "copies are dropped": (lambda f: int(f.duplicated().sum()), "remove", "one of 2 copies"),
    "scaled by the range": (lambda f: f["age"].max() + RNG.laplace(scale=20.0), "add", "beyond the largest"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_at_the_row_that_shows_it(bug):
    fn, change, why = BUGS[bug]
    r = leakgauge.audit(fn, leakgauge.neighbors.rows(FRAME, change), "dp(epsilon=1)", max_samples=20_000)
    assert r.verdict == "violated", r
    assert r.worst_pair.inputs[0] == "data" and why in r.worst_pair.inputs[1], r


def test_what_keeps_its_claim_is_not_found():
    def total(frame):
        return frame["income"].fillna(0.0).clip(0, 100).sum() + RNG.laplace(scale=100.0)

    for change in ("remove", "add", "replace"):
        pairs = leakgauge.neighbors.rows(FRAME, change)
        r = leakgauge.audit(total, pairs, "dp(epsilon=1)", max_samples=4_000, alpha=1e-3)
        assert r.verdict == "inconclusive", r


def test_pairs_are_named_in_logs_too():
    pairs = leakgauge.neighbors.rows([1, 2, 50], "remove", count=2)
    r = leakgauge.audit(lambda x: sum(x) + RNG.laplace(), pairs, "dp(epsilon=1)", max_samples=600, fixed=True)
    assert set(r.worst_pair.secrets) == {"data", "without row 2 (largest value)"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda n: n.rows(5), "data: must be a list"),
        (lambda n: n.rows(polars.DataFrame({"a": [1, 2]})), "to_pandas"),
        (lambda n: n.rows([1]), "has 1 rows"),
        (lambda n: n.rows([1, 2], "swap"), 'change=: must be "remove" or "add" or "replace"'),
        (lambda n: n.rows([1, 2], count=0), "count=: must be at least 1"),
        (lambda n: n.rows([1, 2], beyond=-1), "beyond=: must be at least 0"),
        (lambda n: n.rows([1, 2], new=[3]), "new=: is for change="),
        (lambda n: n.rows(FRAME, "add", new=[{"income": 3}]), "new=: "),
        (lambda n: n.rows(["a", "a"], "replace"), "all are the same"),
        (lambda n: n.rows([1, 2], changes="add"), "did you mean change="),
        (lambda n: n.xy([[1], [2], [3]], [1, 2]), "have 3 and 2 rows"),
        (lambda n: n.xy([[1], [2]], 3), "y: must be a list"),
        (lambda n: n.xy([[1], [2]], [1, 2], "add", new=[3]), "pairs (x, y)"),
    ],
)
def test_wrong_calls_say_what_to_do(call, words):
    with pytest.raises(leakgauge.Error) as refused:
        call(leakgauge.neighbors)
    assert words in str(refused.value), str(refused.value)
