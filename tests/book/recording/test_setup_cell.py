"""The first cell of a page, in each of the places where a reader may run it."""

import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from IPython.core.inputtransformer2 import TransformerManager

import d2lrnn
from book.recording.address import HOSTS, Repository
from book.recording.notebooks import ROOT, code_cells, portable, read_source, sources
from book.recording.setup_cell import COMMAND, setup_cell

CODE = ["import torch\nfrom d2lrnn import show", "import json, statsmodels.api\n", "%%html\n<p>"]
GITHUB = Repository("https://github.com/someone/course")
WHEEL = f"{GITHUB.url}/releases/download/v{d2lrnn.__version__}/d2lrnn-{d2lrnn.__version__}-py3-none-any.whl"
SOMEWHERE = Repository("https://git.example.org/someone/course")
ADDRESSES = [None, GITHUB, SOMEWHERE, Repository("https://gitlab.com/group/sub/course")]


def python(cell):
    """Return a cell as the Python that IPython makes of it."""
    return TransformerManager().transform_cell(cell.source)


@pytest.fixture
def place(monkeypatch, tmp_path):
    """Return a folder whose Python lacks the modules in `missing`; `asked` is what pip is asked for."""
    there = SimpleNamespace(missing=set(), asked=[], folder=tmp_path / "parent" / "here")
    there.folder.mkdir(parents=True)
    monkeypatch.chdir(there.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run_line_magic(name, line):
        assert name == "pip"
        there.asked.append(line)

    def run(code=CODE, repository=GITHUB):
        for name in there.missing:
            monkeypatch.setitem(sys.modules, name, None)  # importing it raises ModuleNotFoundError
        shell = SimpleNamespace(run_line_magic=run_line_magic)
        exec(python(setup_cell(code, repository)), {"get_ipython": lambda: shell})

    there.run = run
    return there


@pytest.mark.parametrize("repository", ADDRESSES, ids=str)
def test_nothing_is_installed_where_all_is_there(repository, place):
    place.run(repository=repository)
    assert place.asked == []


def test_package_comes_from_the_release(place):
    place.missing = {"d2lrnn"}
    place.run(CODE[:1])
    assert place.asked == [f"install --quiet {WHEEL}"]


@pytest.mark.parametrize("missing", ["d2lrnn", "statsmodels"])
def test_what_the_page_imports_beyond_the_package_comes_with_it(missing, place):
    place.missing = {missing}
    place.run()
    assert place.asked == [f'install --quiet {WHEEL} "statsmodels>=0.14"']


@pytest.mark.parametrize("repository", [None, SOMEWHERE], ids=str)
@pytest.mark.parametrize("missing", ["d2lrnn", "statsmodels"])
def test_without_a_release_the_error_says_what_is_missing_and_what_to_do(missing, repository, place):
    place.missing = {missing}
    with pytest.raises(ImportError, match=rf"^{missing} is missing\. .*, run {COMMAND}$") as error:
        place.run(repository=repository)
    assert error.value.__suppress_context__
    assert place.asked == []


def test_what_to_do_stands_in_the_readme():
    assert COMMAND in (ROOT / "README.md").read_text(encoding="utf-8")


def test_folders_beside_the_notebook_s_own_are_no_modules(place):
    (place.folder.parent / "optional_module").mkdir()
    place.run()
    assert importlib.util.find_spec("optional_module") is None


@pytest.mark.parametrize("repository", ADDRESSES, ids=str)
@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_cell_has_at_most_six_lines_on_every_page(path, repository):
    code = [cell.source for cell in code_cells(read_source(path))]
    assert len(setup_cell(code, repository).source.splitlines()) <= 6


@pytest.mark.parametrize("host", HOSTS)
def test_every_known_host_has_an_install_line(host):
    assert "%pip install --quiet https://" in setup_cell([], Repository(f"https://{host}/a/b")).source


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_cell_stands_below_the_title_and_is_folded(path):
    title, cell = portable(read_source(path), path.name).cells[:2]
    assert title.source.startswith("# ")
    assert cell.source.startswith("# @title Set-up: d2lrnn ")  # Colab's form shows the title alone
    assert cell.metadata == {
        "cellView": "form",
        "jupyter": {"source_hidden": True},
        "tags": ["remove-cell"],
    }


def test_import_that_nothing_brings_is_an_error():
    with pytest.raises(ValueError, match="a page imports 'pandas', which neither"):
        setup_cell(["import pandas as pd"], None)


@pytest.mark.parametrize("repository", ADDRESSES, ids=str)
def test_checkout_is_used_as_it_lies_and_nothing_is_installed(repository):
    """With an interpreter that has no packages at all, not even pip."""
    code = python(setup_cell([], repository)) + "\nprint(d2lrnn.__file__, 'torch' in sys.modules)"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", code],
        cwd=ROOT / "chapters",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    file, torch = done.stdout.split()
    assert os.path.realpath(file) == str(ROOT / "d2lrnn" / "__init__.py")
    assert torch == "False"
    assert done.stderr == ""
