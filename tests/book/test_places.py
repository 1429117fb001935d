"""Where the course runs: Binder and the development container as far as told without a build; the README."""

import json
import os
import re
import subprocess

import pytest
import yaml
from repo2docker.app import Repo2Docker
from repo2docker.buildpacks import CondaBuildPack

from book.recording.notebooks import ROOT

CONDA_NAMES = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}


def pins(*files):
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in files]
    return dict(re.findall(r"^([\w.-]+)==(\S+)", "\n".join(texts), re.MULTILINE))


@pytest.fixture(scope="module")
def binder():
    text = (ROOT / "binder" / "environment.yml").read_text(encoding="utf-8")
    wanted = dict(line.partition("=")[::2] for line in yaml.safe_load(text)["dependencies"])
    return {CONDA_NAMES.get(name, name): version for name, version in wanted.items()}


@pytest.fixture(scope="module")
def container():
    return json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))


@pytest.fixture
def buildpack(monkeypatch):
    """Return the first of repo2docker's buildpacks that takes this repository, in the order that it asks."""
    monkeypatch.chdir(ROOT)
    app = Repo2Docker()
    packs = (pack(base_image=app.base_image) for pack in app.buildpacks)
    return next(pack for pack in packs if pack.detect())


def test_binder_builds_from_the_conda_environment(buildpack):
    assert type(buildpack) is CondaBuildPack


def test_binder_takes_a_python_that_the_site_is_made_with(buildpack):
    assert buildpack.python_version in ("3.11", "3.12", "3.13")


def test_binder_runs_the_script_after_the_build(buildpack):
    assert buildpack.get_post_build_scripts() == ["binder/postBuild"]


def test_binder_has_the_pinned_versions(binder):
    pinned = pins("requirements.txt", "requirements-test.txt", "requirements-launch.txt")
    loose = {"python", "pip"}
    assert {name: pinned[name] for name in binder.keys() - loose} == {
        name: version for name, version in binder.items() if name not in loose
    }


def test_binder_has_all_that_package_and_chapters_need(binder):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needs = set(re.findall(r'"([\w-]+)>=', text)) - {"setuptools"}
    assert {"torch", "statsmodels"} <= needs <= binder.keys()


def test_binder_takes_pytorch_built_for_the_cpu():
    text = (ROOT / "binder" / "environment.yml").read_text(encoding="utf-8")
    assert re.findall(r"^  - (py)?torch.*", text, re.MULTILINE) == ["py"]
    assert "  - pytorch-cpu=" in text


def test_binder_starts_servers_by_the_script(buildpack):
    assert buildpack.get_start_script() == "${REPO_DIR}/binder/start"


def test_binder_s_servers_have_one_thread():
    command = [ROOT / "binder" / "start", "bash", "-c", "echo $OMP_NUM_THREADS"]
    done = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "8"}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_binder_s_scripts_can_run(name):
    script = ROOT / "binder" / name
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


def test_container_installs_what_binder_does(container):
    command = container["postCreateCommand"]
    assert re.findall(r"binder/\w+(?:\.yml)?", command) == ["binder/environment.yml", "binder/postBuild"]


@pytest.mark.parametrize("who", ["learn", "teach", "maintain"])
def test_readme_says_in_ten_lines_what_you_do_who(who):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^### You {who}\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)[1]
    assert 1 <= len([line for line in section.splitlines() if line.strip()]) <= 10


def test_readme_names_the_package_s_lower_bounds():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    bounds = dict(re.findall(r'"([\w-]+)>=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    for name, shown in {
        "torch": "torch",
        "numpy": "NumPy",
        "matplotlib": "matplotlib",
        "ipywidgets": "ipywidgets",
    }.items():
        assert f"{shown} {bounds[name]}" in text
