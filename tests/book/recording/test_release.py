"""A release, made in a small repository of its own: what refuses it, what it changes, and what it builds."""

import datetime
import hashlib
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
import yaml
from small_course import ROOT, chapter

import d2lrnn
from book.recording import release
from book.recording.address import Repository

NEW = "9.8.7"
CHANGELOG = f"""\
# Changelog

## [Unreleased]

## [{NEW}] - 2026-05-04

### Added

- All.

## [9.9.0] - 2999-01-01

## [9.9.1] - 2026-02-30

## [9.9.2] - 4 May 2026
"""
SOMEBODY = {
    f"GIT_{role}_{what}": "somebody" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
HOOK = "#!/bin/sh\necho the hook says no >&2\nexit 1\n"


@pytest.fixture(scope="module")
def origin(course):
    """Return a small course that is recorded and committed."""
    course.write("small.md", chapter("from d2lrnn import clean_lines\n\nprint(clean_lines('A'))"))
    for name in ("LICENSE", "README.md", "CITATION.cff", ".gitignore"):
        shutil.copy(ROOT / name, course.root / name)
    (course.root / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    assert course.record().returncode == 0
    git(course, "init", "--quiet", "--initial-branch", "main")
    git(course, "add", ".")
    git(course, "commit", "--quiet", "--message", "as it is")
    return course


@pytest.fixture
def repository(origin):
    """Return the course, as it is committed before each test."""
    start = git(origin, "rev-parse", "HEAD")
    yield origin
    git(origin, "reset", "--quiet", "--hard", start)
    git(origin, "clean", "--quiet", "--force", "-d")
    for name in git(origin, "tag").split():
        git(origin, "tag", "--delete", name)


def git(course, *arguments):
    command = ["git", "-C", course.root, "-c", "user.name=somebody", "-c", "user.email=somebody", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make(course, step="pass"):
    """Release the new version, with one step in place of tests and launch; return the lines that are said."""
    code = (
        "import sys\nfrom book.recording import release\n"
        f"try:\n    release.tag({NEW!r}, steps=[[sys.executable, '-c', {step!r}]])\n"
        "except release.ReleaseError as error:\n    sys.exit(str(error))"
    )
    done = course.run("python", "-c", code, **SOMEBODY)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr.splitlines()


@pytest.fixture
def faults(monkeypatch, repository):
    """Return what `release.faults` says of a version on a day in June 2026."""
    monkeypatch.setattr(release, "ROOT", repository.root)
    return lambda version=NEW: release.faults(version, datetime.date(2026, 6, 7))


def test_version_that_can_be_released_has_no_fault(faults):
    assert faults() == []


@pytest.mark.parametrize("version", ["9.8", "v9.8.7", "9.8.7rc1", "09.8.7", "9.8.7\n", ""])
def test_version_is_three_numbers(version, faults):
    assert faults(version) == [f"version {version!r} is not three numbers, as in 1.2.3"]


def test_version_before_the_present_one_is_refused(faults):
    assert f"version 0.0.1 is before {d2lrnn.__version__}, which the package has" in faults("0.0.1")


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("9.8.6", "CHANGELOG.md has no heading '## [9.8.6] - YYYY-MM-DD'"),
        ("9.9.0", "CHANGELOG.md dates 9.9.0 on 2999-01-01, and today is 2026-06-07"),
        ("9.9.1", "CHANGELOG.md dates 9.9.1 on 2026-02-30, which is no date"),
        ("9.9.2", "CHANGELOG.md has no heading '## [9.9.2] - YYYY-MM-DD'"),
    ],
)
def test_version_needs_an_entry_of_today_or_before(version, line, faults):
    assert faults(version) == [line]


@pytest.mark.parametrize("name", ["README.md", "new.md"])
def test_tree_with_changes_is_refused(name, faults, repository):
    (repository.root / name).write_text("new\n", encoding="utf-8")
    [line] = faults()
    assert line.startswith("the working tree is not clean: 1 changes, the first is ")
    assert name in line


def test_tag_that_exists_is_refused(faults, repository):
    git(repository, "tag", f"v{NEW}")
    assert faults() == [f"there is a tag v{NEW} already"]


def test_every_fault_has_a_line(faults, repository):
    (repository.root / "new.md").write_text("new\n", encoding="utf-8")
    git(repository, "tag", "v9.8.6")
    assert len(faults("9.8.6")) == 3


def test_folder_within_another_repository_is_refused(faults, monkeypatch, repository):
    monkeypatch.setattr(release, "ROOT", repository.root / "chapters")
    assert faults() == [f"{repository.root / 'chapters'} is no repository of its own"]


def test_command_says_the_faults_and_fails(capsys):
    assert release.main(["tag", "1.2"]) == 1
    assert capsys.readouterr().err == "version '1.2' is not three numbers, as in 1.2.3\n"


def test_step_that_fails_is_named_and_nothing_changed(repository):
    command = f"{sys.executable} -c raise SystemExit(3)"
    assert make(repository, "raise SystemExit(3)") == [f"{command} failed with status 3: nothing was changed"]
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "tag") == ""


