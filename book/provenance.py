"""Provenance: what a recording was made from, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode

from book.notebooks import CHAPTERS, ROOT, code_cells
from d2lrnn.measure import MEASURED

KEY = "d2lrnn"  # where a recording's metadata holds its provenance
PACKAGES = ("matplotlib", "numpy", "torch")

NO_MARGINS = {"grid": None, "texts": [], "draws": []}

# Run in the chapter's kernel after its last cell: the files of all modules that the chapter came to load, and
# how close it came to an output that another machine might not share.
PROBE = f"""\
import builtins, json, sys
margins = sys.modules.get("d2lrnn.margins")
builtins.print(json.dumps({{
    "modules": [f for m in [*sys.modules.values()] if (f := getattr(m, "__file__", None))],
    "margins": margins.orders() if margins else {NO_MARGINS},
}}))
"""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, whatever its line ends.

    In the package's `__init__.py` files the table of names is left out: a name more changes no output.
    """
    content = path.read_bytes().replace(b"\r\n", b"\n")
    if path.name == "__init__.py":
        content = re.sub(rb"^_MODULES\b[^{]*\{.*?^\}\n", b"", content, flags=re.DOTALL | re.MULTILINE)
    return hashlib.sha256(content).hexdigest()


def installed_versions() -> dict[str, str]:
    """Return the installed versions that a recording depends on, without a build's local part (`+cpu`)."""
    return {name: metadata.version(name).partition("+")[0] for name in PACKAGES}


def pinned_versions() -> dict[str, str]:
    """Return the versions of the same packages that requirements.txt pins."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return {name: re.search(rf"^{name}==([^\s;#]+)", text, re.MULTILINE)[1] for name in PACKAGES}


def code_digest(source: NotebookNode) -> str:
    """Return one hash over a chapter's code cells, in order, with their tags."""
    code = json.dumps([[cell.source, cell.metadata.get("tags", [])] for cell in code_cells(source)])
    return hashlib.sha256(code.encode()).hexdigest()


def outputs_digest(recording: NotebookNode) -> str:
    """Return one hash over a recording's outputs but for measured values, which tells an edit by hand."""
    outputs = [cell.outputs for cell in code_cells(recording)]
    lasting = json.dumps(
        in_strings(lambda text: MEASURED.sub("", text), outputs), sort_keys=True, ensure_ascii=False
    )
    return hashlib.sha256(lasting.encode()).hexdigest()


def in_strings(change: Callable[[str], str], data: object) -> object:
    """Return JSON data with each of its strings changed.

    In the text of the whole, what begins a line would follow the n of a line's end.
    """
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [in_strings(change, one) for one in data]
    if isinstance(data, dict):
        return {key: in_strings(change, one) for key, one in data.items()}
    return data


def data_files() -> list[Path]:
    """Return the files that chapters may read: the package's data, and what lies beside the chapters."""
    found = [path for path in CHAPTERS.iterdir() if path.suffix not in (".md", ".ipynb", ".toml")]
    found += (ROOT / "d2lrnn" / "data").iterdir()
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def describe(
    source: NotebookNode, recording: NotebookNode, modules: list[str], margins: dict[str, object]
) -> dict[str, object]:
    """Return the provenance of the `recording` of `source` that loaded `modules` (their files).

    `margins` are what `d2lrnn.margins` noted.

    Raises
    ------
    RuntimeError
        If d2lrnn was loaded from outside this checkout, so that its hash would say nothing about it.
    """
    paths = [Path(module).resolve() for module in modules]
    for path in paths:
        if path.parent.name == "d2lrnn" and path.parent != ROOT / "d2lrnn":
            raise RuntimeError(
                f"d2lrnn was imported from outside this checkout ({path.parent}): run `pip install -e .` here"
            )
    own = {path for path in paths if ROOT / "d2lrnn" in path.parents or path.parent == CHAPTERS}
    files = {path.relative_to(ROOT).as_posix(): digest(path) for path in own.union(data_files())}
    return {
        "code": code_digest(source),
        "files": dict(sorted(files.items())),
        "outputs": outputs_digest(recording),
        "versions": installed_versions(),
        "python": platform.python_version(),  # noted only, as the margins: it makes no recording stale
        "margins": margins,
    }


def changes(recording: NotebookNode, source: NotebookNode, versions: dict[str, str]) -> list[str]:
    """List what differs between a recording's provenance and today's sources; an empty list means it holds.

    `versions` are those to hold the recording against: the installed ones, or the pinned ones.
    """
    recorded = recording.metadata.get(KEY, {})
    if recorded.keys() != {"code", "files", "outputs", "versions", "python", "margins"}:
        return ["it does not say what it was made from"]
    found = []
    if recorded["code"] != code_digest(source):
        found.append("the chapter's code changed")
    if recorded["outputs"] != outputs_digest(recording):
        found.append("its outputs were edited by hand")
    for name, was in recorded["files"].items():
        path = ROOT / name
        if not path.is_file():
            found.append(f"{name} is gone")
        elif digest(path) != was:
            found.append(f"{name} changed")
    for path in data_files():
        if path.relative_to(ROOT).as_posix() not in recorded["files"]:
            found.append(f"{path.relative_to(ROOT).as_posix()} is new")
    for name in PACKAGES:
        was = recorded["versions"].get(name)
        if was != versions[name]:
            found.append(f"{name} was {was}, now {versions[name]}")
    return found
