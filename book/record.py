"""Make recordings: execute chapters and write them with their outputs and provenance.

Usage: python -m book.record [chapters/NAME.md ...]   (all chapters when none is named)
"""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode

import d2lrnn
from book import provenance
from book.compare import mask_measured
from book.notebooks import (
    CELL_TIMEOUT,
    CHAPTERS,
    ROOT,
    code_cells,
    portable,
    read_recording,
    read_source,
    recording_of,
    sources,
    write_recording,
)


class RecordingError(Exception):
    """A chapter could not be recorded; the message names the chapter and the cell."""


def requirement() -> str:
    """Return what a notebook without the package hands to pip: the repository if known, else the name."""
    for entry in metadata.metadata("d2lrnn").get_all("Project-URL", []):
        label, _, address = entry.partition(", ")
        if label == "Repository":
            return f"d2lrnn @ git+{address}@v{d2lrnn.__version__}"
    return f"d2lrnn=={d2lrnn.__version__}"


def expected(path: Path) -> NotebookNode:
    """Return the notebook that the chapter at `path` should be recorded as, without outputs."""
    return portable(read_source(path), path.relative_to(ROOT).as_posix(), requirement())


def record(path: Path) -> NotebookNode:
    """Execute the chapter at `path` and return its recording.

    Raises
    ------
    RecordingError
        If a cell raises, times out or writes to stderr.
    """
    notebook = expected(path)
    probe = nbformat.v4.new_code_cell(provenance.LIST_MODULES)
    notebook.cells.append(probe)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError) as error:
        raise RecordingError(f"{path.relative_to(ROOT).as_posix()}: {error}") from error
    notebook.cells.remove(probe)
    modules = json.loads(probe.outputs[0].text)
    for number, cell in enumerate(code_cells(notebook)):
        cell.outputs = _settle(cell.outputs)
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                where = f"{path.relative_to(ROOT).as_posix()}, code cell {number}"
                raise RecordingError(f"{where} writes to stderr:\n{output.text}")
    notebook.metadata = {
        "kernelspec": notebook.metadata.kernelspec,
        "language_info": {"name": "python"},
        provenance.KEY: provenance.describe(read_source(path), modules),
    }
    return nbformat.from_dict(notebook)


def _settle(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join a stream's pieces, whose cuts depend on timing, and drop a traceback's paths and line noise."""
    settled: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        last = settled[-1] if settled else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            settled.append(output)
    return settled


def same_but_for_times(a: NotebookNode, b: NotebookNode) -> bool:
    """Tell whether two recordings differ in nothing but values marked as measured."""
    return mask_measured(nbformat.writes(a)) == mask_measured(nbformat.writes(b))


def main(arguments: list[str]) -> int:
    """Record the named chapters, or all; return the exit status."""
    known = sources()
    chosen = [Path(argument).resolve() for argument in arguments] or known
    for path in chosen:
        if path not in known:
            names = ", ".join(source.relative_to(ROOT).as_posix() for source in known)
            print(f"{path} is not a chapter with code; those are: {names}", file=sys.stderr)
            return 2
    for path in chosen:
        target = recording_of(path)
        try:
            new = record(path)
        except RecordingError as error:
            print(error, file=sys.stderr)
            return 1
        if target.is_file() and same_but_for_times(read_recording(target), new):
            print(f"{target.relative_to(ROOT)}: unchanged")
        else:
            write_recording(target, new)
            print(f"{target.relative_to(ROOT)}: written")
    if not arguments:
        for orphan in sorted(set(CHAPTERS.glob("*.ipynb")) - {recording_of(path) for path in known}):
            print(f"{orphan.relative_to(ROOT)} has no chapter beside it: remove it", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
