"""The regression as a maintainer meets it: chapters are recorded, something moves, and pytest is run."""

import os

import nbformat
import pytest
from small_course import chapter

from book.recording.notebooks import use_this_checkout

CURVE = """\
from d2lrnn import plot_curves

plot_curves({"loss": ([1, 2, 3], [3.0, 2.0, 1.0])}, xlabel="step", ylabel="loss")"""
# By name: the cell, and what is done to its recording afterwards (None: it stays as it is).
CELLS = {
    "equal": ("print('12 words, 0.25')", None),
    "silenced by a semicolon": ("40 + 2;", None),
    "measured": (
        "import time\n\nfrom d2lrnn import measured\n\n"
        "print('took', measured(time.perf_counter() % 1, 's'), sep='\\n')",
        None,
    ),
    "meant to raise": ("int('one')", None),
    "integer": ("print('34 words')", lambda cell: replace(cell, "34", "35")),
    "float": ("print(0.123456)", lambda cell: replace(cell, "0.123456", "0.123460")),
    "generated text": ("print('the tide clock')", lambda cell: replace(cell, "tide", "time")),
    "curve": (CURVE, lambda cell: move_point(cell)),
    "missing output": ("shown = None", lambda cell: add_stream(cell)),
    "new output": ("print('new')", lambda cell: cell.outputs.clear()),
    "never run": ("1 + 1", lambda cell: cell.update(execution_count=None, outputs=[])),
    "marked to be ignored": ("# NBVAL_IGNORE_OUTPUT\nprint('56')", lambda cell: replace(cell, "56", "57")),
    "output in another order": ("print('a')\n" + CURVE + "\nprint('b')", lambda cell: swap_outputs(cell)),
    "covered by a carriage return": ("print('loss 1', end='\\r')", lambda cell: replace(cell, "1", "9")),
    "not Python": ("%%html\n<p>f(x</p>", None),
    "does not raise": ("int('1');", None),
}
TAGS = {list(CELLS).index(name): "raises-exception" for name in ("meant to raise",)}
STAYS = [name for name, (_, tamper) in CELLS.items() if tamper is None and name != "does not raise"]
MOVES = [name for name in CELLS if name not in STAYS]


def replace(cell, old, new):
    assert old in cell.outputs[0].text
    cell.outputs[0].text = cell.outputs[0].text.replace(old, new)


def move_point(cell):
    series = cell.outputs[0].data["application/vnd.d2lrnn.series+json"]["series"]["loss"]
    series["y"][1] *= 1.01


def swap_outputs(cell):
    cell.outputs = [cell.outputs[0], cell.outputs[2], cell.outputs[1]]


def add_stream(cell):
    cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text="gone\n"))


def cell_number(name):
    return 1 + list(CELLS).index(name)  # cell 0 is the one that installs the package


@pytest.fixture(scope="module")
def recorded(course):
    source = chapter(*(code for code, _ in CELLS.values()), tags=TAGS)
    course.write("tiny.md", source)
    done = course.record()
    assert done.returncode == 0, done.stderr
    return course


@pytest.fixture(scope="module")
def untouched(recorded):
    return recorded.regress()


@pytest.fixture(scope="module")
def tampered(recorded, untouched):
    """Tamper with the recordings of some cells, and tag one cell as raising that does not."""
    path = recorded.root / "chapters" / "tiny.ipynb"
    before = path.read_bytes()
    notebook = nbformat.read(path, as_version=4)
    for name, (_, tamper) in CELLS.items():
        if tamper:
            tamper(notebook.cells[1 + cell_number(name)])  # after the title
    notebook.cells[1 + cell_number("does not raise")].metadata["tags"] = ["raises-exception"]
    nbformat.write(notebook, path)
    yield recorded.regress()
    path.write_bytes(before)


def test_waiting_threads_of_kernels_sleep_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")
    monkeypatch.setenv("PYTHONPATH", "")
    use_this_checkout()
    assert (os.environ["OMP_WAIT_POLICY"], os.environ["OPENBLAS_THREAD_TIMEOUT"]) == ("PASSIVE", "20")


def test_a_recording_that_holds_passes(untouched):
    assert untouched.returncode == 0, untouched.stdout


def test_recording_twice_gives_the_same_bytes(recorded):
    path = recorded.root / "chapters" / "tiny.ipynb"
    first = path.read_bytes()
    recorded.record()
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", STAYS)
def test_a_cell_that_did_not_move_passes(name, tampered):
    assert f"FAILED chapters/tiny.ipynb::Cell {cell_number(name)} " not in tampered.stdout


@pytest.mark.parametrize("name", MOVES)
def test_a_cell_that_moved_fails_by_name(name, tampered):
    assert f"FAILED chapters/tiny.ipynb::Cell {cell_number(name)} " in tampered.stdout


def test_a_recording_with_a_cell_that_was_never_run_is_named(tampered):
    assert f"code cell {cell_number('never run')} was never run" in tampered.stdout


def test_a_recording_out_of_step_with_its_chapter_fails_by_name(recorded, untouched):
    path = recorded.root / "chapters" / "tiny.md"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("# A small chapter", "# A chapter"), encoding="utf-8")
    output = recorded.regress().stdout
    path.write_text(before, encoding="utf-8")
    assert "tiny.ipynb is out of step with tiny.md" in output


def test_a_recording_without_a_chapter_fails_by_name(recorded, untouched):
    orphan = recorded.root / "chapters" / "orphan.ipynb"
    orphan.write_bytes((recorded.root / "chapters" / "tiny.ipynb").read_bytes())
    output = recorded.regress().stdout
    orphan.unlink()
    assert "orphan.ipynb has no chapter orphan.md beside it" in output


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import sys\n\nprint('oops', file=sys.stderr)", "writes to stderr"),
        ("object()", "shows a memory address"),
        ("import pathlib\n\nprint(pathlib.Path.cwd())", "shows a path of this machine"),
        ("import ipywidgets\n\nipywidgets.IntSlider()", "shows a live widget"),
        ("import os\n\nos._exit(1)", "died"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_recording_refuses_a_cell_that(code, fault, recorded):
    path = recorded.write("faulty.md", chapter(code))
    done = recorded.run("python", "-m", "book.recording.record", str(path))
    path.unlink()
    assert done.returncode == 1
    assert "chapters/faulty.md" in done.stderr
    assert fault in done.stderr


def test_recording_refuses_a_cell_that_was_not_run(recorded):
    path = recorded.write("faulty.md", chapter("1", tags={0: "skip-execution"}))
    done = recorded.run("python", "-m", "book.recording.record", str(path))
    path.unlink()
    assert "chapters/faulty.md, code cell 1 was not run" in done.stderr


def test_recording_names_a_chapter_that_does_not_exist(recorded):
    done = recorded.run("python", "-m", "book.recording.record", "chapters/nothing.md")
    assert done.returncode == 2
    assert "nothing.md is not a chapter with code; those are: chapters/tiny.md" in done.stderr
