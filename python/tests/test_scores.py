"""Membership scores, and tables of answers."""

import json
import math
import subprocess
import sys

import numpy
import pytest

import leakgauge


def test_scores_of_two_sides_are_audited_as_given(rng):
    sides = rng.normal(1.5, 1, 1_000), rng.normal(0, 1, 1_000)
    assert leakgauge.audit_scores(*sides, claims="dp(epsilon=0.5)").verdict == "inconclusive"
    found = leakgauge.audit_scores(*sides, claims="dp(epsilon=0.5)", design="many-runs")
    assert found.verdict == "violated" and found.worst_pair.secrets == ("in", "out")
    assert found.method["scorer"] == "given"
    # The total variation of the two normal laws is 0.547.
    assert 0.4 < found.total_variation.lower < 0.547
    assert [warning.code for warning in found.warnings] == ["order-not-checked"]


def test_scores_that_tell_nothing_refute_nothing(rng):
    found = leakgauge.audit_scores(rng.normal(0, 1, 500), rng.normal(0, 1, 500), claims="dp(epsilon=0.1)")
    assert found.verdict == "inconclusive" and found.total_variation.lower < 0.05


def lira(rng, models=64, records=60, effect=2.0):
    keep = rng.random((models, records)) < 0.5
    hardness = rng.normal(0, 3, records)
    return keep, hardness + rng.normal(0, 1, keep.shape) + effect * keep


def test_lira_compares_every_record_with_itself(rng):
    keep, scores = lira(rng)
    found = leakgauge.audit_scores(keep=keep, scores=scores, unit="row")
    # Records differ by more than membership does: without shadow models little is seen.
    blind = leakgauge.audit_scores(keep=keep, scores=scores, shadows=0, unit="row")
    assert found.total_variation.lower > 0.55 > 0.35 > blind.total_variation.lower
    assert found.input["rows"] == 32 * 60 and blind.input["rows"] == 64 * 60
    queries = numpy.repeat(scores[:, :, None], 2, axis=2)
    assert leakgauge.audit_scores(keep=keep, scores=queries, unit="row").to_json() == found.to_json()


def test_lira_counts_models_unless_told_otherwise(rng):
    keep, scores = lira(rng)
    found = leakgauge.audit_scores(keep=keep, scores=scores)
    assert found.input["units"]["units"] == 32
    rows = leakgauge.audit_scores(keep=keep, scores=scores, unit="row")
    assert found.total_variation.lower < rows.total_variation.lower


def test_lira_sees_nothing_where_membership_has_no_effect(rng):
    keep, scores = lira(rng, effect=0.0)
    found = leakgauge.audit_scores(keep=keep, scores=scores, unit="row", claims="dp(epsilon=0.2)")
    assert found.verdict == "inconclusive"


def test_npz_files_hold_either_layout(rng, tmp_path):
    keep, scores = lira(rng)
    numpy.savez(tmp_path / "lira.npz", keep=keep, scores=scores)
    found = leakgauge.audit_scores(tmp_path / "lira.npz", unit="row")
    assert found.to_json() == leakgauge.audit_scores(keep=keep, scores=scores, unit="row").to_json()
    sides = {"in_scores": rng.normal(1, 1, 200), "out_scores": rng.normal(0, 1, 300)}
    numpy.savez(tmp_path / "sides.npz", **sides)
    assert leakgauge.audit_scores(str(tmp_path / "sides.npz")).to_json() == leakgauge.audit_scores(**sides).to_json()


