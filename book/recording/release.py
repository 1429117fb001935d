"""Make a release: check, set the version, let first cells name it, commit and tag; build what is published.

Usage: python -m book.recording.release tag x.y.z     (as `make release VERSION=x.y.z` does; pushes nothing)
       python -m book.recording.release cells         (the first cells of all recordings as of today)
       python -m book.recording.release build FOLDER  (wheel, site, notebooks and SHA256SUMS)

The version stands in `d2lrnn/__init__.py`, is repeated in `CITATION.cff`, and is in no hash: a release
changes these two files and first cells, and no chapter is executed for it.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from book.recording import address, provenance
from book.recording.notebooks import (
    CHAPTERS,
    ROOT,
    code_cells,
    read_recording,
    recording_of,
    sources,
    write_recording,
)
from book.recording.record import expected
from d2lrnn import __version__

STEPS = (("make", "test"), ("make", "launch"))
BUILD_SITE = ("jupyter-book", "build", ".", "-W", "-n", "--keep-going", "--path-output")
VERSION_FILE, CITATION = ROOT / "d2lrnn" / "__init__.py", ROOT / "CITATION.cff"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


class ReleaseError(Exception):
    """A release cannot be made; each line of the message says why."""


def tag(version: str, steps: Sequence[Sequence[str]] = STEPS, today: datetime.date | None = None) -> None:
    """Check that a version can be released; then set it, rewrite first cells, commit, and tag.

    Parameters
    ----------
    version
        Three numbers, as in 1.2.3.
    steps
        Commands that have to succeed first.
    today
        The date that the changelog's entry must not be after.

    Raises
    ------
    ReleaseError
        If a check or a step fails; the tree is left as it was.
    """
    if problems := faults(version, today or datetime.date.today()):
        raise ReleaseError("\n".join(problems))
    for step in steps:
        status = subprocess.run(step, cwd=ROOT, check=False).returncode
        if status:
            raise ReleaseError(f"{' '.join(step)} failed with status {status}: nothing was changed")
    try:
        set_version(version, dated(version))
        _run(sys.executable, "-m", "book.recording.release", "cells")
        if _git("status", "--porcelain", "--untracked-files=no"):
            _git("commit", "--quiet", "--all", "--message", f"Release {version}")
        _git("tag", "--annotate", f"v{version}", "--message", f"Release {version}")
    except ReleaseError:
        _git("checkout", "--quiet", "HEAD", "--", ".")
        raise


def faults(version: str, today: datetime.date) -> list[str]:
    """Say what keeps a version from being released, one line each."""
    if not _VERSION.fullmatch(version):
        return [f"version {version!r} is not three numbers, as in 1.2.3"]
    found = []
    if _numbers(version) < _numbers(__version__):
        found.append(f"version {version} is before {__version__}, which the package has")
    if Path(_git("rev-parse", "--show-toplevel")) != ROOT:
        return [*found, f"{ROOT} is no repository of its own"]
    if changed := _git("status", "--porcelain").splitlines():
        found.append(f"the working tree is not clean: {len(changed)} changes, the first is {changed[0]!r}")
    if _git("tag", "--list", f"v{version}"):
        found.append(f"there is a tag v{version} already")
    try:
        date = dated(version)
    except ReleaseError as error:
        return [*found, str(error)]
    if date > today:
        found.append(f"CHANGELOG.md dates {version} on {date}, and today is {today}")
    return found


def dated(version: str) -> datetime.date:
    """Return the date of a version's entry in the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## \[{re.escape(version)}\] - (\S+)$", text, re.MULTILINE)
    if not heading:
        raise ReleaseError(f"CHANGELOG.md has no heading '## [{version}] - YYYY-MM-DD'")
    try:
        return datetime.date.fromisoformat(heading[1])
    except ValueError as error:
        raise ReleaseError(f"CHANGELOG.md dates {version} on {heading[1]}, which is no date") from error


def set_version(version: str, date: datetime.date) -> None:
    """Write a version where it stands, and with its date into the citation."""
    _replace(VERSION_FILE, r'^__version__ = ".*"$', f'__version__ = "{version}"')
    _replace(CITATION, r"^version: .*$", f"version: {version}")
    _replace(CITATION, r"^date-released: .*$", f"date-released: {date}")


def rewrite_first_cells() -> list[Path]:
    """Let the first cells of the recordings be those of today; return the recordings that changed."""
    changed = []
    for path in sources():
        recording = read_recording(recording_of(path))
        old, new = code_cells(recording)[0], code_cells(expected(path))[0]
        if (old.source, old.id, old.metadata) != (new.source, new.id, new.metadata):
            old.update(source=new.source, id=new.id, metadata=new.metadata)
            write_recording(recording_of(path), recording)
            changed.append(recording_of(path))
    return changed


def build(folder: Path) -> None:
    """Put into an empty folder what is published: wheel, site, notebooks, and their SHA-256 sums.

    Raises
    ------
    ReleaseError
        If the folder is not empty, or something cannot be built.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ReleaseError(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    build_wheel(folder)
    with tempfile.TemporaryDirectory() as place:
        program, *options = BUILD_SITE
        _run(str(Path(sys.executable).with_name(program)), *options, place)
        _archive(Path(place) / "_build" / "html", folder / f"d2lrnn-{__version__}-site")
    with tempfile.TemporaryDirectory() as place:
        for path in [*map(recording_of, sources()), *provenance.data_files()]:
            if path.parent == CHAPTERS:
                shutil.copy(path, place)
        _archive(Path(place), folder / f"d2lrnn-{__version__}-notebooks")
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8", newline="\n")


def copy_package(target: Path) -> None:
    """Copy what the package is built from: building leaves files beside the source."""
    shutil.copytree(ROOT / "d2lrnn", target / "d2lrnn", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, target)


def build_wheel(target: Path) -> Path:
    """Build the package's wheel into a folder."""
    with tempfile.TemporaryDirectory() as place:
        copy_package(Path(place))
        options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(target)]
        _run(sys.executable, "-m", "pip", "wheel", place, *options)
    return next(target.glob("d2lrnn-*.whl"))


def _archive(content: Path, target: Path) -> None:
    """Write a zip file of a folder, in which all lies in one folder of the zip file's name."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(content, Path(place) / target.name)
        shutil.make_archive(str(target), "zip", place, target.name)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _replace(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise ReleaseError(f"{path.name} has {count} lines like {pattern!r}, expected one")
    path.write_text(text, encoding="utf-8", newline="\n")


def _git(*arguments: str) -> str:
    return _run("git", *arguments)


def _run(*command: str) -> str:
    """Return what a command prints in the repository's folder."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ReleaseError(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise ReleaseError(f"{Path(command[0]).name} {' '.join(command[1:3])} failed: {said}")
    return done.stdout.rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Tag, rewrite first cells, or build; return the exit status."""
    parser = argparse.ArgumentParser(description="Make a release.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("tag").add_argument("version")
    commands.add_parser("cells")
    commands.add_parser("build").add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "tag":
            tag(options.version)
            print(f"v{options.version} is tagged; push the branch and the tag to publish it")
            if not address.recorded():
                print("No address is recorded in _config.yml: notebooks say so instead of installing it")
        elif options.command == "cells":
            for path in rewrite_first_cells():
                print(f"{path.relative_to(ROOT)}: its first cell was written")
        else:
            build(options.folder.resolve())
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