def test_commit_that_a_hook_refuses_leaves_the_tree_as_it_was(repository):
    hook = repository.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK, encoding="utf-8")
    hook.chmod(0o755)
    try:
        assert make(repository) == ["git commit --quiet failed: the hook says no"]
    finally:
        hook.unlink()
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "tag") == ""


@pytest.fixture
def released(repository):
    """Return the course after a release, and its recording before."""
    path = repository.root / "chapters" / "small.ipynb"
    before = nbformat.read(path, as_version=4)
    assert make(repository) == []
    return repository, before, nbformat.read(path, as_version=4)


def test_release_changes_the_version_and_first_cells_and_nothing_else(released):
    course, before, after = released
    names = git(course, "diff", "--name-only", "HEAD~1").splitlines()
    assert set(names) == {"CITATION.cff", "chapters/small.ipynb", "d2lrnn/__init__.py"}
    assert git(course, "diff", "--shortstat", "HEAD~1", "d2lrnn/__init__.py").endswith(
        "1 insertion(+), 1 deletion(-)"
    )
    cell, was = after.cells[1], before.cells[1]
    assert f"d2lrnn {NEW}" in cell.source
    was.update(source=cell.source, id=cell.id)
    assert before == after


def test_release_is_committed_and_tagged(released):
    course = released[0]
    assert git(course, "status", "--porcelain") == ""
    assert git(course, "rev-parse", f"v{NEW}^{{commit}}") == git(course, "rev-parse", "HEAD")
    assert git(course, "cat-file", "-t", f"v{NEW}") == "tag"
    assert git(course, "log", "-1", "--format=%s") == f"Release {NEW}"


def test_release_is_the_version_everywhere(released):
    course = released[0]
    citation = yaml.safe_load((course.root / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], str(citation["date-released"])) == (NEW, "2026-05-04")
    assert course.run("python", "-c", "import d2lrnn; print(d2lrnn.__version__)").stdout == f"{NEW}\n"


def test_recordings_hold_after_a_release(released):
    done = released[0].regress()
    assert done.returncode == 0, done.stdout


def test_release_again_of_what_is_committed_only_tags(released):
    course = released[0]
    git(course, "tag", "--delete", f"v{NEW}")
    head = git(course, "rev-parse", "HEAD")
    assert make(course) == []
    assert git(course, "rev-parse", f"v{NEW}^{{commit}}") == head


def test_recorded_address_changes_first_cells_and_nothing_else(repository):
    path = repository.root / "_config.yml"
    text = path.read_text(encoding="utf-8")
    url = yaml.safe_load(text)["repository"]["url"]
    path.write_text(text.replace(f'url: "{url}"', 'url: "https://github.com/new/address"'), encoding="utf-8")
    recording = repository.root / "chapters" / "small.ipynb"
    before = nbformat.read(recording, as_version=4)
    done = repository.run("python", "-m", "book.recording.release", "cells")
    assert done.stdout == "chapters/small.ipynb: its first cell was written\n"
    after = nbformat.read(recording, as_version=4)
    assert Repository("https://github.com/new/address").package(d2lrnn.__version__) in after.cells[1].source
    before.cells[1].update(source=after.cells[1].source, id=after.cells[1].id)
    assert before == after
    assert repository.regress().returncode == 0


@pytest.fixture(scope="module")
def built(origin):
    done = origin.run("python", "-m", "book.recording.release", "build", "release")
    assert done.returncode == 0, done.stderr
    yield origin.root / "release"
    shutil.rmtree(origin.root / "release")


VERSION = d2lrnn.__version__
WHEEL = f"d2lrnn-{VERSION}-py3-none-any.whl"
SITE, NOTEBOOKS = f"d2lrnn-{VERSION}-site", f"d2lrnn-{VERSION}-notebooks"


def test_what_is_published_is_built_with_its_sums(built):
    names = {path.name for path in built.iterdir()}
    assert names == {WHEEL, f"{SITE}.zip", f"{NOTEBOOKS}.zip", "SHA256SUMS"}
    lines = (built / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    assert sums == {
        name: hashlib.sha256((built / name).read_bytes()).hexdigest() for name in names - {"SHA256SUMS"}
    }


def test_wheel_has_the_name_that_first_cells_ask_for(built):
    address = Repository("https://github.com/a/b").package(VERSION)
    assert (built / address.rpartition("/")[2]).is_file()


def test_archives_hold_site_and_recordings(built, origin):
    site = zipfile.ZipFile(built / f"{SITE}.zip").namelist()
    assert {f"{SITE}/index.html", f"{SITE}/chapters/small.html", f"{SITE}/.nojekyll"} <= set(site)
    notebooks = zipfile.ZipFile(built / f"{NOTEBOOKS}.zip")
    recording = (origin.root / "chapters" / "small.ipynb").read_bytes()
    assert notebooks.read(f"{NOTEBOOKS}/small.ipynb") == recording
    assert [name for name in notebooks.namelist() if name.endswith(".md")] == []


def test_folder_that_is_not_empty_is_refused(built, origin):
    done = origin.run("python", "-m", "book.recording.release", "build", "release")
    assert (done.returncode, done.stderr) == (1, f"{built} is not empty\n")


def test_citation_has_the_package_s_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == d2lrnn.__version__