def test_bad_scores_say_what_to_do(rng, tmp_path):
    keep, scores = lira(rng)
    numpy.savez(tmp_path / "other.npz", losses=scores)
    for given, words in (
        ({"in_scores": [1.0, math.nan], "out_scores": [1.0]}, "in_scores, entry 2: is NaN"),
        ({"in_scores": [], "out_scores": [1.0]}, "one score a row"),
        ({"in_scores": ["a"], "out_scores": [1.0]}, "give numbers"),
        ({"in_scores": numpy.ma.masked_equal([1, 2], 2), "out_scores": [1.0]}, "masked"),
        ({"keep": keep[:-1], "scores": scores}, "have the shapes"),
        ({"keep": keep.astype(float), "scores": scores}, "keep as bool"),
        ({"keep": keep, "scores": scores, "shadows": 64}, "leaves none"),
        ({"keep": keep, "scores": scores, "shadows": 2}, "no record is in two"),
        ({"in_scores": tmp_path / "other.npz"}, "holds losses"),
    ):
        with pytest.raises(leakgauge.DataError) as refused:
            leakgauge.audit_scores(**given)
        assert words in str(refused.value), str(refused.value)
    with pytest.raises(leakgauge.FileError, match="absent"):
        leakgauge.audit_scores(tmp_path / "absent.npz")
    for given, words in (
        ({}, "takes in_scores and out_scores"),
        ({"in_scores": [1.0]}, "takes in_scores and out_scores"),
        ({"keep": keep}, "takes in_scores and out_scores"),
        ({"keep": keep, "scores": scores, "unit": "user"}, "unit=: must be"),
        ({"in_scores": [1.0], "out_scores": [1.0], "scorer": "knn"}, "audit_log"),
        ({"in_scores": [1.0], "out_scores": [1.0], "clams": 1}, "did you mean claims=?"),
    ):
        with pytest.raises(TypeError, match=words.replace("?", r"\?").replace("(", r"\(")):
            leakgauge.audit_scores(**given)


def test_a_table_of_answers_has_clopper_pearson_limits():
    found = leakgauge.confusion(tp=100, fn=0, fp=0, tn=50, alpha=0.05, delta=[0, 1e-2])
    missed, false_alarm = 1 - 0.025 ** (1 / 100), 1 - 0.025 ** (1 / 50)
    assert found.total_variation.lower == pytest.approx(1 - missed - false_alarm)
    expected = max(math.log((1 - missed) / false_alarm), math.log((1 - false_alarm) / missed))
    assert found.epsilon.lower == pytest.approx(expected)
    assert found.epsilons[1].lower < found.epsilon.lower and found.epsilons[1].delta == 0.01
    assert found.true_positive_rate.point == 1 and found.false_positive_rate.upper == pytest.approx(false_alarm)
    assert found.advantage.point == 1 and found.mu.lower > 0 and found.rho.lower > 0
    assert "epsilon at least" in str(found) and found.to_dict()["alpha"] == 0.05
    blind = leakgauge.confusion(50, 50, 50, 50)
    assert blind.epsilon.lower == 0 and blind.advantage.lower < 0 < blind.advantage.upper


def test_bad_tables_are_refused():
    with pytest.raises(leakgauge.OptionError, match="no positive row"):
        leakgauge.confusion(0, 0, 1, 1)
    with pytest.raises(leakgauge.OptionError, match="alpha=0.9"):
        leakgauge.confusion(1, 1, 1, 1, alpha=0.9)
    with pytest.raises(leakgauge.OptionError, match="delta=1"):
        leakgauge.confusion(1, 1, 1, 1, delta=1)
    with pytest.raises(TypeError, match="tp=: must be a whole number"):
        leakgauge.confusion(1.5, 1, 1, 1)


def canaries(rng, count=4_000, effect=2.0):
    include = rng.random(count) < 0.5
    return include, rng.normal(0, 1, count) + effect * include


def test_one_run_is_judged_by_guesses_about_its_canaries(rng, tmp_path):
    include, values = canaries(rng)
    options = {"claims": ["dp(epsilon=1, delta=1e-5)", "dp(epsilon=8, delta=1e-5)"], "design": "one-run"}
    found = leakgauge.audit_scores(include=include, scores=values, member_scores="high", **options)
    assert [claim.verdict for claim in found.claims] == ["violated", "inconclusive"]
    assert (found.canaries, found.included) == (4_000, int(include.sum()))
    # The true ε of N(2, 1) and N(0, 1) at δ = 1e-5 is 10.00.
    assert 2 < found.privacy[0].lower < 10.0 and found.privacy[0].delta == 1e-5
    assert all(guess.larger == "members" for guess in found.guesses) and len(found.guesses) == 5
    assert "one run" in repr(found) and found.to_dict()["design"] == "one-run"
    sides = leakgauge.audit_scores(values[include], values[~include], member_scores="high", **options)
    assert sides == found
    numpy.savez(tmp_path / "run.npz", include=include, scores=values)
    assert leakgauge.audit_scores(tmp_path / "run.npz", member_scores="high", **options) == found
    low = leakgauge.audit_scores(include=include, scores=-values, member_scores="low", **options)
    assert low.privacy == found.privacy
    both = leakgauge.audit_scores(include=include, scores=values, **options)
    assert len(both.guesses) == 10 and both.privacy[0].lower <= found.privacy[0].lower
    one = leakgauge.audit_scores(include=include, scores=values, member_scores="high", guesses=(250, 250), **options)
    assert len(one.guesses) == 1 and one.guesses[0].included == 250


