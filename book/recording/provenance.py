"""Provenance: what a recording was made from, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode

from book.recording.findings import lasting, without_wording
from book.recording.notebooks import (
    CHAPTERS,
    ROOT,
    code_cells,
    own_code_cells,
    read_recording,
    read_source,
    recording_of,
)
from book.recording.setup_cell import imported
from d2lrnn.recorded import MEASURED

KEY = "d2lrnn"  # where a recording's metadata holds its provenance

NO_MARGINS = {"grid": None, "texts": [], "draws": []}

_PROBE = f"""\
import json, sys
margins = sys.modules.get("d2lrnn.recorded")
print(json.dumps({{
    "modules": {{name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}},
    "margins": margins.orders() if margins else {NO_MARGINS},
}}))
"""
# Run in the chapter's kernel before its first cell and after its last: which modules are loaded, from which
# files, and how close the chapter came to an output that another machine might not share. Leaves no name.
PROBE = f"__import__('builtins').exec({_PROBE!r}, {{}})"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, whatever its line ends.

    In the package's `__init__.py` files the table of names and the version are left out: a name more, or a
    release, changes no output.
    """
    content = path.read_bytes().replace(b"\r\n", b"\n")
    if path.name == "__init__.py":
        content = re.sub(rb"^_MODULES\b[^{]*\{.*?^\}\n", b"", content, flags=re.DOTALL | re.MULTILINE)
        content = re.sub(rb"^__version__ = .*\n", b"", content, flags=re.MULTILINE)
    return hashlib.sha256(content).hexdigest()


def pinned_versions() -> dict[str, str]:
    """Return the versions that requirements.txt pins, by the packages' names."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return {_normal(name): pin for name, pin in re.findall(r"^([\w.-]+)==([^\s;#]+)", text, re.MULTILINE)}


def installed_versions() -> dict[str, str]:
    """Return the installed versions of the same packages, without a build's local part (`+cpu`).

    Where a package is not installed, its pin counts as its version.
    """
    return {name: _installed(name) or pin for name, pin in pinned_versions().items()}


def not_installed(recording: NotebookNode) -> list[str]:
    """Return the packages that a recording was made with and that are not there."""
    return [name for name in recording.metadata.get(KEY, {}).get("versions", {}) if not _installed(name)]


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def code_digest(source: NotebookNode) -> str:
    """Return one hash over a chapter's code cells and tags, in order, without the words of findings."""
    cells = [[without_wording(cell.source), cell.metadata.get("tags", [])] for cell in code_cells(source)]
    code = json.dumps(cells)
    return hashlib.sha256(code.encode()).hexdigest()


def key(recording: NotebookNode) -> str:
    """Return a short hash of what a proof about a recording rests on: code, outputs and pinned versions.

    The package's files are not in it: a change there that leaves the outputs as they are keeps the proof.
    """
    noted = recording.metadata[KEY]
    basis = json.dumps([noted["code"], noted["outputs"], noted["versions"]], sort_keys=True)
    return hashlib.sha256(basis.encode()).hexdigest()[:16]


def outputs_digest(recording: NotebookNode) -> str:
    """Return one hash over a recording's outputs, which tells an edit by hand.

    Measured values and a finding's words are left out.
    """
    outputs = [[lasting(output) for output in cell.outputs] for cell in code_cells(recording)]
    kept = json.dumps(
        in_strings(lambda text: MEASURED.sub("", text), outputs), sort_keys=True, ensure_ascii=False
    )
    return hashlib.sha256(kept.encode()).hexdigest()


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
    source: NotebookNode,
    recording: NotebookNode,
    bare: Collection[str],
    modules: Mapping[str, str | None],
    margins: dict[str, object],
) -> dict[str, object]:
    """Return the provenance of the `recording` of `source`.

    Parameters
    ----------
    source, recording
        The chapter and what came of it.
    bare
        The names of the modules that the kernel had loaded before the chapter's first cell.
    modules
        Those that it had loaded after the last, each with its file, if it has one.
    margins
        What `d2lrnn.recorded` noted.

    Raises
    ------
    RuntimeError
        If a module of d2lrnn was loaded from outside this checkout, so that its hash would say nothing of it.
    """
    own = own_files(modules)
    files = {path.relative_to(ROOT).as_posix(): digest(path) for path in own.union(data_files())}
    return {
        "code": code_digest(source),
        "files": dict(sorted(files.items())),
        "outputs": outputs_digest(recording),
        "versions": used_versions(source, own, bare, modules),
        "python": platform.python_version(),  # noted only, as the margins: it makes no recording stale
        "margins": margins,
    }


def own_files(modules: Mapping[str, str | None]) -> set[Path]:
    """Return the files of this checkout that stand for these modules: code, and what a module shows with it.

    That is a style sheet or a script of its name beside it.
    """
    own = set()
    for name, file in modules.items():
        path = Path(file).resolve() if file else None
        in_package = path is not None and ROOT / "d2lrnn" in path.parents
        if name.partition(".")[0] == "d2lrnn" and not in_package:
            raise RuntimeError(
                f"{name} was imported from outside this checkout ({file}): run `pip install -e .` here"
            )
        if path and (in_package or CHAPTERS in path.parents):
            own |= {path, *path.parent.glob(f"{path.stem}.css"), *path.parent.glob(f"{path.stem}.js")}
    return own


def used_versions(
    source: NotebookNode, own: Collection[Path], bare: Collection[str], modules: Collection[str]
) -> dict[str, str]:
    """Return the installed versions of the pinned packages that a chapter came to load.

    What a kernel has loaded by itself counts if the chapter, or a file of `own`, imports it.
    """
    code = [cell.source for cell in code_cells(source)]
    code += [path.read_text(encoding="utf-8") for path in own if path.suffix == ".py"]
    loaded, before = ({name.partition(".")[0] for name in names} for names in (modules, bare))
    used = loaded - before | loaded & imported(code)
    distributions = metadata.packages_distributions()
    packages = {_normal(package) for name in used for package in distributions.get(name, ())}
    return {name: version for name, version in sorted(installed_versions().items()) if name in packages}


def changes(recording: NotebookNode, source: NotebookNode, versions: Mapping[str, str]) -> list[str]:
    """List what differs between a recording's provenance and today's sources; an empty list means it holds.

    `versions` are those to hold the recording against: the installed ones, or the pinned ones.
    """
    recorded = recording.metadata.get(KEY, {})
    if recorded.keys() != {"code", "files", "outputs", "versions", "python", "margins"}:
        return ["it has no recording that says what it was made from"]
    found = []
    if recorded["code"] != code_digest(source):
        found.append("the chapter's code changed")
    elif [cell.source for cell in code_cells(source)] != [cell.source for cell in own_code_cells(recording)]:
        found.append("the words of a finding changed")
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
    for name, was in recorded["versions"].items():
        if name not in versions:
            found.append(f"{name} is not pinned any more")
        elif versions[name] != was:
            found.append(f"{name} was {was}, now {versions[name]}")
    return found


def behind(chapters: Iterable[Path]) -> list[str]:
    """List the chapters whose recordings are not of what is here, so that a proof would be of nothing."""
    found = []
    for path in chapters:
        recording = recording_of(path)
        why = (
            changes(read_recording(recording), read_source(path), installed_versions())
            if recording.is_file()
            else ["it has no recording"]
        )
        if why:
            found.append(f"{path.stem}: {why[0]}: run `make record ONLY={path.stem}` first")
    return found
