"""What has to do with a module of the package: the modules that load it, its tests and its chapters.

Modules are named by their place within the package, as "text.ngrams" or "check.__init__".
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import d2lrnn
from book.proof import times
from book.recording import provenance
from book.recording.notebooks import ROOT, read_recording, recording_of, sources

PACKAGE = ROOT / "d2lrnn"
CHECK = "check.__init__"


def modules() -> list[Path]:
    """Return the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return a module's name within the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@functools.cache
def homes() -> dict[str, str]:
    """Return each module's name by the words that an import may call it, and by its public names."""
    found = {name.removesuffix(".__init__"): name for name in map(name_of, modules())}
    return found | {name: home for home, names in d2lrnn._MODULES.items() for name in names}


@functools.cache
def used_by(text: str) -> set[str]:
    """Return the names of the package's modules that a file's text imports, or takes a public name from."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "d2lrnn":
            room = node.module.partition(".")[2]
            words |= {".".join(filter(None, (room, alias.name))) for alias in node.names} | {room}
        elif isinstance(node, ast.Import):
            words |= {a.name.partition(".")[2] for a in node.names if a.name.startswith("d2lrnn.")}
        elif isinstance(node, ast.Attribute):
            words.add(ast.unparse(node).removeprefix("d2lrnn."))
    return {homes()[word] for word in words & homes().keys()}


@functools.cache
def importers(module: str) -> set[str]:
    """Return the names of all modules that come to load `module`, and its own."""
    imports = {name_of(path): used_by(path.read_text(encoding="utf-8")) for path in modules()}
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
    users = importers(module)
    of_users = {own_test(user) for user in users}
    found = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        if path.stem == "test_package" or "course" in arguments(text):
            continue
        used = used_by(text)
        if used & users or re.search(r"\bd2lrnn\.__all__|getattr\(d2lrnn\b", text):
            found[name] = (name != own_test(module), module not in used, name not in of_users, len(text))
    return sorted(found, key=found.__getitem__)


@functools.cache
def arguments(text: str) -> set[str]:
    """Return the names of all arguments of a file's functions, which a test's fixtures are among."""
    return {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg)}


def own_test(module: str) -> str:
    """Return the path of the test file that lies where the module does, whether or not there is one."""
    *rooms, name = module.split(".")
    return "/".join(["tests", "package", *rooms, f"test_{name}.py"])


@functools.cache
def chapters_of(module: str) -> list[str]:
    """Return the chapters whose recordings loaded a module, the quickest first."""
    found, known = {}, times.read()
    for path in sources():
        recording = recording_of(path)
        if recording.is_file():
            metadata = read_recording(recording).metadata
            if f"d2lrnn/{module.replace('.', '/')}.py" in metadata.get(provenance.KEY, {}).get("files", {}):
                found[path.stem] = known.get(times.page_of(path), {}).get("seconds", 0)
    return sorted(found, key=found.__getitem__)
