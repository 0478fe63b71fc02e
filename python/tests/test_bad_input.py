"""Whatever is wrong raises one exception that says where, what, and what to do."""

import decimal
import os
import pickle

import numpy
import pandas
import polars
import pytest

import leakgauge

GOOD = {"secret": [0, 1] * 20, "time": [float(at % 7) for at in range(40)]}


def having(**columns):
    return {**GOOD, **columns}


BAD_DATA = {
    "unequal": (having(time=[1.0] * 39), "column time: has 39 values where column secret has 40"),
    "objects": (having(time=[decimal.Decimal(1)] * 40), "is a Python object of type Decimal"),
    "texts and numbers": (having(time=["a", 1] * 20), "row 2, column time: is a Python object of type int"),
    "nan": (having(time=[1.0, float("nan")] * 20), "row 2, column time: the value is missing"),
    "masked": (having(time=numpy.ma.masked_equal([1, 2] * 20, 2)), "row 2, column time: the value is missing"),
    "pandas nulls": (pandas.DataFrame(having(time=[None, 1.0] * 20)), "row 1, column time: the value is missing"),
    "pandas NA": (
        pandas.DataFrame(having(time=pandas.array([1, None] * 20, dtype="Int64"))),
        "row 2, column time: the value is missing",
    ),
    "polars nulls": (polars.DataFrame(having(time=[1, None] * 20)), "row 2, column time: the value is missing"),
    "missing text": (having(time=["a", None] * 20), "row 2, column time: the value is missing"),
    "empty": ({"secret": [], "time": []}, "no rows"),
    "empty frame": (pandas.DataFrame({"secret": [], "time": []}), "no rows"),
    "empty polars": (polars.DataFrame({"secret": [], "time": []}), "at least one"),
    "empty typed polars": (polars.DataFrame(GOOD).head(0), "no rows"),
    "no columns": ({}, ""),
    "one secret": (having(secret=[0] * 40), "there is only one secret"),
    "only secrets": ({"secret": [0, 1]}, "no observation column"),
    "no secret column": ({"who": [0, 1], "time": [1, 2]}, "secret"),
    "complex": (having(time=numpy.ones(40, dtype=complex)), "values of type complex128 are not read"),
    "dates": (having(time=numpy.zeros(40, dtype="M8[ns]")), "column.astype('int64')"),
    "bytes": (having(time=numpy.array([b"a", b"b"] * 20)), "numpy.char.decode"),
    "matrix in a column": (having(time=numpy.ones((40, 2))), "has 2 dimensions"),
    "ragged": (having(time=[[1], [1, 2]] * 20), "give one value a row"),
    "matrix without labels": (numpy.ones((40, 2)), "pass secret=labels"),
    "three dimensions": (numpy.ones((40, 2, 2)), "pass secret=labels"),
    "blank secret": (having(secret=["a", " "] * 20), "the secret is blank"),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data_is_refused_with_its_place(kind):
    data, words = BAD_DATA[kind]
    with pytest.raises(leakgauge.Error) as refused:
        leakgauge.audit_log(data, budget=1)
    text = str(refused.value)
    assert words in text and "--" not in text, text
    assert isinstance(refused.value, leakgauge.DataError), type(refused.value)
    assert "\n  hint: " in text or kind in ("no columns", "blank secret"), text


BAD_OPTIONS = {
    "claim": ({"claims": "dp(eps=1)"}, leakgauge.GrammarError, "no parameter"),
    "claim name": ({"claims": ["lap(1)"]}, leakgauge.GrammarError, "laplace"),
    "column": ({"observe": ["tme"]}, leakgauge.Error, 'observe="tme"'),
    "confidence": ({"confidence": 1.5}, leakgauge.OptionError, "confidence=1.5"),
    "scorer": ({"scorer": "forrest"}, leakgauge.OptionError, 'did you mean "forest"?'),
    "scores without scorer": ({"scores": "time", "scorer": "knn"}, leakgauge.OptionError, "scores="),
    "split": ({"split": "block"}, leakgauge.OptionError, 'did you mean "blocks"?'),
    "prior": ({"prior": {"0": 0.5}}, leakgauge.OptionError, "sum to 0.5"),
    "prior name": ({"prior": "flat"}, leakgauge.OptionError, "uniform"),
    "budget": ({"budget": "soon"}, leakgauge.OptionError, "budget="),
    "threads": ({"threads": 0}, leakgauge.OptionError, "threads="),
    "secrets": ({"secrets": [0, 7]}, leakgauge.Error, "secrets="),
    "missing": ({"missing": "ignore"}, leakgauge.OptionError, "error, label, drop"),
    "resolution": ({"resolution": {"time": 0}}, leakgauge.OptionError, 'resolution={"time": 0}'),
    "aggregated and ordered": ({"count": [1] * 40, "split": "blocks"}, leakgauge.OptionError, 'split="blocks"'),
}


@pytest.mark.parametrize("kind", BAD_OPTIONS)
def test_bad_options_are_named_the_python_way(kind):
    options, error, words = BAD_OPTIONS[kind]
    with pytest.raises(error) as refused:
        leakgauge.audit_log(GOOD, **{"budget": 1, **options})
    assert words in str(refused.value) and "--" not in str(refused.value), str(refused.value)


WRONG_TYPES = {
    "unknown": ({"clams": "dp(1)"}, "did you mean claims=?"),
    "quite unknown": ({"zzz": 1}, "it takes secret, observe"),
    "text for a number": ({"confidence": "high"}, "confidence=: must be a number"),
    "fraction for a whole number": ({"seed": 1.5}, "seed=: must be a whole number"),
    "negative": ({"seed": -1}, "seed=: must be a whole number from 0"),
    "number for a flag": ({"quick": 1}, "quick=: must be True or False"),
    "of files": ({"delimiter": ","}, "delimiter= is for files"),
    "resolution": ({"resolution": 3}, "resolution=: must be a dict"),
}


@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_wrong_arguments_are_type_errors(kind):
    options, words = WRONG_TYPES[kind]
    with pytest.raises(TypeError) as refused:
        leakgauge.audit_log(GOOD, **options)
    assert words in str(refused.value) and isinstance(refused.value, leakgauge.OptionError)


def identity(x):
    return x


LAPLACE = "laplace(scale=2, secrets=0..3)"
# A call that is wrong, and the name that its error says.
WRONG_CALLS = {
    "seed": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", seed=-1),
    "inputs": lambda: leakgauge.audit(identity, 0, "dp(1)"),
    "pairs": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", pairs="ab"),
    "pairs of one": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", pairs=[(0,)]),
    "batch": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", batch=-1),
    "alpha": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", alpha=10**5000),
    "alpha, confidence": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", alpha=0.1, confidence=0.95),
    "max_samples": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", max_samples=10**30),
    "seconds": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", seconds=float("nan")),
    "fn": lambda: leakgauge.audit(3, [0, 1], "dp(1)"),
    "claims": lambda: leakgauge.audit(identity, [0, 1], 5),
    "inputs are missing": lambda: leakgauge.audit(identity),
    "did you mean max_samples=": lambda: leakgauge.audit(identity, [0, 1], "dp(1)", max_sample=9),
    "did you mean length=": lambda: leakgauge.neighbors(lenght=3),
    "did you mean alpha=": lambda: leakgauge.confusion(1, 2, 3, 4, alhpa=0.1),
    "did you mean detects=": lambda: leakgauge.assert_private(identity, [0, 1], "dp(1)", detect="epsilon=2"),
    "length": lambda: leakgauge.neighbors(2.5),
    "by": lambda: leakgauge.neighbors(2, by="x"),
    "count": lambda: leakgauge.neighbors(strategy=identity, count=-1),
    "tn": lambda: leakgauge.confusion(1, 2, 3),
    "rows": lambda: leakgauge.simulate(LAPLACE, 10**12),
    "data": lambda: leakgauge.audit_log(),
    "neighbors": lambda: leakgauge.audit_log(GOOD, neighbors=5),
    "confidence": lambda: leakgauge.audit_log(GOOD, confidence=10**400),
    "pair": lambda: leakgauge.channel([[0.5, 0.5]], pair=3),
    "prior": lambda: leakgauge.channel([[0.5, 0.5], [0.1, 0.9]], prior=3),
    "names": lambda: leakgauge.compare([GOOD, GOOD], names=5),
    "randomizer": lambda: leakgauge.shuffle.privacy(),
}


@pytest.mark.parametrize("kind", WRONG_CALLS)
def test_every_wrong_call_is_an_error_that_names_the_argument(kind):
    with pytest.raises(leakgauge.Error) as refused:
        WRONG_CALLS[kind]()
    words = kind if kind.startswith("did") else kind.split()[0].strip(",")
    assert words in str(refused.value) and len(str(refused.value)) < 1_000


def test_errors_are_of_the_built_in_kinds_and_have_a_hint():
    with pytest.raises(ValueError) as refused:
        leakgauge.audit_log({"secret": [0, 1, 0], "time": [1.5, 2.5]})
    assert isinstance(refused.value, leakgauge.DataError)
    assert refused.value.hint == "give all columns one value a row"
    assert leakgauge.Error("no more").hint is None
    again = pickle.loads(pickle.dumps(leakgauge.ArgumentError("x=: is wrong\n  hint: y")))
    assert isinstance(again, TypeError) and again.hint == "y"


def test_confidence_and_alpha_say_the_same():
    one, other = (leakgauge.audit_log(GOOD, budget=1, **level) for level in ({"confidence": 0.9}, {"alpha": 0.1}))
    assert one.to_json() == other.to_json() and one.confidence == 0.9
    assert leakgauge.confusion(80, 20, 30, 70, confidence=0.9) == leakgauge.confusion(80, 20, 30, 70, alpha=0.1)
    rng = numpy.random.default_rng(0)
    found = leakgauge.audit(lambda x: rng.random(), [0, 1], "dp(1)", confidence=0.99, max_samples=100)
    assert found.confidence == 0.99


@pytest.mark.parametrize("data", [3, object(), None, [{"secret": 1, "time": 2}], polars.LazyFrame(GOOD)])
def test_data_of_no_known_kind_is_a_type_error(data):
    with pytest.raises(TypeError, match="data must be a frame"):
        leakgauge.audit_log(data)


def test_lazy_frames_are_to_be_collected():
    with pytest.raises(TypeError, match=r"\.collect\(\)"):
        leakgauge.audit_log(polars.LazyFrame(GOOD))


def test_files_that_are_not_there_or_are_no_logs(tmp_path):
    with pytest.raises(leakgauge.FileError, match="absent.csv"):
        leakgauge.audit_log(tmp_path / "absent.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(leakgauge.DataError, match="empty.csv"):
        leakgauge.audit_log(tmp_path / "empty.csv")
    with pytest.raises(TypeError, match="name= is for data in memory"):
        leakgauge.audit_log(tmp_path / "empty.csv", name="empty")


def test_all_errors_are_of_one_hierarchy():
    for name in ("DataError", "FileError", "GrammarError", "InternalError", "OptionError"):
        assert issubclass(getattr(leakgauge, name), leakgauge.Error)
    assert issubclass(leakgauge.GrammarError, leakgauge.OptionError)


def test_estimates_take_no_claims():
    with pytest.raises(TypeError, match="audit_log"):
        leakgauge.estimate_log(GOOD, claims="dp(1)")


def test_a_log_of_texts_takes_more_memory_than_one_of_numbers(monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: 1)
    with pytest.raises(leakgauge.OptionError, match="do not fit") as refused:
        leakgauge.simulate("randomized-response(epsilon=1, secrets=4)", 20_000_000)
    # At 73 bytes a row, as measured, what is advised fits into the GiB that is taken to be there at least.
    advised = int(refused.value.hint.split()[1].replace(",", ""))
    assert 2**30 / 300 < advised < 2**30 / 73
