"""The package as it is installed: what the wheel carries, and that importing it is quick."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import d2lrnn
from book.notebooks import ROOT

NO_NETWORK = """\
import socket

def refuse(*_):
    raise OSError("no network")

socket.socket.connect = refuse
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    source = tmp_path_factory.mktemp("source")  # a copy, since building leaves files beside the source
    shutil.copytree(ROOT / "d2lrnn", source / "d2lrnn", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    options = ["--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", ".", *options], cwd=source, check=True)
    return next(source.glob("d2lrnn-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return where the wheel is unpacked, and how to run code there in an empty folder without network."""
    site, empty = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("empty")
    zipfile.ZipFile(wheel).extractall(site)

    def run(code):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("D2LRNN")}
        return subprocess.run(
            [sys.executable, "-c", NO_NETWORK + code],
            cwd=empty,
            env={**environment, "PYTHONPATH": str(site)},
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
        ).stdout

    return site, run


def test_installed_package_is_the_wheel_s(installed):
    site, run = installed
    assert str(site) in run("import d2lrnn; print(d2lrnn.__file__)")


def test_installed_package_loads_the_story(installed):
    output = installed[1]("import d2lrnn; print(len(d2lrnn.load_text()))")
    assert int(output) == d2lrnn.CORPORA["tide_clock"].characters


def test_wheel_carries_both_texts_with_their_notice_and_the_types(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {"data/tide_clock.txt", "data/stone_bridge.txt", "data/LICENSE", "py.typed"}
    assert {f"d2lrnn/{name}" for name in expected} <= names


def test_wheel_carries_nothing_but_the_package(wheel):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"d2lrnn"}


def test_wheel_asks_for_lower_bounds_only(wheel):
    archive = zipfile.ZipFile(wheel)
    path = next(name for name in archive.namelist() if name.endswith("METADATA"))
    lines = archive.read(path).decode().splitlines()
    needs = [line.partition(": ")[2] for line in lines if line.startswith("Requires-")]
    assert needs
    assert all(">=" in need and not set("<~=!") & set(need.replace(">=", "")) for need in needs)


@pytest.mark.parametrize("name", sorted(d2lrnn.__all__))
def test_every_public_name_can_be_imported(name):
    assert getattr(d2lrnn, name) is not None


@pytest.mark.parametrize("name", sorted(set(d2lrnn.__all__) - {"DEFAULT", "CORPORA", "__version__"}))
def test_every_public_name_is_documented(name):
    assert getattr(d2lrnn, name).__doc__


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'd2lrnn' has no attribute 'nothing'"):
        d2lrnn.nothing  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, d2lrnn; print(sorted({'torch', 'matplotlib', 'numpy', 'pooch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
