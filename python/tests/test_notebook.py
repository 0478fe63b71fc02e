"""The notebook is executed: in a kernel where one is installed, else cell by cell."""

import importlib.util
import pathlib
import re

import pytest

NOTEBOOK = pathlib.Path(__file__).parent.parent / "notebooks" / "tour.py"


def cells():
    """The cells as (kind, source)."""
    parts = re.split(r"^# %%(.*)$", NOTEBOOK.read_text(), flags=re.MULTILINE)
    for kind, source in zip(parts[1::2], parts[2::2], strict=True):
        is_text = "markdown" in kind
        yield ("markdown" if is_text else "code"), source.strip()


def test_every_cell_runs():
    names: dict = {}
    code = [source for kind, source in cells() if kind == "code"]
    assert len(code) > 6
    for source in code:
        exec(compile(source, str(NOTEBOOK), "exec"), names)  # noqa: S102
    assert names["found"].verdict == "violated"


def test_a_kernel_runs_it_and_shows_the_reports():
    if any(importlib.util.find_spec(name) is None for name in ("nbclient", "nbformat", "ipykernel")):
        pytest.skip("skipped: not installed")
    import nbclient
    import nbformat

    new = nbformat.v4
    made = [
        new.new_code_cell(source) if kind == "code" else new.new_markdown_cell(re.sub("^# ?", "", source, flags=re.MULTILINE))
        for kind, source in cells()
    ]
    notebook = new.new_notebook(cells=made, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    nbclient.NotebookClient(notebook, timeout=120).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert len(pages) >= 3 and "violated" in pages[0]


def test_a_report_takes_the_theme_of_the_notebook(found):
    shown = found._repr_html_()
    own = re.match(r'<div class="(lg[0-9a-f]+)">', shown).group(1)
    light, dark = (
        re.search(rf'\[data-jp-theme-light="{mark}"\] \.{own}[^{{}}]*\{{([^{{}}]*)\}}', shown).group(1)
        for mark in ("true", "false")
    )

    def color(rules, name):
        return re.search(rf"--{name}: (#[0-9a-f]+)", rules).group(1)

    def brightness(hexadecimal):
        return sum(int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5))

    for rules, is_dark in ((light, False), (dark, True)):
        assert (brightness(color(rules, "ground")) < brightness(color(rules, "ink"))) == is_dark
        assert f"color-scheme: {'dark' if is_dark else 'light'}" in rules
    # Whatever the page colors, it colors in both themes.
    assert set(re.findall(r"--[\w-]+:", light)) == set(re.findall(r"--[\w-]+:", dark))
