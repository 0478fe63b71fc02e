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
