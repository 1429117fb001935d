"""The rooms of the package and of the book: arrows run down only, and none of them runs in a circle."""

import ast
import re
import statistics
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from book.recording.notebooks import ROOT

GROUND = {"__init__", "_kernel", "_support", "files", "modules", "recorded", "reproducible"}
# From the ground floor up; rooms of one floor know nothing of one another.
FLOORS = {
    "d2lrnn": (
        GROUND,
        {"drawing", "text", "series"},
        {"models"},
        {"gradients"},
        {"training"},
        {"writing"},
        {"check"},
    ),
    "book": ({"__init__"}, {"recording"}, {"site"}, {"proof"}),
}
TREES = sorted(FLOORS)


def modules(tree: str) -> dict[str, Path]:
    """Return a tree's modules by dotted name; a room's `__init__` has the room's name."""
    found = {}
    for path in sorted((ROOT / tree).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(code: str, known: set[str]) -> set[str]:
    """Return the known modules that some code imports anywhere in it, also in a function or for its types."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where an arrow goes"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= known.intersection(names)
    return found


def arrows(tree: str) -> dict[str, set[str]]:
    paths = modules(tree)
    found = {}
    for name, path in paths.items():
        rooms = (
            {name.rpartition(".")[0], tree} if name != tree else set()
        )  # `from ROOM import MODULE` names both
        found[name] = imported(path.read_text(encoding="utf-8"), set(paths)) - rooms - {name}
    return found


def room(module: str) -> str:
    return ([*module.split("."), "__init__"])[1]


def upward(found: dict[str, set[str]], floors: tuple[set[str], ...]) -> list[str]:
    """List the arrows that go to a higher floor, or to another room of the same one."""
    floor = {name: number for number, rooms in enumerate(floors) for name in rooms}
    return [
        f"{module} imports {other}"
        for module, others in found.items()
        for other in sorted(others)
        if (room(other) != room(module) and floor[room(other)] >= floor[room(module)] > 0)
        or floor[room(module)] < floor[room(other)]
    ]


@pytest.mark.parametrize("tree", TREES)
def test_every_room_has_its_floor(tree):
    assert {room(name) for name in modules(tree)} == set().union(*FLOORS[tree])


@pytest.mark.parametrize("tree", TREES)
def test_no_arrow_runs_up(tree):
    assert upward(arrows(tree), FLOORS[tree]) == []


def test_an_arrow_that_runs_up_or_along_a_floor_is_found():
    floors = FLOORS["d2lrnn"]
    wrong = {"d2lrnn.text.ngrams": {"d2lrnn.models.scratch"}, "d2lrnn.files": {"d2lrnn.text.bpe"}}
    wrong["d2lrnn.drawing.live"] = {"d2lrnn.text.bpe"}
    assert len(upward(wrong, floors)) == 3
    assert (
        upward({"d2lrnn.models.scratch": {"d2lrnn.text.bpe"}, "d2lrnn.modules": {"d2lrnn.files"}}, floors)
        == []
    )


@pytest.mark.parametrize("tree", TREES)
def test_no_arrows_run_in_a_circle(tree):
    found = arrows(tree)
    assert sum(map(len, found.values())) > len(found) / 2  # there are arrows to look at
    TopologicalSorter(found).prepare()


def test_a_circle_is_found():
    code = "if TYPE_CHECKING:\n    from d2lrnn.b import B\n"
    found = {"d2lrnn.a": imported(code, {"d2lrnn.b"}), "d2lrnn.b": imported("import d2lrnn.a", {"d2lrnn.a"})}
    with pytest.raises(CycleError):
        TopologicalSorter(found).prepare()


@pytest.mark.parametrize("tree", TREES)
def test_an_init_says_what_its_room_is_for_and_imports_nothing_of_it(tree):
    for name, path in modules(tree).items():
        if path.name == "__init__.py":
            code = path.read_text(encoding="utf-8")
            assert imported(code, set(modules(tree))) == set(), name
            lines = [line for line in (ast.get_docstring(ast.parse(code)) or "").splitlines() if line]
            assert len(lines) >= 2, f"{name} must say what belongs there, and what may not"


def test_importing_the_package_is_quick_and_loads_no_torch():
    code = "import sys, time; t = time.perf_counter(); import d2lrnn; print(time.perf_counter() - t); "
    code += "print([m for m in ('torch', 'numpy', 'matplotlib', 'IPython') if m in sys.modules])"
    seconds = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        first, loaded = done.stdout.splitlines()
        seconds.append(float(first))
        assert loaded == "[]"
    assert statistics.median(seconds) < 0.2


def test_tests_of_a_room_are_named_after_its_modules():
    """A file of tests may have a part's name after its module's: test_corpora_indices.py."""
    seen = 0
    for path in sorted((ROOT / "tests" / "package").glob("*/test_*.py")):
        names = {module.stem.lstrip("_") for module in (ROOT / "d2lrnn" / path.parent.name).glob("*.py")}
        if path.parent.name == "check":  # whose modules are tables of cases, all tried in the same way
            continue
        seen += 1
        assert any(re.match(rf"test_{name}(_|$)", path.stem) for name in names), path
    assert seen > 20
