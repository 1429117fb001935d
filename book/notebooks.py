"""Chapters as notebooks: the MyST source, its recording beside it, and where they lie."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode

from book.portable import to_markdown

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
CELL_TIMEOUT = int(
    yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["execute"]["timeout"]
)  # seconds

# Colab and a bare laptop have no d2lrnn; a checkout that was installed skips all of this.
SETUP = """\
# Installs the course's package where it is missing, as on Colab.
import importlib.util
import pathlib
import subprocess
import sys

if importlib.util.find_spec("d2lrnn") is None:
    checkout = pathlib.Path("../d2lrnn/__init__.py").is_file()
    source = ".." if checkout else "{requirement}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", source]
    if subprocess.run(command, check=False).returncode != 0:
        raise ModuleNotFoundError(
            f"d2lrnn could not be installed from {{source}}. In a copy of "
            "the course's repository, run: pip install ."
        )"""


def sources() -> list[Path]:
    """Return every executable page: the files of `chapters/` that hold code cells, in order of name."""
    return [path for path in sorted(CHAPTERS.glob("*.md")) if code_cells(read_source(path))]


def recording_of(source: Path) -> Path:
    """Return where the recording of a chapter lies: the same name, as .ipynb."""
    return source.with_suffix(".ipynb")


def read_source(path: Path) -> NotebookNode:
    """Read a MyST chapter as a notebook without outputs."""
    return jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def portable(source: NotebookNode, name: str, requirement: str) -> NotebookNode:
    """Return the notebook that readers get, not yet executed.

    It is `source` with MyST turned into plain Markdown and a first cell that installs `requirement` (what
    pip is given) when d2lrnn is missing. Cell ids come from content, so that an edit moves only its own.
    """
    setup = nbformat.v4.new_code_cell(
        SETUP.format(requirement=requirement), metadata={"tags": ["remove-cell", "setup"]}
    )
    texts = to_markdown([(cell.cell_type, cell.source) for cell in source.cells], name)
    cells = [setup]
    for cell, (text, in_solution) in zip(source.cells, texts, strict=True):
        copy = nbformat.from_dict({**cell, "source": text})
        if cell.cell_type == "code" and in_solution:  # collapsed in Jupyter and in Colab
            copy.metadata = {**copy.metadata, "jupyter": {"source_hidden": True}, "cellView": "form"}
        if text:
            cells.append(copy)
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
        seen[digest] += 1
        cell.id = f"{digest}-{seen[digest]}"
    metadata = {"kernelspec": source.metadata["kernelspec"], "language_info": {"name": "python"}}
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


def is_setup(cell: NotebookNode) -> bool:
    """Tell the cell that `portable` put first from a chapter's own."""
    return "setup" in cell.metadata.get("tags", [])


def read_recording(path: Path) -> NotebookNode:
    """Read a recording."""
    return nbformat.read(path, as_version=4)


def write_recording(path: Path, notebook: NotebookNode) -> None:
    """Write a recording with the same bytes on every platform."""
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
