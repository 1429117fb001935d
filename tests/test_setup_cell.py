"""The first cell of a page, in each of the places where a reader may run it."""

import importlib.util
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

import d2lrnn
from book.notebooks import ROOT
from book.setup_cell import setup_cell

CODE = ["import torch\nfrom d2lrnn import show", "import json, statsmodels.api\n", "%%html\n<p>"]
REPOSITORY = "https://example.org/course"


@pytest.fixture
def place(monkeypatch, tmp_path):
    """Return an empty folder with a Python that has some modules and not others, and a pip of our own.

    `missing` are the modules that are not there, `wrong` the sources from which pip cannot install; `asked`
    are those that it was asked for.
    """
    there = SimpleNamespace(missing=set(), wrong=set(), asked=[], folder=tmp_path / "here")
    there.folder.mkdir()
    monkeypatch.chdir(there.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    find = importlib.util.find_spec

    def run(command, **_options):
        assert command[:5] == [sys.executable, "-m", "pip", "install", "--quiet"]
        source = " ".join(command[5:])
        there.asked.append(source)
        failed = source in there.wrong
        if not failed:
            there.missing = {name for name in there.missing if name not in source}
        return subprocess.CompletedProcess(command, int(failed), "", "ERROR: no such wheel\n" * failed)

    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in there.missing else find(name)
    )
    monkeypatch.setattr(subprocess, "run", run)
    there.run = lambda **more: exec(setup_cell(CODE, **{"repository": REPOSITORY, **more}), {})
    return there


NAME, ADDRESS = f"d2lrnn=={d2lrnn.__version__}", f"git+{REPOSITORY}@v{d2lrnn.__version__}"


def test_nothing_is_installed_where_all_is_there(place):
    place.run()
    assert place.asked == []


def test_package_comes_by_name_once_it_is_published(place):
    place.missing = {"d2lrnn"}
    place.run(published=True)
    assert place.asked == [NAME]


def test_package_comes_from_the_repository_when_its_name_does_not_work(place):
    place.missing, place.wrong = {"d2lrnn"}, {NAME}
    place.run(published=True)
    assert place.asked == [NAME, ADDRESS]


def test_package_comes_from_the_repository_until_it_is_published(place):
    place.missing = {"d2lrnn"}
    place.run(published=False)
    assert place.asked == [ADDRESS]


def test_name_that_is_not_published_is_not_looked_up_on_an_index(place):
    place.missing = {"d2lrnn"}
    place.run(published=False, repository="")
    assert place.asked == [f"--no-index {NAME}"]


def test_what_the_page_imports_beyond_the_package_is_installed_too(place):
    place.missing = {"statsmodels"}
    place.run()
    assert place.asked == ["statsmodels>=0.14"]


def test_error_says_what_was_tried_why_it_failed_and_what_to_do(place):
    place.missing, place.wrong = {"d2lrnn"}, {NAME, ADDRESS}
    with pytest.raises(ModuleNotFoundError) as error:
        place.run(published=True)
    for part in (f"{NAME} or {ADDRESS}", "no such wheel", f"({REPOSITORY})", 'pip install ".[chapters]"'):
        assert part in str(error.value)


def test_same_version_says_nothing(place):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        place.run()


def test_another_version_is_a_warning_that_names_both(place, monkeypatch):
    code = setup_cell(CODE, REPOSITORY)
    monkeypatch.setattr(d2lrnn, "__version__", "9.8.7")
    with pytest.warns(UserWarning, match=r"made with d2lrnn 0\.1\.0, and here is 9\.8\.7"):
        exec(code, {})


def test_import_that_nothing_brings_is_an_error():
    with pytest.raises(ValueError, match="a page imports 'pandas', which neither"):
        setup_cell(["import pandas as pd"], "")


def test_checkout_is_used_as_it_lies_and_nothing_is_installed():
    """With an interpreter that has no packages at all, not even pip."""
    code = setup_cell([], "") + "\nprint(d2lrnn.__file__, 'torch' in sys.modules)"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", code],
        cwd=ROOT / "chapters",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (f"{ROOT / 'd2lrnn' / '__init__.py'} False\n", "")
