"""What `make launch` finds wrong with a recording that is run alone in an empty folder."""

import sys
from pathlib import Path

import nbformat
import pytest

from book import launch

V4 = nbformat.v4


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that launches a notebook of (code, recorded stdout) and returns what is wrong.

    The reader's environment is this one, and nothing is uninstalled from it.
    """
    monkeypatch.setattr(launch, "WORK", tmp_path / "work")
    monkeypatch.setattr(launch, "reset", lambda *_: None)
    monkeypatch.setattr(launch, "frozen", lambda _: set())

    def launched(*cells):
        notebook = V4.new_notebook()
        for code, text in cells:
            outputs = [V4.new_output("stream", name="stdout", text=text)] if text else []
            notebook.cells.append(V4.new_code_cell(code, outputs=outputs, execution_count=1))
        path = tmp_path / "page.ipynb"
        nbformat.write(notebook, path)
        return launch.launch(path, Path(sys.executable), set())

    return launched


def test_what_holds_passes_and_what_does_not_is_named(run):
    found = run(
        ("print('same')", "same\n"),
        ("print('new')", "old\n"),
        ("import sys; print('noise', file=sys.stderr)", ""),
        ("import pathlib; pathlib.Path('rest').touch()", ""),
        ("import os; print(os.listdir(), os.listdir(os.environ['HOME']))", "['page.ipynb', 'rest'] []\n"),
    )
    assert [line for line in found if "cell 0" in line] == []
    assert any("code cell 1" in line and "new" in line for line in found)
    assert any("code cell 2 writes to stderr: noise" in line for line in found)
    assert found[-1] == "it left rest in the folder"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import warnings; warnings.warn('old', DeprecationWarning)", "DeprecationWarning: old"),
        ("import socket; socket.create_connection(('127.0.0.2', 9))", "no network here"),
    ],
)
def test_warnings_and_connections_are_errors(code, error, run):
    found = run((code, ""))
    assert len(found) == 1
    assert error in found[0]


def test_package_that_an_installation_changed_is_named():
    found = launch.changed({"torch==2.2.0", "numpy==1.26.0"}, {"torch==2.3.0", "numpy==1.26.0"})
    assert found == ["torch==2.2.0 was changed or removed by the first cell"]


def test_reader_has_nothing_of_this_process_s_own(run, monkeypatch):
    monkeypatch.setenv("D2LRNN_DATA", "/somewhere")
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    code = "import os; print([key for key in os.environ if key in ('D2LRNN_DATA', 'PYTHONPATH')])"
    assert run((code, "[]\n")) == []
