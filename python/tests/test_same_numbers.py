"""A log has the same numbers, wherever it comes from: from memory, from CSV, from Parquet, on the command line."""

import json
import subprocess
import sys

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import leakgauge

OPTIONS = {"claims": ["laplace(scale=2)", "dp(epsilon=0.2)"], "budget": 1}

# What names the file and how it is written; everything else of the JSON is the same bytes.
OF_THE_FILE = ("files", "format", "delimiter")


def without_file(text):
    """The JSON with what describes the file blanked, as bytes in the order in which they were printed."""
    report = json.loads(text)
    for key in OF_THE_FILE:
        assert key in report["input"]
        report["input"][key] = None
    return json.dumps(report)


@pytest.fixture(scope="module")
def labeled(log):
    """The same with a column of labels."""
    few = {name: values[:800] for name, values in log.items()}
    return {**few, "seen": numpy.where(few["observation"] > 1, "high", "low")}


@pytest.fixture(scope="module")
def files(labeled, tmp_path_factory):
    at = tmp_path_factory.mktemp("logs")
    rows = zip(labeled["secret"], labeled["observation"].tolist(), labeled["seen"])
    lines = [f"{secret},{value!r},{seen}" for secret, value, seen in rows]
    (at / "log.csv").write_text("\n".join(["secret,observation,seen", *lines]) + "\n")
    pyarrow.parquet.write_table(pyarrow.table(labeled), at / "log.parquet")
    return at


@pytest.fixture(scope="module")
def expected(labeled):
    return leakgauge.audit_log(labeled, **OPTIONS).to_json()


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_files_and_memory_differ_in_what_names_the_file_only(files, expected, name):
    read = leakgauge.audit_log(files / name, **OPTIONS).to_json()
    assert read != expected
    assert without_file(read) == without_file(expected)


def test_json_is_that_of_the_command_line_byte_by_byte(files):
    path = str(files / "log.csv")
    command = ["audit", path, "--budget", "1s", "--format", "json"]
    for claim in OPTIONS["claims"]:
        command += ["--claim", claim]
    printed = subprocess.run([sys.executable, "-m", "leakgauge", *command], capture_output=True, text=True)
    assert printed.returncode == 1, printed.stderr
    assert leakgauge.audit_log(path, **OPTIONS).to_json() == printed.stdout
    # Attributes name options as Python does, the JSON as the command line does.
    found = leakgauge.audit_log(path, **OPTIONS)
    assert any("--group" in text for text in found.to_dict()["assumptions"])
    assert any("group=" in text for text in found.assumptions)
    assert not any("--" in text for text in found.assumptions)


def frames(log):
    frame = pandas.DataFrame(log)
    names = frame.rename(columns={"secret": "first"}).set_index("first", drop=False)
    return {
        "pandas": frame,
        "pandas with an index that is no data": names.rename(columns={"first": "secret"}),
        "polars": polars.DataFrame(log),
        "pyarrow table": pyarrow.table(log),
        "pyarrow reader": pyarrow.table(log).to_reader(max_chunksize=170),
        "record batch": pyarrow.table(log).to_batches()[0],
        "duckdb": duckdb.sql("select * from frame"),
        "lists": {name: values.tolist() for name, values in log.items()},
        "structured": structured(log),
        "series": dict(frame.items()),
        "strided": {name: numpy.repeat(values, 2)[::2] for name, values in log.items()},
        "big-endian": {**log, "observation": log["observation"].astype(">f8")},
        "objects": {**log, "seen": log["seen"].astype(object)},
    }


def structured(log):
    array = numpy.empty(len(log["secret"]), dtype=[("secret", "i4"), ("observation", "f8"), ("seen", "U4")])
    for name in log:
        array[name] = log[name]
    return array


def test_every_kind_of_data_gives_the_same_bytes(labeled, expected):
    for kind, data in frames(labeled).items():
        assert leakgauge.audit_log(data, **OPTIONS).to_json() == expected, kind


def test_a_matrix_with_labels_is_a_log(log):
    log = {name: values[:800] for name, values in log.items()}
    matrix = numpy.column_stack([log["observation"], log["observation"] ** 2])
    found = leakgauge.audit_log(matrix, secret=log["secret"], budget=1)
    named = {"secret": log["secret"], "x0": matrix[:, 0], "x1": matrix[:, 1]}
    assert found.to_json() == leakgauge.audit_log(named, budget=1).to_json()
    assert [column["name"] for column in found.input["observation"]["columns"]] == ["x0", "x1"]
    only = leakgauge.audit_log(matrix, secret=log["secret"], observe="x1", budget=1)
    assert [column["name"] for column in only.input["observation"]["columns"]] == ["x1"]
    chunked = polars.DataFrame({"t": log["observation"]})
    beside = leakgauge.audit_log(chunked, secret=log["secret"], budget=1)
    assert beside.worst_pair.secrets == found.worst_pair.secrets


