"""Chapters as notebooks: the MyST source, its recording beside it, and where they lie."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode

from book.recording import address
from book.recording.portable import to_markdown
from book.recording.setup_cell import setup_cell

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ROOT / "chapters"
TABLES = ROOT / "book" / "proof" / "tables"  # what the proofs found, written by them
_CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
CELL_TIMEOUT = int(_CONFIG["execute"]["timeout"])  # seconds

# Threads that wait for work sleep: more of them than cores would otherwise take each other's time. OpenBLAS
# has a number of its own, of which 4 is the least.
ASLEEP = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_THREAD_TIMEOUT": "4"}


def use_this_checkout() -> None:
    """Let the kernels that this process starts import d2lrnn from here, whatever is installed.

    Their waiting threads sleep, unless the environment says otherwise.
    """
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    for name, value in ASLEEP.items():
        os.environ.setdefault(name, value)


def sources() -> list[Path]:
    """Return every executable page: the files of `chapters/` that hold code cells, in order of name."""
    return [path for path in sorted(CHAPTERS.glob("*.md")) if code_cells(read_source(path))]


def in_book_order(pages: Iterable[str]) -> list[str]:
    """Return pages, such as `chapters/rnn`, in the order of the table of contents; others come last."""
    listed = re.findall(r"^\s*- file: *(\S+)$", (ROOT / "_toc.yml").read_text(encoding="utf-8"), re.MULTILINE)
    place = {page: number for number, page in enumerate(listed)}
    return sorted(pages, key=lambda page: place.get(page, len(place)))


def chosen(words: Iterable[str]) -> list[Path]:
    """Return the chapters that words name, in order of name; all of them if there is no word.

    A word is a name or a path, with or without ending: `rnn`, `chapters/rnn`, `chapters/rnn.md`, `rnn.ipynb`.

    Raises
    ------
    ValueError
        If a word names no chapter with code; the message is one line that lists those there are.
    """
    known = {path.stem: path for path in sources()}
    named = {word: _stem(word) for word in words}
    if unknown := [word for word, stem in named.items() if stem not in known]:
        wrong, verb = ", ".join(map(repr, unknown)), "is" if len(unknown) == 1 else "are"
        raise ValueError(f"{wrong} {verb} no chapter with code; there are: {', '.join(known)}")
    return [path for stem, path in known.items() if not named or stem in named.values()]


def _stem(word: str) -> str | None:
    """Return the name of the chapter that a word would stand for, if it points into `chapters/`."""
    path = Path(word)
    stem = path.stem if path.suffix in (".md", ".ipynb") else path.name
    folders = [folder.resolve() for folder in (path.parent, ROOT / path.parent)]
    return stem if path.parent == Path() or CHAPTERS in folders else None


def recording_of(source: Path) -> Path:
    """Return where the recording of a chapter lies: the same name, as .ipynb."""
    return source.with_suffix(".ipynb")


def read_source(path: Path) -> NotebookNode:
    """Read a MyST chapter as a notebook without outputs.

    Raises
    ------
    ValueError
        If the file is not UTF-8, or its header names no kernel.
    """
    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8-sig"), fmt="md:myst")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not UTF-8: {error}") from error
    if code_cells(notebook) and "kernelspec" not in notebook.metadata:
        raise ValueError(f"{path.name} has code cells, but its header has no kernelspec")
    return notebook


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def portable(source: NotebookNode, name: str) -> NotebookNode:
    """Return the notebook that readers get, not yet executed.

    It is `source` with MyST turned into plain Markdown and, below the title, a cell that installs what is
    missing. Cell ids come from content, so that an edit moves only its own.
    """
    texts = to_markdown([(cell.cell_type, cell.source) for cell in source.cells], name)
    cells = []
    for cell, (text, in_solution) in zip(source.cells, texts, strict=True):
        copy = nbformat.from_dict({**cell, "source": text})
        if cell.cell_type == "code" and in_solution:  # collapsed in Jupyter and in Colab
            copy.metadata = {
                **copy.metadata,
                "jupyter": {"outputs_hidden": True, "source_hidden": True},
                "cellView": "form",
            }
        if text:
            cells.append(copy)
    title = cells[:1] if cells and cells[0].cell_type == "markdown" else []
    setup = setup_cell([cell.source for cell in code_cells(source)], address.recorded())
    cells = [*title, setup, *cells[len(title) :]]
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
        seen[digest] += 1
        cell.id = f"{digest}-{seen[digest]}"
    metadata = {"kernelspec": source.metadata["kernelspec"], "language_info": {"name": "python"}}
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


def own_code_cells(recording: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a recording that are its chapter's, without the one that `portable` adds."""
    return code_cells(recording)[1:]


def read_recording(path: Path) -> NotebookNode:
    """Read a recording."""
    return nbformat.read(path, as_version=4)


def write_recording(path: Path, notebook: NotebookNode) -> None:
    """Write a recording with the same bytes on every platform."""
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
