"""The regression as a maintainer meets it: chapters are recorded, something moves, and pytest is run."""

import os
import re

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
        ("object()", "chapters/faulty.md, code cell 1 shows a memory address"),
        ("import os\n\nos._exit(1)", "chapters/faulty.md: Kernel died"),
        ("1 / 0", "ZeroDivisionError"),
        ("name = input()", "StdinNotImplementedError"),
    ],
)
def test_recording_refuses_a_cell_that(code, fault, recorded):
    path = recorded.write("faulty.md", chapter(code))
    done = recorded.run("python", "-m", "book.recording.record", "faulty")
    path.unlink()
    assert done.returncode == 1
    assert fault in done.stderr


def test_recording_names_every_cell_that_it_refuses(recorded):
    cells = ("1", "import sys\n\nprint('oops', file=sys.stderr)", "2", "int('1')")
    path = recorded.write("faulty.md", chapter(*cells, tags={0: "skip-execution", 3: "raises-exception"}))
    done = recorded.run("python", "-m", "book.recording.record", "faulty")
    path.unlink()
    faults = ("1 was not run", "2 writes to stderr", "4 is tagged raises-exception and did not raise")
    assert [f"chapters/faulty.md, code cell {fault}" in done.stderr for fault in faults] == [True] * 3
    assert "code cell 3" not in done.stderr


MOVING = {
    "random": "import random\n\nprint(random.random())",
    "time": "import time\n\nprint(time.perf_counter_ns())",
    "history": "print(sorted(Out))",
    "ids by chance": "import uuid\n\nfrom IPython.display import HTML\n\n"
    "HTML(f'<svg id=\"{uuid.uuid4()}\"></svg>')",
}


def test_recording_refuses_by_name_what_another_run_shows_otherwise(recorded):
    path = recorded.write("faulty.md", chapter("1 + 1", *MOVING.values(), "print('stays')"))
    done = recorded.run("python", "-m", "book.recording.record", "faulty")
    path.unlink()
    assert done.returncode == 1
    found = re.findall(r"chapters/faulty\.md, code cell (\d) shows something else when", done.stderr)
    assert found == ["2", "3", "4", "5"]
    assert "seed what is random, sort what has no order, and give times to d2lrnn.measured" in done.stderr
    assert not path.with_suffix(".ipynb").exists()


def test_recording_names_a_chapter_that_does_not_exist(recorded):
    done = recorded.run("python", "-m", "book.recording.record", "tiny", "nothing")
    assert done.returncode == 2
    assert done.stderr == "'nothing' is no chapter with code; there are: tiny\n"


PROCESSORS = {
    "the oldest": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Nehalem",
    },
    "another": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "OPENBLAS_CORETYPE": "Haswell"},
}
LAST_BITS = """\
import numpy as np
import torch

from d2lrnn import explore, new_figure, plot_curves, show

weights = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) / 8
norms = [torch.linalg.matrix_power(weights, k).norm().item() for k in range(1, 40)]
plot_curves({"norm": (range(1, 40), norms)}, xlabel="power", ylabel="norm", yscale="log")"""
TWO_AXES = """\
figure = new_figure(2, 2, height=2.5)
for axes in figure.axes[:3]:
    axes.plot(norms, marker="o", label="norm")
    axes.legend()
figure.axes[3].imshow(weights[:8, :8])
figure.axes[0].twinx().plot(np.log(norms), color="black")
show(figure, "Two by two axes.", {"norm": norms, "weights": weights[:8, :8].tolist()})"""
EXPLORED = """\
def draw(count):
    plot_curves({"norm": (range(count), norms[:count])}, xlabel="power", ylabel="norm")


explore(draw, count=[2, 20, 39])"""


@pytest.fixture(scope="module")
def here(recorded):
    """Return a function that records figures from the beginning and returns the bytes."""
    path = recorded.write("figures.md", chapter(LAST_BITS, TWO_AXES, EXPLORED))
    target = path.with_suffix(".ipynb")

    def record(**variables):
        target.unlink(missing_ok=True)
        done = recorded.run("python", "-m", "book.recording.record", "figures", **variables)
        assert done.returncode == 0, done.stderr
        return target.read_bytes()

    yield record
    path.unlink()
    target.unlink()


@pytest.fixture(scope="module")
def bytes_here(here):
    return here()


@pytest.mark.parametrize("name", PROCESSORS)
def test_recording_has_the_same_bytes_on(name, here, bytes_here):
    assert here(**PROCESSORS[name]) == bytes_here
