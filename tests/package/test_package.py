"""The package as it is installed: what the wheel carries, and that importing it is quick."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import tomllib

import d2lrnn
from book.proof.launch import build_wheel
from book.recording.notebooks import ROOT

NO_NETWORK = """\
import socket

def refuse(*_):
    raise OSError("no network")

socket.socket.connect = refuse
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheels"))


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
    needs = [line.partition(": ")[2].partition(";")[0] for line in lines if line.startswith("Requires-")]
    assert needs
    assert all(">=" in need and not set("<~=!") & set(need.replace(">=", "")) for need in needs)


NEEDS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
OLDEST = dict(need.split(">=") for need in NEEDS)


def dist_info(folder, name, version):
    """Make a folder hold all that pip looks at to know that a package is installed."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")


def newer_wheel(folder, name):
    """Put a wheel of version 100.0 in a folder, for pip to be tempted by."""
    with zipfile.ZipFile(folder / f"{name}-100.0-py3-none-any.whl", "w") as wheel:
        info = f"{name}-100.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 100.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def installed_with(versions, wheel, folder):
    """Return what pip would install with the wheel where these versions are, by name."""
    venv.create(folder / "env")
    python = next(folder.glob("env/[bS]*/python*"))
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    for name, version in versions.items():
        dist_info(Path(site), name, version)
        newer_wheel(folder, name)
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--dry-run", "--quiet"]
    options = ["--no-index", "--find-links", folder, "--report", "-", wheel]
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull}
    environment.pop("PYTHONPATH", None)  # this checkout would count as installed
    done = subprocess.run([*command, *options], env=environment, check=True, capture_output=True, text=True)
    return {item["metadata"]["name"] for item in json.loads(done.stdout)["install"]}


@pytest.mark.parametrize(
    "versions", [OLDEST, dict.fromkeys(OLDEST, "99.0")], ids=["oldest supported", "newest"]
)
def test_installing_the_wheel_changes_no_version_that_is_there(versions, wheel, tmp_path):
    assert installed_with(versions, wheel, tmp_path) == {"d2lrnn"}


def test_installing_the_wheel_replaces_what_is_too_old(wheel, tmp_path):
    assert installed_with({**OLDEST, "torch": "2.1.2"}, wheel, tmp_path) == {"d2lrnn", "torch"}


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
