"""The package as a whole: its size in time, its names, its behavior in threads and processes."""

import ast
import inspect
import multiprocessing
import pathlib
import subprocess
import sys
import threading
import time
import tomllib

import pytest

import leakgauge

SOURCES = pathlib.Path(leakgauge.__file__).parent


def test_import_is_quick_and_brings_no_library():
    code = (
        "import sys, time; begun = time.perf_counter(); import leakgauge; "
        "seconds = time.perf_counter() - begun; "
        "print(seconds, [name for name in ('numpy', 'pandas', 'polars', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    seconds = []
    for _ in range(5):
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        taken, libraries = printed.split(" ", 1)
        assert libraries.strip() == "[]"
        seconds.append(float(taken))
    # The fastest says what the import takes; the others what else the machine does.
    print(f"import: {1000 * min(seconds):.1f} ms")
    assert min(seconds) < 0.05


def test_every_public_name_is_documented_and_typed():
    stubs = ast.parse((SOURCES / "__init__.pyi").read_text())
    named = {node.name for node in stubs.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in stubs.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            named.add(node.target.id)
        if isinstance(node, ast.ImportFrom):
            named |= {alias.asname or alias.name for alias in node.names}
    assert set(leakgauge.__all__) <= named, set(leakgauge.__all__) - named
    assert (SOURCES / "py.typed").exists()
    for name in leakgauge.__all__:
        assert inspect.getdoc(getattr(leakgauge, name)), name


def test_names_are_found_when_they_are_used():
    assert set(leakgauge.__all__) <= set(dir(leakgauge))
    with pytest.raises(AttributeError, match="no attribute 'beauty'"):
        leakgauge.beauty
    # A fresh interpreter: nothing was used before.
    code = (
        "import leakgauge; leakgauge.shuffle.reidentify; leakgauge.results.Estimate; from leakgauge import *; audit_log"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def stub_keywords(tree, name):
    found = [node.args for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return {argument.arg for args in found for argument in [*args.args, *args.kwonlyargs]}


def test_stubs_have_the_keywords_that_functions_take():
    from leakgauge import _exact, _options, _permute, _scores, shuffle

    tree = ast.parse((SOURCES / "__init__.pyi").read_text())
    # `alpha` says the same as `confidence`.
    of_log = {*_options.LOG, "name", "alpha"}
    assert stub_keywords(tree, "audit_log") == {"data", *of_log}
    assert stub_keywords(tree, "estimate_log") == {"data", *of_log} - {"claims", "neighbors"}
    of_units = {"block", "blocks", "clock_frequency", "clock_step", "group", "unit"}
    not_compared = {"claims", "neighbors", "reconstruction", "tries", "at_order"}
    compared = {"logs", "mechanism", "against", "names", "alpha", *_options.LOG} - of_units - not_compared
    assert stub_keywords(tree, "compare") == compared
    assert stub_keywords(tree, "audit_scores") == {"alpha"} | set(_scores._OWN) | set(_options.LOG) - set(_scores._OF_LOGS)
    assert stub_keywords(tree, "bounds") == {"mechanism", *_exact._BOUNDS}
    assert stub_keywords(tree, "channel") == {*_exact._CHANNEL}
    assert stub_keywords(tree, "permute") == {"data", *_permute._KEYWORDS}
    shuffled = ast.parse((SOURCES / "shuffle.pyi").read_text())
    assert stub_keywords(shuffled, "reidentify") == {"randomizer", *shuffle._REIDENTIFY}
    assert stub_keywords(shuffled, "information") == {"randomizer", *shuffle._INFORMATION}
    assert stub_keywords(shuffled, "privacy") == {"randomizer", *shuffle._PRIVACY}
    assert stub_keywords(shuffled, "vulnerability") == {"randomizer", *shuffle._VULNERABILITY}


def test_other_threads_run_while_an_audit_does(log):
    audits = 3
    running = threading.Thread(target=lambda: [leakgauge.audit_log(log, budget=1) for _ in range(audits)])
    turns, longest = 0, 0.0
    running.start()
    before = time.perf_counter()
    while running.is_alive():
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
        turns += 1
    assert turns > 1_000 and longest < 1, (turns, longest)


def audited(log):
    return leakgauge.audit_log(log, budget=1).to_json()


def test_threads_and_forked_processes_get_the_same_bytes(log):
    expected = audited(log)
    for threads in (1, 2, 3):
        assert leakgauge.audit_log(log, budget=1, threads=threads).to_json() == expected
    if sys.platform == "linux":
        # A pool of threads that lasted would be missing in the child, which would wait for ever.
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply_async(audited, (log,)).get(60) == expected


def test_the_wheel_has_the_texts_of_both_licenses():
    root = SOURCES.parent
    settings = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert settings["license-files"] == ["LICENSE-APACHE", "LICENSE-MIT"] and settings["urls"]
    for name in settings["license-files"]:
        assert (root / name).read_bytes() == (root.parent / name).read_bytes()
