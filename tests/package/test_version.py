"""What importing the package says in a notebook that was made with another version of it."""

import os
import subprocess
import sys

import pytest

import d2lrnn
from book.recording.notebooks import ROOT
from book.recording.setup_cell import setup_cell

HERE = d2lrnn.__version__
SET_UP = setup_cell([], None).source
OTHER = SET_UP.replace(HERE, "9.8.7")


def said(*cells):
    """Run cells one after another in IPython, as a kernel would; return what goes to stderr."""
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
        f"for cell in {cells!r}:\n    shell.run_cell(cell, store_history=True).raise_error()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": os.devnull, "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr


def test_set_up_cell_of_another_version_is_told_both_where_it_imports():
    text = said(OTHER)
    assert f"This page was made with d2lrnn 9.8.7, and here is {HERE}: what you see may differ." in text
    assert text.endswith("import d2lrnn\n")


def test_it_is_said_once():
    assert said(OTHER, OTHER, "from d2lrnn import measured").count("9.8.7") == 1


@pytest.mark.parametrize(
    "cells",
    [
        [SET_UP],
        ["import d2lrnn"],
        [OTHER.replace("# @title", "# a note:")],
        [OTHER.splitlines()[0], "import d2lrnn"],
    ],
)
def test_nothing_is_said_of_the_same_version_or_without_a_set_up_cell(cells):
    assert "made with" not in said(*cells)


def test_import_outside_a_notebook_says_nothing():
    for code in ("import d2lrnn", "import IPython, d2lrnn"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
