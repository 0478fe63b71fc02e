"""Real libraries are audited, and the planted bug of each is found."""

import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import gallery  # noqa: E402


@pytest.mark.parametrize("case", gallery.CASES, ids=lambda case: case.name)
def test_the_verdict_is_the_one_that_is_due(case):
    if not case.is_installed:
        pytest.skip("skipped: not installed")
    r = case.run()
    assert r.verdict == case.expected, r
    if case.expected == "violated":
        assert r.epsilon.lower >= 1.0
    else:
        assert r.epsilon.lower is None or r.epsilon.lower < 1.0 + 1e-9


def test_the_page_has_the_table_of_the_script():
    page = (HERE.parent.parent / "docs" / "python-gallery.md").read_text()
    rows = re.findall(r"^\| ([^|]+: [^|]+) \|.*\| ([a-z: ]+) \|$", page, re.MULTILINE)
    assert [name.strip() for name, _ in rows] == [case.name for case in gallery.CASES]
    shown = {name.strip(): verdict.strip() for name, verdict in rows}
    assert all(shown[case.name] == case.expected for case in gallery.CASES)
