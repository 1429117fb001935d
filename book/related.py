"""What has to do with a module of the package: the modules that load it, its tests and its chapters."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import d2lrnn
from book import provenance
from book.notebooks import ROOT, read_recording, recording_of, sources

PACKAGE = ROOT / "d2lrnn"
CHECK = "check.__init__"


def modules() -> list[Path]:
    """Return the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return a module's name within the package, as "text" or "check.text"."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def importers(module: str) -> set[str]:
    """Return the names of all modules that come to load `module`, and its own."""
    imports = {
        name_of(path): set(re.findall(r"^\s*from d2lrnn\.([\w.]+) import", text, re.M))
        | {
            name.strip()
            for names in re.findall(r"^\s*from d2lrnn import (.+)", text, re.M)
            for name in names.split(",")
        }
        for path in modules()
        if (text := path.read_text(encoding="utf-8"))
    }
    imports[CHECK] |= {name for name in imports if name.startswith("check.")}  # on first use
    found = {module}
    while more := {name for name, of in imports.items() if name not in found and of & found}:
        found |= more
    return found


@functools.cache
def unit_tests(module: str) -> list[str]:
    """Return the test files that have to do with a module, its own and the smallest first.

    Tests that record and build a small course do not count, as the regression stands for them, nor those of
    the installed package, which is not the copy.
    """
    names = {name: home for home, of in d2lrnn._MODULES.items() for name in of}
    users = importers(module)
    found = {}
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        of_package = re.search(r"^(from|import) d2lrnn\b", text, re.M) and path.stem != "test_package"
        if not of_package or re.search(r"\bcourse\b", text):
            continue
        words = set(re.findall(r"\w+", text))
        used = {home for name, home in names.items() if name in words}
        used |= set(re.findall(r"d2lrnn\.(\w+)", text))
        used |= {CHECK} & {f"{name}.__init__" for name in used}
        if used & users or "__all__" in used:
            found[path] = (path.stem != f"test_{module}", module not in used, len(text))
    return [path.relative_to(ROOT).as_posix() for path in sorted(found, key=found.__getitem__)]


@functools.cache
def chapters_of(module: str) -> list[str]:
    """Return the chapters whose recordings loaded a module, the smallest first."""
    found = {}
    for path in sources():
        recording = recording_of(path)
        if recording.is_file():
            metadata = read_recording(recording).metadata
            if f"d2lrnn/{module.replace('.', '/')}.py" in metadata.get(provenance.KEY, {}).get("files", {}):
                found[path.stem] = recording.stat().st_size
    return sorted(found, key=found.__getitem__)