def test_one_column_with_labels_is_a_log(log):
    few = {name: values[:800] for name, values in log.items()}
    expected = leakgauge.audit_log({"secret": few["secret"], "x0": few["observation"]}, budget=1).to_json()
    column = few["observation"]
    column_of = (lambda values: values, pandas.Series, polars.Series, pyarrow.array)
    for make in column_of:
        assert leakgauge.audit_log(make(column), secret=few["secret"], budget=1).to_json() == expected, make
        with pytest.raises(leakgauge.DataError, match="pass secret=labels"):
            leakgauge.audit_log(make(column))


def test_options_are_those_of_the_command_line(log, tmp_path):
    units = numpy.arange(3_000) // 10
    found = leakgauge.audit_log(
        {**log, "user": units},
        observe="observation",
        group="user",
        resolution={"observation": 0.5},
        prior={0: 0.7, 1: 0.1, 2: 0.1, 3: 0.1},
        confidence=0.9,
        seed=3,
        threads=1,
        quick=True,
        budget="1s",
    ).to_dict()
    assert (found["confidence"], found["seed"], found["overall"]["prior"]) == (0.9, 3, "0=0.7,1=0.1,2=0.1,3=0.1")
    assert found["input"]["units"]["units"] == 300
    assert found["input"]["observation"]["kind"] == "discrete"
    beside = leakgauge.audit_log(log, group=units, quick=True, budget=1)
    assert beside.input["units"]["units"] == 300


def test_a_second_log_is_learned_from(log):
    other = leakgauge.simulate("laplace(scale=2, secrets=0..3)", 2_000, seed=9)
    found = leakgauge.audit_log(log, fit_on=pandas.DataFrame(other), budget=1)
    assert found.method["rows"]["certify"] == 3_000
    assert found.input["fit_on"] == "data to learn on"


def test_missing_values_are_what_the_caller_says(log):
    gaps = log["observation"].copy()
    gaps[::10] = numpy.nan
    masked = numpy.ma.masked_array(log["observation"], numpy.isnan(gaps))
    dropped = {name: values[~numpy.isnan(gaps)] for name, values in log.items()}
    expected = leakgauge.audit_log(dropped, budget=1)
    nullable = pandas.Series(gaps).astype("Float64")
    for column in (gaps, masked, pandas.Series(gaps), polars.Series(gaps), nullable, nullable.to_list()):
        data = {**log, "observation": column}
        found = leakgauge.audit_log(data, missing="drop", budget=1)
        assert found.worst_pair == expected.worst_pair, type(column)
        assert found.input["missing_rows"] == 300
        labeled = leakgauge.audit_log(data, missing="label", budget=1)
        assert labeled.input["observation"]["kind"] == "mixed"
        assert labeled.input["rows"] == 3_000
    # A gap in a column that is not looked at does not matter.
    unused = leakgauge.audit_log({**log, "note": gaps}, observe="observation", budget=1)
    assert unused.input["rows"] == 3_000


def test_rows_are_kept_and_dropped_by_the_values_of_columns(log, tmp_path):
    kind = numpy.where(numpy.arange(3_000) % 3 == 0, "send", "wait")
    status = numpy.where(numpy.arange(3_000) % 5 == 0, 500, 200)
    data = {**log, "kind": kind, "status": status}
    expected = leakgauge.audit_log({name: values[(kind == "wait") & (status != 500)] for name, values in log.items()}, budget=1)
    path = tmp_path / "log.csv"
    pandas.DataFrame(data).to_csv(path, index=False)
    options = {"keep": {"kind": "wait"}, "drop": {"status": [500, 503]}, "observe": "observation", "budget": 1}
    for source in (data, pandas.DataFrame(data), path):
        found = leakgauge.audit_log(source, **options)
        assert found.input["rows"] == 1_600
        assert found.worst_pair == expected.worst_pair
    with pytest.raises(leakgauge.Error, match="none of its 3000 rows"):
        leakgauge.audit_log(data, keep={"kind": "none"}, budget=1)
    with pytest.raises(leakgauge.Error, match="keep=: must be a dict"):
        leakgauge.audit_log(data, keep="kind", budget=1)


def test_pandas_needs_no_other_library(log):
    frame = "pandas.DataFrame({'secret': ['a', 'b'] * 50, 't': range(100), 'seen': [True, False] * 50})"
    code = f"""if True:
        import sys
        sys.modules["pyarrow"] = None
        import pandas, leakgauge
        frame = {frame}
        shown = leakgauge.audit_log(frame, budget=1)
        assert shown.to_json() == leakgauge.audit_log(frame.to_dict("list"), budget=1).to_json()
        print(shown.input["rows"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "100\n", done.stderr
