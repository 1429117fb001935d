"""The first cell of every recording, hidden on the site: it installs what the page needs and lacks."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import tomllib

from d2lrnn import __version__

PYPROJECT = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)
PUBLISHED = bool(PYPROJECT["tool"]["d2lrnn"]["published"])
# What the package itself brings along, by the name it is imported by.
BROUGHT = {"IPython", "d2lrnn", "ipywidgets", "matplotlib", "numpy", "torch"}

_SETUP = """\
# Installs what this page needs where it is missing, as on Colab.
import importlib
import importlib.util
import pathlib
import subprocess
import sys
import warnings

needs = {needs}
find = importlib.util.find_spec
checkout = pathlib.Path("..").resolve()
if find("d2lrnn") is None and (checkout / "d2lrnn/__init__.py").is_file():
    sys.path.append(str(checkout))  # it lies here: nothing to install
pip = [sys.executable, "-m", "pip", "install", "--quiet"]
for module, sources in needs.items():
    if find(module) is not None:
        continue
    for source in sources:
        command = [*pip, *source.split()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            break
    else:
        raise ModuleNotFoundError(
            f"{{module}} is missing, and pip could not install it from "
            f"{{' or '.join(sources)}}:\\n{{done.stderr.strip()}}\\n"
            "What helps: get a copy of the course's repository{place}, run "
            'pip install ".[chapters]" in it, and restart the kernel.'
        )
    importlib.invalidate_caches()

import d2lrnn

if d2lrnn.__version__ != "{version}":
    warnings.warn(
        "This page was made with d2lrnn {version}, and here is "
        f"{{d2lrnn.__version__}}: what you see may differ.",
        stacklevel=1,
    )"""


def setup_cell(code: Iterable[str], repository: str, *, published: bool = PUBLISHED) -> str:
    """Return the first cell of a page with these code cells.

    Parameters
    ----------
    code
        The sources of the page's own code cells.
    repository
        The repository's address, or "" as long as there is none.
    published
        Whether the package index has the package. Until then its name is looked for in local wheel folders
        only: on an index, anybody could take it.

    Raises
    ------
    ValueError
        If a cell imports what neither comes with the package nor stands in its extra `chapters`.
    """
    sources = [f"d2lrnn=={__version__}"] if published else []
    if repository:
        sources.append(f"git+{repository}@v{__version__}")
    needs = {"d2lrnn": sources or [f"--no-index d2lrnn=={__version__}"]}
    extras = {
        re.split("[^\\w.-]", need)[0]: need
        for need in PYPROJECT["project"]["optional-dependencies"]["chapters"]
    }
    for module in sorted(_imported(code) - BROUGHT - sys.stdlib_module_names):
        if module not in extras:
            raise ValueError(
                f"a page imports {module!r}, which neither d2lrnn nor its extra 'chapters' brings"
            )
        needs[module] = [extras[module]]
    place = f" ({repository})" if repository else ""
    return _SETUP.format(needs=_listed(needs), place=place, version=__version__)


def _imported(code: Iterable[str]) -> set[str]:
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


def _listed(needs: dict[str, list[str]]) -> str:
    """Write a dict of lists as ruff would, one item a line."""
    lines = ["{"]
    for module, sources in needs.items():
        lines += [f'    "{module}": [', *(f'        "{source}",' for source in sources), "    ],"]
    return "\n".join([*lines, "}"])
