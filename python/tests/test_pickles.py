"""Results survive pickling and copying: they are equal to what they were made of, and say the same."""

import copy
import pickle
import subprocess
import sys

import numpy
import polars
import pytest

import leakgauge


def function_audit():
    rng = numpy.random.default_rng(1)
    return leakgauge.audit(
        lambda x, n: x + rng.laplace(scale=1.0, size=n), [0.0, 1.0], "dp(epsilon=1)", max_samples=4_000, progress=False
    )


def blocks():
    rng = numpy.random.default_rng(2)
    times = {name: rng.normal(mean, 1, 200) for name, mean in (("a", 0), ("b", 1))}
    return leakgauge.audit_log(times, wide=True, blocks=True, claims="time-difference(1ns)", unit="ns", budget=1)


def scores():
    rng = numpy.random.default_rng(3)
    return leakgauge.audit_scores(include=rng.random(200) < 0.5, scores=rng.normal(size=200), design="one-run")


RESULTS = {
    "a function": function_audit,
    "blocks": blocks,
    "one run": scores,
    "fixed": lambda: leakgauge.audit(lambda x: x, [0, 1], "dp(epsilon=1)", fixed=True, max_samples=200, progress=False),
    "a comparison": lambda: leakgauge.compare(
        [leakgauge.simulate("laplace(scale=2, secrets=0..1)", 500, seed) for seed in (1, 2)], quick=True, budget=1
    ),
    "a channel": lambda: leakgauge.channel([[0.9, 0.1], [0.2, 0.8]]),
    "bounds": lambda: leakgauge.bounds("ldp(epsilon=0.5..2:4)"),
    "a table": lambda: leakgauge.confusion(tp=80, fn=20, fp=30, tn=70),
    "a shuffle": lambda: leakgauge.shuffle.reidentify([0.5, 0.5], [0.9, 0.1], n=[2, 10]),
    "permuted": lambda: leakgauge.permute(
        {"g": numpy.arange(20) // 5, "v": numpy.arange(20)}, move="v", groups="equal", by="g", alpha=1, seed=1
    ),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_the_same_after_pickling_and_copying(kind):
    r = RESULTS[kind]()
    for again in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r), copy.copy(r)):
        assert again == r and type(again) is type(r)
        assert repr(again) == repr(r)
        for method in ("to_json", "to_dict", "to_text", "to_markdown"):
            if hasattr(r, method):
                assert getattr(again, method)() == getattr(r, method)(), method
        # Once more: of a copy too.
        assert pickle.loads(pickle.dumps(again)) == r


def test_pages_pictures_and_frames_survive(found):
    again = pickle.loads(pickle.dumps(found))
    assert again == found and hash(again) == hash(found)
    assert again.to_html() == found.to_html()
    assert {name: picture.svg for name, picture in again.pictures.items()} == {
        name: picture.svg for name, picture in found.pictures.items()
    }
    assert again.pairs == found.pairs and polars.DataFrame(again.pairs).equals(polars.DataFrame(found.pairs))
    assert "class=" in again._repr_html_()


def test_stated_power_survives():
    r = function_audit()
    assert pickle.loads(pickle.dumps(r)).samples_to_find(1.5) == r.samples_to_find(1.5)


def test_other_results_are_not_equal(found, log):
    other = leakgauge.audit_log(log, claims=["dp(epsilon=0.5)", "advantage(0.9)"], budget=1, seed=5)
    assert other != found and found != found.to_dict()
    assert leakgauge.channel([[0.9, 0.1], [0.2, 0.8]]) != leakgauge.channel([[0.9, 0.1], [0.1, 0.9]])


def test_another_process_reads_a_pickle(found, tmp_path):
    path = tmp_path / "audit.pickle"
    path.write_bytes(pickle.dumps(found))
    code = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).to_json(), end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == found.to_json(), done.stderr


def test_errors_are_pickled():
    with pytest.raises(leakgauge.OptionError) as refused:
        leakgauge.audit_log({"secret": [0, 1], "x": [1, 2]}, claims="advantage(0.1)", scorer="forrest")
    again = pickle.loads(pickle.dumps(refused.value))
    assert type(again) is leakgauge.OptionError and str(again) == str(refused.value)
