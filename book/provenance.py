"""Provenance: what a recording was made from, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode

from book.notebooks import ROOT, code_cells

KEY = "d2lrnn"  # where a recording's metadata holds its provenance
PACKAGES = ("matplotlib", "numpy", "torch")

# Run in the chapter's kernel after its last cell: the files of d2lrnn that the chapter came to load.
LIST_MODULES = """\
import json, sys
print(json.dumps(sorted(m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "d2lrnn")))
"""


def digest(path: Path) -> str:
    """Return the SHA-256 of a text file, whatever its line ends."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def installed_versions() -> dict[str, str]:
    """Return the installed versions that a recording depends on, without a build's local part (`+cpu`)."""
    return {name: metadata.version(name).partition("+")[0] for name in PACKAGES}


def pinned_versions() -> dict[str, str]:
    """Return the versions of the same packages that requirements.txt pins."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("#")[0].strip().split("==") for line in lines if "==" in line)
    return {name: pins[name] for name in PACKAGES}


def code_digest(source: NotebookNode) -> str:
    """Return one hash over a chapter's code cells, in order."""
    code = json.dumps([cell.source for cell in code_cells(source)])
    return hashlib.sha256(code.encode()).hexdigest()


def describe(source: NotebookNode, modules: list[str]) -> dict[str, object]:
    """Return the provenance of a recording of `source` that loaded `modules` (file paths of d2lrnn).

    Raises
    ------
    RuntimeError
        If a module was loaded from outside this checkout, so that its hash would say nothing about it.
    """
    files: dict[str, str] = {}
    for module in modules:
        path = Path(module).resolve()
        if not path.is_relative_to(ROOT):
            raise RuntimeError(
                f"d2lrnn was imported from outside this checkout ({path.parent}): run `pip install -e .` here"
            )
        files[path.relative_to(ROOT).as_posix()] = digest(path)
    if "d2lrnn/corpora.py" in files:
        texts = sorted((ROOT / "d2lrnn" / "data").glob("*.txt"))
        files |= {path.relative_to(ROOT).as_posix(): digest(path) for path in texts}
    return {
        "code": code_digest(source),
        "files": dict(sorted(files.items())),
        "versions": installed_versions(),
        "python": platform.python_version(),  # noted only: it does not make a recording stale
    }


def changes(recording: NotebookNode, source: NotebookNode, versions: dict[str, str]) -> list[str]:
    """List what differs between a recording's provenance and today's sources; an empty list means it holds.

    `versions` are those to hold the recording against: the installed ones, or the pinned ones.
    """
    recorded = recording.metadata.get(KEY)
    if recorded is None:
        return ["it has no provenance"]
    found = []
    if recorded["code"] != code_digest(source):
        found.append("the chapter's code changed")
    for name, was in recorded["files"].items():
        path = ROOT / name
        if not path.is_file():
            found.append(f"{name} is gone")
        elif digest(path) != was:
            found.append(f"{name} changed")
    for name, was in recorded["versions"].items():
        if versions[name] != was:
            found.append(f"{name} was {was}, now {versions[name]}")
    return found
