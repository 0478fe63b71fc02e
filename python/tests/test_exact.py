"""Known mechanisms, channels, shuffles: values of the library with values of Python."""

import json
import math
import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest

import leakgauge


def printed(*command):
    """The JSON that the command line prints."""
    done = subprocess.run(
        [sys.executable, "-m", "leakgauge", *command, "--format", "json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bounds_are_those_of_the_command_line():
    mechanism = "randomized-response(epsilon=0.5..2:3, secrets=3)"
    found = leakgauge.bounds(mechanism)
    assert found.to_json() == printed("bounds", mechanism)
    assert [row.epsilon for row in found.rows] == pytest.approx([0.5, 1.25, 2.0])
    promise = leakgauge.bounds("dp(epsilon=1)", values=3, records=2)
    assert promise.to_json() == printed("bounds", "dp(epsilon=1)", "--values", "3", "--records", "2")
    assert "Exact figures" in repr(found) and found.to_markdown()


def test_channels_are_arrays_or_dicts_or_mechanisms(tmp_path):
    rows = [[0.9, 0.1], [0.2, 0.8]]
    found = leakgauge.channel(rows, prior=[0.3, 0.7], epsilon=[0.5], pair=(0, 1))
    assert found.bayes_security == pytest.approx(0.3)
    assert found.epsilon == pytest.approx(math.log(8))
    assert found.bayes_risk == pytest.approx(1 - max(0.3 * 0.9, 0.7 * 0.2) - max(0.3 * 0.1, 0.7 * 0.8))
    for same in (numpy.array(rows), {"0": rows[0], "1": rows[1]}, pandas.DataFrame(rows)):
        again = leakgauge.channel(same, prior={"0": 0.3, "1": 0.7}, epsilon=0.5, pair=(0, 1))
        assert again.bayes_security == found.bayes_security and again.bayes_risk == found.bayes_risk
    sparse = leakgauge.channel({"a": {"x": 1.0}, "b": {"x": 0.5, "y": 0.5}})
    assert sparse.worst_pair.secrets == ("a", "b") and sparse.total_variation == pytest.approx(0.5)
    (tmp_path / "channel.csv").write_text("0.9,0.1\n0.2,0.8\n")
    assert leakgauge.channel(tmp_path / "channel.csv").to_json() == printed("channel", str(tmp_path / "channel.csv"))
    counts = leakgauge.channel([[9, 1], [2, 8]], normalize=True)
    assert counts.bayes_security == pytest.approx(0.3) and counts.input[0].normalized_rows == 2
    both = leakgauge.channel(rows, rows, compose="parallel")
    assert both.bayes_security < 0.3
    assert leakgauge.channel(rows, repeat=2).bayes_security == both.bayes_security
    gain = leakgauge.channel(rows, gain=[[1, 0], [0, 1]])
    assert gain.gain.vulnerability == pytest.approx(1 - gain.bayes_risk)


def test_bad_channels_say_where():
    for rows, options, words in (
        ([[0.9, 0.2], [0.2, 0.8]], {}, "row of secret 0"),
        ([[1.0]], {}, "at least two"),
        ([[0.5, 0.5], [1.0]], {}, "rows of one length"),
        ([0.5, 0.5], {}, "has 1 dimensions"),
        ([[0.9, 0.1], [0.2, 0.8]], {"method": "fast"}, "method="),
        ([[0.9, 0.1], [0.2, 0.8]], {"pair": ("0", "7")}, "7"),
        ([[0.9, 0.1], [0.2, 0.8]], {"prior": [0.5, 0.4]}, "prior"),
        ([[math.nan, 0.1], [0.2, 0.8]], {}, "NaN"),
        ("laplace(scale=1)", {}, "laplace"),
    ):
        with pytest.raises(leakgauge.Error) as refused:
            leakgauge.channel(rows, **options)
        assert words in str(refused.value), str(refused.value)
    with pytest.raises(leakgauge.OptionError, match='compose="parallel"'):
        leakgauge.channel([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    with pytest.raises(TypeError, match="did you mean compose=?"):
        leakgauge.channel([[1, 0], [0, 1]], compos="parallel")


def test_simulated_rows_are_those_of_the_command_line():
    log = leakgauge.simulate("laplace(scale=2, secrets=0..9)", 200, seed=5)
    command = ["simulate", "laplace(scale=2, secrets=0..9)", "--rows", "200", "--seed", "5"]
    lines = subprocess.run([sys.executable, "-m", "leakgauge", *command], capture_output=True, text=True).stdout
    rows = [line.split(",") for line in lines.splitlines()[1:]]
    assert log["secret"].tolist() == [int(secret) for secret, _ in rows]
    assert log["observation"].tolist() == [float(value) for _, value in rows]
    labels = leakgauge.simulate("randomized-response(epsilon=1, secrets=4)", 50)
    assert labels["secret"].dtype.kind == "i" and len(labels["observation"]) == 50
    with pytest.raises(leakgauge.OptionError, match="rows=0"):
        leakgauge.simulate("laplace(scale=2, secrets=0..9)", 0)


def test_shuffles_take_distributions():
    found = leakgauge.shuffle.reidentify([0.5, 0.5], {"0": 0.9, "1": 0.1}, n=[2, 10], guesses=1)
    # By hand: of messages (t, d), one is t. The better of both ratios p/q wins, ties are tossed.
    tie = 0.5 * 0.9 + 0.5 * 0.1
    assert found.rows[0].success == pytest.approx(tie / 2 + 0.5 * 0.9)
    assert list(found.pictures)
    needed = leakgauge.shuffle.reidentify([0.5, 0.5], [0.9, 0.1], success=0.3)
    assert needed.needed[0].n > 2
    random = leakgauge.shuffle.reidentify(randomizer="randomized-response(epsilon=1, secrets=4)", n="2..10")
    assert random.rows[0].n == 2 and random.kind == "randomizer"
    samples = leakgauge.shuffle.reidentify(["a", "b"] * 50, ["a", "a", "b"] * 50, n=5)
    assert samples.rows[0].success.lower <= samples.rows[0].success.upper
    told = leakgauge.shuffle.information([0.5, 0.5], [0.9, 0.1], n=[2])
    assert told.rows[0].position.exact > 0
    rows = [[0.75, 0.25], [0.25, 0.75]]
    assert leakgauge.shuffle.information(randomizer=rows, n=4).rows[0].n == 4
    users = leakgauge.shuffle.information([0.5, 0.5], users=[([0.9, 0.1], 3), ([0.2, 0.8], 2)])
    assert users.n == 6
    guessed = leakgauge.shuffle.vulnerability(3, 0.5, n=[5, 10])
    same = printed("shuffle", "vulnerability", "--values", "3", "--keep", "0.5", "--n", "5,10")
    assert guessed.to_json() == same and guessed.pictures
    noise = leakgauge.shuffle.vulnerability(randomizer="laplace(scale=1, secrets=0..1)", n=[1, 50])
    assert noise.to_json() == printed(
        "shuffle", "vulnerability", "--randomizer", "laplace(scale=1, secrets=0..1)", "--n", "1,50"
    )
    assert noise.rows[1].limits.lower < noise.rows[1].limits.upper < noise.rows[0].noise
    told = leakgauge.shuffle.information(randomizer=rows, n=5, others=[0.3, 0.7])
    assert told.rows[0].input.exact > 0
    assert leakgauge.shuffle.vulnerability(randomizer=rows, n=5, prior=[0.3, 0.7]).rows[0].prior == pytest.approx(0.7)


def test_reidentification_takes_densities_laws_of_inputs_and_matrices():
    normal, wide = "normal(mean=0, sigma=1)", "normal(mean=0, sigma=2)"
    found = leakgauge.shuffle.reidentify(normal, wide, n=[2, 10])
    same = printed("shuffle", "reidentify", "--target", normal, "--decoys", wide, "--n", "2,10")
    assert found.to_json() == same
    # By hand: P = (1/2, 1/2), Q = (9/10, 1/10).
    ratios = {math.log(0.5 / 0.9): 0.5, math.log(5): 0.5}
    tables = [leakgauge.shuffle.reidentify(log_ratios=given, n=2) for given in (ratios, list(ratios.items()))]
    for table in tables:
        assert table.rows[0].success == pytest.approx((0.5 * 0.9 + 0.5 * 0.1) / 2 + 0.5 * 0.9)
    rows = [[0.75, 0.25], [0.25, 0.75]]
    # The target has input 0, one other user input 1: both guess right, or a tie is tossed.
    known = leakgauge.shuffle.reidentify(randomizer=rows, known=[0, 1], input=0)
    assert known.rows[0].success == pytest.approx(0.75 * 0.75 + 0.75 * 0.25)
    random = leakgauge.shuffle.reidentify(randomizer=rows, input_law=[1, 0], against_law={"1": 1}, n=2)
    assert random.rows[0].success == pytest.approx(known.rows[0].success)
    bound = leakgauge.shuffle.reidentify(
        randomizer="randomized-response(epsilon=1, secrets=4)", input_law=[0.7, 0.1, 0.1, 0.1], n=10
    )
    assert bound.kind == "randomizer"
    seen = leakgauge.shuffle.information([0.5, 0.5], [0.9, 0.1], observed={"0": 3, "1": 1})
    assert seen.posteriors[1].position == pytest.approx(5 / (3 * 5 / 9 + 5))
    for call, words in (
        (lambda: leakgauge.shuffle.reidentify(randomizer=rows, n=2), "is a matrix, but bounds need a mechanism"),
        (lambda: leakgauge.shuffle.reidentify([0.5, 0.5], log_ratios=ratios, n=2), "goes with neither"),
        (lambda: leakgauge.shuffle.reidentify(randomizer=rows, known=[0, 1], against=1), "does not go with against="),
        (lambda: leakgauge.shuffle.reidentify(log_ratios={1.0: 0.5}, n=2), "log-likelihood ratios"),
    ):
        with pytest.raises(leakgauge.Error) as refused:
            call()
        assert words in str(refused.value) and "--" not in str(refused.value), str(refused.value)


def test_privacy_of_shuffled_reports_is_that_of_the_command():
    mechanism = "randomized-response(epsilon=2, secrets=2)"
    found = leakgauge.shuffle.privacy(mechanism, n=1000, at_epsilon=0.1)
    same = printed("shuffle", "privacy", "--randomizer", mechanism, "--n", "1000", "--at-epsilon", "0.1")
    assert found.to_json() == same
    # Exact: the largest over all data of the other users, summed in numpy. Blanket and clone: published values.
    row = found.rows[0]
    assert (row.least, row.blanket, row.clone) == pytest.approx((3.6695010e-3, 8.4417e-3, 1.7668e-2), rel=1e-4)
    with pytest.raises(TypeError, match="needs n= and at_epsilon="):
        leakgauge.shuffle.privacy(mechanism, n=10)


def test_bad_shuffles_are_refused():
    for call, words in (
        (lambda: leakgauge.shuffle.reidentify([0.5, 0.5], [0.9, 0.1]), "n=: is missing"),
        (lambda: leakgauge.shuffle.reidentify([0.5, 0.5], n=2), "decoys=: is missing"),
        (lambda: leakgauge.shuffle.reidentify([0.5, 0.4], [0.9, 0.1], n=2), "sum to 0.9"),
        (lambda: leakgauge.shuffle.reidentify([-0.5, 1.5], [0.9, 0.1], n=2), "neither a probability nor a count"),
        (lambda: leakgauge.shuffle.information(n=2), "target=: is missing"),
        (lambda: leakgauge.shuffle.information([0.5, 0.5], n=2), "decoys=: is missing"),
    ):
        with pytest.raises(leakgauge.Error) as refused:
            call()
        assert words in str(refused.value) and "--" not in str(refused.value), str(refused.value)
    with pytest.raises(TypeError, match="needs values= and keep="):
        leakgauge.shuffle.vulnerability(n=5)


def test_rows_are_shuffled_within_groups():
    ages = numpy.array([1, 2, 3, 11, 12, 13])
    values = numpy.array([1.5, 2, 3, 4, 5, 6])
    for data in (
        {"age": ages, "v": values},
        polars.DataFrame({"age": ages, "v": values}),
        pyarrow.table({"age": ages, "v": values}),
    ):
        found = leakgauge.permute(data, move="v", groups="distance", by="age", radius=2, alpha=1, seed=1)
        assert found.data["age"].tolist() == ages.tolist()
        assert found.data["v"].tolist() == values[found.permutation].tolist()
        assert sorted(found.data["v"]) == values.tolist()
    assert found.report.alpha == 1 and found.report.rows == 6
    words = {"age": ages, "v": ["a", "b"] * 3}
    found = leakgauge.permute(words, move="v", groups="equal", by="age", alpha=1, epsilon=1, values=["a", "b"], seed=2)
    assert found.report.epsilon == pytest.approx(1) and set(found.data["v"]) <= {"a", "b"}
    for options, words_of_error in (
        ({"groups": "equal"}, "by=: is missing"),
        ({"groups": "equals", "by": "age"}, "did you mean"),
        ({"groups": "equal", "by": "q"}, "no such column"),
        ({"groups": "equal", "by": "age", "alpha": -1}, "alpha=-1"),
        ({"groups": "equal", "by": "age", "radius": 1}, "radius=: does not apply"),
    ):
        with pytest.raises(leakgauge.OptionError, match=words_of_error):
            leakgauge.permute({"age": ages, "v": values}, move="v", **{"alpha": 1, **options})
    with pytest.raises(leakgauge.DataError, match="3 values where column age has 6"):
        leakgauge.permute({"age": ages, "v": values[:3]}, move="v", groups="equal", by="age", alpha=1)


def test_logs_are_compared(tmp_path):
    logs = [leakgauge.simulate(f"randomized-response(epsilon={epsilon}, secrets=3)", 3_000) for epsilon in (1, 3)]
    found = leakgauge.compare(logs, "randomized-response(epsilon=1)", names=["before", "after"], budget=1)
    assert found.verdict == "violated"
    assert [log.files[0] for log in found.logs] == ["before", "after"]
    assert found.differences[0].attack_vulnerability.difference.lower > 0
    assert "violated: randomized-response" in repr(found)
    assert found.to_html().startswith("<!DOCTYPE html>") and "<html" not in found._repr_html_() and found.pictures
    paths = []
    for at, log in enumerate(logs):
        paths.append(tmp_path / f"{at}.csv")
        pandas.DataFrame(log).to_csv(paths[-1], index=False)
    read = leakgauge.compare(paths, "randomized-response(epsilon=1)", against="first", budget=1)
    command = ["compare", *map(str, paths), "--mechanism", "randomized-response(epsilon=1)", "--against", "first"]
    text = subprocess.run(
        [sys.executable, "-m", "leakgauge", *command, "--budget", "1s", "--format", "json"],
        capture_output=True,
        text=True,
    ).stdout
    assert read.to_json() == text
    assert json.loads(text)["differences"] == found.to_dict()["differences"]
    for given, words in ((logs[:1], "at least two"), (paths[:1], "at least two")):
        with pytest.raises(leakgauge.Error, match=words):
            leakgauge.compare(given)
    with pytest.raises(TypeError, match="list of logs"):
        leakgauge.compare("log.csv")


def test_bounds_of_repeated_noise_have_both_sides():
    row = leakgauge.bounds("subsampled(gaussian(sigma=1), rate=0.1)", repeat=100, at_delta=1e-5).rows[0]
    assert row.steps == 100
    assert 0 < row.epsilon_at_delta_at_least <= row.epsilon_at_delta < 20
