"""Measurements in blocks, and logs of other programs: the same from frames, from files and on the command line."""

import json
import pathlib
import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest

import leakgauge

OPTIONS = {"claims": "time-difference(10ns)", "unit": "ns", "quick": True, "budget": 1}
FLAGS = ["--claim", "time-difference(10ns)", "--unit", "ns", "--quick", "--budget", "1s", "--format", "json"]


@pytest.fixture(scope="module")
def times():
    """600 blocks of three classes: a drift that all share, and 40 ns of which one takes longer."""
    rng = numpy.random.Generator(numpy.random.Philox(3))
    drift = numpy.cumsum(rng.normal(0, 30, 600))
    leaks = {"valid": 0, "bad-mac": 0, "bad-padding": 40}
    return {name: numpy.round(10_000 + drift + more + rng.normal(0, 40, 600)) for name, more in leaks.items()}


@pytest.fixture(scope="module")
def long(times):
    """The same with a measurement a row, and one that is missing."""
    return {
        "secret": numpy.tile(list(times), 600)[1:],
        "block": numpy.repeat(numpy.arange(600), len(times))[1:],
        "time": numpy.stack(list(times.values()), axis=1).ravel()[1:],
    }


def written(data, path):
    pandas.DataFrame(data).to_csv(path, index=False)
    return path


def without_file(text):
    report = json.loads(text)
    for key in ("files", "format", "delimiter"):
        report["input"].pop(key)
    return report


def printed(*arguments):
    done = subprocess.run([sys.executable, "-m", "leakgauge", "audit", *arguments], capture_output=True, text=True)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def test_rows_of_a_wide_frame_are_blocks(times, tmp_path):
    path = written(times, tmp_path / "wide.csv")
    expected = printed(str(path), "--wide", "--blocks", *FLAGS)
    read = leakgauge.audit_log(path, wide=True, blocks=True, **OPTIONS)
    assert read.to_json() == expected
    for data in (times, pandas.DataFrame(times), polars.DataFrame(times), pyarrow.table(times)):
        found = leakgauge.audit_log(data, wide=True, blocks=True, **OPTIONS)
        assert without_file(found.to_json()) == without_file(expected), type(data)
    assert found.verdict == "violated"
    assert (found.blocks.blocks, found.blocks.incomplete, found.blocks.alone) == (600, 0, 0)


def test_a_column_or_an_array_names_the_block(long, tmp_path):
    path = written(long, tmp_path / "long.csv")
    expected = printed(str(path), "--block", "block", "--observe", "time", *FLAGS)
    assert leakgauge.audit_log(path, block="block", observe="time", **OPTIONS).to_json() == expected
    found = leakgauge.audit_log(polars.DataFrame(long), block="block", observe="time", **OPTIONS)
    assert without_file(found.to_json()) == without_file(expected)
    few = {name: long[name] for name in ("secret", "time")}
    assert leakgauge.audit_log(few, block=long["block"], **OPTIONS).to_json() == found.to_json()
    assert (found.blocks.blocks, found.blocks.incomplete) == (600, 1)


def test_differences_are_attributes(times):
    found = leakgauge.audit_log(times, wide=True, blocks=True, **OPTIONS)
    report = found.to_dict()
    worst = found.differences[0]
    assert worst.unit == "ns" and worst.secrets[1] == "bad-padding"
    assert 10 < worst.median.lower < 40 < worst.median.upper < 60
    assert worst.hodges_lehmann.lower < worst.hodges_lehmann.point < worst.hodges_lehmann.upper
    assert len(worst.deciles) == 9 and worst.deciles[0].point == report["differences"][0]["deciles"][0]["point"]
    assert worst.paired_advantage.lower > 0.3
    assert [pair.paired_advantage.lower for pair in found.pairs] == [
        pair["paired_advantage"]["lower"] for pair in report["pairs"]
    ]
    frame = polars.DataFrame(found.pairs)
    assert frame["paired_advantage_lower"].to_list() == [pair.paired_advantage.lower for pair in found.pairs]
    plain = leakgauge.estimate_log(times, wide=True, quick=True, budget=1)
    assert plain.differences == () and plain.blocks is None and plain.pairs[0].paired_advantage is None
    assert "paired_advantage" not in polars.DataFrame(plain.pairs).columns


