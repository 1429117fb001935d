"""What `make launch` finds wrong with a recording that is run alone in an empty folder."""

import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path

import nbformat
import pytest

import d2lrnn
from book.proof import launch
from book.recording import address
from book.recording.address import Repository
from book.recording.notebooks import ROOT
from book.recording.setup_cell import setup_cell

V4 = nbformat.v4
RELEASE = launch.EXAMPLE.package(d2lrnn.__version__)


@pytest.fixture(autouse=True)
def unrecorded(monkeypatch, tmp_path):
    """Let no address be recorded, and leave what a real launch has made alone."""
    monkeypatch.setattr(address, "recorded", lambda: None)
    for name in ("WORK", "SERVED"):
        monkeypatch.setattr(launch, name, tmp_path / name.lower())


def page(folder, *cells, repository=None):
    """Write a recording of (code, recorded stdout) below a first cell, and return its path."""
    notebook = V4.new_notebook(cells=[setup_cell([], repository)])
    for code, text in cells:
        outputs = [V4.new_output("stream", name="stdout", text=text)] if text else []
        notebook.cells.append(V4.new_code_cell(code, outputs=outputs, execution_count=1))
    path = folder / "page.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that launches a notebook of (code, recorded stdout) and returns what is wrong.

    The reader's environment is this one, and nothing is uninstalled from it.
    """
    monkeypatch.setattr(launch, "reset", lambda *_: None)
    monkeypatch.setattr(launch, "frozen", lambda _: set())
    return lambda *cells: launch.launch(page(tmp_path, *cells), Path(sys.executable), set(), launch.NOWHERE)


def test_what_holds_passes_and_what_does_not_is_named(run):
    found = run(
        ("print('same')", "same\n"),
        ("print('new')", "old\n"),
        ("import sys; print('noise', file=sys.stderr)", ""),
        ("import pathlib; pathlib.Path('rest').touch()", ""),
        ("import os; print(os.listdir(), os.listdir(os.environ['HOME']))", "['page.ipynb', 'rest'] []\n"),
    )
    assert [line for line in found if "cell 1" in line] == []
    assert any("code cell 2" in line and "new" in line for line in found)
    assert any("code cell 3 writes to stderr: noise" in line for line in found)
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


def test_reader_s_pip_has_no_folder_of_wheels_and_one_index(run, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", "/somewhere")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code = "import os; print(sorted(key for key in os.environ if key.startswith('PIP')))"
    assert run((code, "['PIP_CONFIG_FILE', 'PIP_DISABLE_PIP_VERSION_CHECK', 'PIP_INDEX_URL']\n")) == []


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a Python that has all that the tests' own has, but for d2lrnn, which pip can install there."""
    folder = tmp_path_factory.mktemp("reader")
    venv.create(folder, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": folder}, scheme="venv"))
    shutil.rmtree(packages / "setuptools", ignore_errors=True)  # older than torch wants it
    for info in packages.glob("setuptools-*"):
        shutil.rmtree(info)
    # A path in a .pth file has no .pth files of its own, so that an editable d2lrnn is not found.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return next(folder.glob("[bS]*/python*"))


def test_first_cell_installs_the_release_from_this_machine(monkeypatch, reader, tmp_path):
    monkeypatch.setattr(launch, "fetched", list)
    launch.fill_served(RELEASE)
    code = "import d2lrnn; print(d2lrnn.__version__, 'reader' in d2lrnn.__file__)"
    path = page(tmp_path, (code, f"{d2lrnn.__version__} True\n"))
    with launch.serving(launch.SERVED) as origin:
        assert launch.launch(path, reader, launch.frozen(reader), origin) == []
    subprocess.run([reader, "-I", "-m", "pip", "uninstall", "--quiet", "--yes", "d2lrnn"], check=True)


def test_checkout_that_pip_is_started_in_is_none_of_the_reader_s_packages(reader, monkeypatch, tmp_path):
    info = tmp_path / "someone-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: someone\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "someone==1.0" not in launch.frozen(reader)


def test_a_tag_s_files_are_served_as_its_host_would(monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "fetched", list)
    release = Repository("https://gitlab.com/group/sub/course").package(d2lrnn.__version__)
    launch.fill_served(release)
    archive = launch.SERVED / release.removeprefix("https://gitlab.com/")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", tmp_path]
    subprocess.run([sys.executable, "-m", "pip", "wheel", archive, *options], check=True)
    assert (tmp_path / Path(RELEASE).name).is_file()


def test_release_that_is_not_there_is_named(reader, tmp_path):
    launch.SERVED.mkdir()
    with launch.serving(launch.SERVED) as origin:
        found = launch.launch(page(tmp_path, ("import d2lrnn", "")), reader, launch.frozen(reader), origin)
    assert "404" in found[0]
    assert "No module named 'd2lrnn'" in found[1]


def test_without_an_address_the_first_cell_is_that_of_one_on_github(tmp_path):
    cell = launch.readers_notebook(page(tmp_path), "http://127.0.0.1:1").cells[0].source
    assert cell == setup_cell([], launch.EXAMPLE).source.replace("https://github.com", "http://127.0.0.1:1")


def test_recording_that_does_not_install_the_release_is_refused(monkeypatch, run):
    repository = Repository("https://github.com/someone/else")
    monkeypatch.setattr(address, "recorded", lambda: repository)
    release = repository.package(d2lrnn.__version__)
    assert run() == [f"its first cell does not install {release}: run `make record`"]


def test_only_this_machine_is_served_and_only_the_folder(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file").write_text("content", encoding="utf-8")
    with launch.serving(tmp_path / "served") as origin:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", origin)
        assert urllib.request.urlopen(f"{origin}/file").read() == b"content"


def test_index_has_what_the_reader_lacks_and_not_the_package(monkeypatch, tmp_path):
    wheels = [tmp_path / name for name in ("Some_Thing-1.0-py3-none-any.whl", "tqdm-4.0-py3-none-any.whl")]
    for wheel in wheels:
        wheel.touch()
    monkeypatch.setattr(launch, "fetched", lambda: wheels)
    monkeypatch.setattr(
        launch, "build_wheel", lambda folder: shutil.copy(wheels[1], folder / Path(RELEASE).name)
    )
    launch.fill_served(RELEASE)
    files = {path.relative_to(launch.SERVED).as_posix() for path in launch.SERVED.rglob("*.whl")}
    assert files == {
        "simple/some-thing/Some_Thing-1.0-py3-none-any.whl",
        "simple/tqdm/tqdm-4.0-py3-none-any.whl",
        RELEASE.removeprefix("https://github.com/"),
    }


def test_word_that_names_no_chapter_is_one_line(capsys):
    assert launch.main(["nothing"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "'nothing'" in said[0]


@pytest.mark.parametrize("word", ["rnn", "chapters/rnn", "chapters/rnn.md", "rnn.ipynb"])
def test_chapter_is_named_in_every_way(word, monkeypatch):
    launched = []
    monkeypatch.setattr(launch, "fill_served", lambda _: launch.SERVED.mkdir())
    monkeypatch.setattr(launch, "environment", lambda *_: Path(sys.executable))
    monkeypatch.setattr(launch, "launch", lambda path, *_: launched.append(path) or [])
    assert launch.main([word, "--no-lab"]) == 0
    assert launched == [ROOT / "chapters" / "rnn.ipynb"]
