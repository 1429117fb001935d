"""The Makefile and .ci/run: what they say and hand on, and what each target has installed."""

import os
import re
import shutil
import subprocess

import pytest

from book.recording.notebooks import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = dict(re.findall(r"^([a-z]+):(?! export) *(.*)$", MAKEFILE, re.MULTILINE))
FOR_READERS = {"site", "serve", "handout", "links"}
NEEDS_NOTHING = {"help", "clean"}

# Stands for Python: makes .venv with itself as its Python, and notes what it is asked to install or to run.
PYTHON = """\
#!/bin/sh
case "$*" in
  "-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  -m*) echo "$*" >> log ;;
esac
"""

make = pytest.mark.skipif(not shutil.which("make"), reason="needs make")


def run(folder, *arguments, **variables):
    mine = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    env = {**mine, **variables}  # of `make test`, which would be a make above this one
    return subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path):
    """Return a folder with the Makefile, lists of requirements and a Python that only takes notes."""
    for name in ("Makefile", "requirements.txt", "requirements-test.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


def noted(project, *arguments):
    """Run make, and return what its Python was asked for."""
    log = project / "log"
    log.unlink(missing_ok=True)
    done = run(project, "make", "PYTHON=./python", *arguments)
    assert done.returncode == 0, done.stderr
    return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []


def test_every_target_says_what_it_does_and_how_long_that_takes():
    assert set(re.search(r"^\.PHONY: (help .*)", MAKEFILE, re.MULTILINE)[1].split()) == TARGETS.keys()
    silent = [name for name, rest in TARGETS.items() if not re.search(r"## [a-z].*\([^)]*\)$", rest)]
    assert silent == []


@make
def test_make_alone_lists_all_targets(project):
    done = run(project, "make")
    first_words = [line.split()[0] for line in done.stdout.splitlines()]
    assert first_words[: len(TARGETS)] == list(TARGETS)
    assert max(map(len, done.stdout.splitlines())) < 120


@make
def test_a_reader_s_target_installs_no_test_tool(project):
    assert noted(project, "handout") == [
        "-m pip install --quiet -r requirements.txt",
        "-m book.recording.handout",
    ]


@make
def test_the_tests_tools_are_added_to_the_same_environment(project):
    noted(project, "handout")
    assert noted(project, "times") == [
        "-m pip install --quiet -r requirements-test.txt",
        "-m book.proof.times",
    ]
    assert noted(project, "times") == ["-m book.proof.times"]


@make
@pytest.mark.parametrize(("changed", "installed"), [("requirements.txt", 2), ("requirements-test.txt", 1)])
def test_a_list_that_changed_is_installed_again(project, changed, installed):
    noted(project, "times")
    newer = (project / ".venv" / "installed-test").stat().st_mtime + 10
    os.utime(project / changed, (newer, newer))
    assert len([line for line in noted(project, "times") if "pip install" in line]) == installed


@make
def test_a_folder_that_was_moved_gets_a_new_environment(project):
    noted(project, "times")
    old = project / ".venv" / "old"
    old.touch()
    (project / ".venv" / "installed").write_text("/elsewhere\n", encoding="utf-8")
    assert len(noted(project, "times")) == 3
    assert not old.exists()


def test_all_but_readers_targets_have_the_tests_tools():
    others = TARGETS.keys() - FOR_READERS - NEEDS_NOTHING
    assert {"test", "lint", "record", "matrix"} <= others
    assert [name for name in others if "$(TEST)" not in TARGETS[name] and name != "test"] == []
    assert TARGETS["test"].startswith("lint ")


@make
@pytest.mark.parametrize("target", ["record", "times", "matrix", "mutants", "launch", "handout"])
def test_only_hands_on_each_of_its_words(project, target):
    lines = noted(project, target, "ONLY=rnn chapters/bptt.md")
    assert any(re.fullmatch(rf"-m book\.\w+\.{target} rnn chapters/bptt.md *", line) for line in lines)


@make
def test_the_matrix_takes_settings_a_day_and_a_time(project):
    line = noted(project, "matrix", "ALL=1", "SINCE=2026-12-01", "MINUTES=50")[-1]
    assert " ".join(line.split()) == "-m book.proof.matrix --all --since 2026-12-01 --minutes 50"


@make
@pytest.mark.parametrize("status", [0, 1])
def test_ci_says_at_its_end_how_long_processors_worked(project, status):
    (project / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", project / ".ci")
    for name in ("make", "chromium"):
        (project / name).write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
        (project / name).chmod(0o755)
    done = run(project, ".ci/run", PATH=f"{project}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == status
    last = done.stdout.splitlines()[-2:]
    assert all(re.fullmatch(r"\d+m[\d.]+s \d+m[\d.]+s", line) for line in last)
