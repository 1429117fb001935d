"""What a cell does that the tests' runner would not see as it was, in one kernel."""

import re

import nbformat
import pytest

from book.recording.execution import execute
from book.recording.notebooks import CHAPTERS, use_this_checkout

CELLS = {
    "prints": "print('one')",
    "clears": "from IPython.display import clear_output, display\nprint('a')\nclear_output()\nprint('b')",
    "shows what may change": "shown = display('first', display_id='q')",
    "changes": "shown.update('second')",
    "runs a program": "import subprocess, sys\n_ = subprocess.run([sys.executable, '-c', 'print(2)'])",
    "writes to the file": "import os\n_ = os.write(1, b'past')",
    "writes to the file of errors": "_ = os.write(2, b'past')",
    "runs a program by its shell": "!echo hello",
    "makes a widget": "import ipywidgets\nslider = ipywidgets.IntSlider()",
    "starts a thread": (
        "import threading, time\n\ndef late():\n    time.sleep(0.5)\n    print('late')\n\n"
        "threading.Thread(target=late).start()"
    ),
    "waits": "time.sleep(1.5)",
    "is the last": "print(sorted(set(globals()) & {'json', 'margins'}), __name__)",
}
FAULTS = {
    "clears": "clears what it has shown: show only what is to stay",
    "changes": "changes what was shown before: show only what is to stay",
    "runs a program": "writes past Python, as a subprocess does: capture it, and print it:\n2",
    "writes to the file": "writes past Python, .*:\npast",
    "writes to the file of errors": "writes past Python, .*:\npast",
    "makes a widget": r"makes a live widget, which a page cannot show: use d2lrnn\.explore",
    "starts a thread": "prints after its end, as a thread does: wait for it in the cell",
}


@pytest.fixture(scope="module")
def executed():
    use_this_checkout()
    cells = [nbformat.v4.new_markdown_cell("# Title")]
    cells += [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return notebook, execute(notebook, CHAPTERS)


def faults(executed, name):
    return executed[1].faults.get(1 + list(CELLS).index(name), [])


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_noted_of_a_cell_that(name, executed):
    (found,) = faults(executed, name)
    assert re.search(FAULTS[name], found, re.DOTALL)


@pytest.mark.parametrize("name", [name for name in CELLS if name not in FAULTS])
def test_no_fault_is_noted_of_a_cell_that(name, executed):
    assert faults(executed, name) == []


def test_cells_are_counted_from_one(executed):
    code = [cell for cell in executed[0].cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(CELLS) + 1))


def test_the_chapter_cannot_tell_that_it_is_asked(executed):
    assert executed[0].cells[-1].outputs[0].text == "[] __main__\n"
    assert len(executed[0].cells) == 1 + len(CELLS)


def test_modules_are_noted_before_and_after(executed):
    done = executed[1]
    assert "IPython" in done.bare
    assert "ipywidgets" not in done.bare
    assert done.modules["ipywidgets"].endswith("__init__.py")


def test_margins_of_a_chapter_that_rounds_nothing_are_empty(executed):
    assert executed[1].margins == {"grid": None, "texts": [], "draws": []}