def test_cycles_have_a_clock(times):
    cycles = {name: 3 * values for name, values in times.items()}
    found = leakgauge.audit_log(
        cycles, wide=True, blocks=True, **{**OPTIONS, "unit": "cycles"}, clock_frequency=3e9
    )
    in_ns = leakgauge.audit_log(times, wide=True, blocks=True, **OPTIONS)
    assert found.claims[0].verdict == in_ns.claims[0].verdict == "violated"
    assert found.differences[0].median.point == 3 * in_ns.differences[0].median.point


BAD_BLOCKS = {
    "long": ({"blocks": True}, leakgauge.OptionError, "blocks=: needs wide="),
    "gap": ({"blocks": True, "wide": True}, leakgauge.DataError, "the block has no observation of this secret"),
    "unit": ({"blocks": True, "wide": True, "unit": "nanoseconds"}, leakgauge.OptionError, "s, ms, us, ns, cycles"),
    "clock": ({"blocks": True, "wide": True, "unit": "cycles"}, leakgauge.OptionError, "clock_frequency="),
    "group": ({"block": "a", "group": "b"}, leakgauge.OptionError, "cannot be together with group="),
    "like": ({"like": "fbleau"}, TypeError, "like= is for files"),
}


@pytest.mark.parametrize("kind", BAD_BLOCKS)
def test_what_does_not_go_together_is_said(kind):
    options, error, words = BAD_BLOCKS[kind]
    data = {"a": [1.0, 2.0, 3.0] * 20, "b": [2.0, 2.5, numpy.nan if kind == "gap" else 1.0] * 20}
    with pytest.raises(error) as refused:
        leakgauge.audit_log(data, **{"claims": "time-difference(10ns)", "budget": 1, **options})
    assert words in str(refused.value) and "--" not in str(refused.value), str(refused.value)


def test_logs_of_fbleau_are_read(tmp_path, rng):
    for name, rows in (("train.csv", 400), ("eval.csv", 300)):
        secrets = rng.integers(0, 3, rows)
        seen = secrets + rng.integers(0, 3, rows)
        (tmp_path / name).write_text("".join(f"{secret},{value}\n" for secret, value in zip(secrets, seen)))
    train, measured = str(tmp_path / "train.csv"), str(tmp_path / "eval.csv")
    command = [train, measured, "--like", "fbleau", "--claim", "advantage(0.1)", "--budget", "1s", "--format", "json"]
    found = leakgauge.audit_log([train, measured], like="fbleau", claims="advantage(0.1)", budget=1)
    assert found.to_json() == printed(*command)
    assert found.overall.prior == "empirical" and pathlib.Path(found.input["fit_on"]).name == "train.csv"
    with pytest.raises(leakgauge.OptionError, match="one file to train on and one to measure"):
        leakgauge.audit_log([train, measured, train], like="fbleau")
    with pytest.raises(leakgauge.OptionError, match="is none of fbleau"):
        leakgauge.audit_log(train, like="fbleu")


def test_missing_values_of_files_are_dropped_or_labels(tmp_path, log):
    gaps = log["observation"].copy()
    gaps[::10] = numpy.nan
    data = {"secret": log["secret"], "observation": gaps}
    path = written(data, tmp_path / "gaps.csv")
    assert pathlib.Path(path).read_text().count(",\n") == 300
    for how in ("drop", "label"):
        command = [str(path), "--missing", how, "--claim", "dp(epsilon=1)", "--budget", "1s", "--format", "json"]
        read = leakgauge.audit_log(path, missing=how, claims="dp(epsilon=1)", budget=1)
        assert read.to_json() == printed(*command)
    dropped = leakgauge.audit_log(path, missing="drop", budget=1)
    in_memory = leakgauge.audit_log(data, missing="drop", budget=1)
    assert without_file(in_memory.to_json()) == without_file(dropped.to_json())
    assert in_memory.input["missing_rows"] == 300


def test_secrets_are_joined_by_rules(tmp_path, log):
    (tmp_path / "map.csv").write_text("from,to\n0,low\n1,low\n2,high\n3,high\n")
    by_rules = leakgauge.audit_log(log, merge="0..1=low,2..3=high", budget=1)
    by_map = leakgauge.audit_log(log, secret_map=tmp_path / "map.csv", budget=1)
    assert by_rules.worst_pair.secrets == ("high", "low")
    assert by_map.worst_pair == by_rules.worst_pair
