"""Make recordings: execute chapters and write them with their outputs and provenance.

Usage: python -m book.recording.record [CHAPTER ...]   (all chapters when none is named)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from book.recording import provenance
from book.recording.compare import differences
from book.recording.execution import execute
from book.recording.notebooks import (
    CHAPTERS,
    ROOT,
    chosen,
    code_cells,
    own_code_cells,
    portable,
    read_recording,
    read_source,
    recording_of,
    use_this_checkout,
    write_recording,
)
from book.recording.refused import fault
from book.recording.rerun import as_tests_do
from d2lrnn.drawing.figures import SERIES_MIME


class RecordingError(Exception):
    """A chapter could not be recorded; the message names the chapter and the cell."""


def expected(path: Path) -> NotebookNode:
    """Return the notebook that the chapter at `path` should be recorded as, without outputs."""
    return portable(read_source(path), path.relative_to(ROOT).as_posix())


def record(path: Path) -> NotebookNode:
    """Execute the chapter at `path` and return its recording.

    Raises
    ------
    RecordingError
        If a cell raises, times out, is not run, or shows what differs from run to run or machine to machine.
    RuntimeError
        If it loaded d2lrnn from elsewhere.
    """
    name = path.relative_to(ROOT).as_posix()
    notebook = expected(path)
    try:
        done = execute(notebook, path.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise RecordingError(f"{name}: {error}") from error
    refused = []
    for number, cell in enumerate(code_cells(notebook)):
        cell.outputs = _settle(cell.outputs)
        found = [*done.faults.get(notebook.cells.index(cell), []), fault(cell)]
        refused += [f"{name}, code cell {number} {one}" for one in found if one]
    if refused:
        raise RecordingError("\n".join(refused))
    source = read_source(path)
    notebook.metadata = {
        "kernelspec": notebook.metadata.kernelspec,
        "language_info": {"name": "python"},
        provenance.KEY: provenance.describe(source, notebook, done.bare, done.modules, done.margins),
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


def update(path: Path) -> bool:
    """Record the chapter at `path`; return whether that changed its recording.

    Where all outputs are those of the recording that is there, they are kept: as they were, with the times
    that were measured and the last bits of the machine that made it. Any others are held against another run,
    as tests will do it, before they stay.

    Raises
    ------
    RecordingError
        If the chapter cannot be recorded, or tests could not accept what was recorded; then the recording
        that was there is left.
    """
    target, new = recording_of(path), record(path)
    old = read_recording(target) if target.is_file() else None
    again = old is not None and repeats(old, new)
    if again:
        for cell, kept in zip(code_cells(new), code_cells(old), strict=True):
            cell.outputs = kept.outputs
        new.metadata[provenance.KEY]["outputs"] = provenance.outputs_digest(new)
        if _lasting(old) == _lasting(new):
            return False
    before = target.read_bytes() if old else None
    write_recording(target, new)
    try:
        if not again and (refused := as_tests_do(path)):
            name = path.relative_to(ROOT).as_posix()
            raise RecordingError("\n".join(f"{name}, {one}" for one in refused))
    except BaseException:
        target.unlink() if before is None else target.write_bytes(before)
        raise
    return True


def repeats(old: NotebookNode, new: NotebookNode) -> bool:
    """Tell whether two recordings have the same cells, and outputs that tests accept for one another.

    Pictures must be equal, too: their numbers may be, where the way that they are drawn has changed.
    """
    sources = ([cell.source for cell in own_code_cells(recording)] for recording in (old, new))
    if next(sources) != next(sources):
        return False
    pairs = list(zip(code_cells(old), code_cells(new), strict=True))
    return not any(differences(a.outputs, b.outputs) for a, b in pairs) and all(
        list(_pictures(a)) == list(_pictures(b)) for a, b in pairs
    )


def _pictures(cell: NotebookNode) -> Iterator[object]:
    for output in cell.outputs:
        data = output.get("data", {})
        if SERIES_MIME in data:
            yield {kind: content for kind, content in data.items() if kind in ("text/html", "image/png")}


def _lasting(recording: NotebookNode) -> object:
    """Return a recording but for its margins.

    They are powers of ten, so that the last bits of another machine seldom show in them, but they can.
    """
    copy = nbformat.from_dict(recording)
    copy.metadata.get(provenance.KEY, {}).pop("margins", None)
    return copy


def main(arguments: list[str]) -> int:
    """Record the chapters that are named, or all; return the exit status."""
    use_this_checkout()
    try:
        chapters = chosen(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for path in chapters:
        try:
            changed = update(path)
        except (RecordingError, RuntimeError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{recording_of(path).relative_to(ROOT)}: {'written' if changed else 'unchanged'}")
    if not arguments:
        for orphan in sorted(set(CHAPTERS.glob("*.ipynb")) - {recording_of(path) for path in chapters}):
            print(f"{orphan.relative_to(ROOT)} has no chapter beside it: remove it", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
