"""The first code cell of every recording, below the title and folded: it installs what is missing."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
import tomllib
from nbformat import NotebookNode

from book.recording.address import Repository
from d2lrnn import __version__

PYPROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
)
# What the package itself brings along, by the name it is imported by.
BROUGHT = {"IPython", "d2lrnn", "ipywidgets", "matplotlib", "numpy", "torch"}
COMMAND = "python -m pip install -r requirements.txt"  # what helps where there is no release to install

# The package reads the version in the title, and says when it is another. The path is one only in a checkout.
_CELL = """\
# @title Set-up: d2lrnn {version}
import sys; sys.path.append("../d2lrnn/..")  # where it lies in a checkout
try:
    import {modules}
{otherwise}"""
_INSTALL = """\
except ModuleNotFoundError:
    %pip install --quiet {needs}"""
_HELP = f"""\
except ModuleNotFoundError as no:
    raise ImportError(f"{{no.name}} is missing. In a copy of the course, run {COMMAND}") from None"""


def setup_cell(code: Iterable[str], repository: Repository | None) -> NotebookNode:
    """Return the first code cell of a page with these code cells.

    Parameters
    ----------
    code
        The sources of the page's own code cells.
    repository
        Where the release is installed from. Without one, or on a host that is not known, the cell says what
        to do instead.

    Raises
    ------
    ValueError
        If a cell imports what neither comes with the package nor stands in its extra `chapters`.
    """
    more = _needs(code)
    modules = ", ".join(["d2lrnn", *more])
    source = repository.package(__version__) if repository else ""
    needs = " ".join([source, *(f'"{need}"' for need in more.values())])
    otherwise = _INSTALL.format(needs=needs) if source else _HELP
    cell = _CELL.format(version=__version__, modules=modules, otherwise=otherwise)
    metadata = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
    return nbformat.v4.new_code_cell(cell, metadata=metadata)


def _needs(code: Iterable[str]) -> dict[str, str]:
    """Return what cells need beyond the package: for each module the requirement with its lower bound."""
    extras = {
        re.split("[^\\w.-]", need)[0]: need
        for need in PYPROJECT["project"]["optional-dependencies"]["chapters"]
    }
    more = sorted(imported(code) - BROUGHT - sys.stdlib_module_names)
    for module in more:
        if module not in extras:
            raise ValueError(
                f"a page imports {module!r}, which neither d2lrnn nor its extra 'chapters' brings"
            )
    return {module: extras[module] for module in more}


def imported(code: Iterable[str]) -> set[str]:
    """Return the top-level names of all modules that some cells import; a cell that is no Python has none."""
    found = set()
    for cell in code:
        try:
            nodes = list(ast.walk(ast.parse(cell)))
        except SyntaxError:  # a cell magic, or a lesson on syntax errors
            continue
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
        found |= {name.partition(".")[0] for name in names}
    return found