def test_one_run_is_judged_as_by_the_command_line(rng, tmp_path):
    include, values = canaries(rng, 500)
    rows = "".join(f"{'in' if member else 'out'},{value!r}\n" for member, value in zip(include, values.tolist()))
    (tmp_path / "run.csv").write_text("secret,score\n" + rows)
    command = ["audit", str(tmp_path / "run.csv"), "--scores", "score", "--design", "one-run", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "leakgauge", *command, "--claim", "gdp(mu=0.5)"], capture_output=True, text=True
    )
    printed = json.loads(done.stdout)
    found = leakgauge.audit_scores(include=include, scores=values, design="one-run", claims="gdp(mu=0.5)").to_dict()
    assert {**found, "files": None} == {**printed, "files": None}


def test_a_run_that_tells_nothing_refutes_nothing(rng):
    include, values = canaries(rng, effect=0.0)
    found = leakgauge.audit_scores(include=include, scores=values, design="one-run", claims="dp(epsilon=0.1)")
    assert found.verdict == "inconclusive" and found.privacy[0].lower < 0.1


BAD_RUNS = {
    "lengths": ({"include": [True] * 20, "scores": [1.0] * 19}, leakgauge.DataError, "one value a canary"),
    "bits": ({"include": [2, 0] * 10, "scores": [1.0] * 20}, leakgauge.DataError, "other than 0 and 1"),
    "nan": ({"include": [1, 0] * 10, "scores": [math.nan] * 20}, leakgauge.DataError, "is NaN"),
    "few": ({"include": [1, 0] * 3, "scores": [1.0] * 6}, leakgauge.OptionError, "needs 10 to"),
    "one side": ({"include": [1] * 20, "scores": [1.0] * 20}, leakgauge.Error, "only one secret"),
    "half": ({"scores": [1.0] * 20}, TypeError, "include= and scores="),
    "keep": ({"keep": [[1]], "scores": [[1.0]]}, TypeError, "keep="),
    "budget": ({"include": [1, 0] * 10, "scores": [1.0] * 20, "budget": 1}, TypeError, "budget="),
    "which": (
        {"include": [1, 0] * 10, "scores": [1.0] * 20, "member_scores": "hi"},
        leakgauge.OptionError,
        "high, low",
    ),
    "guesses": ({"include": [1, 0] * 10, "scores": [1.0] * 20, "guesses": (30, 0)}, leakgauge.OptionError, "20 guesses"),
    "one guess": ({"include": [1, 0] * 10, "scores": [1.0] * 20, "guesses": 3}, TypeError, "two numbers"),
}


@pytest.mark.parametrize("kind", BAD_RUNS)
def test_runs_that_cannot_be_judged_are_refused(kind):
    options, error, words = BAD_RUNS[kind]
    with pytest.raises(error) as refused:
        leakgauge.audit_scores(design="one-run", **options)
    assert words in str(refused.value) and "--" not in str(refused.value), str(refused.value)


def test_designs_are_said(rng):
    sides = (rng.normal(1.5, 1, 1_000), rng.normal(0, 1, 1_000))
    silent = leakgauge.audit_scores(*sides, claims="dp(epsilon=0.5)")
    said = leakgauge.audit_scores(*sides, claims="dp(epsilon=0.5)", design="many-runs")
    assert 'design="many-runs"' in silent.claims[0].reason and "design=" not in said.claims[0].reason
    with pytest.raises(leakgauge.OptionError, match="many-runs, one-run"):
        leakgauge.audit_scores(*sides, design="two-runs")
    with pytest.raises(TypeError, match='include= is for design="one-run"'):
        leakgauge.audit_scores(*sides, include=[1])
    with pytest.raises(leakgauge.OptionError, match="audit_scores"):
        leakgauge.audit_log({"secret": [0, 1], "s": [1, 2]}, scores="s", design="one-run")
